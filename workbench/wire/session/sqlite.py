"""Recorded sessions: one SQLite file, appended to, its pieces shared (``schema.sql``)."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import NamedTuple

from workbench.errors import SessionFormatError, WireError
from workbench.ir import NOTHING, JsonValue
from workbench.wire.exchange import (
    Body,
    Chunk,
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
from workbench.wire.session import opening, pieces, texts, writers

CACHED_PIECES = 32 * 1024 * 1024
"""Bytes of decompressed pieces kept: the history that neighbouring requests share."""

SUMMARY = (
    "seq, id, method, url, status, state, kind, origin, request_bytes, response_bytes, started_at, duration,"
    " hop, parent, branch, model, content_type, note"
)


Row = Sequence[JsonValue]


class _Arrived(NamedTuple):
    """What a response body that still arrives has beyond its body row."""

    data: bytearray
    chunks: list[Chunk]


class SqliteSession:
    """A recording, read lazily: the list from its index, a body from its pieces. Safe for several threads.

    The file is opened read-only and without side files, unless another process is writing it or died while writing.
    ``refresh`` follows what writers append, also those that come later; a file that is put in the place of this one
    is another session. An exchange is open for as long as the writer that began it is alive, whoever else writes.

    Attributes:
        writers: those that were alive when it was opened or last refreshed.
    """

    format = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self._lock = RLock()
        self._pieces: OrderedDict[int, bytes] = OrderedDict()
        self._cached = 0
        self._arrived: dict[int, _Arrived] = {}
        self._summaries: list[Summary] | None = None
        self._file = opening.open_read_only(path)
        self._db = self._file.db
        try:
            with self._snapshot():
                self._seqs, self.damage = opening.sequence(self._file)
                self._see_writers()
        except BaseException:
            self._db.close()
            raise

    def __len__(self) -> int:
        return len(self._seqs)

    def refresh(self) -> frozenset[int]:
        """Take in what was written since. Cheap where nothing was."""
        with self._lock:
            is_reopened = self._reopen_if_needed()
            try:
                if not is_reopened and self._look() == (self._version, self.writers):
                    return frozenset()
                known = [*self.summaries()]
                with self._snapshot():
                    self._see_writers()
                    return self._take_in(known)
            except sqlite3.DatabaseError:
                return frozenset()  # busy, or torn behind our back: the next look may do better

    def _look(self) -> tuple[int, writers.Writers]:
        """A number that differs after every commit of others, and the writers that are alive."""
        if not self._file.is_shared:
            return 0, {}
        version = self._db.execute("PRAGMA data_version").fetchone()[0]
        return version, writers.living(self._db, str(self._file.stamp[0]))

    def _see_writers(self) -> None:
        self._version, self.writers = self._look()
        self.is_live = bool(self.writers)
        self.about = writers.merged(opening.about(self._db), self.writers)

    def _reopen_if_needed(self) -> bool:
        try:
            stamp = opening.stamp(self.path)
            if stamp == self._file.stamp or stamp[0] != self._file.stamp[0]:
                return False
            file = opening.open_read_only(self.path)
        except (OSError, SessionFormatError):  # moved away, or just being made ready: what is open stays open
            return False
        self._db.close()
        self._file, self._db = file, file.db
        return True

    def _take_in(self, known: list[Summary]) -> frozenset[int]:
        """Read again what can have changed: exchanges that were open, and those behind the last."""
        last = self._seqs[-1] if self._seqs else -1
        query = "SELECT seq FROM exchange WHERE seq > ? ORDER BY seq"
        self._seqs += [row[0] for row in self._db.execute(query, (last,)).fetchall()]
        looked_at = [s.index for s in known if s.state is State.OPEN] + [*range(len(known), len(self._seqs))]
        fresh = {n: self._summarize(n, self._row(self._seqs[n], SUMMARY)) for n in looked_at}
        for n, summary in fresh.items():
            if summary.state is not State.OPEN:
                self._arrived.pop(self._seqs[n], None)
        changed = frozenset(n for n, summary in fresh.items() if n >= len(known) or summary != known[n])
        self._summaries = [fresh.get(n) or known[n] for n in range(len(self._seqs))]
        return changed

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """One state of the file for several questions, while somebody writes."""
        with self._lock:
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                with suppress(sqlite3.DatabaseError):  # of a torn file
                    self._db.execute("ROLLBACK")

    def summaries(self) -> Sequence[Summary]:
        """The list. A row that is torn stands there as an incomplete exchange."""
        with self._lock:
            if self._summaries is None:
                with self._snapshot():
                    rows = {row[0]: row for row in self._rows()}
                    self._summaries = [self._summarize(n, rows.get(seq)) for n, seq in enumerate(self._seqs)]
            return tuple(self._summaries)

    def left_open(self) -> Iterator[tuple[int, Exchange]]:
        """Exchanges that nobody goes on with, as far as they came, with their positions in the file."""
        known = {seq: n for n, seq in enumerate(self._seqs)}  # of others the writers may be newer than ours
        query = "SELECT seq FROM exchange WHERE state = ? ORDER BY seq"
        with self._snapshot():
            found = [seq for (seq,) in self._db.execute(query, (State.OPEN,)) if seq in known]
            left = [seq for seq in found if writers.owner(self._db, seq) not in self.writers]
        yield from ((seq, self.exchange(known[seq])) for seq in left)

    def _rows(self) -> Iterator[Row]:
        if not self.damage:
            yield from map(texts.plain, self._db.execute(f"SELECT {SUMMARY} FROM exchange ORDER BY seq"))
            return
        for seq in self._seqs:
            with suppress(sqlite3.DatabaseError):
                row = self._row(seq, SUMMARY)
                if row:
                    yield row

    def _row(self, seq: int, columns: str) -> Row | None:
        row: Row | None = self._db.execute(f"SELECT {columns} FROM exchange WHERE seq = ?", (seq,)).fetchone()
        return texts.plain(row) if row else None

    def _summarize(self, index: int, row: Row | None) -> Summary:
        summary = _summary(index, row)
        if summary.state is not State.OPEN or row is None:
            return summary
        query = "SELECT id, length(data) FROM growth WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1"
        seq = self._seqs[index]
        last = self._db.execute(query, (growth_id(seq), growth_id(seq + 1))).fetchone()
        arrived = last[0] - growth_id(seq) + last[1] if last else summary.response_bytes
        state = State.OPEN if writers.owner(self._db, seq) in self.writers else State.INCOMPLETE
        return replace(summary, state=state, response_bytes=arrived)

    def exchange(self, index: int) -> Exchange:
        """One exchange; what of it is torn is left out and named in its note."""
        with self._snapshot():
            return self._read(index)

    def _read(self, index: int) -> Exchange:
        seq = self._seqs[index]
        try:
            row = self._row(seq, f"{SUMMARY}, client, meta")
        except sqlite3.DatabaseError as error:
            return _torn(seq, str(error))
        summary = self._summarize(index, row)
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

    def _side(self, seq: int, side: str, row: Row) -> HttpRequest | HttpResponse | None:
        found = self._db.execute("SELECT * FROM side WHERE exchange = ? AND side = ?", (seq, side)).fetchone()
        if not found:
            if (row[2] and side == "request") or (row[4] is not None and side == "response"):
                raise SessionFormatError("its row is not in the file")
            return None
        _, _, head_id, body_id, encoding, is_raw, note, length, digest, chunks, redactions = found
        head = loads(self._piece(head_id))
        encoding, note, digest = texts.plain((encoding, note, digest))
        headers = Headers(tuple((n, v) for n, v in head["headers"]))
        raw, times = self._body(body_id), pieces.unpack_chunks(chunks)
        if side == "response" and row[5] == State.OPEN:
            more = self._more(seq, len(raw))
            raw, times = raw + bytes(more.data), (*times, *more.chunks)
        body = Body(raw, encoding, times, bool(is_raw), note, length, digest)
        marks = tuple(Redaction(*r) for r in loads(redactions.encode())) if redactions else ()
        if side == "request":
            return HttpRequest(row[2], row[3], headers, body, head["version"], marks)
        return HttpResponse(row[4], headers, body, head["reason"], head["version"], marks)

    def _more(self, seq: int, start: int) -> _Arrived:
        """What came behind the stored body; only what is new is read from the file."""
        arrived = self._arrived.setdefault(seq, _Arrived(bytearray(), []))
        query = "SELECT data, chunks FROM growth WHERE id >= ? AND id < ? ORDER BY id"
        known = growth_id(seq, start + len(arrived.data))
        for data, chunks in self._db.execute(query, (known, growth_id(seq + 1))).fetchall():
            arrived.data.extend(data)
            arrived.chunks.extend(pieces.unpack_chunks(chunks))
        return arrived

    def _frames(self, seq: int) -> Iterator[Frame]:
        query = "SELECT direction, opcode, data, at FROM frame WHERE exchange = ? ORDER BY seq"
        for direction, opcode, data, at in map(texts.plain, self._db.execute(query, (seq,))):
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
        with self._lock:
            self._db.close()


def growth_id(seq: int, offset: int = 0) -> int:
    """Where a growth of a response body stands in its table."""
    return seq << 32 | offset


def _summary(index: int, row: Row | None) -> Summary:
    if row is not None:
        with suppress(ValueError):  # a row of a torn page holds anything
            kinds = State(row[5]), Kind(row[6]), Origin(row[7])
            return Summary(index, row[1], row[2], row[3], row[4] or None, *kinds, *row[8:18])
    torn = _torn(index, "")
    return Summary(index, torn.id, "", "", None, State.INCOMPLETE, torn.kind, torn.origin, 0, 0)


def _torn(seq: int, why: str) -> Exchange:
    return Exchange(id=f"torn-{seq}", state=State.INCOMPLETE, damage=(f"torn: {why}",))
