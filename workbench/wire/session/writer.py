"""Writing recorded sessions: every append is one transaction, pieces that are there already are only pointed at."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from importlib.resources import files
from pathlib import Path
from types import TracebackType

from workbench.errors import SessionFormatError
from workbench.ir import JsonValue
from workbench.wire.exchange import Body, Exchange, Redaction
from workbench.wire.jsontext import JsonIndex, loads
from workbench.wire.session import pieces
from workbench.wire.session.sqlite import APPLICATION_ID, MAGIC, VERSION, check_version


class SessionWriter:
    """Appends exchanges to a recording; every append is one transaction, so a crash loses at most the last one.

    Raises:
        SessionFormatError: the file exists and is no session of this version.
        OSError, sqlite3.Error: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        fresh = not path.exists() or path.stat().st_size == 0
        if not fresh and not _ours(path):
            raise SessionFormatError("not a recorded session", where=str(path), hint="choose another name")
        self.path = path
        self._db = sqlite3.connect(path, isolation_level=None)
        with ExitStack() as stack:
            stack.callback(self._db.close)
            if fresh:
                self._create()  # before WAL: the file itself says what it is, also after a crash
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            check_version(self._db, path)
            self._next: int = self._db.execute("SELECT coalesce(max(seq) + 1, 0) FROM exchange").fetchone()[0]
            stack.pop_all()

    def _create(self) -> None:
        schema = files("workbench.wire.session").joinpath("schema.sql").read_text(encoding="utf-8")
        self._db.execute("PRAGMA page_size = 16384")  # pieces are 1 to 5 kB: small pages would stand half empty
        self._db.executescript(f"BEGIN; {schema} PRAGMA application_id = {APPLICATION_ID}; COMMIT;")
        self._db.execute("INSERT INTO meta VALUES ('format', 'workbench-session'), ('version', ?)", (str(VERSION),))

    def append(self, exchange: Exchange) -> int:
        """Write one exchange (redacted before); returns its position in the session."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            seq = self._next
            self._insert(seq, exchange)
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        self._next += 1
        return seq

    def _insert(self, seq: int, exchange: Exchange) -> None:
        request, response = exchange.request, exchange.response
        index = JsonIndex(request.body.raw if request and not request.body.encoding else b"")
        row = (
            seq, exchange.id, exchange.parent, exchange.branch, exchange.origin, exchange.hop, exchange.kind,
            exchange.state, exchange.client, exchange.note, exchange.started_at, exchange.duration,
            _json(dict(exchange.meta)) if exchange.meta else None,
            request.method if request else "", request.url if request else "",
            response.status if response else None, _model(index),
            (response.headers.get("content-type") or "") if response else "",
            len(request.body.raw) if request else 0, len(response.body.raw) if response else 0,
        )  # fmt: skip
        self._db.execute(f"INSERT INTO exchange VALUES ({', '.join('?' * len(row))})", row)
        if request:
            head = {"version": request.http_version, "headers": request.headers.items}
            self._insert_side(seq, "request", head, request.body, request.redactions, index)
        if response:
            head = {"version": response.http_version, "reason": response.reason, "headers": response.headers.items}
            self._insert_side(seq, "response", head, response.body, response.redactions, None)
        for n, frame in enumerate(exchange.frames):
            row = (seq, n, frame.direction, frame.opcode, frame.at, self._body(frame.data))  # type: ignore[assignment]
            self._db.execute("INSERT INTO frame VALUES (?, ?, ?, ?, ?, ?)", row)

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
        self._db.execute(f"INSERT INTO side VALUES ({', '.join('?' * len(row))})", row)

    def _body(self, raw: bytes, index: JsonIndex | None = None) -> int:
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
        """Checkpoint and leave one single file."""
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def write(exchanges: Iterable[Exchange], path: Path) -> int:
    """A new recording of these exchanges; returns how many."""
    count = 0
    with closing(SessionWriter(path)) as writer:
        for exchange in exchanges:
            writer.append(exchange)
            count += 1
    return count


def _ours(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(72)
    return head.startswith(MAGIC) and int.from_bytes(head[68:72], "big") == APPLICATION_ID


def _model(index: JsonIndex) -> str | None:
    """The top-level ``model`` of a request body, for the list."""
    span = index.span("/model")
    value = loads(index.text[slice(*span)]) if span else None
    return value if isinstance(value, str) else None


def _json(value: JsonValue) -> str:
    return json.dumps(value, separators=(",", ":"))
