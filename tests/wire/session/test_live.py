"""Session files while they are written: what a reader beside the writer sees, and what a writer that dies leaves."""

from __future__ import annotations

import itertools
import os
import select
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wire.session.processes import Process, writing
from workbench.wire.exchange import (
    Body,
    Chunk,
    Exchange,
    ExchangeKind,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    State,
)
from workbench.wire.jsontext import loads
from workbench.wire.session import Session, SqliteSession, exchanges_of, store, text
from workbench.wire.session.writer import SessionWriter, write

SSE = Headers((("content-type", "text/event-stream"),))
REQUEST = HttpRequest("POST", "http://h/v1/messages", body=Body(b'{"model": "m-1"}'))
HEAD = HttpResponse(200, SSE)


def whole(name: str, body: bytes = b"data: 1\n\ndata: 2\n\n", chunks: tuple[Chunk, ...] = ()) -> Exchange:
    return Exchange(name, REQUEST, HttpResponse(200, SSE, Body(body, chunks=chunks)))


@contextmanager
def opened(path: Path) -> Iterator[Session]:
    with closing(store.open_session(path)) as session:
        yield session


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.wb"


@pytest.fixture
def process(path: Path) -> Iterator[Process]:
    with writing(path, 1) as started:
        yield started[0]


def test_a_reader_sees_an_exchange_arrive_step_by_step(path: Path) -> None:
    with SessionWriter(path) as writer, opened(path) as session:
        assert (session.is_live, len(session), session.refresh()) == (True, 0, frozenset())

        seq = writer.begin(Exchange("e1", started_at=5.0))
        assert session.refresh() == {seq}
        assert session.exchange(seq) == Exchange("e1", state=State.OPEN, started_at=5.0)

        writer.request(seq, REQUEST)
        assert session.refresh() == {seq}
        row = session.summaries()[seq]
        assert (row.state, row.method, row.model, row.request_bytes) == (State.OPEN, "POST", "m-1", 16)

        writer.answer(seq, HttpResponse(200, SSE, Body(b"ab", chunks=(Chunk(2, 0.1),))))
        writer.grow(seq, b"cde", [Chunk(3, 0.2), Chunk(5, 0.3)])
        assert session.refresh() == {seq}
        assert session.exchange(seq).response == HttpResponse(
            200, SSE, Body(b"abcde", chunks=(Chunk(2, 0.1), Chunk(3, 0.2), Chunk(5, 0.3)))
        )
        writer.grow(seq, b"f", [Chunk(6, 0.4)])
        writer.grow(seq, b"", [])
        assert session.refresh() == {seq}
        assert session.summaries()[seq].response_bytes == 6
        assert session.exchange(seq).response.body.raw == b"abcdef"  # type: ignore[union-attr]
        assert session.refresh() == frozenset()

        done = whole("e1", b"abcdef")
        writer.finish(seq, done)
        assert session.refresh() == {seq}
        assert session.exchange(seq) == done
        assert session.summaries()[seq].state is State.COMPLETE
        assert session.refresh() == frozenset()


def test_exchanges_stand_in_order_of_their_requests_and_end_in_any(path: Path) -> None:
    with SessionWriter(path) as writer, opened(path) as session:
        one, two = (writer.begin(Exchange(name, REQUEST)) for name in ("e1", "e2"))
        for seq in (one, two):
            writer.answer(seq, HEAD)
        writer.grow(one, b"1", [Chunk(1, 0)])
        writer.grow(two, b"2", [Chunk(1, 0)])
        writer.finish(two, whole("e2", b"2"))
        writer.grow(one, b"1", [Chunk(2, 0)])
        assert session.refresh() == {0, 1}
        assert [e.state for e in exchanges_of(session)] == [State.OPEN, State.COMPLETE]
        assert [e.response.body.raw for e in exchanges_of(session) if e.response] == [b"11", b"2"]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.binary(min_size=1, max_size=50), max_size=12),
    st.lists(st.integers(0, 12), max_size=3),
    st.booleans(),
)
def test_a_body_that_grew_is_stored_as_one_that_came_whole(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], looks: list[int], is_read: bool
) -> None:
    folder = tmp_path_factory.mktemp("grown")
    body = b"".join(parts)
    with SessionWriter(folder / "a.wb") as writer, opened(folder / "a.wb") as session:
        seq = writer.begin(Exchange("e", REQUEST))
        writer.answer(seq, HEAD)
        for n, part in enumerate(parts):
            writer.grow(seq, part, [])
            if n in looks:
                session.refresh()
                if is_read:
                    assert session.exchange(0).response.body.raw == b"".join(parts[: n + 1])  # type: ignore[union-attr]
        writer.finish(seq, whole("e", body))
        writer.append(whole("again", body))
    write([whole("e", body), whole("again", body)], folder / "b.wb")
    with opened(folder / "a.wb") as one, opened(folder / "b.wb") as other:
        assert list(exchanges_of(one)) == list(exchanges_of(other))
    assert store.fsck(folder / "a.wb").problems == ()


