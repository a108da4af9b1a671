"""Messages of a WebSocket leave as they come, and when they leave changes nothing in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.recorder.capture.test_redaction_guard import ECHOED, KEY, SAID, redactor
from workbench.recorder.capture.frame_guard import FrameGuard
from workbench.wire import Frame

WORD = '"index": 1, "delta": {"partial_json": "word "}'


def frames_of(text: str, marks: Sequence[int]) -> Iterator[Frame]:
    """Messages that say a text in pieces, with others of both directions between them."""
    ends = sorted(mark % (len(text) + 1) for mark in marks)
    for n, (start, end) in enumerate(zip((0, *ends), (*ends, len(text)), strict=True)):
        delta = json.dumps({"type": "delta", "item_id": "i", "delta": text[start:end]}, indent=n % 3 or None)
        yield Frame("received", "binary" if n % 5 == 1 else "text", delta.encode(), n)
        if n % 2:
            yield Frame("received", "text", b"{%s}" % WORD.encode(), n)
        if n % 3 == 1:
            yield Frame("sent", "text", json.dumps({"type": "x", "text": text[: end // 2]}).encode(), n)
        if n % 4 == 1:
            yield Frame("sent", "ping", b"\x00\xff", n)


def redacted(frames: Sequence[Frame], cuts: Sequence[int]) -> list[Frame]:
    """Messages as a guard hands them on that is asked at these places, and at the end."""
    guard, left = FrameGuard(), list[Frame]()
    safe = redactor()
    for n, frame in enumerate(frames):
        guard.add(frame)
        if n in cuts:
            left += (made for _, made in guard.take(safe, is_quiet=False))
            assert [(f.direction, f.at) for f in left] == [(f.direction, f.at) for f in frames[: len(left)]]
    return left + [made for _, made in guard.take(safe, is_quiet=True)]


@given(
    st.lists(st.sampled_from(SAID), max_size=6).map(" ".join),
    st.lists(st.integers(0, 400), max_size=24),
    st.sets(st.integers(0, 60)),
)
@example("as you asked, here:  user,password\nbob,hunter2hunter2\n", [], set())  # words with a comma before the names
@example("as you asked, here:  user,password\nbob,hunter2hunter2\n", [9, 30, 37, 44], {0, 2})
def test_when_messages_leave_changes_nothing_in_them(text: str, marks: list[int], cuts: set[int]) -> None:
    frames = list(frames_of(text, marks))
    whole = redacted(frames, ())
    assert redacted(frames, tuple(cuts)) == whole
    assert [len(frame.data) for frame in whole] == [len(frame.data) for frame in frames]
    said = "".join(str(json.loads(f.data).get("delta")) for f in whole if b"item_id" in f.data)
    for secret in (KEY.decode()[20:], ECHOED, "0123456789abcdefABCDEF", "hunter2hunter2", "abcdefghijklmnop0123456789"):
        assert secret not in said and all(secret.encode() not in frame.data for frame in whole)


def test_words_leave_with_the_next_word_and_sound_at_once() -> None:
    guard, left, safe = FrameGuard(), list[Frame](), redactor()
    sound = Frame("received", "text", b'{"item_id": "i", "delta": "%s"}' % (b"Ab3c" * 3000))
    words = [Frame("received", "text", b'{"item_id": "i", "delta": " %d and more"}' % n) for n in range(20)]
    for n, frame in enumerate((sound, sound, *words)):
        guard.add(frame)
        left += (made for _, made in guard.take(safe, is_quiet=False))
        assert len(left) == n + (frame is sound)
    assert left == [sound, sound, *words[:-1]]


def test_a_text_that_goes_on_no_more_holds_only_a_few_of_another() -> None:
    guard, safe = FrameGuard(), redactor()
    guard.add(Frame("received", "text", b'{"index": 0, "text": "the last word"}'))
    for n in range(99):
        guard.add(Frame("received", "text", b'{"index": 1, "text": " %d and "}' % n))
        if left := list(guard.take(safe, is_quiet=False)):
            break
    assert n < 40 and len(left) == n + 2  # it is not asked with each message


@pytest.mark.parametrize("is_quiet", [True, False])
def test_what_may_begin_a_secret_waits_until_no_text_goes_on(is_quiet: bool) -> None:
    guard = FrameGuard()
    for frame in (
        begun := Frame("received", "text", b'{"delta": "sk-ant-api03-"}'),
        later := Frame("sent", "text", b"{}"),
    ):
        guard.add(frame)
    assert [made for _, made in guard.take(redactor(), is_quiet=is_quiet)] == ([begun, later] if is_quiet else [])
