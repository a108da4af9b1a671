"""Streams that the usual client libraries cannot read, or in which they miss a call.

What they do is known from their source. Running every client on every stream would take longer than reading it: they
are asked where the decoder noticed something odd, and where calls are in a form that many of them do not build.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from workbench import protocols, regex
from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.errors import WireError
from workbench.ir import JsonValue, ModelResponse, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.protocols import RESPONSE, Traits
from workbench.rules._shared.client_forms import SYNTHESISED, check_forms
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import quote, weaker
from workbench.wire import CONNECTION, Framing, Origin, loads

if TYPE_CHECKING:
    from workbench.protocols.clients import ClientGroup

RAISES = Rule(
    "stream.client-raises",
    Severity.WARNING,
    "Client libraries raise an error on this stream.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.FORM,
)
MISSING = Rule(
    "stream.client-misses",
    Severity.WARNING,
    "Client libraries miss a tool call in this stream.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.FORM,
)

RULES = (RAISES, MISSING)

_OFTEN_MISREAD = frozenset({"stream.index", "stream.id", "stream.name", "stream.block-order", "content.shape"})
"""Anomalies of a stream that clients join in different ways."""

_LEGACY = "openai-function-call"
_ITEMS = ("function_call", "custom_tool_call")
_AGENTS = {
    "openai-python": regex.compile(r"(?:Async)?OpenAI/Python"),
    "openai-node": regex.compile(r"(?:Async)?OpenAI/JS"),
    "anthropic-python": regex.compile(r"(?:Async)?Anthropic/Python"),
    "anthropic-typescript": regex.compile(r"(?:Async)?Anthropic/JS"),
    "openai-agents": regex.compile(r"Agents/Python"),
    "litellm": regex.compile(r"litellm"),
    "codex": regex.compile(r"codex_"),
    "google-genai": regex.compile(r"google-genai-sdk/[\d.]+ gl-python"),
    "ollama-python": regex.compile(r"ollama-python/"),
}
"""Client → how it begins its ``User-Agent``."""

_HELPED = ("openai-python", "openai-node", "anthropic-python", "anthropic-typescript")
_HELPER = "x-stainless-helper-method"
"""Header with which these SDKs say that their stream helper reads the answer; without it, the agent reads each event.