def test_a_long_stream_in_small_pieces_is_written_and_followed_in_linear_time(path: Path) -> None:
    piece, count = b"x" * 50, 3000
    with SessionWriter(path) as writer, opened(path) as session:
        seq = writer.begin(Exchange("e", REQUEST))
        writer.answer(seq, HEAD)
        for n in range(count):
            writer.grow(seq, piece, [Chunk((n + 1) * len(piece), n / 100)])
            if n % 500 == 0:
                session.refresh()
                session.exchange(seq)
        written = path.with_name("s.wb-wal").stat().st_size
        session.refresh()
        assert len(session.exchange(seq).response.body.chunks) == count  # type: ignore[union-attr]
        assert written < 1200 * 16384  # checkpoints keep it at a thousand pages
        writer.finish(seq, whole("e", piece * count))
        assert session.refresh() == {seq}
    assert path.stat().st_size < len(piece) * count * 3


def test_a_writer_that_is_killed_leaves_whole_what_was_whole_and_the_rest_as_far_as_it_came(
    path: Path, process: Process
) -> None:
    process.do("w.append(Exchange('e0', HttpRequest(body=Body(b'{}'))))")
    process.do("w.begin(Exchange('e1', HttpRequest(body=Body(b'{}'))))")
    process.do("w.answer(1, HttpResponse(200))")
    process.do("w.grow(1, b'data: 1', [Chunk(7, 0.5)])")
    with opened(path) as session:
        assert session.is_live
        assert [s.state for s in session.summaries()] == [State.COMPLETE, State.OPEN]
        process.kill()
        assert session.refresh() == {1}
        assert not session.is_live
        assert session.refresh() == frozenset()
        assert [s.state for s in session.summaries()] == [State.COMPLETE, State.INCOMPLETE]
        left = session.exchange(1)
        assert left.state is State.INCOMPLETE
        assert left.response and left.response.body == Body(b"data: 1", chunks=(Chunk(7, 0.5),))
    report = store.fsck(path)
    assert (report.problems, report.is_live, report.exchanges) == ((), False, 2)
    with SessionWriter(path) as writer:
        assert writer.append(Exchange("e2")) == 2
    with opened(path) as session:
        assert session.exchange(1) == left
        assert [s.state for s in session.summaries()] == [State.COMPLETE, State.INCOMPLETE, State.COMPLETE]
    assert store.fsck(path).problems == ()


def test_a_zombie_does_not_write(path: Path, process: Process) -> None:
    process.do("w.append(Exchange('e0'))")
    with opened(path) as session:
        process.run.kill()
        os.waitid(os.P_PID, process.run.pid, os.WEXITED | os.WNOWAIT)  # dead, and nobody has asked for it yet
        session.refresh()
        assert not session.is_live


def test_a_session_opened_before_anybody_writes_follows_whoever_comes(path: Path) -> None:
    write([whole("e0")], path)
    with opened(path) as session:
        assert (session.is_live, session.refresh()) == (False, frozenset())
        for round_ in (1, 2):
            with SessionWriter(path) as writer:
                assert session.refresh() == frozenset()
                assert session.is_live
                seq = writer.begin(Exchange(f"e{round_}", REQUEST))
                assert session.refresh() == {seq}
                writer.finish(seq, whole(f"e{round_}"))
            assert session.refresh() == {seq}
            assert not session.is_live
            assert session.exchange(seq) == whole(f"e{round_}")


def test_of_many_open_exchanges_only_those_that_changed_are_read_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SessionWriter(path)) as writer, opened(path) as session:
        places = [writer.begin(whole(f"e{n}")) for n in range(9)]
        session.refresh()
        session.refresh()
        looked_at = list[int]()
        real = SqliteSession._known_row
        monkeypatch.setattr(SqliteSession, "_known_row", lambda self, seq: (looked_at.append(seq), real(self, seq))[1])
        writer.grow(places[3], b"data: 3\n\n", ())
        assert session.refresh() == {3}
        writer.finish(places[5], whole("e5"))
        assert session.refresh() == {5}
        assert looked_at == [places[3], places[5]]
        assert session.refresh() == frozenset()


def test_a_session_written_and_closed_between_two_looks_is_followed(path: Path) -> None:
    write([whole("e0")], path)
    with opened(path) as session:
        with SessionWriter(path) as writer:
            writer.append(whole("e1", b"other"))
        assert session.refresh() == {1}
        assert session.exchange(1) == whole("e1", b"other")


def test_an_empty_session_is_live_before_the_first_exchange(path: Path, process: Process) -> None:
    with opened(path) as session:
        assert (session.is_live, len(session)) == (True, 0)
        process.do("w.say({'url': 'http://127.0.0.1:1'}); w.append(Exchange('e0'))")
        assert session.refresh() == {0}
        assert session.about == {"url": "http://127.0.0.1:1"}


