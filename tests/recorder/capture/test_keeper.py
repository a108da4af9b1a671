"""What a reader beside the recorder sees, step by step; no step shows a secret."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.recorder.capture.test_redaction_guard import CODINGS, ECHOED, KEY, PARTS
from tests.recorder.hearing import answered, asked
from workbench.recorder.capture.keeper import MANY, YOUNG, Keeper
from workbench.recorder.capture.queued_events import ListenerStarted, QueuedEvent, WriteAwaited
from workbench.recorder.events import (
    ExchangeEnded,
    RequestBytes,
    RequestEnded,
    RequestHead,
    RequestStarted,
    ResponseBytes,
    ResponseHead,
    ResponseStarted,
)
from workbench.wire.encoding import decode_partial
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse, State
from workbench.wire.redaction import Redactor
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import open_session
from workbench.wire.session.writer import SessionWriter


def heard(
    body: list[bytes], response: list[bytes], head: RequestHead, answer: ResponseHead, key: int = 1
) -> list[QueuedEvent]:
    """Events of one exchange; a second passes between two."""
    made: list[Callable[[float], QueuedEvent]] = [
        lambda at: RequestStarted(key, at, "default", head),
        *(partial(_request_bytes, key, piece) for piece in body),
        lambda at: RequestEnded(key, at),
        lambda at: ResponseStarted(key, at, answer),
        *(partial(_response_bytes, key, piece) for piece in response),
        lambda at: ExchangeEnded(key, at, State.COMPLETE, ""),
    ]
    return [make(float(at)) for at, make in enumerate(made)]


def _request_bytes(key: int, piece: bytes, at: float) -> RequestBytes:
    return RequestBytes(key, at, piece)


def _response_bytes(key: int, piece: bytes, at: float) -> ResponseBytes:
    return ResponseBytes(key, at, piece)


def look(path: Path) -> list[Exchange]:
    session = open_session(path)
    try:
        return list(exchanges_of(session))
    finally:
        session.close()


@contextmanager
def keeping(redactor: Redactor | None = None) -> Iterator[tuple[Keeper, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "live.wb"
        keeper = Keeper(SessionWriter(path), redactor or Redactor(salt=b"test"))
        try:
            yield keeper, path
        finally:
            keeper.close()


def test_a_reader_sees_an_exchange_grow() -> None:
    events = heard([b'{"model":', b' "m"}'], [b"data: 1\n\n", b"data: 2\n", b"\n", b"data: 3"], asked(), answered())
    seen = []
    with keeping() as (keeper, path):
        for event in events:
            keeper.take([event])
            (exchange,) = look(path)
            request, response = exchange.request, exchange.response
            assert request
            seen.append((exchange.state.value, request.body.raw, response and response.body.raw))
            if response:
                assert [c.end for c in response.body.chunks] == [9, 17, 18, 25][: len(response.body.chunks)]
    asking = b'{"model": "m"}'
    assert seen == [
        ("open", b"", None),
        ("open", b"", None),
        ("open", b"", None),
        ("open", asking, None),
        ("open", asking, b""),
        ("open", asking, b"data: 1\n\n"),
        ("open", asking, b"data: 1\n\ndata: 2\n"),
        ("open", asking, b"data: 1\n\ndata: 2\n\n"),
        ("open", asking, b"data: 1\n\ndata: 2\n\n"),
        ("complete", asking, b"data: 1\n\ndata: 2\n\ndata: 3"),
    ]


def test_exchanges_stand_in_the_order_in_which_they_began() -> None:
    slow = heard([b"slow"], [b"1\n"], asked(), answered(), key=1)
    quick = heard([b"quick"], [b"2\n"], asked(), answered(), key=2)
    with keeping() as (keeper, path):
        keeper.take([slow[0], *quick])
        keeper.take(slow[1:])
        assert [e.request and e.request.body.raw for e in look(path)] == [b"slow", b"quick"]
        assert keeper.released_bytes > 0
        assert keeper.tally.exchanges == 2


def test_the_weight_of_what_is_written_is_released() -> None:
    events = heard([b"a" * 100], [b"b" * 100] * 5, asked(), answered())
    from workbench.recorder.capture.queued_events import memory_of

    with keeping() as (keeper, _):
        keeper.take(events)
        assert keeper.released_bytes == sum(map(memory_of, events))


def _pieces(data: st.DataObject, whole: bytes) -> list[bytes]:
    marks = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    return [whole[a:b] for a, b in zip((0, *marks), (*marks, len(whole)), strict=True) if a < b]


BODIES = st.lists(st.sampled_from(PARTS), max_size=8).map(b" ".join)  # glued to a word, no key is one


class Watched(SessionWriter):
    """Keeps every body that was handed over to be written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.bodies: list[Body] = []
        self.grown: dict[int, Body] = {}

    def append(self, exchange: Exchange) -> int:
        self._note(exchange.request, exchange.response)
        return super().append(exchange)

    def begin(self, exchange: Exchange) -> int:
        self._note(exchange.request, exchange.response)
        seq = super().begin(exchange)
        if exchange.response:
            self.grown[seq] = exchange.response.body
        return seq

    def request(self, seq: int, request: HttpRequest) -> None:
        self._note(request)
        super().request(seq, request)

    def answer(self, seq: int, response: HttpResponse) -> None:
        self._note(response)
        self.grown[seq] = response.body
        super().answer(seq, response)

    def grow(self, seq: int, more: bytes, chunks: Any) -> None:
        self.grown[seq] = replace(self.grown[seq], raw=self.grown[seq].raw + more)
        self.bodies.append(self.grown[seq])
        super().grow(seq, more, chunks)

    def finish(self, seq: int, exchange: Exchange, *, keeps_frames: bool = False) -> None:
        self._note(exchange.request, exchange.response)
        super().finish(seq, exchange, keeps_frames=keeps_frames)

    def _note(self, *sides: HttpRequest | HttpResponse | None) -> None:
        self.bodies += (side.body for side in sides if side)


