"""The recording tap: what a relay tells it stands in the file, whole, redacted and bounded."""

from __future__ import annotations

import gzip
import hashlib
import os
import queue
import sqlite3
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.recorder.hearing import URL, answered, asked, play
from workbench.errors import SessionFormatError
from workbench.recorder.capture.keeper import Keeper, open_private, redactor_for
from workbench.recorder.capture.queue import Capture
from workbench.recorder.events import ExchangeEnded, RequestBytes, RequestStarted, ResponseBytes, ResponseStarted
from workbench.wire import digests
from workbench.wire.digests import BodyDigest
from workbench.wire.exchange import Chunk, Exchange, Origin, State
from workbench.wire.redaction import Redactor
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import fsck, open_session

KEY = "sk-ant-api03-" + "Ab3_" * 20


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "live.wb"


def capturing(
    path: Path,
    *,
    hop: str = "",
    redactor: Redactor | None = None,
    trouble: Callable[[str], None] = lambda line: None,
    **bounds: int,
) -> Capture:
    epoch = time.time() - time.monotonic()
    keeper = Keeper(open_private(path), redactor or Redactor(), epoch=epoch, hop=hop, trouble=trouble)
    return Capture(keeper, **bounds)


def recorded(path: Path) -> list[Exchange]:
    session = open_session(path)
    try:
        assert not fsck(path).problems
        return list(exchanges_of(session))
    finally:
        session.close()


def test_an_exchange_stands_in_the_file_as_it_was_told(path: Path) -> None:
    before = time.time()
    capture = capturing(path, hop="before the gateway")
    head = asked(("User-Agent", "claude-cli/2.1.329 (external, cli)"), ("X-A", "1"), ("x-a", "2"))
    at = time.monotonic()
    play(capture, 1, (b'{"model"', b': "m"}'), (b"data: 1\n\n", b"data: 2\n\n"), head=head, at=at)
    tally = capture.close()
    (exchange,) = recorded(path)
    request, response = exchange.request, exchange.response
    assert request and response
    assert (request.method, request.url, request.http_version) == ("POST", URL, "HTTP/1.1")
    assert request.headers == head.headers
    assert request.body.raw == b'{"model": "m"}'
    assert [c.end for c in request.body.chunks] == [8, 14]
    assert (response.status, response.reason, response.body.raw) == (200, "OK", b"data: 1\n\ndata: 2\n\n")
    assert response.body.chunks == (Chunk(9, pytest.approx(0.5)), Chunk(18, pytest.approx(0.6)))
    assert (exchange.state, exchange.origin, exchange.hop) == (State.COMPLETE, Origin.RECORDED, "before the gateway")
    assert exchange.client == "Claude Code 2.1.329"
    assert exchange.started_at and before - 1 < exchange.started_at < time.time() + 1
    assert exchange.duration == pytest.approx(0.7)
    assert (tally.exchanges, tally.aborted, tally.lost) == (1, 0, 0)


def test_ids_are_unique_also_when_a_file_is_appended_to(path: Path) -> None:
    for _ in range(2):
        capture = capturing(path)
        for key in range(3):
            play(capture, key)
        capture.close()
    assert len({e.id for e in recorded(path)}) == 6


def test_the_file_is_its_owners_alone_and_one_file_in_the_end(path: Path) -> None:
    capture = capturing(path)
    play(capture, 1)
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    capture.close()
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_what_is_no_session_is_refused_and_kept(path: Path) -> None:
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(SessionFormatError):
        capturing(path)
    assert path.read_text(encoding="utf-8") == "precious"


def test_an_aborted_exchange_says_who_hung_up(path: Path) -> None:
    capture = capturing(path)
    play(capture, 1, state=State.ABORTED)
    assert capture.close().aborted == 1
    (exchange,) = recorded(path)
    assert (exchange.state, exchange.note) == (State.ABORTED, "the client disconnected")


def test_what_goes_on_at_the_end_is_kept_and_marked(path: Path) -> None:
    capture = capturing(path)
    capture.on_event(RequestStarted(1, 1.0, "default", asked()))
    capture.on_event(RequestBytes(1, 1.1, b'{"half": '))
    assert capture.close().incomplete == 1
    (exchange,) = recorded(path)
    assert exchange.request and exchange.request.body.raw == b'{"half": '
    assert exchange.response is None
    assert exchange.state is State.INCOMPLETE
    assert "stopped" in exchange.note


def test_no_key_reaches_the_file(path: Path) -> None:
    redactor = redactor_for({"MY_API_KEY": "opaque/credential=1", "HOME": "/home/somebody"}, b"salt")
    capture = capturing(path, redactor=redactor)
    head = asked(("authorization", f"Bearer {KEY}"))
    body = f'{{"say": "{KEY} and opaque/credential=1 in /home/somebody"}}\n'.encode()
    play(capture, 1, (body,), (body,), head=head)
    packed = gzip.compress(body)
    play(capture, 2, (packed,), (packed,), head=asked(("Content-Encoding", "gzip")),
         answer=answered(("Content-Encoding", "gzip")))  # fmt: skip
    capture.close()
    for exchange in recorded(path):
        for side in (exchange.request, exchange.response):
            assert side and b"Ab3_Ab3_" not in side.body.raw and b"opaque/credential" not in side.body.raw
            assert b"/home/somebody" in side.body.raw
    last = recorded(path)[1].response
    assert last and not last.body.is_raw
    assert last.body.original_digest == hashlib.sha256(packed).hexdigest()


