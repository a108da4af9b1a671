"""Recordings of others are hostile: refused in one line, or opened with what is whole, and always soon."""

from __future__ import annotations

import itertools
import os
import random
import re
import sqlite3
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
import zstandard

from tests.wire.session.test_store import EVERY
from workbench.errors import SessionFormatError
from workbench.limits import MAX_STORED_BODY, MAX_STORED_NUMBERS
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Chunk, Exchange, ExchangeKind, Frame, HttpRequest, HttpResponse
from workbench.wire.session import exchanges_of, pieces, store, text, writer

FUZZ = int(os.environ.get("WORKBENCH_FUZZ", "1"))
"""Times as many inputs as are tried on every run."""

GIANT = 3_000_000_000
ODD: Sequence[object] = (
    None, -1, 0, 1, 2**31, 2**62, 2**63 - 1, -(2**63), 1.5, 9e999, -9e999, "", "x", "1", "[]", "{}", "null",
    "[[1]]", '{"headers": 3}', "9" * 5000, b"", b"\xff\xfe", b"\x00" * 9, b"{}", b"[1]", "\x1b]52;c;x\x07",
)  # fmt: skip


def recorded(path: Path, exchanges: Sequence[Exchange] = EVERY) -> Path:
    writer.write(exchanges, path, {"story": "told"})
    return path


@contextmanager
def inside(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, open to somebody who keeps to no rule."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("PRAGMA ignore_check_constraints = ON")
        yield db
    path.with_name(path.name + "-wal").unlink(missing_ok=True)


def use(path: Path) -> Sequence[str]:
    """Everything that opens, lists, reads, decodes and proves it; the damage that is named."""
    with closing(store.open_session(path)) as session:
        session.summaries()
        for index, exchange in enumerate(exchanges_of(session)):
            DecodedExchange(index, exchange)
        damage = [*session.damage, *(line for exchange in exchanges_of(session) for line in exchange.damage)]
        session.refresh()
    return [*damage, *store.fsck(path).problems]


def remade(table: str, made: str) -> Callable[[sqlite3.Connection], None]:
    def change(db: sqlite3.Connection) -> None:
        db.execute(f"DROP TABLE {table}")
        db.execute(made)

    return change


def renamed(kind: str, made: str) -> Callable[[sqlite3.Connection], None]:
    return lambda db: (db.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (made, kind)), None)[1]


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
CHANGED: dict[str, Callable[[sqlite3.Connection], object]] = {
    "an endless view of exchanges": remade("exchange", f"CREATE VIEW exchange AS {ENDLESS} SELECT i AS seq FROM n"),
    "an endless view of meta": remade(
        "meta", f"CREATE VIEW meta AS {ENDLESS} SELECT CAST(i AS TEXT) AS key, 'x' AS value FROM n"
    ),
    "a trigger": lambda db: db.execute("CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM exchange; END"),
    "a further table": lambda db: db.execute("CREATE TABLE more (a)"),
    "an index of its own": lambda db: db.execute("CREATE INDEX i ON exchange (abs(seq))"),
    "a partial index": lambda db: db.execute("CREATE INDEX i ON exchange (state) WHERE state > 'a'"),
    "a generated column": lambda db: db.execute("ALTER TABLE exchange ADD COLUMN made AS (randomblob(900000000))"),
    "a virtual table": lambda db: db.execute("CREATE VIRTUAL TABLE body2 USING fts5(a)"),
    "another column": lambda db: db.execute("ALTER TABLE piece ADD COLUMN more TEXT DEFAULT 'x'"),
    "a default that is code": renamed(
        "meta", "CREATE TABLE meta (key TEXT PRIMARY KEY, value DEFAULT (randomblob(9)))"
    ),
    "a schema that is none": renamed("exchange", "CREATE TABLE exchange AS SELECT"),
    "a schema that is a number": lambda db: db.execute("UPDATE sqlite_master SET sql = 7 WHERE name = 'body'"),
    "no tables": lambda db: [db.execute(f"DROP TABLE {name}") for name in ("exchange", "piece", "body", "side")],
    "no meta": lambda db: db.execute("DROP TABLE meta"),
    "a version of thousands of digits": lambda db: db.execute(
        "UPDATE meta SET value = ? WHERE key = 'version'", ("9" * 5000,)
    ),
    "a negative version": lambda db: db.execute("UPDATE meta SET value = '-1' WHERE key = 'version'"),
    "version zero": lambda db: db.execute("UPDATE meta SET value = '0' WHERE key = 'version'"),
    "a version that is bytes": lambda db: db.execute("UPDATE meta SET value = x'ff' WHERE key = 'version'"),
    "a version of other digits": lambda db: db.execute("UPDATE meta SET value = '\u0661' WHERE key = 'version'"),
    "a version that is not UTF-8": lambda db: db.execute(
        "UPDATE meta SET value = CAST(x'31ff' AS TEXT) WHERE key = 'version'"
    ),
    "a format that is a number": lambda db: db.execute("UPDATE meta SET value = 1 WHERE key = 'format'"),
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
def test_what_is_not_our_schema_is_refused_in_one_line(
    change: Callable[[sqlite3.Connection], object], tmp_path: Path
) -> None:
    path = recorded(tmp_path / "a.wb")
    with inside(path) as db:
        change(db)
    kept = path.read_bytes()
    for attempt in (store.open_session, store.fsck, writer.SessionWriter):
        with pytest.raises(SessionFormatError) as refused:
            attempt(path)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 500
    assert path.read_bytes() == kept, "a file that is refused is not written to"


@pytest.mark.parametrize("value", ["-1", "false", "0", "1.0", "null", '"1"', "9" * 4200, "[1]"])
def test_a_text_session_of_no_version_is_refused(value: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"workbench": "session", "version": {value}}}\n{{"id": "a"}}\n')
    with pytest.raises(SessionFormatError) as refused:
        store.open_session(path)
    assert len(str(refused.value)) < 300