@given(request=BODIES, response=BODIES, coding=st.sampled_from(sorted(CODINGS)), data=st.data())
def test_no_step_writes_a_secret_and_the_end_is_what_the_redactor_makes(
    request: bytes, response: bytes, coding: str, data: st.DataObject
) -> None:
    head = asked(("Authorization", f"Bearer {ECHOED}"), ("Content-Encoding", coding))
    answer = answered(("Content-Encoding", coding))
    sent, received = CODINGS[coding](request), CODINGS[coding](response)
    events = heard(_pieces(data, sent), _pieces(data, received), head, answer)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=len(events))))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "live.wb"
        writer = Watched(path)
        keeper = Keeper(writer, Redactor(salt=b"test"))
        for start, end in zip((0, *cuts), (*cuts, len(events)), strict=True):
            keeper.take(events[start:end])
            for file in Path(folder).iterdir():
                stored = file.read_bytes()
                assert KEY not in stored and ECHOED.encode() not in stored
        keeper.close()
        (exchange,) = look(path)
    for body in writer.bodies:
        plain = decode_partial(body)[0]
        assert KEY[:20] not in plain and ECHOED.encode()[:12] not in plain
        assert b"hunter2" not in plain and b"QEFAASCBKcwggSj7y" not in plain and b"abcdefghijklmnop" not in plain
    raw = replace(
        exchange,
        request=HttpRequest(head.method, head.url, head.headers, Body(sent, coding if sent else ""), "HTTP/1.1"),
        response=HttpResponse(200, answer.headers, Body(received, coding if received else ""), "OK", "HTTP/1.1"),
    )
    made = Redactor(salt=b"test").exchange(raw)
    assert _without_times(exchange) == _without_times(made)


def _without_times(exchange: Exchange) -> tuple[Any, ...]:
    sides = (exchange.request, exchange.response)
    return tuple(side and replace(side, body=replace(side.body, chunks=())) for side in sides)


@pytest.mark.parametrize("state", [State.COMPLETE, State.ABORTED])
def test_the_state_is_the_relays(state: State) -> None:
    events = heard([], [], asked(), answered())
    with keeping() as (keeper, path):
        keeper.take([*events[:-1], ExchangeEnded(1, 9.0, state, "why not")])
        (exchange,) = look(path)
    assert (exchange.state, exchange.note) == (state, "why not")


