"""Origin of the damage behind a finding: an earlier request, a response, or another hop.

A client repeats its history, so a fault is in every later request too. Its subject (a call, a result, a message, a
tool) is recognised by its content and not by its position, because histories are trimmed. The fault began in the first
exchange of the conversation that shows it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import itemgetter

from workbench import regex
from workbench.contracts import FaultId, FaultOrigin, Finding, Severity
from workbench.fingerprint import ANSWERING, call_digest, items, looks_unique, visible_text
from workbench.ir import Message, Part, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange, fact
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.nodes import is_in, message_at, part_at
from workbench.rules._shared.trimming import dropped_call, dropped_reasoning, dropped_result
from workbench.rules._shared.wording import quote
from workbench.undo_log import Journal
from workbench.wire import translation_of

OF_ONE_EXCHANGE = ("answer.", "contract.", "cost.", "program.", "retry.", "state.", "stream.", "closure.pending")
"""Rules whose findings are separate events, however often they happen."""

LASTING = ("cost.tool-overhead", "retry.loop")
"""The exceptions among them: their findings describe a state that continues."""

_TOOL = regex.compile(r"^/tools/(\d+)(?=/|$)")


class _Subject(NamedTuple):
    """Subject of a finding, whatever its place: the rule, a fingerprint, and the pointer below that."""

    rule: str
    what: Hashable
    below: str


class _GatewayChanges(NamedTuple):
    """Changes by a gateway: messages by their side, and the sides of which bytes or fields differ."""

    messages: frozenset[tuple[str, tuple[str, ...]]]
    sides: frozenset[str]

    @classmethod
    def on_the_way(cls, found: Iterable[Finding]) -> _GatewayChanges:
        """Changes that the findings of an exchange report."""
        damages = [f for f in found if f.rule.startswith("gateway.") and f.severity is not Severity.INFO]
        messages = frozenset((f.side, _message_of(p)) for f in damages for p in (f.pointer, *f.related))
        lost = ("gateway.altered-bytes", "gateway.dropped-field")
        return cls(messages, frozenset(f.side for f in damages if f.rule in lost))

    def touches(self, finding: Finding) -> bool:
        """True if it changed the subject of a finding, or a node that belongs to it."""
        if finding.rule.startswith("closure.") and finding.side in self.sides:
            return True
        return any((finding.side, _message_of(p)) in self.messages for p in (finding.pointer, *finding.related))


@dataclass(slots=True)
class Origins:
    """Origin of every fault of a session. Exchanges are added in order.

    Args:
        journal: undo log; removes what was learned from an exchange.
    """

    journal: Journal
    _first: dict[tuple[int, _Subject], FaultOrigin] = field(default_factory=dict, repr=False)
    _lanes: dict[int, int] = field(default_factory=dict, repr=False)
    _calls: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict, repr=False)
    _causes: dict[Hashable, FaultId] = field(default_factory=dict, repr=False)
    _at_places: dict[Hashable, tuple[FaultId | None, Severity | None]] = field(default_factory=dict, repr=False)

    def trace(self, case: RuleContext, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings of an exchange, each with its origin if that is known and elsewhere."""
        lane = case.earlier.id
        self.journal.put(self._lanes, case.decoded.index, lane)
        found = tuple(findings)
        changed = _GatewayChanges.on_the_way(found)
        traced = tuple(self._trace_one(case, lane, finding, changed) for finding in found)
        hop, index = case.decoded.exchange.hop, case.decoded.index
        for message in case.response.messages if case.response else ():
            for _, call in message.tool_calls():
                key = hop, call.id or ""
                if index not in self._calls.get(key, ()):
                    self.journal.put(self._calls, key, (*self._calls.get(key, ()), index))
        return tuple(self._join(case, traced)) if hop else traced

    def _join(self, case: RuleContext, findings: Sequence[Finding]) -> Iterator[Finding]:
        """A fault that an adapter passed on has one cause at both of its places, whatever is said around it."""
        exchange, seen = case.decoded.exchange, Counter[Hashable]()
        made_of = exchange.parent if translation_of(exchange.branch) else None
        for finding in findings:
            what = finding.rule, finding.side, _at_any_place(case.decoded, finding)
            fault = *what, seen[what]
            seen[what] += 1
            cause, counts_as = self._at_places.get((made_of, fault), (None, None)) if made_of else (None, None)
            if cause is None:
                cause = self._cause(case.earlier.id, (exchange.id, fault)) if finding.cause is None else finding.cause
                counts_as = finding.severity
            self.journal.put(self._at_places, (exchange.id, fault), (cause, counts_as))
            yield replace(finding, cause=cause, counts_as=counts_as)

    def _trace_one(self, case: RuleContext, lane: int, finding: Finding, changed: _GatewayChanges) -> Finding:
        if finding.rule in LASTING:
            return replace(finding, cause=self._cause(lane, (finding.rule, _state(case, finding))))
        is_event = finding.rule.startswith(OF_ONE_EXCHANGE) and finding.contradicts is None
        if is_event and not (finding.rule.startswith("stream.") and case.hops.inner):
            return _as_passed_on(case, finding)
        subject = _subject(case.decoded, finding)
        first = self._first.get((lane, subject)) if finding.side == REQUEST else None
        finding = replace(finding, cause=self._cause(lane, subject))
        if first and first.exchange < finding.exchange:
            return replace(finding, origin=first)
        origin = finding.origin or self._elsewhere(case, finding, subject, changed) or _here(case, finding)
        origin = origin or self._begun_anew(case, finding)
        began = origin or FaultOrigin(
            finding.exchange, finding.side, finding.pointer, _BEGAN[finding.side], case.decoded.exchange.hop
        )
        if (lane, subject) not in self._first:
            self.journal.put(self._first, (lane, subject), began)
        return replace(finding, origin=origin)

    def _cause(self, lane: int, what: Hashable) -> FaultId:
        """A number for what is a long key."""
        key = (lane, what)
        if key not in self._causes:
            self.journal.put(self._causes, key, FaultId(lane, len(self._causes)))
        return self._causes[key]

    def _begun_anew(self, case: RuleContext, finding: Finding) -> FaultOrigin | None:
        """A result without its call, in a conversation that begins with it: what was said before was compacted."""
        part = _part_of(case, finding) if finding.side == REQUEST and finding.rule.startswith("closure.") else None
        if not isinstance(part, ToolResultIR) or not part.tool_call_id:
            return None
        hop = case.decoded.exchange.hop
        call_exchanges = [n for n in self._calls.get((hop, part.tool_call_id), ()) if n < finding.exchange]
        if not call_exchanges or (len(call_exchanges) > 1 and not looks_unique(part.tool_call_id)):
            return None
        words = (
            f"exchange {call_exchanges[-1] + 1} made the call; the history was compacted here and no longer "
            "contains the call"
        )
        return FaultOrigin(finding.exchange, REQUEST, finding.pointer, words, case.decoded.exchange.hop)

    def _elsewhere(
        self, case: RuleContext, finding: Finding, subject: _Subject, changed: _GatewayChanges
    ) -> FaultOrigin | None:
        """At another hop, or on the way from there."""
        other = case.hops.outer if finding.side == REQUEST else case.hops.inner
        if other is None:
            return None
        hop = quote(other.exchange.hop, 40)
        known = self._first.get((self._lanes.get(other.index, -1), subject))
        if known:
            return known
        if translation_of(case.decoded.exchange.branch) or translation_of(other.exchange.branch):
            return None
        if changed.touches(finding):
            words = f"exchange {other.index + 1}, recorded at {hop}, does not have this fault"
            return FaultOrigin(finding.exchange, finding.side, finding.pointer, words, case.decoded.exchange.hop)
        is_same = other.protocol == case.decoded.protocol
        pointer = finding.pointer if is_same else ""
        words = f"the fault was already present at hop {hop}; it did not arise between the two hops"
        return FaultOrigin(other.index, finding.side, pointer, words, other.exchange.hop)


