"""Recorded sessions: one SQLite file, append-only, with shared pieces (``schema.sql``)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock

from workbench.errors import SessionFormatError, WireError
from workbench.lazy_dataclass import replace
from workbench.limits import MAX_STORED_BODY, MAX_STORED_FRAMES
from workbench.named_tuple import NamedTuple
from workbench.wire.body_text import BodyText, WholeText
from workbench.wire.exchange import Chunk, Exchange, Frame, HttpRequest, HttpResponse, State, Summary, body_of
from workbench.wire.session import Session, opening, pieces, rows, values, writers
from workbench.wire.session.pieces import PieceRuns
from workbench.wire.session.rows import Row
from workbench.wire.session.rows_ahead import RowsAhead
from workbench.wire.session.untrusted_sqlite import FAULTS, readable, reason

CACHED_PIECES = 4 * 1024 * 1024
"""Limit of cached decompressed pieces in bytes, and of the bodies whose next requests are expected."""


CACHED_HEADS = 256
"""Limit of cached heads: the headers of one client to one server."""


class _BodyGrowth(NamedTuple):
    """Growth of a response body beyond its body row."""

    data: bytearray
    chunks: list[Chunk]


_OPEN_ROWS = f"""
    SELECT {rows.SUMMARY},
    (SELECT max(growth.id) FROM growth WHERE growth.id >= exchange.seq << 32 AND growth.id < exchange.seq + 1 << 32),
    (SELECT value FROM meta WHERE key = 'writing ' || exchange.seq),
    (SELECT max(frame.seq) FROM frame WHERE frame.exchange = exchange.seq)
    FROM exchange WHERE seq >= ? AND state = ?
