"""The hop between an agent and its tool servers: framing, declared capabilities, errors, results and lists.

These exchanges belong to no model and to no contract; each is judged by what its own connection said before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.errors import WireError
from workbench.ir import JsonValue, Media, Opaque, Part, Text, ToolCallIR, ToolResultIR
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import (
    ASKED_BY,
    CANCELLED,
    ServerFacts,
    ToolOutcome,
    fault_of_line,
    first_call_after_change,
    tool_outcome,
)
from workbench.rules.context import Rule
from workbench.rules.wording import quote
from workbench.toolcalls.arguments import climb
from workbench.undo_log import Journal
from workbench.wire import CONNECTION, TURNS, State, dumps, loads

_SIGNIFICANT = 16
"""Characters at the beginning of a text that show that its rest was cut."""


class LostPart(NamedTuple):
    """A part of a result that the model did not get.

    Attributes:
        kind: ``"structured"``, ``"part"`` of the content, or ``"cut"``: the beginning of a text, without its end.
        pointer: of the part, in the response of the server.
        size: bytes that are missing.
    """

    kind: str
    pointer: str
    size: int


def lost_parts(result: dict[str, JsonValue], told: str, *, has_media: bool) -> Iterator[LostPart]:
    """Parts of a result that the model did not get.

    Args:
        told: the text that it got.
        has_media: it got an image or a file, too: which one cannot be told, because clients make them smaller.
    """
    told = "\n".join((told, *(leaf for leaf in _leaves(_json(told)) if isinstance(leaf, str))))
    structured = result.get("structuredContent")
    has_structured = structured is not None
    is_told = has_structured and all(_is_in(leaf, told) for leaf in _leaves(structured))
    if has_structured and not is_told:
        yield LostPart("structured", "/result/structuredContent", len(dumps(structured)))
    content = result.get("content")
    for number, part in enumerate(content if isinstance(content, list) else ()):
        lost = _lost_part(part, told) if isinstance(part, dict) else None
        is_media = lost is not None and not isinstance(lost.text, str)
        if lost and not (has_media if is_media else is_told and not result.get("isError")):
            yield lost.at(f"/result/content/{number}")


class _LostContent(NamedTuple):
    """A lost part of the content; ``text`` is None for what is no text."""

    kind: str
    pointer: str
    size: int
    text: str | None

    def at(self, part: str) -> LostPart:
        return LostPart(self.kind, part + self.pointer, self.size)


def _lost_part(part: dict[str, JsonValue], told: str) -> _LostContent | None:
    """Lost content of one part: the bytes that did not reach the model."""
    inner, kind = part.get("resource"), part.get("type")
    name: JsonValue = ""
    if kind == "text":
        return _lost_text(part.get("text"), "/text", told)
    if kind == "resource" and isinstance(inner, dict) and "text" in inner:
        return _lost_text(inner["text"], "/resource/text", told)
    if kind == "image":
        data, pointer = part.get("data"), "/data"
    elif kind == "resource" and isinstance(inner, dict):
        data, name, pointer = inner.get("blob"), inner.get("uri"), "/resource/blob"
    else:
        return None
    if not isinstance(data, str) or data in told or (isinstance(name, str) and name and name in told):
        return None
    return _LostContent("part", pointer, len(data), None)


def _lost_text(text: JsonValue, pointer: str, told: str) -> _LostContent | None:
    if not isinstance(text, str) or not text.strip() or text.strip() in told:
        return None
    value = _json(text)
    if value is not None and all(_is_in(leaf, told) for leaf in _leaves(value)):
        return None
    kept = _length_told(text, told)
    size = len(text[kept:].encode("utf-8", "replace"))
    return _LostContent("cut" if kept >= _SIGNIFICANT else "part", pointer, size, text)


def _length_told(text: str, told: str) -> int:
    """Length of the beginning of a text that was told."""
    first = told.find(text[:_SIGNIFICANT])
    if first < 0:
        return 0
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if told.startswith(text[:middle], first) else (low, middle - 1)
    return low


def _leaves(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value


def _is_in(leaf: JsonValue, told: str) -> bool:
    """A single value is in the text, as JSON or as it is."""
    text = dumps(leaf).decode("utf-8", "replace")
    return text in told or (isinstance(leaf, str) and (leaf in told or text[1:-1] in told))


def _json(text: str) -> JsonValue:
    try:
        return loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except WireError:
        return None


ERROR, WARNING = Severity.ERROR, Severity.WARNING


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

RULES = (
    *(FRAMING, PROTOCOL_ERROR, OUTPUT_SCHEMA, CAPABILITY, NO_ANSWER, LIST_CHANGED),
    *(STRUCTURED_DROPPED, RESULT_DROPPED, RESULT_TRUNCATED),
)

_LOST = {"structured": STRUCTURED_DROPPED, "part": RESULT_DROPPED, "cut": RESULT_TRUNCATED}

_MOST_WAITING = 64
"""Results that may wait for the request that tells the model of them; the oldest is given up."""

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
        self._waiting: dict[str, tuple[ToolOutcome, ...]] = {}

    def check(self, decoded: DecodedExchange) -> tuple[Finding, ...]:
        """Findings on a connection, or on a request in it."""
        meta = decoded.exchange.meta
        if TURNS in meta:
            return tuple(_of_connection(decoded))
        connection = str(meta.get(CONNECTION))
        facts = self._facts.get(connection, ServerFacts())
        self._journal.put(self._facts, connection, _facts_after(decoded, facts))
        self._await(decoded)
        return tuple(_of_request(decoded, facts))

    def _await(self, decoded: DecodedExchange) -> None:
        """Remember the result of a tool until a request tells the model of it."""
        outcome = None if CANCELLED in decoded.exchange.meta else tool_outcome(decoded)
        if outcome and outcome.result and outcome.result.get("resultType", "complete") == "complete":
            waiting = self._waiting.get("", ())
            self._journal.put(self._waiting, "", (*waiting, outcome)[-_MOST_WAITING:])

    def check_passed_on(self, decoded: DecodedExchange) -> tuple[Finding, ...]:
        """Findings on the results of a model's request, each compared with what the tool server sent."""
        waiting = self._waiting.get("", ())
        if not waiting:
            return ()
        found, calls = list[Finding](), _calls(decoded)
        for pointer, told, has_media in _results(decoded):
            call = calls.get(told.tool_call_id)
            name, given = (call.name, call.input) if call else (told.name, None)
            outcome = next((one for one in reversed(waiting) if one.is_of(told.tool_call_id, name, given)), None)
            if outcome:
                waiting = tuple(one for one in waiting if one is not outcome)
                lost = lost_parts(outcome.result, _text(told), has_media=has_media)
                found += (_of_passed(decoded, pointer, outcome, part) for part in lost)
        self._journal.put(self._waiting, "", waiting)
        return tuple(found)