_BEGAN = {REQUEST: "the first request that has this fault", RESPONSE: "the fault is already in this response"}


def _message_of(pointer: str) -> tuple[str, ...]:
    return tuple(pointer.split("/")[1:3])


def _state(case: RuleContext, finding: Finding) -> Hashable:
    """Fingerprint of the state that continues: repeated calls, declared tools, a request that is sent again."""
    part = _part_of(case, finding)
    if isinstance(part, ToolCallIR):
        return call_digest(part)
    request = case.request
    if finding.rule.startswith("cost.") or request is None:
        return tuple(tool.name for tool in request.tools) if request else ()
    return fact(request.messages[-1], _plain) if request.messages else ""


def _subject(decoded: DecodedExchange, finding: Finding) -> _Subject:
    rule = finding.contradicts.rule if finding.contradicts else finding.rule
    message = message_at(decoded, finding.side, finding.pointer)
    if message is not None:
        part = part_at(decoded, finding.side, finding.pointer)
        if isinstance(part, ToolCallIR | ToolResultIR):
            return _Subject(rule, _identity(part), finding.pointer[len(message.absolute(part)) :])
        return _Subject(rule, fact(message, _plain), finding.pointer[len(message.pointer) :])
    tool = _TOOL.match(finding.pointer)
    tools = decoded.request.tools if decoded.request and finding.side == REQUEST else ()
    tool_name = next((t.name for t in tools if tool and t.pointer == tool[0]), None)
    if tool and tool_name:
        return _Subject(rule, ("tool", tool_name), finding.pointer[tool.end() :])
    return _Subject(rule, "", finding.pointer)


