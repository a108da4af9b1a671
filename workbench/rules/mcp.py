"""The hop between an agent and its tool servers: framing, declared capabilities, errors, results and lists.

These exchanges belong to no model and to no contract; each is judged by what its own connection said before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.chain import LostPart, ToolLink, ToolLinks
from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import (
    ASKED_BY,
    CANCELLED,
    ServerFacts,
    fault_of_line,
    first_call_after_change,
)
from workbench.rules.context import Rule
from workbench.rules.wording import quote
from workbench.toolcalls.arguments import climb
from workbench.undo_log import Journal
from workbench.wire import CONNECTION, TURNS, State, loads

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def _rule(name: str, severity: Severity, summary: str) -> Rule:
    return Rule(f"mcp.{name}", severity, summary, breaks=Breaks.CONVERSATION, basis=Basis.RECORDING)


FRAMING = _rule("framing", ERROR, "A line on the channel of a tool server is not a message.")
PROTOCOL_ERROR = _rule("protocol-error", WARNING, "A tool server answered with a JSON-RPC error instead of a result.")
OUTPUT_SCHEMA = _rule("output-schema", ERROR, "A tool's result does not match its outputSchema.")
CAPABILITY = _rule("capability", WARNING, "A request needs a capability that the other side did not declare.")
NO_ANSWER = _rule("no-answer", ERROR, "A request to a tool server got no response.")
LIST_CHANGED = _rule("list-changed", WARNING, "The tool list changed, and the client did not read it again.")
STRUCTURED_DROPPED = _rule("structured-dropped", WARNING, "The structured content of a tool's result is lost.")
RESULT_DROPPED = _rule("result-dropped", WARNING, "A part of a tool's result did not reach the model.")
RESULT_TRUNCATED = _rule("result-truncated", WARNING, "The model got only the beginning of a text in a tool result.")
CONTENT_SHADOWED = _rule("content-shadowed", INFO, "The model got the structured content, not the text next to it.")

RULES = (
    *(FRAMING, PROTOCOL_ERROR, OUTPUT_SCHEMA, CAPABILITY, NO_ANSWER, LIST_CHANGED),
    *(STRUCTURED_DROPPED, RESULT_DROPPED, RESULT_TRUNCATED, CONTENT_SHADOWED),
)

_LOST = {
    "structured": STRUCTURED_DROPPED,
    "part": RESULT_DROPPED,
    "cut": RESULT_TRUNCATED,
    "shadowed": CONTENT_SHADOWED,
}

_MUST_RESULT = ("initialize", "tools/list", "tools/call")
"""Methods whose JSON-RPC error breaks tool use; of others an error is an answer (``resources/read``), or a probe."""

_NEGOTIATION = (-32020, -32021, -32022, -32042)
"""Codes with which a server asks the client for something: another version, a capability, a page to open."""

_OF_JSON_RPC = (-32700, *range(-32603, -32599))
"""Codes of JSON-RPC itself: the request was not understood, and no tool has run."""

_MAY_WAIT = ("subscriptions/listen", "server/discover", "ping", "tasks/result")
"""Methods that are answered late, or that older servers never answer."""


class ToolHops:
    """Judges the connections of a session in order, each by what it said before.

    Args:
        journal: takes back what was learned of exchanges that are inspected again.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._facts: dict[str, ServerFacts] = {}
        self._links = ToolLinks(journal)

    def check(self, decoded: DecodedExchange) -> tuple[Finding, ...]:
        """Findings on a connection, or on a request in it."""
        meta = decoded.exchange.meta
        if TURNS in meta:
            return tuple(_of_connection(decoded))
        connection = str(meta.get(CONNECTION))
        facts = self._facts.get(connection, ServerFacts())
        self._journal.put(self._facts, connection, _facts_after(decoded, facts))
        self._links.take(decoded)
        return tuple(_of_request(decoded, facts))

    def check_passed_on(self, decoded: DecodedExchange) -> tuple[tuple[ToolLink, ...], tuple[Finding, ...]]:
        """Links of the results of a model's request, and findings on what they tell of what the server sent."""
        links = self._links.links(decoded)
        found = (_of_passed(decoded, link, lost) for link in links for lost in link.lost)
        return links, tuple(found)


def _of_passed(decoded: DecodedExchange, link: ToolLink, lost: LostPart) -> Finding:
    message = f"{lost.size:,} bytes of {lost.pointer} in exchange {link.exchange + 1} are not in this result"
    if lost.kind == "shadowed":
        message += ": the client passes on the structured content instead"
    return _finding(decoded, _LOST[lost.kind], REQUEST, link.pointer, message, f"matched {link.how}")