def test_a_compressed_body_stays_compressed(path: Path) -> None:
    packed = gzip.compress(b"data: 1\n\n" * 99)
    capture = capturing(path)
    play(capture, 1, response=(packed[:20], packed[20:]), answer=answered(("Content-Encoding", "gzip")))
    capture.close()
    response = recorded(path)[0].response
    assert response and (response.body.raw, response.body.encoding, response.body.is_raw) == (packed, "gzip", True)


def test_a_body_beyond_the_cap_passes_and_the_recording_says_so(path: Path) -> None:
    capture = capturing(path, largest=25)
    play(capture, 1, response=[b"data: %d\n\n" % n for n in range(9)])
    assert capture.close().incomplete == 1
    (exchange,) = recorded(path)
    assert exchange.state is State.INCOMPLETE
    assert exchange.response
    body = exchange.response.body
    assert (body.raw, body.original_length, body.original_digest) == (b"data: 0\n\ndata: 1\n\n", 81, None)
    assert "63 more bytes" in body.note
    assert "not recorded completely" in exchange.note


class FullDisk:
    """Stands for the writer's file: nothing can be written until ``is_full`` is reset."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from workbench.wire.session.writer import SessionWriter

        self.is_full = True
        for name in ("append", "begin", "request", "answer", "grow", "finish"):
            monkeypatch.setattr(SessionWriter, name, self._checked(getattr(SessionWriter, name)))

    def _checked(self, method):  # type: ignore[no-untyped-def]
        def call(*words, **named):  # type: ignore[no-untyped-def]
            if self.is_full:
                raise sqlite3.OperationalError("database or disk is full")
            return method(*words, **named)

        return call


def test_a_full_disk_is_said_once_and_nothing_is_lost_when_it_passes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, lines = FullDisk(monkeypatch), queue.Queue[str]()
    monkeypatch.setattr("workbench.recorder.capture.queue.AGAIN", 0.01)
    capture = capturing(path, trouble=lines.put)
    for key in range(5):
        play(capture, key)
    assert "full" in lines.get()
    disk.is_full = False
    tally = capture.close()
    assert (tally.exchanges, tally.lost) == (5, 0)
    assert len(recorded(path)) == 5
    assert "again" in lines.get()
    assert lines.empty()


def test_a_disk_that_stays_full_costs_the_recording_and_bounded_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FullDisk(monkeypatch)
    lines = list[str]()
    capture = capturing(path, trouble=lines.append, max_memory=100_000)
    for key in range(200):
        play(capture, key, response=[b"x" * 1000] * 10)
    assert capture._held_memory() < 150_000
    tally = capture.close()
    assert (tally.exchanges, tally.lost) == (0, 200)
    assert len([line for line in lines if "full" in line]) == 1


def test_requests_that_were_not_recorded_are_named_by_the_next_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, lines = FullDisk(monkeypatch), queue.Queue[str]()
    monkeypatch.setattr("workbench.recorder.capture.queue.AGAIN", 0.01)
    capture = capturing(path, trouble=lines.put, max_memory=20_000)
    for key in range(30):
        play(capture, key)
    assert "full" in lines.get()
    disk.is_full = False
    assert "again" in lines.get()
    while capture._held_memory():
        os.sched_yield()
    play(capture, 99)
    capture.close()
    notes = [e.note for e in recorded(path) if "before this one" in e.note]
    assert notes == ["27 requests before this one were not recorded"]


def test_a_fault_of_ours_costs_one_exchange(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.wire.session.writer import SessionWriter

    append, lines = SessionWriter.append, list[str]()

    def fails(writer: SessionWriter, exchange: Exchange) -> int:
        if exchange.id.endswith("-1"):
            raise ZeroDivisionError("a bug")
        return append(writer, exchange)

    monkeypatch.setattr(SessionWriter, "append", fails)
    capture = capturing(path, trouble=lines.append)
    for key in range(3):
        play(capture, key)
    tally = capture.close()
    assert (tally.exchanges, tally.lost, len(recorded(path))) == (2, 1, 2)
    assert "ZeroDivisionError" in lines[0]


def test_what_is_over_is_handed_on_at_once_while_little_is_under_way(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.recorder.capture.queue.BATCH", 60.0)
    capture = capturing(path)
    play(capture, 1)
    while capture._held_memory():  # much sooner than in a minute
        os.sched_yield()
    assert len(recorded(path)) == 1
    capture.close()


def test_digests_are_of_what_passed_also_where_not_all_of_it_was_kept(path: Path) -> None:
    sent = hashlib.sha256(b"{}").hexdigest()
    passed = {"request": BodyDigest(sent, sent, 2, 2), "response": BodyDigest("b" * 64, "c" * 64, 9, 4)}
    capture = capturing(path, largest=4)
    capture.on_event(RequestStarted(1, 1.0, "default", asked()))
    capture.on_event(RequestBytes(1, 1.1, b"{}"))
    capture.on_event(ResponseStarted(1, 1.2, answered()))
    capture.on_event(ResponseBytes(1, 1.3, b"123456789"))
    capture.on_event(ExchangeEnded(1, 1.4, State.ABORTED, "the client disconnected", passed))
    capture.close()
    (exchange,) = recorded(path)
    assert exchange.response and exchange.response.body.raw == b""
    assert digests.read_digests(exchange) == passed


def test_a_file_that_is_removed_is_missed_once_and_what_it_held_is_lost(path: Path) -> None:
    lines = list[str]()
    capture = capturing(path, trouble=lines.append)
    play(capture, 1)
    while capture._held_memory():
        os.sched_yield()
    path.unlink()
    for key in (2, 3):
        play(capture, key)
    tally = capture.close()
    assert (tally.exchanges, tally.lost) == (0, 3)
    (line,) = lines
    assert "removed" in line and "traffic continues" in line
