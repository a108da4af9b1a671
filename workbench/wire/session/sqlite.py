"""Recorded sessions: one SQLite file, appended to, its pieces shared (``schema.sql``)."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from workbench.errors import SessionFormatError, WireError
from workbench.ir import NOTHING, JsonValue
from workbench.wire.exchange import (
    Body,
    Exchange,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    Kind,
    Origin,
    Redaction,
    State,
    Summary,
)
from workbench.wire.jsontext import loads
from workbench.wire.session import pieces

MAGIC = b"SQLite format 3\x00"
VERSION = 1
APPLICATION_ID = 0x57424348  # "WBCH": file(1) and we know our own
CACHED_PIECES = 32 * 1024 * 1024
"""Bytes of decompressed pieces kept: the history that neighbouring requests share."""

SUMMARY = (
    "seq, id, method, url, status, state, kind, origin, request_bytes, response_bytes, started_at, duration,"
    " hop, parent, branch, model, content_type, note"
)


class SqliteSession:
    """A recording, read lazily: the list from its index, a body from its pieces.

    The file is opened read-only and without side files, unless another process is writing it or died while writing.
    """

    format = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self._pieces: OrderedDict[int, bytes] = OrderedDict()
        self._cached = 0
        self._summaries: tuple[Summary, ...] | None = None
        self._db, torn = _open_read_only(path)
        try:
            check_version(self._db, path)
            self._seqs, self.damage = _sequence(self._db, torn)
        except BaseException:
            self._db.close()
            raise

    def __len__(self) -> int:
        return len(self._seqs)

    def summaries(self) -> Sequence[Summary]:
        """The list. A row that is torn stands there as an incomplete exchange."""
        if self._summaries is None:
            rows = {row[0]: row for row in self._rows()}
            self._summaries = tuple(_summary(n, rows.get(seq)) for n, seq in enumerate(self._seqs))
        return self._summaries

    def _rows(self) -> Iterator[tuple[JsonValue, ...]]:
        if not self.damage:
            yield from self._db.execute(f"SELECT {SUMMARY} FROM exchange ORDER BY seq")
            return
        for seq in self._seqs:
            try:
                yield from self._db.execute(f"SELECT {SUMMARY} FROM exchange WHERE seq = ?", (seq,))
            except sqlite3.DatabaseError:
                continue

    def exchange(self, index: int) -> Exchange:
        """One exchange; what of it is torn is left out and named in its note."""
        seq = self._seqs[index]
        columns = f"{SUMMARY}, client, meta"
        try:
            row = self._db.execute(f"SELECT {columns} FROM exchange WHERE seq = ?", (seq,)).fetchone()
        except sqlite3.DatabaseError as error:
            return _torn(seq, str(error))
        summary = _summary(index, row)
        if row is None or summary.id != row[1]:
            return _torn(seq, "its row cannot be read")
        sides, torn = {}, []
        frames: tuple[Frame, ...] = ()
        for side in ("request", "response"):
            try:
                sides[side] = self._side(seq, side, row)
            except (sqlite3.DatabaseError, SessionFormatError, WireError) as error:
                torn.append(f"{side} is torn: {error}")
        try:
            frames = tuple(self._frames(seq))
        except (sqlite3.DatabaseError, SessionFormatError) as error:
            torn.append(f"frames are torn: {error}")
        return Exchange(
            id=summary.id,
            request=sides.get("request"),  # type: ignore[arg-type]
            response=sides.get("response"),  # type: ignore[arg-type]
            state=State.INCOMPLETE if torn else summary.state,
            kind=summary.kind,
            origin=summary.origin,
            started_at=summary.started_at,
            duration=summary.duration,
            hop=summary.hop,
            parent=summary.parent,
            branch=summary.branch,
            client=row[-2],
            note=summary.note,
            frames=frames,
            meta=loads(row[-1].encode()) if row[-1] else NOTHING,
            damage=tuple(torn),
        )

    def _side(self, seq: int, side: str, row: Sequence[JsonValue]) -> HttpRequest | HttpResponse | None:
        found = self._db.execute("SELECT * FROM side WHERE exchange = ? AND side = ?", (seq, side)).fetchone()
        if not found:
            if (row[2] and side == "request") or (row[4] is not None and side == "response"):
                raise SessionFormatError("its row is not in the file")
            return None
        _, _, head_id, body_id, encoding, is_raw, note, length, digest, chunks, redactions = found
        head = loads(self._piece(head_id))
        headers = Headers(tuple((n, v) for n, v in head["headers"]))
        body = Body(self._body(body_id), encoding, pieces.unpack_chunks(chunks), bool(is_raw), note, length, digest)
        marks = tuple(Redaction(*r) for r in loads(redactions.encode())) if redactions else ()
        if side == "request":
            return HttpRequest(row[2], row[3], headers, body, head["version"], marks)
        return HttpResponse(row[4], headers, body, head["reason"], head["version"], marks)

    def _frames(self, seq: int) -> Iterator[Frame]:
        query = "SELECT direction, opcode, data, at FROM frame WHERE exchange = ? ORDER BY seq"
        for direction, opcode, data, at in self._db.execute(query, (seq,)):
            yield Frame(direction, opcode, self._body(data), at)

    def _body(self, body_id: int) -> bytes:
        row = self._db.execute("SELECT size, pieces FROM body WHERE id = ?", (body_id,)).fetchone()
        if row is None:
            raise SessionFormatError(f"body {body_id} is not in the file")
        body = b"".join(map(self._piece, pieces.unpack_ids(row[1])))
        if len(body) != row[0]:
            raise SessionFormatError(f"body {body_id} has {len(body):,} bytes where {row[0]:,} were stored")
        return body

    def _piece(self, piece_id: int) -> bytes:
        if piece_id in self._pieces:
            self._pieces.move_to_end(piece_id)
            return self._pieces[piece_id]
        row = self._db.execute("SELECT size, data, digest FROM piece WHERE id = ?", (piece_id,)).fetchone()
        if row is None:
            raise SessionFormatError(f"piece {piece_id} is not in the file")
        plain = pieces.expand(row[1], row[0])
        if pieces.piece_digest(plain) != row[2]:
            raise SessionFormatError(f"piece {piece_id} does not match its digest")
        self._pieces[piece_id] = plain
        self._cached += len(plain)
        while self._cached > CACHED_PIECES and len(self._pieces) > 1:
            self._cached -= len(self._pieces.popitem(last=False)[1])
        return plain

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with the file, one line each."""
        yield from self.damage
        try:
            checked = self._db.execute("PRAGMA integrity_check(20)").fetchall()
            yield from (f"SQLite: {row[0]}" for row in checked if row[0] != "ok")
            yield from self._torn_pieces()
            yield from self._torn_bodies()
        except sqlite3.DatabaseError as error:
            yield f"SQLite: {error}"
        for index in range(len(self)):
            yield from (f"exchange {index + 1}: {line}" for line in self.exchange(index).damage)

    def _torn_pieces(self) -> Iterator[str]:
        for (piece_id,) in self._db.execute("SELECT id FROM piece").fetchall():
            try:
                self._piece(piece_id)
            except SessionFormatError as error:
                yield str(error)

    def _torn_bodies(self) -> Iterator[str]:
        for body_id, digest in self._db.execute("SELECT id, digest FROM body").fetchall():
            try:
                if pieces.body_digest(self._body(body_id)) != digest:
                    yield f"body {body_id} does not match its digest"
            except SessionFormatError as error:
                yield f"body {body_id}: {error}"

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _open_read_only(path: Path) -> tuple[sqlite3.Connection, str]:
    """The open file, and what is wrong with its length ("" where nothing is)."""
    wal = path.with_name(path.name + "-wal")
    is_written = wal.exists() and wal.stat().st_size > 0
    torn = "" if is_written else _cut_off(path)
    uri = f"{path.resolve().as_uri()}?mode=ro{'' if is_written else '&immutable=1'}"
    try:
        db = sqlite3.connect(uri, uri=True, check_same_thread=False)
        with ExitStack() as stack:
            stack.callback(db.close)
            if torn:
                db.execute("PRAGMA writable_schema = ON")  # or SQLite refuses a short file as a whole
            db.execute("SELECT 1 FROM sqlite_master").fetchone()
            stack.pop_all()
    except sqlite3.Error as error:
        raise SessionFormatError(f"not a readable session ({error})", where=str(path)) from error
    return db, torn