def test_a_reader_that_looks_lets_the_writer_leave_one_single_file(path: Path, process: Process) -> None:
    process.do("w.append(Exchange('e0'))")
    with opened(path) as session:
        process.say("w.close()")
        while not select.select([process.run.stdout], [], [], 0.01)[0]:
            session.refresh()
        process.heard("done")
        session.refresh()
        assert session.exchange(0) == Exchange("e0")
        assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_reader_that_never_looks_does_not_hold_the_writer_up(path: Path) -> None:
    with opened_after(SessionWriter(path)) as session:
        assert session.summaries() == ()
        session.refresh()
        assert session.exchange(0) == whole("e0")
    with SessionWriter(path):
        pass
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@contextmanager
def opened_after(writer: SessionWriter) -> Iterator[Session]:
    """A session that was opened before its writer wrote and left."""
    with opened(writer.path) as session:
        with writer:
            writer.append(whole("e0"))
        yield session


def test_a_copy_of_a_live_file_is_not_live(path: Path) -> None:
    copy = path.with_name("copy.wb")
    with SessionWriter(path) as writer:
        writer.begin(Exchange("e0", REQUEST))
        writer._db.execute("PRAGMA wal_checkpoint")
        copy.write_bytes(path.read_bytes())
        with opened(copy) as session:
            assert not session.is_live
            assert session.summaries()[0].state is State.INCOMPLETE
        SessionWriter(copy).close()


def test_fsck_proves_a_live_file_and_says_that_it_is_written(path: Path) -> None:
    with SessionWriter(path) as writer:
        seq = writer.begin(Exchange("e0", REQUEST))
        writer.answer(seq, HEAD)
        writer.grow(seq, b"x", [Chunk(1, 0)])
        report = store.fsck(path)
        assert (report.problems, report.is_live, report.exchanges) == ((), True, 1)


@pytest.mark.parametrize("form", [".jsonl", ".wb"])
def test_a_copy_of_an_open_exchange_is_incomplete(form: str, path: Path) -> None:
    copy = path.with_name(f"copy{form}")
    with SessionWriter(path) as writer:
        writer.begin(Exchange("e0", REQUEST))
        with opened(path) as session:
            store.save(exchanges_of(session), copy)
            assert text.load(loads(text.dump(session.exchange(0)).encode())).state is State.INCOMPLETE
    with opened(copy) as session:
        assert session.exchange(0).state is State.INCOMPLETE


def test_a_file_put_in_the_place_of_an_open_one_is_another_session(path: Path) -> None:
    write([whole("e0")], path)
    other = path.with_name("other")
    write([whole("x1"), whole("x2")], other)
    with opened(path) as session:
        os.replace(other, path)
        assert session.refresh() == frozenset()
        path.unlink()
        assert session.refresh() == frozenset()
        assert session.exchange(0) == whole("e0")


def test_frames_of_an_open_socket_are_put_in_when_it_ends(path: Path) -> None:
    socket = Exchange("e", REQUEST, kind=ExchangeKind.WEBSOCKET, frames=(Frame("sent", "text", b"a", 0.1),))
    with SessionWriter(path) as writer, opened(path) as session:
        seq = writer.begin(socket)
        writer.finish(seq, socket)
        assert session.refresh() == {seq}
        assert session.exchange(seq) == socket


def test_frames_of_an_open_socket_are_read_as_they_come(path: Path) -> None:
    frames = tuple(Frame("received", "text", b"%d" % n, n / 10) for n in range(5))
    with SessionWriter(path) as writer, opened(path) as session:
        seq = writer.begin(Exchange("e", REQUEST))
        assert session.refresh() == {seq}
        for n, frame in enumerate(frames):
            writer.add_frames(seq, n, [frame], {"turns": n})
            assert session.refresh() == {seq} and session.refresh() == frozenset()
            open_socket = session.exchange(seq)
            assert (open_socket.frames, open_socket.meta["turns"]) == (frames[: n + 1], n)
            assert (open_socket.state, open_socket.kind) == (State.OPEN, ExchangeKind.WEBSOCKET)
        assert list(writer.read_frames(seq)) == [*frames]
        writer.finish(seq, Exchange("e", REQUEST, kind=ExchangeKind.WEBSOCKET), keeps_frames=True)
        assert session.refresh() == {seq} and session.exchange(seq).frames == frames


def test_a_side_file_may_vanish_while_it_is_looked_at(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write([whole("e0")], path)
    looks, stat = itertools.count(), os.stat

    def there_and_gone(name: Any, **options: Any) -> os.stat_result:
        if str(name).endswith("-wal") and next(looks) % 2:
            raise FileNotFoundError(name)
        return stat(path if str(name).endswith("-wal") else name, **options)

    monkeypatch.setattr(os, "stat", there_and_gone)
    for _ in range(4):
        with opened(path) as session:
            assert session.refresh() <= {0}