openai-python 2026-08, resources/chat/completions/completions.py; anthropic-sdk-python 2026-08, _stainless_helpers.py
"""

GENAI = "google-genai 3.4 (Python) and @google/genai"
MOST_EVENTS = 20_000
"""Events beyond which no client is asked."""


def review(case: RuleContext, found: Iterable[Finding]) -> Iterator[Finding]:
    """All findings, and what clients do: as evidence of a finding about a fault of the stream, where there is one.

    Of several it is the one about the same events, else the first that is more than a remark.
    """
    known, of_clients = list(found), list(_of_clients(case))
    cause = _cause_in_stream(known, of_clients) if of_clients else None
    answer = case.response
    is_whole = answer is not None and not answer.error and not case.decoded.exchange.is_left and not _is_rebuilt(case)
    of_forms = [form for form in check_forms(case, answer) if not _is_told(form, known)] if answer and is_whole else []
    if cause is None:
        yield from (*known, *of_clients, *of_forms)
        return
    worst = min((cause, *of_clients), key=lambda finding: finding.severity.rank).severity
    words = (cause.evidence, *(finding.evidence or finding.message for finding in of_clients))
    final = replace(cause, severity=worst, evidence="; ".join(filter(None, words)))
    yield from (final if finding is cause else finding for finding in known)
    yield from of_forms


def _is_told(remark: Finding, known: Iterable[Finding]) -> bool:
    """A fault of the stream is found at the events of a remark."""
    faults = (f for f in known if f.rule.startswith("stream.") and f.severity is not Severity.INFO)
    return any(not set(remark.events).isdisjoint(fault.events) for fault in faults)


def _cause_in_stream(known: Iterable[Finding], of_clients: Iterable[Finding]) -> Finding | None:
    """The finding that says what the clients stumble over."""
    events = {event for finding in of_clients for event in finding.events}
    faults = [f for f in known if f.side == RESPONSE and f.rule.startswith("stream.")]
    at_same_events = (fault for fault in faults if not events.isdisjoint(fault.events))
    return next(at_same_events, next((f for f in faults if f.severity is not Severity.INFO), None))


def _of_clients(case: RuleContext) -> Iterator[Finding]:
    answer, exchange = case.response, case.decoded.exchange
    if answer is None or not answer.is_stream or answer.error or exchange.is_left:
        return
    yield from _of_types(case, answer)
    yield from _without_status(case)
    if _is_rebuilt(case) or exchange.meta.get("framing") == SYNTHESISED:
        return
    lines = list(_of_lines(case)) if _traits(case).clients_read_lines and case.decoded.framing is Framing.SSE else []
    yield from lines
    if not lines and len(case.decoded.events) <= MOST_EVENTS and _is_odd(case):
        yield from _of_accumulators(case)


def _is_rebuilt(case: RuleContext) -> bool:
    """The response is rebuilt from a transcript."""
    exchange = case.decoded.exchange
    is_turn = CONNECTION in exchange.meta  # its events are the messages of a WebSocket as they came
    return exchange.origin is Origin.RECONSTRUCTED and not is_turn


def _of_types(case: RuleContext, answer: ModelResponse) -> Iterator[Finding]:
    """Events that clients raise an error on, or miss, as the decoder noticed; the first tells, and how many others."""
    for rule in RULES:
        found = [anomaly for anomaly in answer.anomalies if anomaly.slug == rule.slug]
        if found:
            text = found[0].message + (
                f"; {len(found) - 1} more kinds of events lack required members" if found[1:] else ""
            )
            events = tuple(sorted({event for anomaly in found for event in anomaly.events}))
            yield case.finding(weaker(rule, Severity.INFO), RESPONSE, "", text, events=events)


def _without_status(case: RuleContext) -> Iterator[Finding]:
    """An end that does not say that the response is complete (CliRelay pull request 221)."""
    value = _last_value(case)
    response = value.get("response")
    if value.get("type") == "response.completed" and isinstance(response, dict) and "status" not in response:
        text = "the response that ends the stream has no status: Codex Desktop does not see that it is complete"
        yield case.finding(weaker(MISSING, Severity.INFO), RESPONSE, "", text)


def _traits(case: RuleContext) -> Traits:
    return protocols.traits(case.decoded.protocol)


def _is_odd(case: RuleContext) -> bool:
    """Clients may differ about it."""
    answer = case.response
    if answer is None:
        return False
    traits = _traits(case)
    calls = [part for message in answer.messages for part in message.parts if isinstance(part, ToolCallIR)]
    if traits.end_repeats_calls:
        is_odd = bool(answer.anomalies) or not _has_whole_end(case) or _final_calls(case) != _count_declared(answer)
    elif not traits.clients_build_all:
        is_odd = bool(answer.anomalies) or len(answer.messages) > 1 or any([call.error or call.raw for call in calls])
    else:
        is_odd = not _OFTEN_MISREAD.isdisjoint([noticed.slug for noticed in answer.anomalies])
        is_odd = is_odd or any([call.format == _LEGACY or _lacks_index(case, call) for call in calls])
    return is_odd and _has_clients(case.decoded.protocol or "")


def _has_clients(protocol: str) -> bool:
    from workbench.protocols.clients import policies

    return bool(policies(protocol))


def _count_declared(answer: ModelResponse) -> int:
    from workbench.protocols.clients import declared_calls

    return len(declared_calls(answer))


def _final_response(case: RuleContext) -> dict[str, JsonValue] | None:
    """The response that ends a stream of the Responses API; None where the stream has no such end."""
    response = _last_value(case).get("response")
    return response if isinstance(response, dict) else None


def _last_value(case: RuleContext) -> dict[str, JsonValue]:
    """The event that ends a stream; empty if it is no JSON object."""
    events = reversed(case.decoded.events[-2:])
    last = next((event.data for event in events if event.data not in (None, b"[DONE]")), b"")
    try:
        value = loads(last or b"null")
    except WireError:
        return {}
    return value if isinstance(value, dict) else {}


def _has_whole_end(case: RuleContext) -> bool:
    """The response that ends the stream has what clients read of it without asking."""
    response = _final_response(case)
    return response is None or (isinstance(response.get("id"), str) and isinstance(response.get("output"), list))


def _final_calls(case: RuleContext) -> int | None:
    """Calls in the response that ends a stream of the Responses API; None where the stream has no such end."""
    response = _final_response(case)
    return None if response is None else sum(item.get("type") in _ITEMS for item in _objects(response, "output"))


def _lacks_index(case: RuleContext, call: ToolCallIR) -> bool:
    """The delta in which a call of Chat Completions began has no index."""
    events = case.decoded.events
    first = events[call.source.events[0]] if call.source.events and call.source.events[0] < len(events) else None
    if first is None:
        return False
    try:
        value = loads(first.data or b"null")
    except WireError:
        return False
    deltas = [c.get("delta") for c in _objects(value, "choices")]
    entries = [entry for delta in deltas for entry in _objects(delta, "tool_calls")]
    return any(type(entry.get("index")) is not int for entry in entries)


def _objects(value: JsonValue, key: str) -> list[dict[str, JsonValue]]:
    items = value.get(key) if isinstance(value, dict) else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _of_lines(case: RuleContext) -> Iterator[Finding]:
    """Google's own clients take every line that is neither blank nor ``data: {…}`` for a piece of an error in JSON."""
    for event in case.decoded.events:
        block = case.decoded.response_text[event.start : event.end]
        odd = next((line for line in block.splitlines() if line and not line.startswith(b"data: ")), None)
        if odd is not None:
            text = f"{GENAI} raise an error at event {event.number}: one of its lines does not begin with 'data: '"
            yield case.finding(
                replace(RAISES, severity=Severity.ERROR),
                RESPONSE,
                "",
                text,
                events=(event.number,),
                evidence=quote(odd[:80]),
            )
            return