"""
"""All that a summary of an open exchange is made of, and the number of its last message."""


_PIECE = "SELECT size, data, digest FROM piece WHERE id = ?"
_PIECES = "SELECT id, size, data, digest FROM piece WHERE id >= ? ORDER BY id"


class SqliteSession:
    """A recording, read lazily: the list from its index, a body from its pieces. Thread-safe.

    The file is opened read-only and without side files, unless another process is writing it or died while writing.
    ``refresh`` follows what writers append, including later ones; a file that replaces this one is another session. An
    exchange is open while the writer that started it is running.

    Attributes:
        writers: running writers when it was opened or last refreshed.
    """

    format = "sqlite"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self._lock = RLock()
        self._pieces: OrderedDict[int, bytes] = OrderedDict()
        self._cached = 0
        self._runs = PieceRuns(CACHED_PIECES)
        self._heads: dict[int, rows.HeadRow] = {}
        self._exchanges = RowsAhead(rows.EXCHANGE, rows.EXCHANGES)
        self._sides = RowsAhead(rows.SIDE, rows.SIDES)
        self._stored_pieces = RowsAhead(_PIECE, _PIECES)
        self._arrived: dict[int, _BodyGrowth] = {}
        self._frames_so_far: dict[int, list[Frame]] = {}
        self._has_frames: bool | None = None
        self._open_rows: Mapping[int, Row] = {}
        self._summaries: tuple[Summary, ...] | None = None
        self._file = opening.open_read_only(path)
        self._db = self._file.db
        try:
            with readable(path), self._snapshot():
                self._seqs, self.damage = opening.sequence(self._file)
                self._see_writers()
        except BaseException:
            self._db.close()
            raise

    def __len__(self) -> int:
        return len(self._seqs)

    def refresh(self) -> frozenset[int]:
        """Read new rows; cheap if nothing was."""
        with self._lock:
            is_reopened = self._reopen_if_needed()
            try:
                if not is_reopened and self._look() == (self._version, self.writers):
                    return frozenset()
                with suppress(OSError):  # what was moved away stays open
                    self._db.measure(self.path.resolve())
                known = [*self.summaries()]
                with self._snapshot():
                    self._see_writers()
                    return self._take_in(known)
            except FAULTS:
                return frozenset()  # busy, or damaged behind our back: the next look may do better

    def _look(self) -> tuple[int, writers.Writers]:
        """A number that changes with every commit of others, and the running writers."""
        if not self._file.is_shared:
            return 0, {}
        version = self._db.execute("PRAGMA data_version").fetchone()[0]
        return version, writers.living(self._db, str(self._file.stamp[0]))

    def _see_writers(self) -> None:
        self._version, self.writers = self._look()
        self.is_live = bool(self.writers)
        self.id = opening.identity(self._db)
        self.about = writers.merge_about(opening.about(self._db), self.writers)

    def _reopen_if_needed(self) -> bool:
        try:
            stamp = opening.stamp(self.path)
            if stamp == self._file.stamp or stamp[0] != self._file.stamp[0]:
                return False
            file = opening.open_read_only(self.path)
        except (OSError, SessionFormatError):  # moved away, or just being made ready: what is open stays open
            return False
        self._db.close()
        self._file, self._db, self._runs, self._heads = file, file.db, PieceRuns(CACHED_PIECES), {}
        for table in (self._exchanges, self._sides, self._stored_pieces):
            table.forget()
        self._has_frames = None
        self._frames_so_far.clear()
        return True

    def _take_in(self, known: list[Summary]) -> frozenset[int]:
        """Read again what may have changed: exchanges that were open, and those after the last."""
        last = self._seqs[-1] if self._seqs else -1
        query = "SELECT seq FROM exchange WHERE seq > ? ORDER BY seq"
        self._seqs += [row[0] for row in self._db.execute(query, (last,)).fetchall()]
        open_rows = self._read_open_rows(known)
        looked_at = [
            summary.index
            for summary in known
            if summary.state is State.OPEN
            and ((row := open_rows.get(self._seqs[summary.index])) is None or row != self._open_rows.get(row[0]))
        ]
        looked_at += range(len(known), len(self._seqs))
        fresh = {n: self._summarize(n, self._known_row(self._seqs[n])) for n in looked_at}
        for n, summary in fresh.items():
            if summary.state is not State.OPEN:
                self._arrived.pop(self._seqs[n], None)
                self._frames_so_far.pop(self._seqs[n], None)
        changed = frozenset(
            n
            for n, summary in fresh.items()
            if n >= len(known) or summary != known[n] or self._has_new_frames(self._seqs[n], open_rows)
        )
        self._summaries = tuple(fresh.get(n) or known[n] for n in range(len(self._seqs)))
        self._open_rows = open_rows
        return changed

    def _read_open_rows(self, known: Sequence[Summary]) -> Mapping[int, Row]:
        """All that summaries of open exchanges are made of, by position in the file; empty if it cannot be read."""
        first = next((summary.index for summary in known if summary.state is State.OPEN), len(known))
        if first == len(self._seqs):
            return {}
        with suppress(*FAULTS):
            found = self._db.execute(_OPEN_ROWS, (self._seqs[first], State.OPEN)).fetchall()
            return {row[0]: (*row[:-1], *self.writers, row[-1]) for row in found}
        return {}

    def _has_new_frames(self, seq: int, open_rows: Mapping[int, Row]) -> bool:
        """True if a WebSocket that is open has messages that it had not at the last look."""
        new, old = open_rows.get(seq), self._open_rows.get(seq)
        return new is not None and new[-1] is not None and (old is None or new[-1] != old[-1])

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """One consistent state of the file for several queries, while another process may write."""
        with self._lock:
            if not self._file.is_shared:
                yield
                return
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                with suppress(*FAULTS):  # of a damaged file
                    self._db.execute("ROLLBACK")

    def summaries(self) -> Sequence[Summary]:
        """List rows. A damaged row is listed as an incomplete exchange."""
        with self._lock:
            if self._summaries is None:
                with readable(self.path), self._snapshot():
                    known = {row[0]: row for row in self._rows()}
                    self._summaries = tuple(self._summarize(n, known.get(seq)) for n, seq in enumerate(self._seqs))
            return self._summaries

    def beginning(self, count: int) -> Sequence[Summary]:
        """The first rows of the list, read without the others."""
        with self._lock:
            if self._summaries is None and not self.damage and count < len(self):
                with suppress(*FAULTS, SessionFormatError), self._snapshot():
                    query = f"SELECT {rows.SUMMARY} FROM exchange WHERE seq < ? ORDER BY seq"
                    found = map(rows.summary, self._db.execute(query, (self._seqs[count],)))
                    return tuple(self._summarize(n, row) for n, row in enumerate(found))
            return self.summaries()[:count]

    def left_open(self) -> Iterator[tuple[int, Exchange]]:
        """Exchanges without a running writer, as far as they were written, with their positions."""
        known = {seq: n for n, seq in enumerate(self._seqs)}  # of others the writers may be newer than ours
        query = "SELECT seq FROM exchange WHERE state = ? ORDER BY seq"
        with readable(self.path), self._snapshot():
            found = [seq for (seq,) in self._db.execute(query, (State.OPEN,)) if seq in known]
            open_numbers = [seq for seq in found if writers.owner(self._db, seq) not in self.writers]
        yield from ((seq, self.exchange(known[seq])) for seq in open_numbers)

    def _rows(self) -> Iterator[Row]:
        """Readable rows: all at once, or one by one if a row cannot be read."""
        try:
            query = f"SELECT {rows.SUMMARY} FROM exchange ORDER BY seq"
            yield from list(map(rows.summary, self._db.execute(query))) if not self.damage else self._readable_rows()
        except (*FAULTS, SessionFormatError):
            yield from self._readable_rows()

    def _readable_rows(self) -> Iterator[Row]:
        return (row for seq in self._seqs if (row := self._known_row(seq)))

    def _known_row(self, seq: int) -> Row | None:
        with suppress(*FAULTS, SessionFormatError):
            return self._row(seq)
        return None

    def _row(self, seq: int) -> Row | None:
        """List data of an exchange. Raises SessionFormatError and SQLite errors."""
        row = self._db.execute(f"SELECT {rows.SUMMARY} FROM exchange WHERE seq = ?", (seq,)).fetchone()
        return rows.summary(row) if row else None

    def _summarize(self, index: int, row: Row | None) -> Summary:
        summary = _summary(index, row)
        if summary.state is not State.OPEN or row is None:
            return summary
        seq = self._seqs[index]
        try:
            arrived = self._growth(seq) or summary.response_bytes
        except FAULTS:
            arrived = summary.response_bytes
        state = State.OPEN if writers.owner(self._db, seq) in self.writers else State.INCOMPLETE
        return replace(summary, state=state, response_bytes=arrived)

    def _growth(self, seq: int) -> int:
        """Bytes of the response body in growth rows; 0 if there are none."""
        query = "SELECT id, length(data) FROM growth WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1"
        last = self._db.execute(query, (growth_id(seq), growth_id(seq + 1))).fetchone()
        return last[0] - growth_id(seq) + (last[1] or 0) if last else 0

    def exchange(self, index: int) -> Exchange:
        """One exchange; damaged parts are left out and named in its note."""
        with readable(self.path), self._snapshot():
            return self._read(index)

    def _read(self, index: int) -> Exchange:
        seq = self._seqs[index]
        try:
            stored = self._row_of(self._exchanges, seq)
            if stored is None:
                return _damaged_row(seq, "the row cannot be read")
            row, client, meta = rows.exchange(stored)
        except (*FAULTS, SessionFormatError, WireError) as error:
            return _damaged_row(seq, _why(error))
        summary = self._summarize(index, row)
        sides: dict[str, HttpRequest | HttpResponse | None] = {}
        frames: tuple[Frame, ...] = ()
        damaged = []
        for side in ("request", "response"):
            try:
                sides[side] = self._side(seq, side, row)
            except (*FAULTS, SessionFormatError, WireError) as error:
                damaged.append(f"{side} is damaged: {_why(error)}")
        try:
            frames = self._frames(seq, is_open=row[5] == State.OPEN)
        except (*FAULTS, SessionFormatError) as error:
            damaged.append(f"frames are damaged: {_why(error)}")
        return Exchange(
            id=summary.id,
            request=sides.get("request"),  # type: ignore[arg-type]
            response=sides.get("response"),  # type: ignore[arg-type]
            state=State.INCOMPLETE if damaged else summary.state,
            kind=summary.kind,
            origin=summary.origin,
            started_at=summary.started_at,
            duration=summary.duration,
            hop=summary.hop,
            parent=summary.parent,
            branch=summary.branch,
            client=client,
            note=summary.note,
            frames=frames,
            meta=meta,
            damage=tuple(damaged),
        )

    def _row_of(self, table: RowsAhead, number: int, *rest: str) -> Row | None:
        """A row of a table, which is read with those behind it if nobody writes the file."""
        read = table.find if self._file.is_shared else table.row
        row: Row | None = read(self._db, number, *rest)
        return row

    def _side(self, seq: int, side: str, row: Row) -> HttpRequest | HttpResponse | None:
        found = self._row_of(self._sides, seq, side)
        if not found:
            if (row[2] and side == "request") or (row[4] is not None and side == "response"):
                raise SessionFormatError("the row is not in the file")
            return None
        stands = rows.side(found[:-2])
        head = self._head(stands.head)
        text, times = self._join(stands.body, found[-2:]), pieces.unpack_chunks(stands.chunks)
        if side == "response" and row[5] == State.OPEN:
            more = self._more(seq, text.size)
            text, times = WholeText(text.whole() + bytes(more.data)), (*times, *more.chunks)
        body = body_of(text, stands.encoding, times, stands.is_raw, stands.note, stands.length, stands.digest)
        if side == "request":
            return HttpRequest(row[2], row[3], head.headers, body, head.version, stands.redactions)
        status = values.count(row[4])
        return HttpResponse(status, head.headers, body, head.reason, head.version, stands.redactions)

    def _head(self, piece_id: int) -> rows.HeadRow:
        """The start of a request or response; most are the same."""
        found = self._heads.get(piece_id)
        if found is None:
            if len(self._heads) >= CACHED_HEADS:
                self._heads.clear()
            found = self._heads[piece_id] = rows.head(self._piece(piece_id))
        return found

    def _more(self, seq: int, start: int) -> _BodyGrowth:
        """Growth after the stored body; only new rows are read."""
        arrived = self._arrived.setdefault(seq, _BodyGrowth(bytearray(), []))
        query = "SELECT data, chunks FROM growth WHERE id >= ? AND id < ? ORDER BY id"
        known = growth_id(seq, start + len(arrived.data))
        for data, chunks in self._db.execute(query, (known, growth_id(seq + 1))):
            arrived.data.extend(values.raw(data))
            arrived.chunks.extend(pieces.unpack_chunks(values.raw(chunks)))
            if len(arrived.data) > MAX_STORED_BODY:
                raise SessionFormatError(f"the body exceeds {MAX_STORED_BODY:,} bytes")
        return arrived

    def _frames(self, seq: int, *, is_open: bool) -> tuple[Frame, ...]:
        """Messages of a WebSocket; of one that is open, only new rows are read."""
        if not self._may_have_frames():
            return ()
        known = self._frames_so_far.setdefault(seq, []) if is_open else []
        size = sum(len(frame.data) for frame in known)
        for row in self._db.execute(rows.FRAMES, (seq, len(known))).fetchall():
            direction, opcode, data, at = rows.frame(row)
            known.append(Frame(direction, opcode, self._body(data), at))
            size += len(known[-1].data)
            if size > MAX_STORED_FRAMES:
                raise SessionFormatError(f"the bodies exceed {MAX_STORED_FRAMES:,} bytes in total")
        return tuple(known)

    def _may_have_frames(self) -> bool:
        """An exchange of the file may have messages; one question for all, if nobody writes the file."""
        if self._file.is_shared:
            return True
        if self._has_frames is None:
            try:
                self._has_frames = self._db.execute("SELECT 1 FROM frame LIMIT 1").fetchone() is not None
            except FAULTS:  # the messages of other exchanges may be whole
                self._has_frames = True
        return self._has_frames

    def _body(self, body_id: int) -> bytes:
        return self._text(body_id).whole()

    def _text(self, body_id: int) -> BodyText:
        row = self._db.execute("SELECT size, pieces FROM body WHERE id = ?", (body_id,)).fetchone()
        return self._join(body_id, row or (None, None))

    def _join(self, body_id: int, row: Row) -> BodyText:
        """A body of its size and its pieces; both None if it is not there."""
        if row[0] is None and row[1] is None:
            raise SessionFormatError(f"body {body_id} is not in the file")
        size, steps = values.count(row[0]), pieces.unpack_steps(values.raw(row[1]))
        if size > MAX_STORED_BODY:
            raise SessionFormatError(f"body {body_id} claims {size:,} bytes")
        text: BodyText | None = WholeText(b"")
        if len(steps) > 8:
            text = self._runs.text(steps, size, self._piece)
        elif steps:
            text = WholeText(self._piece(pieces.ids_of(steps)[0]))
        if text is None or text.size != size:
            raise SessionFormatError(f"body {body_id} differs from the {size:,} bytes that were stored")
        return text

    def _piece(self, piece_id: int) -> bytes:
        if piece_id in self._pieces:
            self._pieces.move_to_end(piece_id)
            return self._pieces[piece_id]
        row = self._row_of(self._stored_pieces, piece_id)
        if row is None:
            raise SessionFormatError(f"piece {piece_id} is not in the file")
        plain = pieces.expand(values.raw(row[1]), values.count(row[0]))
        if pieces.piece_digest(plain) != row[2]:
            raise SessionFormatError(f"piece {piece_id} does not match its digest")
        self._pieces[piece_id] = plain
        self._cached += len(plain)
        while self._cached > CACHED_PIECES and len(self._pieces) > 1:
            self._cached -= len(self._pieces.popitem(last=False)[1])
        return plain

    def problems(self) -> Iterator[str]:
        """All faults of the file, one line each."""
        yield from self.damage
        for proof in (self._all_problems, self._damaged_pieces, self._damaged_bodies):
            try:
                yield from proof()
            except (*FAULTS, SessionFormatError) as error:
                yield f"SQLite: {_why(error)}"
        for index in range(len(self)):
            yield from (f"exchange {index + 1}: {line}" for line in self.exchange(index).damage)

    def _all_problems(self) -> Iterator[str]:
        checked = self._db.execute("PRAGMA integrity_check(20)").fetchall()
        return (f"SQLite: {row[0]}" for row in checked if row[0] != "ok")

    def _damaged_pieces(self) -> Iterator[str]:
        for (piece_id,) in self._db.execute("SELECT id FROM piece").fetchall():
            try:
                self._piece(piece_id)
            except SessionFormatError as error:
                yield str(error)

    def _damaged_bodies(self) -> Iterator[str]:
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
    """Row id of a growth of a response body."""
    return seq << 32 | offset


def _summary(index: int, row: Row | None) -> Summary:
    if row is not None:
        return Summary(index, *row[1:4], row[4] or None, *row[5:])  # type: ignore[call-arg]
    damaged = _damaged_row(index, "")
    return Summary(index, damaged.id, "", "", None, State.INCOMPLETE, damaged.kind, damaged.origin, 0, 0)


def _damaged_row(seq: int, why: str) -> Exchange:
    return Exchange(id=f"damaged-{seq}", state=State.INCOMPLETE, damage=(f"damaged: {why}",))


def _why(error: Exception) -> str:
    return reason(error) if isinstance(error, FAULTS) else str(error)


def beginning(session: Session, count: int) -> Sequence[Summary]:
    """The first rows of the list; of a recording no others are read."""
    return session.beginning(count) if isinstance(session, SqliteSession) else session.summaries()[:count]
