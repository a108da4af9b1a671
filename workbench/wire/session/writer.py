"""Writes recorded sessions: every call is one transaction, and existing pieces are only referenced.

An exchange is appended when it is complete, or written while it arrives: ``begin``, ``request``, ``answer``, ``grow``
or ``add_frames``, ``finish``. Until it is finished, growth of its response body is kept in a separate table, one row
each.
"""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType

from workbench.errors import SessionFormatError
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.wire.exchange import (
    Body,
    Chunk,
    Exchange,
    ExchangeKind,
    Frame,
    HttpRequest,
    HttpResponse,
    Redaction,
    State,
)
from workbench.wire.session import opening, pieces, rows, untrusted_sqlite, writers
from workbench.wire.session.bodies import BodyStore, CutBody, whole
from workbench.wire.session.identity import session_id
from workbench.wire.session.recognition import MAGIC
from workbench.wire.session.sqlite import SqliteSession, growth_id

LEAVE_SECONDS = 0.5
"""Time for readers to notice the end: the file is merged into one only while nobody reads it."""

PATIENCE = 5.0
"""Seconds to wait for a transaction of another writer, each of which takes milliseconds."""

PAUSE = LEAVE_SECONDS / 25


class _ListRow(NamedTuple):
    """List data of a request; ``size`` is that of its body."""

    method: str = ""
    url: str = ""
    model: str | None = None
    size: int = 0


class _StoredRequest(NamedTuple):
    """A request already in the file."""

    request: HttpRequest
    row: _ListRow


