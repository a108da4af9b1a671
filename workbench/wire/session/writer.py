"""Writing recorded sessions: every call is one transaction, pieces that are there already are only pointed at.

An exchange is appended when it is over, or written while it goes on: ``begin``, ``request``, ``answer``, ``grow``,
``finish``. Until it is finished, what its response body grows by stands in a table of its own, a row for each growth.
"""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from workbench.errors import SessionFormatError, WireError
from workbench.ir import NOTHING, JsonValue
from workbench.limits import MAX_STORED_BODY
from workbench.wire.exchange import Body, Chunk, Exchange, HttpRequest, HttpResponse, Redaction, State
from workbench.wire.jsontext import JsonIndex, loads
from workbench.wire.session import opening, pieces, texts, untrusted, writers
from workbench.wire.session.identity import session_id
from workbench.wire.session.sqlite import SqliteSession, growth_id

LEAVE_SECONDS = 0.5
"""What readers have to notice the end: the file becomes one single file only while nobody reads beside the writer."""

PATIENCE = 5.0
"""Seconds to wait for a transaction of another writer, each of which takes milliseconds."""

PAUSE = LEAVE_SECONDS / 25


class _Row(NamedTuple):
    """What the list shows of a request; ``size`` is that of its body."""

    method: str = ""
    url: str = ""
    model: str | None = None
    size: int = 0


class _Asked(NamedTuple):
    """A request that stands in the file."""

    request: HttpRequest
    row: _Row


