"""What is judged beside the requests of models: tool servers, WebSockets, what the recorder itself answered.

Few sessions have any of it: the rules are imported when it comes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import inf
from typing import TYPE_CHECKING

from workbench.contracts import Finding
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, DecodedExchange
from workbench.protocols.mcp import as_tool_request
from workbench.rules._shared.carried_findings import with_more
from workbench.rules.recording import is_refused_handshake
from workbench.rules.tool_hop.late_exchanges import is_of_tools, overtaken_row
from workbench.undo_log import Journal
from workbench.wire import RELAY_HEADER, Exchange, ExchangeKind, State
from workbench.wire.session import Session

if TYPE_CHECKING:
    from workbench.chain import Peek, ToolLink
    from workbench.rules.inspection import InspectedExchange, Inspector
    from workbench.rules.mcp import ToolHops


class ToolServers:
    """``ToolHops`` of a session, made when the first connection to a tool server comes.

    ``peek`` is an argument of all that may make them, as for ``ToolHops``: what reads exchanges owns this.

    Args:
        journal: as for ``ToolHops``.
        session: its exchanges.

    Attributes:
        found: index of a model's request that is still open → findings on it against what the servers said.
    """

    def __init__(self, journal: Journal, session: Session) -> None:
        self._of = journal, session.summaries, session.exchange
        self._hops: ToolHops | None = None
        self._latest: DecodedExchange | None = None  # of a model, before any server came: it may have called a tool
        self._first, self._known = inf, 0  # when the first request to a server began, among so many exchanges
        self.found: dict[int, tuple[Finding, ...]] = {}

    def complete(self, exchange: Exchange, peek: Peek) -> Exchange:
        """An exchange as a request to a tool server, if it is one, with the response that came on another stream."""
        sorted_exchange = as_tool_request(exchange)
        if sorted_exchange.kind is not ExchangeKind.MCP:
            return sorted_exchange
        return self._load(peek).complete(sorted_exchange)

    def check(self, decoded: DecodedExchange, peek: Peek) -> tuple[Finding, ...]:
        """Findings on a connection, or on a request in it. What an open one lacks may come yet."""
        found, is_open = self._load(peek).check(decoded, peek), decoded.exchange.state is State.OPEN
        return tuple(each for each in found if each.side == REQUEST) if is_open else found

    def answered_by(self, stream: Exchange, known: Collection[int]) -> int | None:
        """Index of the first known request whose response has come on a stream that is still open; None for none."""
        answered = self._hops.answered_by(stream) if self._hops else frozenset()
        return min((index for index in answered if index in known), default=None)

    def with_findings(self, row: InspectedExchange, earlier: InspectedExchange) -> InspectedExchange:
        """The row of an exchange that has grown, with what was found when its request was judged, which is the same."""
        if row.summary.kind is ExchangeKind.MCP:
            return replace(row, findings=earlier.findings)
        found = with_more(row.findings, self.found.get(row.index, ()))
        return replace(row, findings=found, tool_links=earlier.tool_links)

    def trial(self, decoded: DecodedExchange, peek: Peek) -> tuple[Finding, ...]:
        """Findings on a request to a tool server, of which nothing is kept."""
        return self._load(peek).trial(decoded, peek)

    def _load(self, peek: Peek) -> ToolHops:
        if self._hops is None:
            from workbench.rules.mcp import ToolHops

            self._hops = ToolHops(*self._of)
            if self._latest is not None:
                self._hops.check_model(self._latest, peek)
                self._latest = None
        return self._hops

    def overtaken_row(self, first: int) -> int:
        """Index of the first request to a model that began after an exchange with a server from here on; -1: none."""
        return overtaken_row(self._of[1](), first)

    def _has_servers_before(self, decoded: DecodedExchange) -> bool:
        """A tool server was asked before this request, by time: it may have been written after it."""
        rows = self._of[1]()
        began = [row.started_at for row in rows[self._known :] if is_of_tools(row) and row.started_at is not None]
        self._first, self._known = min((self._first, *began)), len(rows)
        return decoded.exchange.started_at is not None and self._first < decoded.exchange.started_at

    def check_model(self, decoded: DecodedExchange, peek: Peek) -> tuple[tuple[ToolLink, ...], tuple[Finding, ...]]:
        """Links of the results of a model's request, and findings on it against what the servers said."""
        if self._hops is None and not self._has_servers_before(decoded):
            self._latest = decoded
            return (), ()
        links, found = self._load(peek).check_model(decoded, peek)
        if decoded.exchange.state is State.OPEN:
            self.found[decoded.index] = found
        return links, found


def with_transport_findings(
    row: InspectedExchange,
    decoded: DecodedExchange,
    inspector: Inspector | None = None,
    before: DecodedExchange | None = None,
) -> InspectedExchange:
    """The row; if the recorder refused it, with that alone; of a WebSocket with what its frames show.

    Args:
        inspector: has the exchanges before it.
        before: the same connection when it had fewer frames: those are not read again.
    """
    http = decoded.exchange.response
    is_refused = http is not None and (http.headers.get(RELAY_HEADER) is not None or is_refused_handshake(decoded))
    if decoded.exchange.kind is not ExchangeKind.WEBSOCKET and not is_refused:
        return row
    from workbench.rules import sockets

    return sockets.with_transport_findings(row, decoded, before, _connections_before(decoded.index, inspector))


def _connections_before(index: int, inspector: Inspector | None) -> Iterator[Exchange]:
    """WebSockets in front of an exchange, the last first; nothing is read before one is asked for."""
    if inspector is None:
        return
    for row in (inspector.rows[earlier] for earlier in reversed(range(index))):
        decoded = inspector.read_exchange(row.index) if row.summary.kind is ExchangeKind.WEBSOCKET else None
        if decoded is not None:
            yield decoded.exchange
