"""What passed a recorder, kept with the exchange: in both session forms, and as proof of the bodies."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.ir import JsonValue
from workbench.wire import digests
from workbench.wire.digests import BodyDigest
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse, Origin, Redaction, State
from workbench.wire.session.store import fsck, open_session, save


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def whole(data: bytes) -> BodyDigest:
    return BodyDigest(sha(data), sha(data), len(data), len(data))


def recorded(asked: bytes, answered: bytes, **passed: BodyDigest) -> Exchange:
    meta = digests.to_meta(passed)
    request, response = HttpRequest(body=Body(asked)), HttpResponse(body=Body(answered))
    return Exchange("1", request, response, origin=Origin.RECORDED, meta=meta)


GOOD = recorded(b"{}", b"\xff\x00", request=whole(b"{}"), response=whole(b"\xff\x00"))


@pytest.mark.parametrize("name", ["a.wb", "a.jsonl"])
def test_they_stand_in_both_forms_of_a_session(name: str, tmp_path: Path) -> None:
    save([GOOD], tmp_path / name)
    session = open_session(tmp_path / name)
    assert digests.read_digests(session.exchange(0)) == {"request": whole(b"{}"), "response": whole(b"\xff\x00")}
    session.close()
    assert not fsck(tmp_path / name).problems


@pytest.mark.parametrize("name", ["a.wb", "a.jsonl"])
def test_a_body_that_is_not_what_passed_is_damage(name: str, tmp_path: Path) -> None:
    other = replace(GOOD, response=HttpResponse(body=Body(b"\xff\x01")))
    save([GOOD, other, replace(GOOD, request=HttpRequest(body=Body(b"{ }")))], tmp_path / name)
    assert fsck(tmp_path / name).problems == (
        "exchange 2: the response body differs from the received body: the SHA-256 is different",
        "exchange 3: the request body has 3 bytes; 2 were received",
    )


SHORT = Body(b"{", note="1 more byte passed", original_length=2)
REPLACED = {
    "a secret was replaced": HttpRequest(body=Body(b"[]"), redactions=(Redaction("body", 0, 1, "api-key"),)),
    "a compressed form was not kept": HttpRequest(body=Body(b"[]", is_raw=False)),
    "not all was kept": HttpRequest(body=SHORT),
}


@pytest.mark.parametrize("request_", REPLACED.values(), ids=REPLACED)
def test_what_the_recording_says_of_a_body_is_no_damage(request_: HttpRequest) -> None:
    assert not list(digests.problems(replace(GOOD, request=request_, state=State.INCOMPLETE)))


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (whole(b"{}"), "equal"),
        (BodyDigest(sha(b"{}"), sha(b"[]"), 2, 2), "differ"),
        (BodyDigest(sha(b"{}"), sha(b""), 2_000, 0), "differ (2,000 bytes in, 0 bytes out)"),
    ],
    ids=["equal", "other bytes", "fewer bytes"],
)
def test_they_are_compared_in_words(passed: BodyDigest, words: str) -> None:
    assert passed.words == words


@pytest.mark.parametrize(
    "told",
    [None, [], {"request": 1}, {"request": {"in": "x", "out": "y", "bytes_in": 1, "bytes_out": 1}}, {"response": {}}],
    ids=["nothing", "a list", "a number", "no digests", "empty"],
)
def test_what_is_no_statement_of_that_kind_is_passed_over(told: JsonValue) -> None:
    assert digests.read_digests(replace(GOOD, meta={"digests": told})) == {}


def test_an_edited_exchange_did_not_pass() -> None:
    assert digests.read_digests(replace(GOOD, origin=Origin.EDITED)) == {}
