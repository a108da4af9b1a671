"""A branch in the place of the recorded exchanges, as a session.

Memory-saving storage of a tree's exchanges: for a large request only the difference to its parent is kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from threading import Lock

from workbench.edits import Splice, apply_splices, diff_splices
from workbench.ir import NOTHING
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, DecodedExchange
from workbench.wire import Exchange, Origin, Summary, summarize
from workbench.wire.session import Session, session_id


class BranchSession:
    """The exchanges of a source session before one of them, followed by those of a branch.

    Args:
        source: read on demand; it stays open.
        index: of the exchange that is replaced.
        way: exchanges of the branch; the last is its subject. Of the others only those are included whose answers its
            request continues.
        name: of the session; empty for that of the source.
    """

    is_live = False

    def __init__(self, source: Session, index: int, way: Sequence[Exchange], name: str = "") -> None:
        self.name = name or source.name
        self.about: Mapping[str, str] = source.about or NOTHING
        self.damage: tuple[str, ...] = source.damage
        self._source, self._before = source, max(index, 0)
        self._path = _answered_path(way)

    def __len__(self) -> int:
        return self._before + len(self._path)

    def summaries(self) -> Sequence[Summary]:
        own = (summarize(self._before + n, exchange) for n, exchange in enumerate(self._path))
        return (*self._source.summaries()[: self._before], *own)

    def exchange(self, index: int) -> Exchange:
        if index < self._before:
            return self._source.exchange(index)
        return self._path[index - self._before]

    @property
    def id(self) -> str:
        """The id of the source: notes on one of its exchanges belong to that of the source."""
        return session_id(self._source)

    def work_id(self, source_id: str) -> str:
        """Id for the branches of this session, given an id of its source."""
        ids = [source_id, *(exchange.id for exchange in self._path)]
        return sha256("\0".join(ids).encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def refresh(self) -> frozenset[int]:
        """Does nothing: it does not grow."""
        return frozenset()

    def close(self) -> None:
        """Does nothing: the source stays open."""


def _answered_path(way: Sequence[Exchange]) -> list[Exchange]:
    """The last exchange, after the answered ones whose conversation it continues."""
    last = way[-1]
    path, most = [replace(last, parent=None)], _length(last)
    for exchange in reversed(way[:-1]):
        is_answered = exchange.response is not None and 200 <= exchange.response.status < 300
        if exchange.origin is Origin.RESENT and is_answered and _length(exchange) < most:
            path.insert(0, replace(exchange, parent=None))
            most = _length(exchange)
    return path


def _length(exchange: Exchange) -> int:
    """Number of messages of a request."""
    return len(DecodedExchange(0, replace(exchange, response=None)).messages(REQUEST))


SMALL = 64 * 1024
"""Bodies below this size in bytes are stored whole."""

DEEPEST = 32
"""Longest chain of differences; then a body is stored whole, so that restoring one stays cheap."""

AT_HAND = 4
"""Number of recently used bodies that are cached whole."""


class ExchangeCache:
    """Recently created or restored exchanges. Thread-safe."""

    def __init__(self) -> None:
        self._found: OrderedDict[int, tuple[CompactExchange, Exchange]] = OrderedDict()
        self._lock = Lock()

    def get(self, compact_exchange: CompactExchange) -> Exchange:
        """The whole exchange, restored if necessary."""
        return self.find(compact_exchange) or self.put(compact_exchange, compact_exchange.restore())

    def find(self, compact_exchange: CompactExchange) -> Exchange | None:
        """The whole exchange if it is cached, else None."""
        with self._lock:
            found = self._found.get(id(compact_exchange))
        return found[1] if found else None

    def put(self, compact_exchange: CompactExchange, exchange: Exchange) -> Exchange:
        """Cache it as the most recent one."""
        with self._lock:
            self._found.pop(id(compact_exchange), None)
            self._found[id(compact_exchange)] = compact_exchange, exchange
            if len(self._found) > AT_HAND:
                self._found.popitem(last=False)
        return exchange


class CompactExchange:
    """An exchange whose request body may be stored as a difference.

    Args:
        base: the one whose request it was edited from; None if there is none.
    """

    __slots__ = ("_bare", "_base", "_change", "_depth", "_recent")

    def __init__(self, exchange: Exchange, base: CompactExchange | None, recent: ExchangeCache) -> None:
        self._bare, self._base, self._recent = exchange, base, recent
        self._change: tuple[Splice, ...] | None = None
        self._depth: int = base._depth + 1 if base else 0
        body = _body(exchange)
        change = diff_splices(base.body, body) if base and len(body) > SMALL and self._depth < DEEPEST else None
        if change is None or sum(len(splice.new) for splice in change) > len(body) // 8:
            self._base, self._depth = None, 0
        else:
            self._bare, self._change = _with_body(exchange, b""), change
            recent.put(self, exchange)

    @property
    def bare(self) -> Exchange:
        """The exchange; the body of its request may be left out."""
        return self._bare

    @property
    def exchange(self) -> Exchange:
        """The whole exchange."""
        return self._bare if self._change is None else self._recent.get(self)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, CompactExchange) and self.exchange == other.exchange)

    def __hash__(self) -> int:
        return hash(self._bare.id)

    def restore(self) -> Exchange:
        """Rebuild the whole exchange now."""
        return self._bare if self._change is None else _with_body(self._bare, self.body)

    @property
    def body(self) -> bytes:
        """Bytes of its request, empty if there is none; does not change the cache."""
        if self._base is None or self._change is None:
            return _body(self._bare)
        found = self._recent.find(self)
        return _body(found) if found else apply_splices(self._base.body, self._change)


def _body(exchange: Exchange) -> bytes:
    return exchange.request.body.raw if exchange.request else b""


def _with_body(exchange: Exchange, raw: bytes) -> Exchange:
    assert exchange.request
    return replace(exchange, request=replace(exchange.request, body=replace(exchange.request.body, raw=raw)))