def _at_any_place(decoded: DecodedExchange, finding: Finding) -> Hashable:
    """Subject of a finding, without the ids that an adapter may rewrite."""
    part = part_at(decoded, finding.side, finding.pointer)
    if isinstance(part, ToolCallIR):
        return "call", call_digest(part)
    if isinstance(part, ToolResultIR):
        return "result", visible_text(Message("", part.content))
    message = message_at(decoded, finding.side, finding.pointer)
    if message is not None:
        return tuple(item.plain for item in items(message, is_answer=message.role in ANSWERING))
    return _subject(decoded, finding).what


def _as_passed_on(case: RuleContext, finding: Finding) -> Finding:
    """An error that the provider gave an adapter, which passed it on: it counts where the provider gave it."""
    inner = case.hops.inner if finding.rule == "answer.error" else None
    if inner is None or inner.exchange.parent != case.decoded.exchange.id or not translation_of(inner.exchange.branch):
        return finding
    if inner.answer is None or inner.answer.error is None:
        return finding
    words = f"this is the provider's own response, which the adapter forwarded from {quote(inner.exchange.hop, 40)}"
    origin = FaultOrigin(inner.index, RESPONSE, inner.answer.error.pointer, words, inner.exchange.hop)
    return replace(finding, severity=Severity.INFO, origin=origin)


def _identity(part: ToolCallIR | ToolResultIR) -> Hashable:
    """A call by its id and what it says, a result by its id: the same in every request, and in the answer."""
    if isinstance(part, ToolCallIR):
        return "call", part.id, call_digest(part)
    return "result", part.tool_call_id


def _plain(message: Message) -> Hashable:
    found_items = items(message, is_answer=message.role in ANSWERING)
    return tuple(i.exact if i.call_id and looks_unique(i.call_id) else i.plain for i in found_items)


def _here(case: RuleContext, finding: Finding) -> FaultOrigin | None:
    """This request did it, and what came before shows that it was whole; None where nothing shows it."""
    if finding.side != REQUEST or not case.earlier.exchanges:
        return None
    words = next(
        (
            sentence
            for begins, tell in _TELLERS
            if finding.rule.startswith(begins) and (sentence := tell(case, finding))
        ),
        "",
    )
    return FaultOrigin(finding.exchange, REQUEST, finding.pointer, words, case.decoded.exchange.hop) if words else None


def _part_of(case: RuleContext, finding: Finding) -> Part | None:
    return part_at(case.decoded, finding.side, finding.pointer)


def _closure(case: RuleContext, finding: Finding) -> str:
    """The pair was whole in an earlier exchange: an id was changed here, or one half cut off."""
    part = _part_of(case, finding)
    if isinstance(part, ToolCallIR):
        return _renamed_words(case, part) or dropped_result(case, part.id) or _unanswered_words(case, finding, part)
    if isinstance(part, ToolResultIR):
        return dropped_call(case, part.tool_call_id)
    return ""


def _unanswered_words(case: RuleContext, finding: Finding, call: ToolCallIR) -> str:
    """True if no request ever contained the result."""
    call_receipt = case.earlier.received.latest_with(call.id) if call.id else None
    if call_receipt is None or finding.rule != "closure.missing-result":
        return ""
    return f"exchange {call_receipt.exchange + 1} made the call; this is the first request sent without its result"


def _renamed_words(case: RuleContext, call: ToolCallIR) -> str:
    """The answer carried the same call under another id."""
    received, digest = case.earlier.received, call_digest(call)
    alike, own = received.latest_saying(digest), received.latest_with(call.id) if call.id else None
    if alike is None or (own is not None and own.exchange > alike.exchange):
        return ""
    for exchange, received_call in _received_calls(case, alike.exchange):
        if received_call.id == call.id:
            return ""
        if call_digest(received_call) == digest:
            return (
                f"exchange {exchange + 1} made this call with id {quote(received_call.id)}, but this request uses "
                "a different id"
            )
    return ""


def _received_calls(case: RuleContext, exchange: int) -> Iterator[tuple[int, ToolCallIR]]:
    """(exchange, call) of the calls that the answer of an exchange carried."""
    at = bisect_left(case.earlier.answers, exchange, key=itemgetter(0))
    for message in case.earlier.answers[at][1].messages if at < len(case.earlier.answers) else ():
        yield from ((exchange, call) for _, call in message.tool_calls())


def _reasoning(case: RuleContext, finding: Finding) -> str:
    """An answer carried the reasoning, and this is the first request that sends the turn without it, or otherwise."""
    for entry in reversed(case.ledger.entries):
        if entry.message is None or entry.received_in is None or entry.is_bare:
            continue
        if is_in(finding.pointer, case.messages[entry.message].pointer):
            first = "this is the first request that does not send the reasoning back unchanged"
            received_words = f"exchange {entry.received_in + 1} returned the reasoning; {first}"
            return " · ".join(filter(None, (received_words, dropped_reasoning(case, entry.call_ids))))
    return ""


_TELLERS: tuple[tuple[str, Callable[[RuleContext, Finding], str]], ...] = (
    ("closure.", _closure),
    ("reasoning.", _reasoning),
)
"""Tests, by rule, for a fault that was not there before."""