def _facts_after(decoded: DecodedExchange, facts: ServerFacts) -> ServerFacts:
    """Declarations of the connection, including this request and its result."""
    http = decoded.exchange.request
    method = http.method if http else ""
    if not facts.is_told_by(method):
        return facts
    request, response = _value(decoded.request_text), _value(decoded.response_text)
    return facts.after(method, request.get("params"), response.get("result"))


def _of_connection(decoded: DecodedExchange) -> Iterator[Finding]:
    frames = decoded.exchange.frames
    for side, direction, whose in ((REQUEST, "sent", "client"), (RESPONSE, "received", "server")):
        lines = (n for n, frame in enumerate(frames) if (frame.direction, frame.opcode) == (direction, "text"))
        faults = [(number, fault) for number in lines if (fault := fault_of_line(frames[number].data))]
        if faults:
            number, fault = faults[0]
            more = f" ({len(faults):,} such lines)" if len(faults) > 1 else ""
            text = f"message {number} of the {whose} is {fault}{more}"
            shown = quote(frames[number].data.decode("utf-8", "backslashreplace"))
            yield _finding(decoded, FRAMING, side, "", text, shown)
    stale = first_call_after_change(frames)
    if stale:
        text = f"message {stale[0]} says that the tool list changed; message {stale[1]} calls a tool without tools/list"
        yield _finding(decoded, LIST_CHANGED, REQUEST, "", text)


def _of_request(decoded: DecodedExchange, facts: ServerFacts) -> Iterator[Finding]:
    exchange, http = decoded.exchange, decoded.exchange.request
    if http is None:
        return
    asked_by = str(exchange.meta.get(ASKED_BY))
    missing = facts.lacks(http.method, asked_by)
    if missing:
        other = "server" if asked_by == "client" else "client"
        text = f"{quote(http.method)} needs the capability {missing!r}, which the {other} did not declare"
        yield _finding(decoded, CAPABILITY, REQUEST, "/method", text)
    if asked_by != "client":
        return
    if exchange.response is None:
        if exchange.state is State.ABORTED and CANCELLED not in exchange.meta and http.method not in _MAY_WAIT:
            text = f"{quote(http.method)} got no response before the connection ended"
            yield _finding(decoded, NO_ANSWER, RESPONSE, "", text)
        return
    response = _value(decoded.response_text)
    if http.method in _MUST_RESULT:
        yield from _error(decoded, http.method, response.get("error"))
    if http.method == "tools/call":
        yield from _output(decoded, _value(decoded.request_text).get("params"), response.get("result"), facts)


def _error(decoded: DecodedExchange, method: str, error: JsonValue) -> Iterator[Finding]:
    if not isinstance(error, dict) or error.get("code") in _NEGOTIATION:
        return
    code = error.get("code")
    shown = str(code) if isinstance(code, int) else quote(code, 20)
    text = f"{method} was answered with error {shown}: {quote(error.get('message'))}"
    if method == "tools/call" and code not in _OF_JSON_RPC:
        text += "; a tool that fails belongs in a result with isError, which clients show to the model"
    yield _finding(decoded, PROTOCOL_ERROR, RESPONSE, "/error", text)


def _output(decoded: DecodedExchange, params: JsonValue, result: JsonValue, facts: ServerFacts) -> Iterator[Finding]:
    name = params.get("name") if isinstance(params, dict) else None
    schema = facts.tools.get(name, {}).get("outputSchema") if isinstance(name, str) else None
    if not isinstance(schema, dict) or not isinstance(result, dict) or result.get("isError") or "task" in result:
        return
    if result.get("resultType", "complete") != "complete":
        return
    if "structuredContent" not in result:
        text = f"{quote(name)} declares an outputSchema, and its result has no structuredContent"
        yield _finding(decoded, OUTPUT_SCHEMA, RESPONSE, "/result", text)
        return
    for fault in climb(None, result["structuredContent"], schema).faults:
        text = f"the structuredContent of {quote(name)} breaks its outputSchema: {fault.message}"
        yield _finding(decoded, OUTPUT_SCHEMA, RESPONSE, f"/result/structuredContent{fault.pointer}", text)


def _value(text: bytes) -> dict[str, JsonValue]:
    try:
        value = loads(text) if text.strip() else None
    except WireError:
        value = None
    return value if isinstance(value, dict) else {}


def _finding(
    decoded: DecodedExchange, rule: Rule, side: str, pointer: str, message: str, evidence: str = ""
) -> Finding:
    found = Finding(rule.slug, rule.severity, decoded.index, side, pointer, message, evidence=evidence)
    span = decoded.place(side, pointer).span if pointer else None
    return replace(found, span=span, basis=rule.basis, breaks=rule.breaks)