class SessionWriter:
    """Writes exchanges to a recording; a crash loses at most the call it was in. For one thread at a time.

    Several may write one file, in one process or in many: each call is a transaction, and exchanges get their positions
    in it. What a writer that is gone left open becomes incomplete as soon as another one comes or leaves.

    Args:
        alone: refuse a file that somebody is writing.
        id: of the session, if the file does not exist; empty string for a new one.

    Raises:
        SessionFormatError: the file exists and is no session of this version, or may not be shared and is.
        OSError, sqlite3.Error: it cannot be written.
    """

    def __init__(self, path: Path, *, alone: bool = False, id: str = "") -> None:
        is_fresh = not path.exists() or path.stat().st_size == 0
        if not is_fresh and not _ours(path):
            raise SessionFormatError("not a recorded session", where=str(path), hint="choose another name")
        self.path = path
        self._arrived: dict[int, int] = {}  # of exchanges that go on: bytes of the answer
        self._asked: dict[int, _Asked] = {}
        self._db = sqlite3.connect(
            path, timeout=PATIENCE, isolation_level=None, check_same_thread=False, factory=untrusted.Connection
        )
        with ExitStack() as stack:
            stack.callback(self._db.close)
            self._db.guard(path.resolve())
            self._db.execute("PRAGMA page_size = 16384")  # pieces are 1 to 5 kB: small pages would stand half empty
            if is_fresh:
                self._create(id or uuid.uuid4().hex)  # before WAL: the file itself says what it is, also after a crash
            untrusted.check_schema(self._db, path)
            opening.check_version(self._db, path)
            self._write_ahead()
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(
                f"BEGIN IMMEDIATE; {untrusted.schema()} COMMIT;"
            )  # what files of before do not have yet
            self._id = self._join(alone)
            self._close_what_was_left_open()
            self._convert()
            self._db.trust()
            stack.pop_all()

    def _create(self, id: str) -> None:
        quoted = id.replace("'", "''")
        self._db.executescript(
            f"BEGIN IMMEDIATE; {untrusted.schema()} PRAGMA application_id = {opening.APPLICATION_ID};"
            f"INSERT OR IGNORE INTO meta VALUES ('format', 'workbench-session'), ('version', '{opening.VERSION}');"
            f"INSERT OR IGNORE INTO meta VALUES ('identity', '{quoted}');"
            "COMMIT;"
        )

    def _convert(self) -> None:
        """Make a file of format 1 one of format 2: with the id that it is known by already."""
        if opening.identity(self._db):
            return
        with closing(SqliteSession(self.path)) as session:
            id = session_id(session) or uuid.uuid4().hex
        with self._transaction():
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('identity', ?)", (id,))
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'version'", (str(opening.VERSION),))

    def _write_ahead(self) -> None:
        """Change to WAL. SQLite itself does not wait here for one that comes or leaves at the same time."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError:
                if time.monotonic() > until:
                    raise
            time.sleep(PAUSE)

    def _join(self, alone: bool) -> str:
        """Note that this one writes, too."""
        with self._transaction():
            others = writers.living(self._db, writers.file_of(self.path))
            if alone and others:
                raise SessionFormatError("somebody is writing it", where=str(self.path), hint="choose another name")
            return writers.join(self._db, self.path)

    def _close_what_was_left_open(self) -> None:
        """End what those who are gone did not, and forget them."""
        if self._db.execute("SELECT 1 FROM exchange WHERE state = ?", (State.OPEN,)).fetchone():
            with closing(SqliteSession(self.path)) as session:
                for seq, exchange in session.left_open():
                    self.finish(seq, replace(exchange, state=State.INCOMPLETE))
        with self._transaction():
            writers.forget(self._db, writers.file_of(self.path))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make one transaction of several calls: all of them are written, or none is."""
        arrived, asked = dict(self._arrived), dict(self._asked)
        try:
            with self._transaction():
                yield
        except BaseException:
            self._arrived, self._asked = arrived, asked
            raise

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        is_part = self._db.in_transaction
        if is_part:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # a full disk has rolled it back already, or not
                self._db.execute("ROLLBACK")
            raise

    def say(self, about: Mapping[str, str]) -> None:
        """Note what the maker says of the session, beside what was said before; "" takes a word of that back."""
        with self._transaction():
            said = {word: value for word, value in {**opening.about(self._db), **about}.items() if value}
            self._db.execute("DELETE FROM meta WHERE key = 'about'")
            if said:
                self._db.execute("INSERT INTO meta VALUES ('about', ?)", (_json(said),))

    def announce(self, about: Mapping[str, str]) -> None:
        """Note what holds for as long as this writer is there, in place of what it announced before."""
        with self._transaction():
            writers.announce(self._db, self._id, self.path, about)

    def identity(self) -> str:
        """The id of the session; its copies share it."""
        return opening.identity(self._db)

    def append(self, exchange: Exchange) -> int:
        """Write one exchange (redacted before); returns its position in the session."""
        with self._transaction():
            seq = self._next()
            self._insert(seq, exchange)
            return seq

    def begin(self, exchange: Exchange) -> int:
        """Write what is known of an exchange that goes on; returns its position, by which the other calls name it."""
        with self._transaction():
            seq = self._next()
            row = self._insert(seq, replace(exchange, state=State.OPEN))
            writers.begin(self._db, self._id, seq)
        if exchange.request:
            self._asked[seq] = _Asked(exchange.request, row)
        if exchange.response:
            self._arrived[seq] = len(exchange.response.body.raw)
        return seq

    def _next(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(seq) + 1, 0) FROM exchange").fetchone()[0])

    def request(self, seq: int, request: HttpRequest) -> None:
        """The whole request is there: it takes the place of what was known of it."""
        index = _index(request)
        row = _asked(request, index)
        with self._transaction():
            changed = "UPDATE exchange SET method = ?, url = ?, model = ?, request_bytes = ? WHERE seq = ?"
            self._db.execute(changed, texts.bound((*row, seq)))
            self._db.execute("DELETE FROM side WHERE exchange = ? AND side = 'request'", (seq,))
            self._insert_request(seq, request, index)
        self._asked[seq] = _Asked(request, row)

    def answer(self, seq: int, response: HttpResponse) -> None:
        """The head of the response is there, and its body so far. Once for an exchange."""
        with self._transaction():
            changed = "UPDATE exchange SET status = ?, content_type = ?, response_bytes = ? WHERE seq = ?"
            self._db.execute(changed, texts.bound((*_answered(response), seq)))
            self._insert_response(seq, response)
        self._arrived[seq] = len(response.body.raw)

    def grow(self, seq: int, more: bytes, chunks: Sequence[Chunk]) -> None:
        """More bytes of the response body came (redacted before); ends of chunks count from the start of the body."""
        if not more:
            return
        at = self._arrived[seq]
        row = (growth_id(seq, at), more, pieces.pack_chunks(chunks, is_brief=True))
        with self._transaction():
            self._db.execute("INSERT INTO growth VALUES (?, ?, ?)", row)
        self._arrived[seq] = at + len(more)

    def finish(self, seq: int, exchange: Exchange) -> None:
        """The exchange is over: this is all of it, in place of what was written.

        A request that was written before and is the same object stays as it stands.
        """
        asked = self._asked.get(seq)
        stands = asked if asked and asked.request is exchange.request else None
        with self._transaction():
            sides = "DELETE FROM side WHERE exchange = ?" + (" AND side = 'response'" if stands else "")
            for statement in (sides, "DELETE FROM frame WHERE exchange = ?", "DELETE FROM exchange WHERE seq = ?"):
                self._db.execute(statement, (seq,))
            self._db.execute("DELETE FROM growth WHERE id >= ? AND id < ?", (growth_id(seq), growth_id(seq + 1)))
            self._insert(seq, exchange, stands)
            writers.end(self._db, seq)
        self._arrived.pop(seq, None)
        self._asked.pop(seq, None)

    def _insert(self, seq: int, exchange: Exchange, stands: _Asked | None = None) -> _Row:
        """Write all of it, but for a request that stands in the file; returns what the list shows of the request."""
        request, response = exchange.request, exchange.response
        index = _index(None if stands else request)
        asked = stands.row if stands else _asked(request, index)
        status, content_type, response_bytes = _answered(response)
        row = (
            seq, exchange.id, exchange.parent, exchange.branch, exchange.origin, exchange.hop, exchange.kind,
            exchange.state, exchange.client, exchange.note, exchange.started_at, exchange.duration,
            _json(dict(exchange.meta)) if exchange.meta else None,
            asked.method, asked.url, status, asked.model, content_type, asked.size, response_bytes,
        )  # fmt: skip
        self._db.execute(f"INSERT INTO exchange VALUES ({', '.join('?' * len(row))})", texts.bound(row))
        if request and not stands:
            self._insert_request(seq, request, index)
        if response:
            self._insert_response(seq, response)
        for n, frame in enumerate(exchange.frames):
            row = (seq, n, frame.direction, frame.opcode, frame.at, self._body(frame.data))  # type: ignore[assignment]
            self._db.execute("INSERT INTO frame VALUES (?, ?, ?, ?, ?, ?)", texts.bound(row))
        return asked

    def _insert_request(self, seq: int, request: HttpRequest, index: JsonIndex) -> None:
        head = {"version": request.http_version, "headers": request.headers.items}
        self._insert_side(seq, "request", head, request.body, request.redactions, index)

    def _insert_response(self, seq: int, response: HttpResponse) -> None:
        head = {"version": response.http_version, "reason": response.reason, "headers": response.headers.items}
        self._insert_side(seq, "response", head, response.body, response.redactions, None)

    def _insert_side(
        self,
        seq: int,
        side: str,
        head: dict[str, JsonValue],
        body: Body,
        redactions: Sequence[Redaction],
        index: JsonIndex | None,
    ) -> None:
        row = (
            seq, side, self._piece(_json(head).encode()), self._body(body.raw, index), body.encoding, body.is_raw,
            body.note, body.original_length, body.original_digest, pieces.pack_chunks(body.chunks),
            _json([list(r) for r in redactions]) if redactions else None,
        )  # fmt: skip
        self._db.execute(f"INSERT INTO side VALUES ({', '.join('?' * len(row))})", texts.bound(row))

    def _body(self, raw: bytes, index: JsonIndex | None = None) -> int:
        if len(raw) > MAX_STORED_BODY:
            raise SessionFormatError(f"a body of {len(raw):,} bytes; a recording keeps {MAX_STORED_BODY:,} of one")
        digest = pieces.body_digest(raw)
        known = self._db.execute("SELECT id FROM body WHERE digest = ?", (digest,)).fetchone()
        if known:
            return int(known[0])
        ids = pieces.pack_ids(
            [self._piece(p) for p in (pieces.cut(index) if index and index.text else [raw] * bool(raw))]
        )
        new = "INSERT INTO body (digest, size, pieces) VALUES (?, ?, ?) RETURNING id"
        return int(self._db.execute(new, (digest, len(raw), ids)).fetchone()[0])

    def _piece(self, piece: bytes) -> int:
        digest = pieces.piece_digest(piece)
        known = self._db.execute("SELECT id FROM piece WHERE digest = ?", (digest,)).fetchone()
        if known:
            return int(known[0])
        new = "INSERT INTO piece (digest, size, data) VALUES (?, ?, ?) RETURNING id"
        return int(self._db.execute(new, (digest, len(piece), pieces.compress(piece))).fetchone()[0])

    def close(self) -> None:
        """Leave; the last one leaves one single file. Readers beside it keep the side files until they are gone."""
        with closing(self._db):
            with self._transaction():
                writers.leave(self._db, [self._id])
            if self._is_last():
                self._close_what_was_left_open()
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                until = time.monotonic() + LEAVE_SECONDS
                while self._is_last() and not self._is_alone() and time.monotonic() < until:
                    time.sleep(PAUSE)

    def _is_last(self) -> bool:
        return not writers.living(self._db, writers.file_of(self.path))

    def _is_alone(self) -> bool:
        """Make it one single file."""
        try:
            self._db.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError:
            return False
        return True

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def write(exchanges: Iterable[Exchange], path: Path, about: Mapping[str, str] = NOTHING, id: str = "") -> int:
    """A new recording of these exchanges; returns how many."""
    count = 0
    with closing(SessionWriter(path, id=id)) as writer:
        writer.say(about)
        for exchange in exchanges:
            writer.append(exchange)
            count += 1
    return count


def _ours(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(72)
    return head.startswith(opening.MAGIC) and int.from_bytes(head[68:72], "big") == opening.APPLICATION_ID


def _index(request: HttpRequest | None) -> JsonIndex:
    return JsonIndex(request.body.raw if request and not request.body.encoding else b"")


def _asked(request: HttpRequest | None, index: JsonIndex) -> _Row:
    return _Row(request.method, request.url, _model(index), len(request.body.raw)) if request else _Row()


def _answered(response: HttpResponse | None) -> tuple[int | None, str, int]:
    """What the list shows of a response: status, content type, bytes."""
    if response is None:
        return None, "", 0
    return response.status, response.headers.get("content-type") or "", len(response.body.raw)


def _model(index: JsonIndex) -> str | None:
    """The top-level ``model`` of a request body, for the list: no body is so odd that it is not recorded."""
    span = index.span("/model")
    try:
        value = loads(index.text[slice(*span)]) if span else None
    except WireError:
        return None
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


_json: Callable[[JsonValue], str] = json.JSONEncoder(separators=(",", ":")).encode
"""Text of a value; made once, because an encoder takes longer to make than to use."""