class SessionWriter:
    """Writes exchanges to a recording; a crash loses at most the current call. Use from one thread at a time.

    Several writers may share a file, in one or many processes: each call is a transaction that assigns positions.
    Exchanges left open by a dead writer become incomplete as soon as another writer joins or leaves.

    Args:
        alone: refuse a file that has another writer.
        id: of the session, if the file does not exist; empty string for a new one.

    Raises:
        SessionFormatError: the file is not a session of this version, or has another writer and may not be shared.
        OSError, sqlite3.Error: it cannot be written.
    """

    def __init__(self, path: Path, *, alone: bool = False, id: str = "") -> None:
        is_fresh = not path.exists() or path.stat().st_size == 0
        if not is_fresh and not _ours(path):
            raise SessionFormatError("not a recorded session", where=str(path), hint="choose another name")
        self.path = path
        self._arrived: dict[int, int] = {}  # of exchanges that go on: bytes of the answer
        self._asked: dict[int, _StoredRequest] = {}
        self._after: int | None = None  # the next position, known while a transaction keeps others away
        self._db = sqlite3.connect(
            path,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
            factory=untrusted_sqlite.GuardedConnection,
        )
        with ExitStack() as stack:
            stack.callback(self._db.close)
            self._db.guard(path.resolve())
            self._db.execute("PRAGMA page_size = 16384")  # pieces are 1 to 5 kB: small pages would stand half empty
            if is_fresh:
                self._create(id or uuid.uuid4().hex)  # before WAL: the file itself says what it is, also after a crash
            untrusted_sqlite.check_schema(self._db, path)
            opening.check_version(self._db, path)
            self._write_ahead()
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(
                f"BEGIN IMMEDIATE; {untrusted_sqlite.schema()} COMMIT;"
            )  # what files of before do not have yet
            self._bodies = BodyStore(self._db)
            self._id = self._join(alone)
            self._close_what_was_left_open()
            self._convert()
            self._db.trust()
            stack.pop_all()

    def _create(self, id: str) -> None:
        quoted = id.replace("'", "''")
        self._db.executescript(
            f"BEGIN IMMEDIATE; {untrusted_sqlite.schema()} PRAGMA application_id = {opening.APPLICATION_ID};"
            f"INSERT OR IGNORE INTO meta VALUES ('format', 'workbench-session'), ('version', '{opening.VERSION}');"
            f"INSERT OR IGNORE INTO meta VALUES ('identity', '{quoted}');"
            "COMMIT;"
        )

    def _convert(self) -> None:
        """Convert a file of format 1 to format 2, with the id that it is known by."""
        if opening.identity(self._db):
            return
        with closing(SqliteSession(self.path)) as session:
            id = session_id(session) or uuid.uuid4().hex
        with self._transaction():
            self._db.execute("INSERT OR IGNORE INTO meta VALUES ('identity', ?)", (id,))
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'version'", (str(opening.VERSION),))

    def _write_ahead(self) -> None:
        """Change to WAL. SQLite itself does not wait here for a process that joins or leaves at the same time."""
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
        """Register as a writer."""
        with self._transaction():
            others = writers.living(self._db, writers.file_of(self.path))
            if alone and others:
                raise SessionFormatError(
                    "another process is writing it", where=str(self.path), hint="choose another name"
                )
            return writers.join(self._db, self.path)

    def _close_what_was_left_open(self) -> None:
        """Close exchanges of dead writers, and remove those writers."""
        if self._db.execute("SELECT 1 FROM exchange WHERE state = ?", (State.OPEN,)).fetchone():
            with closing(SqliteSession(self.path)) as session:
                for seq, exchange in session.left_open():
                    self.finish(seq, replace(exchange, state=State.INCOMPLETE))
        with self._transaction():
            writers.forget(self._db, writers.file_of(self.path))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Combine several calls in one transaction."""
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
        self._after = None
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            self._bodies.forget()
            if self._db.in_transaction:  # a full disk has rolled it back already, or not
                self._db.execute("ROLLBACK")
            raise

    def say(self, about: Mapping[str, str]) -> None:
        """Add metadata of the session; an empty value removes a key."""
        with self._transaction():
            members = {word: value for word, value in {**opening.about(self._db), **about}.items() if value}
            self._db.execute("DELETE FROM meta WHERE key = 'about'")
            if members:
                self._db.execute("INSERT INTO meta VALUES ('about', ?)", (_json(members),))

    def announce(self, about: Mapping[str, str]) -> None:
        """Replace the metadata that holds while this writer is running."""
        with self._transaction():
            writers.announce(self._db, self._id, self.path, about)

    def identity(self) -> str:
        """Id of the session, shared by its copies."""
        return opening.identity(self._db)

    def append(self, exchange: Exchange) -> int:
        """Write one redacted exchange; return its position."""
        with self._transaction():
            seq = self._next()
            self._insert(seq, exchange)
            return seq

    def begin(self, exchange: Exchange) -> int:
        """Write the start of an exchange; return its position, which identifies it in other calls."""
        with self._transaction():
            seq = self._next()
            row = self._insert(seq, replace(exchange, state=State.OPEN))
            writers.register_writing(self._db, self._id, seq)
        if exchange.request:
            self._asked[seq] = _StoredRequest(exchange.request, row)
        if exchange.response:
            self._arrived[seq] = len(exchange.response.body.raw)
        return seq

    def _next(self) -> int:
        if self._after is None:
            self._after = self._db.execute("SELECT coalesce(max(seq) + 1, 0) FROM exchange").fetchone()[0]
        self._after += 1
        return self._after - 1

    def request(self, seq: int, request: HttpRequest) -> None:
        """Replace the request with the complete one."""
        body = self._cut(request)
        row = _request_row(request, body)
        with self._transaction():
            changed = "UPDATE exchange SET method = ?, url = ?, model = ?, request_bytes = ? WHERE seq = ?"
            self._db.execute(changed, rows.to_sqlite((*row, seq)))
            self._db.execute("DELETE FROM side WHERE exchange = ? AND side = 'request'", (seq,))
            self._insert_request(seq, request, body)
        self._asked[seq] = _StoredRequest(request, row)

    def answer(self, seq: int, response: HttpResponse) -> None:
        """Write the response head and its body so far. Once per exchange."""
        with self._transaction():
            changed = "UPDATE exchange SET status = ?, content_type = ?, response_bytes = ? WHERE seq = ?"
            self._db.execute(changed, rows.to_sqlite((*_response_row(response), seq)))
            self._insert_response(seq, response)
        self._arrived[seq] = len(response.body.raw)

    def grow(self, seq: int, more: bytes, chunks: Sequence[Chunk]) -> None:
        """Append redacted response bytes; chunk ends count from the start of the body."""
        if not more:
            return
        at = self._arrived[seq]
        row = (growth_id(seq, at), more, pieces.pack_chunks(chunks, is_brief=True))
        with self._transaction():
            self._db.execute("INSERT INTO growth VALUES (?, ?, ?)", row)
        self._arrived[seq] = at + len(more)

    def add_frames(
        self, seq: int, first: int, frames: Sequence[Frame], meta: Mapping[str, JsonValue] = NOTHING
    ) -> None:
        """Append redacted messages of a WebSocket that is open, and replace its metadata.

        Args:
            first: number of the first one, from zero.
        """
        about = _json(dict(meta)) if meta else None
        with self._transaction():
            changed = "UPDATE exchange SET kind = ?, meta = ? WHERE seq = ?"
            self._db.execute(changed, rows.to_sqlite((ExchangeKind.WEBSOCKET, about, seq)))
            self._insert_frames(seq, first, frames)

    def replace_frames(self, seq: int, frames: Sequence[Frame]) -> None:
        """Write these messages in the place of all that are there."""
        with self._transaction():
            self._db.execute("DELETE FROM frame WHERE exchange = ?", (seq,))
            self._insert_frames(seq, 0, frames)

    def read_frames(self, seq: int) -> Iterator[Frame]:
        """The messages of an exchange that this writer wrote."""
        for row in self._db.execute(rows.FRAMES, (seq, 0)).fetchall():
            direction, opcode, body, at = rows.frame(row)
            yield Frame(direction, opcode, self._bodies.read(body), at)

    def finish(self, seq: int, exchange: Exchange, *, keeps_frames: bool = False) -> None:
        """Replace the partial exchange with the complete one.

        A request written before that is the same object is kept.

        Args:
            keeps_frames: its messages are those that are there.
        """
        asked = self._asked.get(seq)
        stands = asked if asked and asked.request is exchange.request else None
        with self._transaction():
            sides = "DELETE FROM side WHERE exchange = ?" + (" AND side = 'response'" if stands else "")
            frames = () if keeps_frames else ("DELETE FROM frame WHERE exchange = ?",)
            for statement in (sides, *frames, "DELETE FROM exchange WHERE seq = ?"):
                self._db.execute(statement, (seq,))
            self._db.execute("DELETE FROM growth WHERE id >= ? AND id < ?", (growth_id(seq), growth_id(seq + 1)))
            self._insert(seq, exchange, stands)
            writers.end(self._db, seq)
        self._arrived.pop(seq, None)
        self._asked.pop(seq, None)

    def _insert(self, seq: int, exchange: Exchange, stands: _StoredRequest | None = None) -> _ListRow:
        """Write an exchange, except for a request already in the file; return the list data of the request."""
        request, response = exchange.request, exchange.response
        body = self._cut(None if stands else request)
        asked = stands.row if stands else _request_row(request, body)
        status, content_type, response_bytes = _response_row(response)
        row = (
            seq, exchange.id, exchange.parent, exchange.branch, exchange.origin, exchange.hop, exchange.kind,
            exchange.state, exchange.client, exchange.note, exchange.started_at, exchange.duration,
            _json(dict(exchange.meta)) if exchange.meta else None,
            asked.method, asked.url, status, asked.model, content_type, asked.size, response_bytes,
        )  # fmt: skip
        self._db.execute(f"INSERT INTO exchange VALUES ({', '.join('?' * len(row))})", rows.to_sqlite(row))
        if request and not stands:
            self._insert_request(seq, request, body)
        if response:
            self._insert_response(seq, response)
        self._insert_frames(seq, 0, exchange.frames)
        return asked

    def _insert_frames(self, seq: int, first: int, frames: Sequence[Frame]) -> None:
        for n, frame in enumerate(frames, first):
            row = (seq, n, frame.direction, frame.opcode, frame.at, self._bodies.store(whole(frame.data)))
            self._db.execute("INSERT INTO frame VALUES (?, ?, ?, ?, ?, ?)", rows.to_sqlite(row))

    def _insert_request(self, seq: int, request: HttpRequest, body: CutBody) -> None:
        head = {"version": request.http_version, "headers": request.headers.items}
        self._insert_side(seq, "request", head, request.body, request.redactions, body)

    def _insert_response(self, seq: int, response: HttpResponse) -> None:
        head = {"version": response.http_version, "reason": response.reason, "headers": response.headers.items}
        self._insert_side(seq, "response", head, response.body, response.redactions, whole(response.body.raw))

    def _insert_side(
        self,
        seq: int,
        side: str,
        head: dict[str, JsonValue],
        body: Body,
        redactions: Sequence[Redaction],
        cut: CutBody,
    ) -> None:
        row = (
            seq, side, self._bodies.piece(_json(head).encode()), self._bodies.store(cut), body.encoding, body.is_raw,
            body.note, body.original_length, body.original_digest, pieces.pack_chunks(body.chunks),
            _json([list(r) for r in redactions]) if redactions else None,
        )  # fmt: skip
        self._db.execute(f"INSERT INTO side VALUES ({', '.join('?' * len(row))})", rows.to_sqlite(row))

    def _cut(self, request: HttpRequest | None) -> CutBody:
        raw = request.body.raw if request else b""
        return whole(raw) if request is None or request.body.encoding else self._bodies.cut(raw)

    def close(self) -> None:
        """Leave; the last writer merges the file. Readers keep the side files until they close."""
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
        """Try to merge into a single file."""
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
    """Write a new recording; return the number of exchanges."""
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
    return head.startswith(MAGIC) and int.from_bytes(head[68:72], "big") == opening.APPLICATION_ID


def _request_row(request: HttpRequest | None, body: CutBody) -> _ListRow:
    if request is None:
        return _ListRow()
    model = None if request.body.encoding else body.model()
    return _ListRow(request.method, request.url, model, len(request.body.raw))


def _response_row(response: HttpResponse | None) -> tuple[int | None, str, int]:
    """List data of a response: status, content type, bytes."""
    if response is None:
        return None, "", 0
    return response.status, response.headers.get("content-type") or "", len(response.body.raw)


_json: Callable[[JsonValue], str] = json.JSONEncoder(separators=(",", ":")).encode
"""Text of a value; one encoder, because creating it is slower than using it."""
