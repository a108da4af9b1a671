"""Several writers of one session: each goes on with its own exchanges, and the end of one is no end for the others."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wire.session.processes import writing
from workbench.errors import SessionFormatError
from workbench.wire.exchange import Body, Chunk, Exchange, HttpRequest, HttpResponse, State
from workbench.wire.session import exchanges_of, store
from workbench.wire.session.sqlite import SqliteSession
from workbench.wire.session.writer import SessionWriter

REQUEST = HttpRequest("POST", "http://h/v1/messages", body=Body(b'{"model": "m-1"}'))
OPEN, COMPLETE, INCOMPLETE = State.OPEN, State.COMPLETE, State.INCOMPLETE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.wb"


def states(session: SqliteSession) -> dict[str, State]:
    return {row.id: row.state for row in session.summaries()}


def test_two_processes_write_at_once_and_the_last_one_leaves_one_file(path: Path) -> None:
    with writing(path, 2) as (before, behind):
        for name, process in (("before", before), ("behind", behind)):
            process.say(
                f"p = '{name}'; w.announce({{'urls': p}})\n"
                "for n in range(100): s = w.begin(Exchange(f'{p}-{n}', hop=p)); w.answer(s, HttpResponse());"
                " w.grow(s, p.encode(), []); n == 99 or w.finish(s, Exchange(f'{p}-{n}', hop=p))"
            )
        for process in (before, behind, before, behind):
            process.heard("done")
        with closing(SqliteSession(path)) as session:
            assert set(session.about["urls"].split(" · ")) == {"before", "behind"}
            assert (session.is_live, len(session.writers), len(session)) == (True, 2, 200)
            going = [e for e in exchanges_of(session) if e.state is OPEN]
            assert {e.id: e.response and e.response.body.raw for e in going} == {
                "before-99": b"before",
                "behind-99": b"behind",
            }
            assert store.fsck(path).writers == 2
            assert states(session)["before-99"] is OPEN

            before.do("w.close()")
            assert session.refresh() == {n for n, e in enumerate(exchanges_of(session)) if e.id == "before-99"}
            assert (session.is_live, session.about) == (True, {"urls": "behind"})
            assert states(session)["before-99"] is INCOMPLETE and states(session)["behind-99"] is OPEN
        behind.do("w.finish(s, Exchange('behind-99')); w.close()")
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    with closing(SqliteSession(path)) as session:
        assert (session.is_live, session.about) == (False, {})
        assert len(session) == 200 and OPEN not in states(session).values()
    assert (store.fsck(path).problems, store.fsck(path).writers) == ((), 0)


def test_the_death_of_one_ends_its_exchanges_and_harms_no_other(path: Path) -> None:
    with writing(path, 2) as (killed, other), closing(SqliteSession(path)) as session:
        for name, process in (("k", killed), ("o", other)):
            process.do(
                f"s = w.begin(Exchange('{name}')); w.answer(s, HttpResponse()); w.grow(s, b'1', [Chunk(1, 0.1)])"
            )
        session.refresh()
        assert states(session) == {"k": OPEN, "o": OPEN}
        killed.kill()
        assert session.refresh() == {0}  # nobody has written since
        assert session.is_live
        assert states(session) == {"k": INCOMPLETE, "o": OPEN}
        left = session.exchange(0)
        assert left.response and left.response.body == Body(b"1", chunks=(Chunk(1, 0.1),))

        with SessionWriter(path) as third:
            third.append(Exchange("t"))
            with closing(SqliteSession(path)) as again:
                assert states(again) == {"k": INCOMPLETE, "o": OPEN, "t": COMPLETE}
                assert again.exchange(0) == left
        other.do("w.grow(s, b'2', [Chunk(2, 0.2)])")
        session.refresh()
        going = session.exchange(1)
        assert going.state is OPEN and going.response and going.response.body.raw == b"12"
        session.close()
        other.do("w.finish(s, Exchange('o')); w.close()")
    with closing(SqliteSession(path)) as session:
        assert states(session) == {"k": INCOMPLETE, "o": COMPLETE, "t": COMPLETE}
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.binary(min_size=1, max_size=9)), max_size=25), st.permutations(range(3))
)
def test_in_whatever_order_they_write_each_exchange_is_what_its_writer_made_of_it(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, bytes]], leaving: list[int]
) -> None:
    """Each writer grows an exchange with every step, and finishes it with every third."""
    path = tmp_path_factory.mktemp("several") / "s.wb"
    several, going, wanted, names = (
        [SessionWriter(path) for _ in range(3)],
        dict[int, int](),
        dict[str, bytes](),
        count(),
    )
    mine: dict[int, tuple[str, bytes]] = {}
    with closing(SqliteSession(path)) as session:
        for who, data in steps:
            writer = several[who]
            if who not in going:
                name = str(next(names))
                mine[who] = name, b""
                going[who] = writer.begin(Exchange(name, REQUEST))
                writer.answer(going[who], HttpResponse())
            name, body = mine[who]
            mine[who] = name, body + data
            wanted[name] = body + data
            writer.grow(going[who], data, [])
            if len(body) > 12:
                writer.finish(going.pop(who), Exchange(name, REQUEST, HttpResponse(body=Body(body + data))))
            session.refresh()
            assert {e.id: e.response.body.raw for e in exchanges_of(session) if e.response} == wanted
    for who in leaving:
        several[who].close()
    with closing(SqliteSession(path)) as session:
        assert {e.id: e.response.body.raw for e in exchanges_of(session) if e.response} == wanted
        assert OPEN not in states(session).values()
    assert store.fsck(path).problems == ()
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_who_wants_to_write_alone_is_refused_where_somebody_writes(path: Path) -> None:
    with SessionWriter(path), pytest.raises(SessionFormatError, match="another process is writing it"):
        SessionWriter(path, alone=True)
    SessionWriter(path, alone=True).close()


def test_a_file_of_a_version_that_knew_one_writer_is_taken_over(path: Path) -> None:
    with SessionWriter(path) as writer:
        writer.append(Exchange("done"))
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE exchange SET state = 'open'")
        db.execute("INSERT INTO meta VALUES ('writer', '1 1')")
        db.commit()
    with closing(SqliteSession(path)) as session:
        assert (session.is_live, states(session)) == (False, {"done": INCOMPLETE})
    with SessionWriter(path), closing(SqliteSession(path)) as session:
        assert (session.is_live, states(session)) == (True, {"done": INCOMPLETE})


def test_a_session_keeps_its_identity(path: Path) -> None:
    with SessionWriter(path) as one, SessionWriter(path) as other:
        known = one.identity()
        assert other.identity() == known
    with SessionWriter(path) as later, SessionWriter(path.with_name("other.wb")) as stranger:
        assert later.identity() == known != stranger.identity()
