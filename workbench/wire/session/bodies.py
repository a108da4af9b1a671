"""Stores bodies as lists of pieces, and looks up only the pieces that a body does not repeat from an earlier one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from workbench.errors import SessionFormatError, WireError
from workbench.limits import MAX_STORED_BODY
from workbench.named_tuple import NamedTuple
from workbench.wire.jsontext import JsonIndex, Members
from workbench.wire.predecessors import Predecessors, Repetition
from workbench.wire.session import pieces

_CACHED: Final = 4096
"""Ids of pieces and bodies kept in memory."""
_IN_LIST: Final = b'{"messages":['
_BEHIND_ELEMENT: Final = b'{"messages":[0'
"""Text that makes the rest of a body a JSON object again."""


_PIECE: Final = "SELECT data, size FROM piece WHERE id = ?"


class CutBody(NamedTuple):
    """A body in pieces. Those with odd numbers are elements of lists, the others are what is between them.

    Attributes:
        pieces: those that are not known to be in the file, and after them those of ``last``.
        first, last: ids of known pieces: before ``pieces``, and of the end of ``pieces``.
        ends: the end of each piece, those of ``first`` included.
        repeated: the earlier body that it repeats most of.
    """

    raw: bytes
    pieces: Sequence[bytes]
    ends: Sequence[int]
    first: Sequence[int] = ()
    last: Sequence[int] = ()
    repeated: Repetition[_PieceList] | None = None

    def outline(self) -> bytes:
        """The body with ``0`` for each element: its other members are those of the body."""
        ends = (0, *self.ends)
        return b"0".join(self.raw[ends[n] : ends[n + 1]] for n in range(0, len(self.ends), 2))

    def model(self) -> str | None:
        """Top-level ``model`` of a request body, for the list; never fails."""
        try:
            value = Members(self.outline()).get("model")
        except WireError:
            return None
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


class _PieceList(NamedTuple):
    """Pieces of a body in the file: their ends and ids."""

    ends: Sequence[int]
    ids: Sequence[int]


class BodyStore:
    """Pieces and bodies of one file. Call ``store`` and ``piece`` inside a transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._earlier = Predecessors[_PieceList]()
        self._pieces: dict[bytes, int] = {}
        self._bodies: dict[bytes, int] = {}

    def forget(self) -> None:
        """Forget all ids: the transaction that wrote some of them was undone."""
        self._earlier.clear()
        self._pieces.clear()
        self._bodies.clear()

    def cut(self, raw: bytes) -> CutBody:
        """Cut a request body without content coding."""
        repeated = self._earlier.closest(raw) if len(raw) >= pieces.SMALL else None
        repeated_count = _count_common(repeated) if repeated else 0
        fresh = (
            _cut_rest(raw[repeated.before.known.ends[repeated_count - 1] :], repeated_count)
            if repeated and repeated_count
            else None
        )
        if repeated is None or fresh is None:
            fresh = pieces.cut(JsonIndex(raw))
            return CutBody(raw, fresh, list(accumulate(map(len, fresh))), repeated=repeated)
        stored = repeated.before.known
        ends = list(accumulate(map(len, fresh), initial=stored.ends[repeated_count - 1]))[1:]
        last = _ids_of_end(repeated, ends)
        return CutBody(raw, fresh, [*stored.ends[:repeated_count], *ends], stored.ids[:repeated_count], last, repeated)

    def store(self, body: CutBody) -> int:
        """Id of a body, which is written unless it is in the file. Raises SessionFormatError if it is too large."""
        raw = body.raw
        if len(raw) > MAX_STORED_BODY:
            raise SessionFormatError(f"a body of {len(raw):,} bytes; the limit for a recording is {MAX_STORED_BODY:,}")
        digest = pieces.body_digest(raw)
        if (known := self._find("body", self._bodies, digest)) is not None:
            return known
        new = body.pieces[: len(body.pieces) - len(body.last)]
        ids = [*body.first, *map(self.piece, new), *body.last]
        if len(ids) > 1:
            self._earlier.remember(raw, _PieceList(body.ends, ids), body.repeated)
        row = (digest, len(raw), pieces.pack_ids(ids))
        return self._insert("INSERT INTO body (digest, size, pieces) VALUES (?, ?, ?)", row, self._bodies)

    def read(self, body_id: int) -> bytes:
        """A body of which this store wrote the pieces."""
        (packed,) = self._db.execute("SELECT pieces FROM body WHERE id = ?", (body_id,)).fetchone()
        found = (self._db.execute(_PIECE, (id,)).fetchone() for id in pieces.ids_of(pieces.unpack_steps(packed)))
        return b"".join(pieces.expand(data, size) for data, size in found)

    def piece(self, piece: bytes) -> int:
        """Id of a piece, which is written unless it is in the file."""
        digest = pieces.piece_digest(piece)
        if (known := self._find("piece", self._pieces, digest)) is not None:
            return known
        row = (digest, len(piece), pieces.compress(piece))
        return self._insert("INSERT INTO piece (digest, size, data) VALUES (?, ?, ?)", row, self._pieces)

    def _find(self, table: str, cache: dict[bytes, int], digest: bytes) -> int | None:
        """Id of a stored row; None if there is none."""
        if (known := cache.get(digest)) is not None:
            return known
        row = self._db.execute(f"SELECT id FROM {table} WHERE digest = ?", (digest,)).fetchone()
        if row:
            _keep(cache, digest, int(row[0]))
        return int(row[0]) if row else None

    def _insert(self, statement: str, row: tuple[bytes, int, bytes], cache: dict[bytes, int]) -> int:
        lastrowid = self._db.execute(statement, row).lastrowid
        assert lastrowid is not None
        _keep(cache, row[0], lastrowid)
        return lastrowid


def whole(raw: bytes) -> CutBody:
    """A body in one piece."""
    return CutBody(raw, [raw] if raw else [], [len(raw)])


def _cut_rest(rest: bytes, repeated_count: int) -> list[bytes] | None:
    """Pieces of a body after so many of them; None if it must be cut as a whole."""
    lead = _IN_LIST if repeated_count % 2 else _BEHIND_ELEMENT
    index = pieces.cut(JsonIndex(lead + rest), least=0)
    index = index[1 if repeated_count % 2 else 2 :]
    return index if sum(map(len, index)) == len(rest) else None


def _keep(cache: dict[bytes, int], digest: bytes, id: int) -> None:
    if len(cache) >= _CACHED:
        del cache[next(iter(cache))]
    cache[digest] = id


def _count_common(repeated: Repetition[_PieceList]) -> int:
    """Number of pieces of an earlier body with which the new one begins."""
    ends = repeated.before.known.ends
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if ends[middle] <= repeated.start else (low, middle)
    return low


def _ids_of_end(repeated: Repetition[_PieceList], ends: Sequence[int]) -> Sequence[int]:
    """Ids of the last pieces that are also the last of an earlier body; ``ends`` are those of the new pieces."""
    stored, size = repeated.before.known, len(repeated.before.body)
    starts, same = (0, *stored.ends), 0
    moved = ends[-1] - size if ends else 0
    for n in range(1, min(len(ends), len(stored.ids))):
        start = starts[-1 - n]
        if size - start > repeated.end or ends[-1 - n] != start + moved:
            break
        same = n
    return stored.ids[len(stored.ids) - same :]