def test_a_secret_in_why_it_ended_is_not_written() -> None:
    head = asked(("x-api-key", KEY.decode()))
    ended = ExchangeEnded(1, 1.0, State.ABORTED, f"the upstream said {KEY.decode()}")
    with keeping() as (keeper, path):
        keeper.take([RequestStarted(1, 0.0, "default", head), ended])
        (exchange,) = look(path)
        assert exchange.note.startswith("the upstream said ")
        assert KEY.decode() not in exchange.note


def said(path: Path) -> Mapping[str, str]:
    session = open_session(path)
    try:
        return session.about
    finally:
        session.close()


def test_a_reader_learns_where_the_recorder_listens_until_it_ends() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "live.wb"
        writer = SessionWriter(path)
        writer.say({"story": "kept"})
        keeper = Keeper(writer, Redactor(salt=b"test"))
        keeper.take([ListenerStarted("http://127.0.0.1:8123")])
        assert said(path) == {"story": "kept", "urls": "http://127.0.0.1:8123"}
        other = Keeper(SessionWriter(path), Redactor(salt=b"test"), hop="behind")
        other.take([ListenerStarted("http://127.0.0.1:8124")])
        assert set(said(path)["urls"].split(" · ")) == {"http://127.0.0.1:8123", "behind: http://127.0.0.1:8124"}
        keeper.close()
        assert said(path) == {"story": "kept", "urls": "behind: http://127.0.0.1:8124"}
        other.close()
        assert said(path) == {"story": "kept"}


def test_an_address_that_could_not_be_written_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with keeping() as (keeper, path):
        with monkeypatch.context() as patched:
            patched.setattr(SessionWriter, "announce", Mock(side_effect=OSError(28, "No space left")))
            keeper.take([ListenerStarted("http://127.0.0.1:8123")])
            assert keeper.is_failing
        keeper.take([])
        assert not keeper.is_failing
        assert said(path)["urls"] == "http://127.0.0.1:8123"


def test_exchanges_are_written_in_the_order_of_their_requests_whatever_changed_last() -> None:
    first = heard([b'{"n": 1}'], [], asked(), answered(), key=1)
    second = heard([b'{"n": 2}'], [], asked(), answered(), key=2)
    with keeping() as (keeper, path):
        keeper.take([*second[:3], *first[:3]])  # their connections are heard in any order
        bodies = [exchange.request.body.raw for exchange in look(path) if exchange.request]
        assert bodies == [b'{"n": 1}', b'{"n": 2}']


def begun(key: int, at: float) -> list[QueuedEvent]:
    """The request of an exchange that began at a time."""
    return [RequestStarted(key, at, "default", asked()), RequestBytes(key, at, b"%d" % key), RequestEnded(key, at)]


def keys(path: Path) -> list[int]:
    return [int(each.id.partition("-")[2]) for each in look(path)]


def test_of_many_exchanges_the_young_ones_are_written_when_they_end_or_grow_old(tmp_path: Path) -> None:
    now = [100.0]
    path = tmp_path / "live.wb"
    keeper = Keeper(SessionWriter(path), Redactor(salt=b"test"), clock=lambda: now[0])
    keeper.take([event for key in range(1, MANY + 11) for event in begun(key, 100.0 + key / 1000)])
    assert keys(path) == []
    keeper.take([ExchangeEnded(5, 100.5, State.COMPLETE, "")])
    assert keys(path) == [1, 2, 3, 4, 5], "the order is that of the requests"
    keeper.take([WriteAwaited(), *begun(90, 101.0)])
    assert keys(path) == [*range(1, MANY + 11), 90]
    keeper.take([*begun(91, 101.0), *begun(92, 103.5)])
    assert keys(path)[-1] == 90, "somebody waited for what was before it"
    now[0] = 101.5 + YOUNG
    keeper.take([])
    assert keys(path)[-2:] == [90, 91]
    keeper.close()
    states = [each.state for each in look(path)]
    assert states == [State.INCOMPLETE] * 4 + [State.COMPLETE] + [State.INCOMPLETE] * (MANY + 8)


def test_of_few_exchanges_each_is_written_at_once(tmp_path: Path) -> None:
    keeper = Keeper(SessionWriter(tmp_path / "live.wb"), Redactor(salt=b"test"), clock=lambda: 0.0)
    keeper.take([event for key in range(1, MANY + 1) for event in begun(key, 0.0)])
    assert len(keys(tmp_path / "live.wb")) == MANY
    keeper.close()
