"""Memory of a simulator: its exchanges, bounded, with an inspector that follows them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from workbench import protocols as adapters
from workbench.contracts import Finding, Repair
from workbench.ir import NOTHING, Message, ModelRequest
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import DecodedExchange
from workbench.rules import InspectedExchange, Inspector
from workbench.wire import Exchange, State, Summary, summarize
from workbench.wire.session import MemorySession, Session

MOST_EXCHANGES = 512
"""Most exchanges; beyond that the older half is forgotten."""

MOST_BYTES = 64 * 1024 * 1024
"""Most bytes of bodies."""

_SEEN_AT_COUNT = 8
"""Number of exchanges before a request that is judged outside of the session."""


Offer = Callable[[Inspector, int, Finding], Sequence[Repair]]
"""Proposes repairs of a finding on a request, the best first (``edits.repairs.offer``)."""


@dataclass(slots=True)
class LiveSession:
    """A growing session in memory. Additions are visible after the next ``refresh``."""

    name: str
    exchanges: list[Exchange] = field(default_factory=list)
    damage: tuple[str, ...] = ()
    about: Mapping[str, str] = NOTHING
    is_live: bool = True
    id: str = ""
    _summaries: list[Summary] = field(default_factory=list)
    _waiting: dict[int, Exchange] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.exchanges)

    def put(self, index: int, exchange: Exchange) -> None:
        """Add or replace an exchange."""
        self._waiting[index] = exchange

    def summaries(self) -> Sequence[Summary]:
        return tuple(self._summaries)

    def exchange(self, index: int) -> Exchange:
        return self.exchanges[index]

    def refresh(self) -> frozenset[int]:
        changed, self._waiting = self._waiting, {}
        for index, exchange in sorted(changed.items()):
            self.exchanges[index : index + 1] = (exchange,)
            self._summaries[index : index + 1] = (summarize(index, exchange),)
        return frozenset(changed)

    def close(self) -> None:
        """Does nothing."""


class SimulatorMemory:
    """The exchanges of a simulator, numbered from zero, also after some were dropped.

    Args:
        label: contract to judge by.
        known: earlier exchanges.
    """

    def __init__(self, label: str, known: Sequence[Exchange] = ()) -> None:
        self._label = label
        self._first = 0
        self._next = 0
        self._bytes = 0
        self._follow(known)

    def _follow(self, exchanges: Sequence[Exchange]) -> None:
        self._session = LiveSession(self._label)
        self._inspector = Inspector(self._session, provider=self._label)
        for index, exchange in enumerate(exchanges):
            self._session.put(index, exchange)
        self._next = self._first + len(exchanges)
        self._bytes = sum(map(_size, exchanges))

    def begin(self, exchange: Exchange) -> tuple[int, InspectedExchange]:
        """Add a pending request; returns its number and its findings."""
        if self._next - self._first >= MOST_EXCHANGES or self._bytes > MOST_BYTES:
            self._forget()
        number, self._next = self._next, self._next + 1
        self._bytes += _size(exchange)
        self._session.put(number - self._first, replace(exchange, state=State.OPEN))
        self._inspector.refresh()
        deque(self._inspector.steps(), maxlen=0)
        return number, self._inspector.rows[number - self._first]

    def end(self, number: int, exchange: Exchange) -> None:
        """Store the finished exchange."""
        if number >= self._first:  # else it is already forgotten
            self._bytes += _size(exchange)
            self._session.put(number - self._first, exchange)

    def inspect_apart(self, exchange: Exchange) -> InspectedExchange:
        """Findings on a request that is not part of the session."""
        self._session.refresh()
        seen = (*self._session.exchanges[-_SEEN_AT_COUNT:], replace(exchange, state=State.OPEN))
        inspector = Inspector(MemorySession(self._label, seen), provider=self._label)
        return inspector.run().rows[-1]

    def best_repair(self, number: int, finding: Finding, offer: Offer) -> str:
        """Title of the best repair of a finding on a request; empty if there is none."""
        if number < self._first:
            return ""
        self._inspector.refresh()
        offered = offer(self._inspector, number - self._first, finding)
        return offered[0].title if offered else ""

    def newest_first(self) -> Iterator[Exchange]:
        """Exchanges, finished or pending, the newest first."""
        self._inspector.refresh()
        return reversed(self._session.exchanges)

    def with_history(self, request: ModelRequest) -> ModelRequest:
        """A request that refers to an earlier response, with the history that the server stores for it."""
        earlier: list[Message] = []
        tools, earlier_request = request.tools, request
        for _ in range(MOST_EXCHANGES):
            found = self._exchange_of(earlier_request.previous_id) if earlier_request.previous_id else None
            if found is None:
                break
            earlier_request, answer = found
            earlier[:0] = (*earlier_request.messages, *answer)
            if adapters.get(request.protocol).traits.thread_keeps_tools:
                tools = tools or earlier_request.tools
        return replace(request, messages=(*earlier, *request.messages), tools=tools)

    def _exchange_of(self, name: str) -> tuple[ModelRequest, tuple[Message, ...]] | None:
        """The request whose response has this id, and the response messages; None if unknown."""
        needle = name.encode("utf-8", "surrogatepass")
        for exchange in self.newest_first():
            if exchange.response and needle in exchange.response.body.raw:
                decoded = DecodedExchange(0, exchange)
                if decoded.request and decoded.response and decoded.response.id == name:
                    return decoded.request, decoded.response.messages
        return None

    def _forget(self) -> None:
        """Forget the older half."""
        self._session.refresh()
        newest = self._session.exchanges[(len(self._session.exchanges) + 1) // 2 :]
        self._first = self._next - len(newest)
        self._follow(newest)


def _size(exchange: Exchange) -> int:
    return sum(len(side.body.raw) for side in (exchange.request, exchange.response) if side)


def simulator_history(session: Session, last: str | None = None) -> Session:
    """A session for a simulator to begin with: all of it if it can be remembered; else what precedes a position.

    Only those are read.

    Args:
        last: id of the last exchange to include; the end of the session if it has none of this id.
    """
    rows = session.summaries()
    if len(rows) < MOST_EXCHANGES and sum(s.request_bytes + s.response_bytes for s in rows) <= MOST_BYTES:
        return session
    end = next((s.index + 1 for s in rows if s.id == last), len(rows))
    start, budget = end, MOST_BYTES
    while start > max(0, end - MOST_EXCHANGES + 1):
        budget -= rows[start - 1].request_bytes + rows[start - 1].response_bytes
        if budget < 0 and start < end:
            break
        start -= 1
    return MemorySession(session.name, tuple(session.exchange(n) for n in range(start, end)))