def _cut_off(path: Path) -> str:
    """Whether a file is shorter than its header says (page size at byte 16, page count at byte 28)."""
    with path.open("rb") as file:
        head = file.read(32)
    size = int.from_bytes(head[16:18], "big")
    expected = (65536 if size == 1 else size) * int.from_bytes(head[28:32], "big")
    there = path.stat().st_size
    return f"the file is cut off: {there:,} of {expected:,} bytes are there" if there < expected else ""


def check_version(db: sqlite3.Connection, path: Path) -> None:
    """Raises SessionFormatError for what is no session, or one of a newer version."""
    try:
        meta = dict(db.execute("SELECT key, value FROM meta").fetchall())
    except sqlite3.Error as error:
        raise SessionFormatError(f"a SQLite file, but no session ({error})", where=str(path)) from error
    version = meta.get("version", "")
    if meta.get("format") != "workbench-session" or not version.isdecimal():
        raise SessionFormatError("a SQLite file, but no session", where=str(path))
    if int(version) > VERSION:
        raise SessionFormatError(
            f"written by a newer version (format {version}, this one reads {VERSION})",
            where=str(path),
            hint="update workbench",
        )


def _sequence(db: sqlite3.Connection, torn: str) -> tuple[list[int], tuple[str, ...]]:
    """Positions of every exchange that can be listed, and what is wrong."""
    try:
        found = [row[0] for row in db.execute("SELECT seq FROM exchange ORDER BY seq")]
    except sqlite3.DatabaseError as error:
        found = _listable(db)
        torn = torn or f"the file is torn ({error})"
    return found, (f"{torn}; {len(found):,} exchanges can be listed",) if torn else ()


def _listable(db: sqlite3.Connection) -> list[int]:
    """Rows before and behind a tear, looked for one by one until a thousand in a row are missing."""
    found: list[int] = []
    seq = 0
    while seq - (found[-1] if found else 0) < 1000:
        with suppress(sqlite3.DatabaseError):
            if db.execute("SELECT 1 FROM exchange WHERE seq = ?", (seq,)).fetchone():
                found.append(seq)
        seq += 1
    return found


def _summary(index: int, row: Sequence[JsonValue] | None) -> Summary:
    if row is not None:
        with suppress(ValueError):  # a row of a torn page holds anything
            kinds = State(row[5]), Kind(row[6]), Origin(row[7])
            return Summary(index, row[1], row[2], row[3], row[4] or None, *kinds, *row[8:18])
    torn = _torn(index, "")
    return Summary(index, torn.id, "", "", None, State.INCOMPLETE, torn.kind, torn.origin, 0, 0)


def _torn(seq: int, why: str) -> Exchange:
    return Exchange(id=f"torn-{seq}", state=State.INCOMPLETE, damage=(f"torn: {why}",))
