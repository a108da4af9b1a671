"""A body digested on its way in and on its way out."""

from __future__ import annotations

import hashlib

import pytest

from workbench.recorder.relay.body_digests import BodyDigests


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


CHUNKED = b"3;x=1\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 1\r\n\r\n"


@pytest.mark.parametrize("step", [1, 7, 100], ids="{} at a time".format)
def test_framing_and_the_head_before_it_are_not_counted(step: int) -> None:
    passing, sent = BodyDigests(), b"HEAD" + CHUNKED
    passing.add_received(b"abcde")
    passing.start_sending(head_size=4, is_chunked=True)
    for at in range(0, len(sent), step):
        passing.add_sent(sent[at : at + step])
    assert passing.result() == (sha(b"abcde"), sha(b"abcde"), 5, 5)


def test_what_is_sent_again_counts_once() -> None:
    passing = BodyDigests()
    passing.add_received(b"abc")
    for _ in range(2):
        passing.start_sending(head_size=2, is_chunked=False)
        passing.add_sent(b"..abc")
    assert passing.result().is_equal


FAULTS = {
    "a byte more": CHUNKED + b"!",
    "a chunk less": b"3\r\nabc\r\n0\r\n\r\n",
    "another byte": CHUNKED.replace(b"de", b"dE"),
    "no framing": b"abcde\r\n",
}


@pytest.mark.parametrize("sent", FAULTS.values(), ids=FAULTS)
def test_a_fault_between_the_two_shows(sent: bytes) -> None:
    passing = BodyDigests()
    passing.add_received(b"abcde")
    passing.start_sending(head_size=0, is_chunked=True)
    passing.add_sent(sent)
    assert not passing.result().is_equal