def _calls(decoded: DecodedExchange) -> dict[str | None, ToolCallIR]:
    return {call.id: call for message in decoded.messages(REQUEST) for _, call in message.tool_calls()}


def _results(decoded: DecodedExchange) -> Iterator[tuple[str, ToolResultIR, bool]]:
    """Results of a request, the last first, with their pointers, and whether an image or file is in or behind them."""
    has_media = False
    for message in reversed(decoded.messages(REQUEST)):
        results = [part for part in message.parts if isinstance(part, ToolResultIR) and not part.is_server]
        parts = (*message.parts, *(inner for result in results for inner in result.content))
        has_media = has_media or any(isinstance(part, Media) for part in parts)
        for result in reversed(results):
            yield message.absolute(result), result, has_media


def _text(told: ToolResultIR) -> str:
    """All that a result says in words; parts of unknown types as JSON."""
    return "\n".join(map(_words, told.content))


def _words(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    return dumps(part.value).decode("utf-8", "replace") if isinstance(part, Opaque) else ""


def _of_passed(decoded: DecodedExchange, pointer: str, outcome: ToolOutcome, lost: LostPart) -> Finding:
    how = (
        "by the tool call id that the client sent"
        if outcome.call_id
        else "by tool name and arguments, which is a guess"
    )
    message = f"{lost.size:,} bytes of {lost.pointer} in exchange {outcome.exchange + 1} are not in this result"
    return _finding(decoded, _LOST[lost.kind], REQUEST, pointer, message, f"matched {how}")


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