def frame_of(size: int) -> bytes:
    """A frame that says, truly, that it holds so many zeros."""
    packer = zstandard.ZstdCompressor(level=1).compressobj(size=size)
    step = bytes(16 * 1024 * 1024)
    whole, rest = divmod(size, len(step))
    return b"".join([*(packer.compress(step) for _ in range(whole)), packer.compress(step[:rest]), packer.flush()])


@pytest.fixture(scope="module")
def bomb() -> bytes:
    return frame_of(GIANT // 10)


@pytest.mark.parametrize("said", [1000, GIANT // 10, GIANT, 2**62])
def test_a_piece_is_as_large_as_it_says_or_it_is_left_out(said: int, bomb: bytes) -> None:
    assert GIANT // 10 > MAX_STORED_BODY
    with pytest.raises(SessionFormatError, match="a piece"):
        pieces.expand(bomb, said)


def test_a_frame_without_a_size_stops_at_the_stored_one() -> None:
    frame = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(10_000_000))
    with pytest.raises(SessionFormatError):
        pieces.expand(frame, 1000)


@pytest.mark.parametrize("unpack", [pieces.unpack_ids, pieces.unpack_chunks])
def test_a_list_of_numbers_is_no_bomb(unpack: Callable[[bytes], object], bomb: bytes) -> None:
    for data in (
        struct.pack("<I", GIANT // 10) + bomb,
        struct.pack("<I", 1000) + bomb,
        struct.pack("<I", 4) + b"\xff\xff\xff\xff",
        struct.pack("<I", 20) + struct.pack("<I", 2**32 - 1) + bytes(16),
        b"\x00" * 8,
        b"\x01",
        struct.pack("<I", MAX_STORED_NUMBERS + 4) + bytes(100),
    ):
        with pytest.raises(SessionFormatError):
            unpack(data)


@pytest.mark.parametrize("at", [float("inf"), float("nan"), 1e300])
def test_a_chunk_comes_at_a_time(at: float) -> None:
    with pytest.raises(SessionFormatError):
        pieces.unpack_chunks(pieces.pack_chunks([Chunk(1, 0.5), Chunk(2, at)]))


def test_one_piece_repeated_is_no_larger_body_than_the_file_says(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.wb", [Exchange("a", HttpRequest(body=Body(b"x" * 1_000_000)))])
    for size in (1_000_000, 10**12):
        with inside(path) as db:
            db.execute("UPDATE body SET pieces = ?, size = ?", (pieces.pack_ids([2] * 1_000_000), size))
        assert "body 1" in " ".join(use(path))


def test_messages_that_share_one_body_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.wire.session.sqlite.MAX_STORED_FRAMES", 5_000)
    frames = tuple(Frame("sent", "text", b"x" * 1000) for _ in range(6))
    path = recorded(
        tmp_path / "a.wb", [Exchange("a", HttpRequest("GET", "/"), kind=ExchangeKind.WEBSOCKET, frames=frames)]
    )
    with closing(store.open_session(path)) as session:
        assert session.exchange(0).damage == ("frames are damaged: the bodies exceed 5,000 bytes in total",)


def test_a_damaged_page_of_messages_leaves_those_of_other_exchanges(tmp_path: Path) -> None:
    frames = (Frame("sent", "text", b"{}"),) * 700
    talk = [Exchange(name, HttpRequest("GET", "/"), kind=ExchangeKind.WEBSOCKET, frames=frames) for name in "ab"]
    path = recorded(tmp_path / "a.wb", [talk[0], Exchange("c", HttpRequest("GET", "/")), talk[1]])
    with inside(path) as db:
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'frame'").fetchone()[0]
    data = bytearray(path.read_bytes())
    size = struct.unpack_from(">H", data, 16)[0]
    top = (root - 1) * size
    leaf = struct.unpack_from(">I", data, top + struct.unpack_from(">H", data, top + 12)[0])[0]
    data[(leaf - 1) * size] = 255
    path.write_bytes(bytes(data))
    with closing(store.open_session(path)) as session:
        assert [bool(each.damage) for each in exchanges_of(session)] == [True, False, False]


def test_a_list_of_single_numbers_is_one_piece(tmp_path: Path) -> None:
    body = b'{"input": [' + b", ".join(b"%d" % n for n in range(110_000)) + b"]}"
    path = recorded(tmp_path / "a.wb", [Exchange("a", HttpRequest(body=Body(body)))])
    with inside(path) as db:
        assert db.execute("SELECT count(*) FROM piece").fetchone()[0] < 10
    assert use(path) == []


def woven(path: Path, table: str, levels: int = 12, fan: int = 200) -> None:
    """Make the pages of a table point at one another: few pages, and rows without end."""
    data = bytearray(path.read_bytes())
    size = struct.unpack_from(">H", data, 16)[0]
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    start = (root - 1) * size
    first = len(data) // size + 1
    leaf = bytes(data[start : start + size])
    pages = [root, *range(first, first + levels)]
    for page, below in itertools.pairwise(pages):
        cells = [struct.pack(">I", below) + bytes([0x80 | (n >> 7), n & 0x7F]) for n in range(1, fan)]
        at = size - 6 * len(cells)
        head = struct.pack(">BHHHBI", 5, 0, len(cells), at, 0, below)
        heads = head + b"".join(struct.pack(">H", at + 6 * n) for n in range(len(cells)))
        made = heads.ljust(at, b"\0") + b"".join(cells)
        data[(page - 1) * size : page * size] = made
    data[(pages[-1] - 1) * size : pages[-1] * size] = leaf
    struct.pack_into(">I", data, 28, len(data) // size)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("table", ["exchange", "piece", "body", "growth"])
def test_pages_that_point_at_one_another_end(table: str, tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.wb")
    woven(path, table)
    assert use(path)


def test_a_recording_that_never_ends_is_not_written_on(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.wb")
    woven(path, "exchange")
    with pytest.raises((sqlite3.Error, SessionFormatError)):
        writer.SessionWriter(path)


COLUMNS = {
    "meta": ("key", "value"),
    "exchange": ("seq", "id", "parent", "branch", "origin", "hop", "kind", "state", "client", "note", "started_at",
                 "duration", "meta", "method", "url", "status", "model", "content_type", "request_bytes",
                 "response_bytes"),
    "side": ("exchange", "side", "head", "body", "encoding", "is_raw", "note", "original_length", "original_digest",
             "chunks", "redactions"),
    "frame": ("exchange", "seq", "direction", "opcode", "at", "data"),
    "piece": ("id", "digest", "size", "data"),
    "body": ("id", "digest", "size", "pieces"),
    "growth": ("id", "data", "chunks"),
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A recording with something in every table: one exchange goes on, and its writer is gone."""
    path = tmp_path_factory.mktemp("whole") / "a.wb"
    recorded(path)
    held = writer.SessionWriter(path)
    seq = held.begin(Exchange("open", HttpRequest("POST", "/v1/messages"), HttpResponse(200, body=Body(b"data: "))))
    held.grow(seq, b"more", [Chunk(10, 0.5)])
    held._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    held._db.close()
    path.with_name("a.wb-wal").unlink(missing_ok=True)
    data = bytearray(path.read_bytes())
    data[18:20] = b"\1\1"  # no longer WAL: a copy without side files
    return bytes(data)


RESTORE = "UPDATE sqlite_master SET sql = ? WHERE name = ?"


def loosened(path: Path) -> Sequence[tuple[str, str]]:
    """Let its columns hold anything; what to ``RESTORE`` to make them look as they did."""
    with inside(path) as db:
        kept = db.execute("SELECT sql, name FROM sqlite_master WHERE type = 'table'").fetchall()
        rule = r" (TEXT|BLOB|REAL|INTEGER)( NOT NULL)?(?=,|\s|$)(?! PRIMARY)"
        db.executemany(RESTORE, [(re.sub(rule, "", sql), name) for sql, name in kept])
    return kept


@pytest.mark.sampled(3)
@pytest.mark.parametrize("table", COLUMNS)
def test_any_value_in_any_column(table: str, whole: bytes, tmp_path: Path) -> None:
    path, chance = tmp_path / "a.wb", random.Random(f"{table} {FUZZ}")
    path.write_bytes(whole)
    opened = 0
    kept = loosened(path)
    loose = path.read_bytes()
    for column in COLUMNS[table]:
        for value in chance.sample(ODD, min(len(ODD), 4 * FUZZ)):
            path.write_bytes(loose)
            with inside(path) as db:
                db.execute("PRAGMA synchronous = OFF")
                with suppress(sqlite3.IntegrityError):  # the keys of rows stay numbers
                    db.execute(f"UPDATE OR REPLACE {table} SET {column} = ?", (value,))
                db.executemany(RESTORE, kept)
            opened += opened_or_refused(path)
    assert opened or table == "meta"


def opened_or_refused(path: Path) -> bool:
    try:
        use(path)
    except SessionFormatError as refused:
        assert "\n" not in str(refused)
        return False
    return True


def test_an_answer_without_a_status_is_torn(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.wb"
    path.write_bytes(whole)
    with inside(path) as db:
        db.execute("UPDATE exchange SET status = NULL")
    assert any("response is damaged" in line for line in use(path))


def test_bits_that_flipped(whole: bytes, tmp_path: Path) -> None:
    path, chance = tmp_path / "a.wb", random.Random(14)
    used = [n for n, byte in enumerate(whole) if byte]
    for _ in range(40 * FUZZ):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 4, 40))):
            data[chance.choice(used)] ^= 1 << chance.randrange(8)
        path.write_bytes(bytes(data))
        opened_or_refused(path)
        path.write_bytes(bytes(data[: chance.randrange(len(data))]))
        opened_or_refused(path)


def test_the_older_words_of_the_schema_are_ours(tmp_path: Path) -> None:
    """Comments changed between versions, tables did not; one came later."""
    path = recorded(tmp_path / "a.wb")
    with inside(path) as db:
        db.execute("UPDATE sqlite_master SET sql = replace(sql, '-- open, complete', '-- complete')")
        db.execute("DROP TABLE growth")
    assert use(path) == []
    assert text.write([], tmp_path / "b.jsonl") == 0