def _of_accumulators(case: RuleContext) -> Iterator[Finding]:
    from workbench.protocols.clients import NAIVE, one_by_one

    alone = [group for group in one_by_one(case.decoded) if group.policies != (NAIVE,)]
    for rule, affected, verb in (
        (RAISES, [g for g in alone if g.stopped], "raise an error"),
        (MISSING, [g for g in alone if _misses_a_call(g)], "miss a tool call in the stream"),
    ):
        if affected:
            is_sure = len(affected) == len(alone) or any(_is_sender(case, group) for group in affected)
            events = sorted({group.event for group in affected if group.event is not None})[:1]
            who = f"{len(affected)} of {len(alone)} client libraries"
            rule = replace(rule, severity=Severity.ERROR) if is_sure else rule
            yield case.finding(rule, RESPONSE, "", f"{who} {verb}", events=events, evidence=_client_words(affected))


def _misses_a_call(group: ClientGroup) -> bool:
    return any(difference.is_lost_call for difference in group.differences)


def _client_words(groups: Sequence[ClientGroup]) -> str:
    """Behaviour of each client; clients with the same behaviour together."""
    policies_by_words: dict[str, list[str]] = {}
    for group in groups:
        policies_by_words.setdefault(group.words, []).extend(group.policies)
    return "; ".join(f"{', '.join(names)}: {words}" for words, names in policies_by_words.items())


def _is_sender(case: RuleContext, group: ClientGroup) -> bool:
    """The client that sent the request is one of these."""
    http = case.decoded.exchange.request
    agent = (http.headers.get("user-agent") or "") if http else ""
    senders = {name for name in group.policies if name in _AGENTS and _AGENTS[name].match(agent)}
    return bool(senders.difference(_HELPED) or (senders and http and http.headers.get(_HELPER)))
