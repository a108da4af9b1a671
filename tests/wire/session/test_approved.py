"""What a reader sees and says of a recording: while it grows, and with an odd value in each of its columns."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from zlib import crc32

from tests.wire.session.test_hostile_recordings import inside
from tests.wire.session.test_store import EVERY
from workbench.errors import SessionFormatError
from workbench.wire.exchange import Body, Chunk, Exchange, ExchangeKind, HttpRequest, HttpResponse, Origin, State
from workbench.wire.session import exchanges_of, pieces, store, text, writer
from workbench.wire.session.file_replacement import ReplacingSession
from workbench.wire.session.identity import Former, file_name, former_ids, session_id, valid_id

Hold = Callable[[str, Iterable[str]], None]
ID = "0123456789abcdef" * 2
ODD: tuple[object, ...] = (None, -1, 2**40, 1.5, "x", '{"version": 1}', b"\xff\xfe")


def mark(*seen: object) -> str:
    return f"{crc32(repr(seen).encode('utf-8', 'surrogatepass')):08x}"


def use(path: Path) -> str:
    """What is said of a file, and a digest of what is seen; what SQLite itself proves is counted, and not worded."""
    try:
        with closing(store.open_session(path)) as session:
            rows, exchanges = session.summaries(), list(exchanges_of(session))
            damage = [*session.damage, *(line for exchange in exchanges for line in exchange.damage)]
            seen = mark(rows, exchanges, session.id, session.about, session.refresh())
        found = store.fsck(path)
    except SessionFormatError as error:
        return f"{error.what} | {str(error.where).replace(str(path), 'FILE')} | {error.hint}"
    said = list(dict.fromkeys(line for line in (*damage, *found.problems) if not line.startswith("SQLite")))
    said = [re.sub(r"not JSON: .*?;", "not JSON;", line) for line in said]
    proved = sum(line.startswith("SQLite") for line in found.problems)
    return f"{seen} {found.format} {found.version} {found.exchanges} {said} {proved}"


def columns(path: Path) -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            yield from ((table, row[1]) for row in db.execute(f"PRAGMA table_info({table})").fetchall())


def test_odd_values(approved: Hold, tmp_path: Path) -> None:
    """Each value in each column of every row, so far as the table takes it."""
    whole, copy = tmp_path / "a.wb", tmp_path / "b.wb"
    writer.write(EVERY, whole, {"story": "told", "n": "é"}, ID)
    rows = [f"whole: {use(whole)}", f"empty: {tried(tmp_path / 'c.wb', b'')}"]
    for table, column in columns(whole):
        for value in ODD:
            shutil.copy(whole, copy)
            with inside(copy) as db:
                db.execute("PRAGMA synchronous = OFF")
                with suppress(sqlite3.Error):
                    db.execute(f"UPDATE OR FAIL {table} SET {column} = ?", (value,))
            rows.append(f"{table}.{column} {value!r}: {use(copy)}")
    data = whole.read_bytes()
    for size in (1, 15, 16, 17, 99, 100, 4096, 16384, len(data) // 2, len(data) - 1):
        rows.append(f"{size} bytes: {tried(tmp_path / 'd.wb', data[:size])}")
    for size in (0, 1, 512, 65535):
        head = data[:16] + size.to_bytes(2, "big") + data[18:]
        rows.append(f"pages of {size}: {tried(tmp_path / 'd.wb', head)}")
    for version in ("", "0", "1", "2", "3", "02", "x", "1234567890"):
        shutil.copy(whole, copy)
        with inside(copy) as db:
            db.execute("UPDATE meta SET value = ? WHERE key = 'version'", (version,))
        rows.append(f"version {version!r}: {use(copy)}")
    for made in ("CREATE TABLE other (a)", "CREATE VIEW v AS SELECT 1", "DROP TABLE meta", "DROP TABLE frame"):
        shutil.copy(whole, copy)
        with inside(copy) as db:
            db.execute(made)
        rows.append(f"{made}: {use(copy)}")
    approved("odd_values", rows)


def tried(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return use(path)


REQUEST = HttpRequest("POST", "https://x.example/v1", body=Body(b'{"model": "m", "messages": []}'))
ANSWER = HttpResponse(200, body=Body(b"ab", chunks=(Chunk(2, 0.5),)))


def test_a_recording_that_grows(approved: Hold, tmp_path: Path) -> None:
    """After each call of the writer: the list, the exchanges, and which of them a reader is told to look at again."""
    path, rows = tmp_path / "a.wb", list[str]()
    with writer.SessionWriter(path, id=ID) as writing, closing(store.open_session(path)) as session:

        def look(after: str) -> None:
            changed = sorted(session.refresh())
            known = [
                f"{s.index} {s.state} {s.status} {s.request_bytes} {s.response_bytes}" for s in session.summaries()
            ]
            rows.append(f"{after}: {changed} {known} {mark(list(exchanges_of(session)), dict(session.about))}")

        look("nothing")
        writing.say({"story": "s"})
        look("said")
        first = writing.begin(Exchange("e1", origin=Origin.RECORDED, started_at=1.5, hop="h", client="c"))
        look("begun")
        writing.request(first, REQUEST)
        look("asked")
        writing.answer(first, ANSWER)
        look("answered")
        for n in range(3):
            writing.grow(first, bytes([99 + n]) * n, (Chunk(2 + n, 0.5 + n),))
            look(f"grown by {n}")
        second = writing.append(
            Exchange("e2", REQUEST, kind=ExchangeKind.WEBSOCKET, state=State.ABORTED, note="n", branch="b")
        )
        look(f"appended {second}")
        answer = replace(ANSWER, body=Body(b"abddee"))
        writing.finish(first, Exchange("e1", REQUEST, answer, origin=Origin.RECORDED, started_at=1.5, duration=2.5))
        look("finished")
        writing.begin(Exchange("e3", REQUEST))
        look("another")
        rows.append(f"{writing.identity() == ID} {session.is_live} {store.form_of(session)} {len(session)}")
    rows.append(f"left: {use(path)}")
    approved("growth", rows)


def test_names_and_copies(approved: Hold, tmp_path: Path) -> None:
    rows = [f"{value!r:.30}: {valid_id(value)!r:.30}" for value in ("a", "", "é", "a\n", "x" * 200, "x" * 201, 5, None)]
    rows += [f"{name}: {file_name(name)}" for name in (ID, ID[:-1], ID.upper(), "a/b", "é")]
    for form in (store.TEXT, store.RECORDING):
        path = tmp_path / form
        written = store.save(EVERY, path, form=form, about={"a": "b"})
        with closing(store.open_session(path)) as session:
            rows.append(f"{form}: {written.exchanges} {written.redactions} {written.damage} {store.form_of(session)}")
            copied = store.save([*exchanges_of(session)] * 2, tmp_path / f"{form}2.jsonl")
            twice = text.read((tmp_path / f"{form}2.jsonl").read_bytes(), "x").exchanges
            rows.append(f"{form}, twice: {copied.exchanges} {[exchange.id for exchange in twice]}")
    for data in (b'{"workbench": "session", "version": 1}\n', b'{"workbench": "session", "version": 2, "id": "i"}\n'):
        for exchange in (None, *EVERY[:3], Exchange("0a1b2c3d-x", REQUEST, ANSWER, started_at=1.5)):
            lines = data + (text.dump(exchange).encode() if exchange else b"")
            session = text.read(lines, "x")
            former = [Former(*one) for one in former_ids(session)]
            rows.append(f"{session_id(session)} {store.copied_id(session)} {former}")
            if exchange:
                other = ReplacingSession(session, 0, Exchange("new", REQUEST))
                rows.append(
                    mark(other.id, other.name, other.summaries(), other.exchange(0), other.refresh(), len(other))
                )
    approved("names", rows)


def test_pieces(approved: Hold) -> None:
    """Lists of numbers and cuts of bodies, with every byte changed."""
    ids, chunks = [5, 7, 7, 1000, 3], (Chunk(5, 0.25), Chunk(9, 1.5))
    rows = []
    for name, unpack, packed in (
        ("ids", pieces.unpack_ids, pieces.pack_ids(ids)),
        ("chunks", pieces.unpack_chunks, pieces.pack_chunks(chunks, is_brief=True)),
    ):
        for n in range(len(packed)):
            for data in (packed[:n], packed[:n] + bytes([packed[n] ^ 128]) + packed[n + 1 :]):
                try:
                    rows.append(f"{name} {n}: {unpack(data)}")
                except SessionFormatError as error:
                    rows.append(f"{name} {n}: {error}".split("(")[0])
    messages = b", ".join(b'{"role": "user", "content": "%d"}' % n for n in range(200))
    for body in (b"", b"{}", b'{"messages": [%s], "tools": [1, [2]]}' % messages, b'[{"messages": [%s]}]' % messages,
                 b' {"input": {"a": 1}, "system": [%s]}' % messages, b'{"a": "%s"}' % (b"x" * 5000)):  # fmt: skip
        cut = pieces.cut(pieces.JsonIndex(body))
        rows.append(f"{body[:20]!r}: {len(cut)} {b''.join(cut) == body} {mark(cut)}")
    rows += [f"{data[:9]!r}: {len(pieces.compress(data)) < len(data)}" for data in (b"", b"x" * 32, b"x" * 33)]
    approved("pieces", rows)
