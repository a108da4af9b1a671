"""The hop between an agent and its tool servers, and what of it reaches the model.

These exchanges have no model and no contract. Each is checked by the earlier messages of its own connection, and the
model's calls and results are checked against the requests to tool servers that carried them out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from workbench.chain import (
    MOST_KNOWN,
    Peek,
    RequestToolResult,
    ToolLink,
    ToolLinks,
    newest_messages,
    request_tool_results,
)
from workbench.contracts import Finding
from workbench.protocols import REQUEST, DecodedExchange
from workbench.protocols.clients import ClientFacts, client_of, facts_of
from workbench.protocols.mcp import (
    ASKED_BY,
    CALL_TOOL,
    END,
    SIGN_INS,
    STREAM,
    ChannelFacts,
    Course,
    LaterStreams,
    ServerFacts,
    ToolOutcome,
    ToolStreams,
    as_tool_request,
    is_over_http,
    read_channel,
    request_object,
    response_object,
    server_of,
    tool_outcome,
)
from workbench.rules.tool_hop.calls import (
    ModelCalls,
    detour_of,
    of_arguments,
    of_call,
    of_passed_on,
    of_route,
    of_uncalled,
)
from workbench.rules.tool_hop.connection import of_connection
from workbench.rules.tool_hop.course import of_lapses_over_http, of_unlisted
from workbench.rules.tool_hop.declarations import ListedTool, of_declared, of_instructions
from workbench.rules.tool_hop.endpoints import Endpoints
from workbench.rules.tool_hop.http import of_ended_session, of_http, of_lost_session
from workbench.rules.tool_hop.late_exchanges import LateExchanges
from workbench.rules.tool_hop.lists import ListRead, of_gateway, of_list, of_used_list, texts_aimed_at_model
from workbench.rules.tool_hop.messages import of_messages
from workbench.rules.tool_hop.requests import is_unknown_session, request_findings
from workbench.rules.tool_hop.results import OutcomeTexts, of_told
from workbench.rules.tool_hop.rules import RULES, member, texts_of
from workbench.rules.tool_hop.sign_in import SignIns
from workbench.rules.tool_hop.streams import Resumptions
from workbench.rules.tool_hop.versions import PATIENCE, RefusedProbe, of_probe, refused_probe
from workbench.undo_log import Journal
from workbench.wire import CONNECTION, TURNS, Exchange, ExchangeKind, HttpRequest, State, Summary

__all__ = ["RULES", "ToolHops"]


class ToolHops:
    """Checks the connections of a session in order, each by its earlier messages.

    ``peek`` is an argument of what may look at another exchange: it decodes one; None if that is unreadable.

    Args:
        journal: undo log; removes what was learned from exchanges that are inspected again.
        summaries: function that returns the summaries of the session's exchanges.
        read: reads one of these exchanges.
    """

    def __init__(
        self,
        journal: Journal,
        summaries: Callable[[], Sequence[Summary]],
        read: Callable[[int], Exchange],
    ) -> None:
        self._journal = journal
        self._summaries = summaries
        self._facts: dict[str, ServerFacts] = {}
        self._servers: dict[str, str] = {}
        self._channels: dict[str, ChannelFacts] = {}
        self._seen: dict[str, bool] = {}
        self._streams = ToolStreams(LaterStreams(summaries, read))
        self._resumptions = Resumptions(journal)
        self._endpoints = Endpoints(journal)
        self._declared: dict[str, object] = {}
        self._told: dict[str, bool] = {}
        self._lists: dict[str, ListRead] = {}
        self._listed: tuple[list[tuple[str, Mapping[str, Any]]], tuple[ListedTool, ...]] = ([], ())
        self._probes: dict[str, RefusedProbe] = {}
        self._courses: dict[str, Course] = {}
        self._ready: dict[str, float] = {}
        self._sessions: dict[str, str] = {}
        self._ended: dict[str, bool] = {}
        self._lost: dict[str, tuple[int, float]] = {}
        self._routes: dict[tuple[str, str, str, int], str] = {}
        self._sign_ins = SignIns(journal)
        self._links = ToolLinks(journal)
        self._calls = ModelCalls(journal)
        self._late_tools = LateExchanges(journal, summaries, of_tools=True)
        self._late_models = LateExchanges(journal, summaries, of_tools=False)
        self._early: dict[int, tuple[Finding, ...]] = {}

    def complete(self, exchange: Exchange) -> Exchange:
        """An exchange as a request to a tool server, if it is one, with the response that came on another stream."""
        return self._streams.complete(as_tool_request(exchange))

    def check(self, decoded: DecodedExchange, peek: Peek) -> tuple[Finding, ...]:
        """Findings on a connection, or on a request in it."""
        exchange = decoded.exchange
        if decoded.index in self._early and exchange.state is not State.OPEN:
            return self._early[decoded.index]
        if exchange.branch:  # what a breakpoint sent in the place of another message
            return ()
        self._journal.put(self._seen, "", True)
        self._streams.take(exchange)
        self._streams.wait(exchange, decoded.index)
        if TURNS in exchange.meta:
            return tuple(self._check_connection(decoded))
        connection = str(exchange.meta.get(CONNECTION))
        facts = self._facts.get(connection, ServerFacts())
        after = _facts_after(decoded, facts)
        found = [
            *request_findings(decoded, facts, self._channels.get(connection)),
            *of_messages(decoded, facts),
            *self._check_http(decoded, connection, facts),
            *self._check_list(decoded, connection, facts),
            *self._check_lists_over_http(decoded, connection),
        ]
        if exchange.request and connection not in self._servers:
            self._journal.put(self._servers, connection, server_of(exchange.request.url))
        self._journal.put(self._facts, connection, after)
        self._take_probe(decoded)
        return (*found, *self._check_call(decoded, facts, peek))

    def _take_late_servers(self, decoded: DecodedExchange, peek: Peek) -> None:
        """Check what servers were asked before a request to a model, and was written after it."""
        for index in self._late_tools.before(decoded.index, decoded.exchange.started_at):
            late = peek(index)
            if late and late.exchange.kind is ExchangeKind.MCP and late.exchange.state is not State.OPEN:
                self._journal.put(self._early, index, self.check(late, peek))

    def _take_late_models(self, decoded: DecodedExchange, peek: Peek) -> None:
        """Remember the calls of models that were asked before a request to a server, and written after it."""
        for index in self._late_models.before(decoded.index, decoded.exchange.started_at):
            if late := peek(index):
                self._calls.take(late)
                self._journal.put(self._early, index, ())

    def answered_by(self, stream: Exchange) -> frozenset[int]:
        """Indices of checked requests whose response has now come on a stream that is still open."""
        return self._streams.take(stream)

    def trial(self, decoded: DecodedExchange, peek: Peek) -> tuple[Finding, ...]:
        """Findings on a request to a tool server; nothing of it is kept."""
        was_on, self._journal.is_on = self._journal.is_on, True
        mark = self._journal.mark()
        try:
            return self.check(decoded, peek)
        finally:
            self._journal.rewind(mark)
            self._journal.is_on = was_on

    def _check_connection(self, decoded: DecodedExchange) -> Iterator[Finding]:
        facts = read_channel(decoded.exchange.frames)
        if decoded.exchange.state is not State.OPEN:
            self._journal.put(self._channels, decoded.exchange.id, facts)
        yield from of_connection(decoded, facts, self._model_after(decoded, facts))

    def _model_after(self, decoded: DecodedExchange, facts: ChannelFacts) -> int | None:
        """Index of the first exchange with a model after the tool list has changed."""
        began = decoded.exchange.started_at
        if facts.stale_at is None or began is None:
            return None
        later = (s for s in self._summaries() if s.kind is not ExchangeKind.MCP and s.started_at is not None)
        return next((s.index for s in later if (s.started_at or 0.0) >= began + (facts.stale_at or 0.0)), None)

    def _check_list(self, decoded: DecodedExchange, connection: str, facts: ServerFacts) -> Iterator[Finding]:
        http = decoded.exchange.request
        if http is None or http.method != "tools/list" or decoded.exchange.meta.get(ASKED_BY) != "client":
            return
        server = server_of(http.url)
        earlier = [self._facts[other].tools for other, name in self._servers.items() if name == server]
        known = {name: entry for tools in (*earlier, facts.tools) for name, entry in tools.items()}
        yield from of_list(decoded, self._channels.get(connection), known)
        others = {name: self._facts[other].tools for other, name in self._servers.items() if name != server}
        yield from of_gateway(decoded, others)

    def _check_http(self, decoded: DecodedExchange, connection: str, facts: ServerFacts) -> Iterator[Finding]:
        """What HTTP says of a message, and when it comes: over stdio the connection as a whole tells that."""
        exchange = decoded.exchange
        if exchange.request is None or not is_over_http(exchange):
            return
        yield from self._sign_ins.check(decoded)
        if exchange.request.method in SIGN_INS:
            return
        server = server_of(exchange.request.url)
        yield from of_http(decoded, self._sessions.get(server, ""), facts.version)
        yield from self._endpoints.check(decoded)
        yield from self._resumptions.check(decoded, connection)
        if connection not in self._courses:
            is_alone = " " in connection  # with the id of its session
            self._journal.put(self._courses, connection, Course(self._journal, is_alone=is_alone))
        yield from of_lapses_over_http(decoded, self._courses[connection])
        yield from self._check_end(decoded, exchange.request)
        if exchange.request.method == "notifications/initialized" and exchange.started_at is not None:
            self._journal.put(self._ready, connection, exchange.started_at)
        session_id = exchange.response.headers.get("mcp-session-id") if exchange.response else None
        if exchange.request.method == "initialize":
            self._journal.put(self._sessions, server, session_id or "")

    def _check_end(self, decoded: DecodedExchange, request: HttpRequest) -> Iterator[Finding]:
        """Remember a session that a client ended; a server has to refuse it from then on."""
        session, response = request.headers.get("mcp-session-id") or "", decoded.exchange.response
        yield from self._check_lost(decoded, session, request.method)
        if session and response is not None and response.status < 300:
            if session in self._ended and request.method != END:
                yield of_ended_session(decoded)
            elif request.method == END:
                self._journal.put(self._ended, session, True)

    def _check_lost(self, decoded: DecodedExchange, session: str, method: str) -> Iterator[Finding]:
        """Remember a session that its server no longer knows; a client has to begin a new one."""
        began, duration = decoded.exchange.started_at or 0.0, decoded.exchange.duration or 0.0
        since, at = self._lost.get(session, (-1, 0.0))
        if method in (END, STREAM, "initialize"):
            return
        if since >= 0 and began >= at:
            yield of_lost_session(decoded, since)
        elif since < 0 and is_unknown_session(decoded.exchange):
            self._journal.put(self._lost, session, (decoded.index, began + duration))

    def _check_lists_over_http(self, decoded: DecodedExchange, connection: str = "") -> Iterator[Finding]:
        """What was left out of a list that is used: over HTTP no connection says in the end what was asked.

        Args:
            connection: of a message to a tool server; empty for a request to a model, which uses all lists.
        """
        http = decoded.exchange.request
        if connection:
            read = self._lists.get(connection, ListRead())
            after = read.after(decoded)
            if after is not read:
                self._journal.put(self._lists, connection, after)
        if connection and not (http and http.method == CALL_TOOL and is_over_http(decoded.exchange)):
            return
        for name, read in list(self._lists.items()):
            if name == connection or not connection:
                found = tuple(of_used_list(decoded, read))
                if found:
                    self._journal.put(self._lists, name, read.without_findings())
                yield from found

    def _check_unlisted(self, decoded: DecodedExchange) -> Iterator[Finding]:
        """Servers over HTTP whose tools were not listed before a request to the model: no connection ends there."""
        began = decoded.exchange.started_at
        listed = {self._servers.get(connection) for connection, facts in self._facts.items() if facts.tools}
        for connection, at in list(self._ready.items()):
            server = self._servers.get(connection, "")
            if began is None or began < at + PATIENCE:
                continue
            self._journal.pop(self._ready, connection)
            if self._courses[connection].is_unused and server not in listed:
                yield of_unlisted(decoded, server)

    def _take_probe(self, decoded: DecodedExchange) -> None:
        """Remember a server that refused ``server/discover``, until the client sends ``initialize``."""
        http = decoded.exchange.request
        server = server_of(http.url) if http else ""
        if probe := refused_probe(decoded):
            self._journal.put(self._probes, server, probe)
        elif server in self._probes and http and http.method == "initialize":
            self._journal.put(self._probes, server, RefusedProbe())

    def _check_probes(self, decoded: DecodedExchange) -> Iterator[Finding]:
        """Servers that the client gave up after their refusal, at the first request to the model behind it."""
        for server, probe in list(self._probes.items()):
            if found := tuple(of_probe(decoded, server, probe)):
                self._journal.put(self._probes, server, RefusedProbe())
                yield from found

    def _check_call(self, decoded: DecodedExchange, facts: ServerFacts, peek: Peek) -> Iterator[Finding]:
        outcome = tool_outcome(decoded)
        if outcome is None:
            return
        self._take_late_models(decoded, peek)
        if outer := self._calls.gateway_of(outcome) or self._links.passer_of(
            outcome, is_alone=not self._calls.has_pending
        ):
            yield from of_passed_on(decoded, outcome, outer)
            return
        self._links.take(outcome)
        before = self._calls.carry_out(outcome)
        yield from of_call(decoded, outcome, before, facts.tools.get(outcome.tool, {}))
        yield from of_arguments(decoded, outcome, before, facts.tools.get(outcome.tool, {}))
        if before and (why := self._route(before.call.name or "", outcome)):
            yield of_route(decoded, before, why)
        for number, text in enumerate(texts_of(outcome.result)):
            yield from texts_aimed_at_model(decoded, text, f"/result/content/{number}/text")

    def _route(self, name: str, outcome: ToolOutcome) -> str:
        """Why a call went elsewhere than its name says, the same for each call of that name."""
        tool_count = sum(len(facts.tools) for facts in self._facts.values())
        key = name, outcome.server, outcome.tool, tool_count
        if key not in self._routes:
            self._routes[key] = detour_of(name, outcome, [(one.server, one.name) for one in self._tools()])
        return self._routes[key]

    # The model's side.

    def check_model(self, decoded: DecodedExchange, peek: Peek) -> tuple[tuple[ToolLink, ...], tuple[Finding, ...]]:
        """Links of the results in a request to a model, and findings on it, compared with what the servers returned."""
        self._take_late_servers(decoded, peek)
        if not self._seen:
            self._calls.take_latest(decoded)
            return (), ()
        waiting = self._links.waiting
        links = self._links.links(decoded)
        found = [
            *self._check_lists_over_http(decoded),
            *self._check_unlisted(decoded),
            *self._check_probes(decoded),
            *self._check_declared(decoded),
            *self._check_told(decoded, links, waiting),
        ]
        if decoded.index not in self._early:
            self._calls.take(decoded)
        return links, tuple(found)

    def _check_declared(self, decoded: DecodedExchange) -> Iterator[Finding]:
        """The declared tools, unless they are those of the request before."""
        declared = decoded.request.tools if decoded.request else ()
        listed = self._tools()
        key = (declared, len(listed))
        if not declared or not listed or self._declared.get("") == key:
            return
        self._journal.put(self._declared, "", key)
        yield from of_declared(decoded, listed, partial(self._client_of, decoded))
        servers = (
            (self._servers.get(c, ""), f.instructions, f.tools) for c, f in self._facts.items() if f.instructions
        )
        for found in of_instructions(decoded, declared, servers):
            if found.message not in self._told:
                self._journal.put(self._told, found.message, True)
                yield found

    def _new_results(self, decoded: DecodedExchange, links: Sequence[ToolLink]) -> dict[str, RequestToolResult]:
        """Results of the links, and of calls that wait for theirs, by pointer; older ones are left out."""
        pointers = {link.pointer for link in links}
        ids = {one.call.id for one in self._calls.pending}
        found: dict[str, RequestToolResult] = {}
        known = 0  # results in a row that an earlier request had
        for one in request_tool_results(newest_messages(decoded.messages(REQUEST))):
            if not pointers and (not ids or known > MOST_KNOWN):
                break
            known = 0 if one.is_newest or one.result.tool_call_id in ids else known + 1
            found[one.pointer] = one
            pointers.discard(one.pointer)
            ids.discard(one.result.tool_call_id)
        return found

    def _client_of(self, decoded: DecodedExchange, server: str) -> ClientFacts:
        """Facts of the client: by its requests to the model, else by what it calls itself to the tool server."""
        http, exchange = decoded.exchange.request, decoded.exchange
        agent = (http.headers.get("user-agent") if http else None) or ""
        client = facts_of(exchange.client or client_of(agent))
        if client.name:
            return client
        agents = (f.agent for c, f in self._facts.items() if self._servers.get(c) == server and f.agent)
        return facts_of(next(agents, ""))

    def _tools(self) -> Sequence[ListedTool]:
        """All listed tools; the same tuple as before where no list is another."""
        lists = [(self._servers.get(c, ""), facts.tools) for c, facts in self._facts.items() if facts.tools]
        known, tools = self._listed
        pairs = zip(known, lists, strict=False)
        if len(known) != len(lists) or any(a is not b or one != two for (one, a), (two, b) in pairs):
            found = {(server, name): entry for server, listed in lists for name, entry in listed.items()}
            tools = tuple(ListedTool(server, name, entry) for (server, name), entry in found.items())
            self._listed = (lists, tools)
        return tools

    def _check_told(
        self, decoded: DecodedExchange, links: Sequence[ToolLink], waiting: Sequence[ToolOutcome]
    ) -> Iterator[Finding]:
        results = self._new_results(decoded, links)
        outcomes, texts = {outcome.exchange: outcome for outcome in waiting}, OutcomeTexts(waiting)
        for link in links:
            client = self._client_of(decoded, link.server)
            yield from of_told(decoded, link, results[link.pointer], outcomes[link.exchange], texts, client)
        answered = self._calls.drop(frozenset(one.result.tool_call_id for one in results.values()))
        yield from of_uncalled(decoded, answered, links, ((one.server, one.name) for one in self._tools()), waiting)


def _facts_after(decoded: DecodedExchange, facts: ServerFacts) -> ServerFacts:
    """Declarations of the connection, including this request and its result."""
    http = decoded.exchange.request
    method = http.method if http else ""
    if not facts.is_told_by(method):
        return facts
    request, response = request_object(decoded), response_object(decoded)
    return facts.after(method, member(request, "params"), member(response, "result"), decoded.index)
