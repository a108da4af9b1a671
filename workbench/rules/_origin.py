"""Where the damage behind a finding was done: in an earlier request, in an answer, at another hop.

A client repeats its history, and so a fault comes again in every later request. What it is about is told by what that
says (a call, a result, a message, a tool), not by where it stands: histories are trimmed. The first exchange of the
conversation that shows a fault is the one where it began.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from workbench.chain._fingerprint import ANSWERING, call_digest, items, looks_unique
from workbench.chain._journal import Journal
from workbench.decode import REQUEST, RESPONSE, Decoded
from workbench.ir import Message, Part, ToolCallIR, ToolResultIR
from workbench.known import fact
from workbench.rules._case import Case
from workbench.rules._finding import Finding, Origin, Severity
from workbench.rules._trimming import dropped_call, dropped_reasoning, dropped_result
from workbench.rules._words import quote
from workbench.wire.translation import translation

OF_ONE_EXCHANGE = ("answer.", "contract.", "cost.", "program.", "retry.", "state.", "stream.", "closure.pending")
"""Rules whose findings are events of their own, however often they happen."""

_TOOL = re.compile(r"^/tools/(\d+)(?=/|$)")


class _Subject(NamedTuple):
    """What a finding is about, whatever its place: the rule, a fingerprint, and the pointer below that."""

    rule: str
    what: Hashable
    below: str


@dataclass(slots=True)
class Origins:
    """Of every fault of a session, where it began. Exchanges come in order.

    Args:
        journal: by which what an exchange taught can be taken back.
    """

    journal: Journal
    _first: dict[tuple[int, _Subject], Origin] = field(default_factory=dict, repr=False)
    _lanes: dict[int, int] = field(default_factory=dict, repr=False)
    _calls: dict[tuple[str, str], tuple[int, ...]] = field(default_factory=dict, repr=False)

    def traced(self, case: Case, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings of an exchange, each with its origin where that is known and worth telling."""
        lane = case.earlier.id
        self.journal.put(self._lanes, case.decoded.index, lane)
        found = tuple(findings)
        traced = tuple(self._traced(case, lane, finding, found) for finding in found)
        for message in case.response.messages if case.response else ():
            for _, call in message.tool_calls():
                key, index = (case.hops.hop, call.id or ""), case.decoded.index
                if index not in self._calls.get(key, ()):
                    self.journal.put(self._calls, key, (*self._calls.get(key, ()), index))
        return traced

    def _traced(self, case: Case, lane: int, finding: Finding, found: Sequence[Finding]) -> Finding:
        if finding.rule.startswith(OF_ONE_EXCHANGE) and not (finding.rule.startswith("stream.") and case.hops.inner):
            return finding
        subject = _subject(case.decoded, finding)
        first = self._first.get((lane, subject)) if finding.side == REQUEST else None
        if first and first.exchange < finding.exchange:
            return replace(finding, origin=first)
        origin = finding.origin or self._elsewhere(case, finding, subject, found) or _here(case, finding)
        origin = origin or self._begun_anew(case, finding)
        began = origin or Origin(finding.exchange, finding.side, finding.pointer, _BEGAN[finding.side], case.hops.hop)
        if (lane, subject) not in self._first:
            self.journal.put(self._first, (lane, subject), began)
        return replace(finding, origin=origin)

    def _begun_anew(self, case: Case, finding: Finding) -> Origin | None:
        """A result without its call, in a conversation that begins with it: what was said before was compacted."""
        part = _part_of(case, finding) if finding.side == REQUEST and finding.rule.startswith("closure.") else None
        if not isinstance(part, ToolResultIR) or not part.tool_call_id:
            return None
        brought = [n for n in self._calls.get((case.hops.hop, part.tool_call_id), ()) if n < finding.exchange]
        if not brought or (len(brought) > 1 and not looks_unique(part.tool_call_id)):
            return None
        words = (
            f"exchange {brought[-1] + 1} brought the call, and the history was begun anew here without it: compacted"
        )
        return Origin(finding.exchange, REQUEST, finding.pointer, words, case.hops.hop)

    def _elsewhere(self, case: Case, finding: Finding, subject: _Subject, found: Sequence[Finding]) -> Origin | None:
        """At another hop, or on the way from there."""
        other = case.hops.outer if finding.side == REQUEST else case.hops.inner
        if other is None:
            return None
        hop = quote(other.exchange.hop, 40)
        known = self._first.get((self._lanes.get(other.index, -1), subject))
        if known:
            return known
        if translation(case.decoded.exchange.branch) or translation(other.exchange.branch):
            return None
        if any(_touches(damage, finding) for damage in found):
            words = f"exchange {other.index + 1}, recorded at {hop}, is without this fault"
            return Origin(finding.exchange, finding.side, finding.pointer, words, case.hops.hop)
        is_same = other.protocol == case.decoded.protocol
        pointer = finding.pointer if is_same else ""
        words = f"it came so from {hop}: nothing between the two places touched it"
        return Origin(other.index, finding.side, pointer, words, other.exchange.hop)


_BEGAN = {REQUEST: "the first request that has this fault", RESPONSE: "the answer brought it so"}


def _touches(damage: Finding, finding: Finding) -> bool:
    """A gateway changed what the finding, or a node that belongs to it, is about."""
    if not damage.rule.startswith("gateway.") or damage.side != finding.side or damage.severity is Severity.INFO:
        return False
    places = {_message_of(p) for p in (finding.pointer, *finding.related)}
    return bool(places & {_message_of(p) for p in (damage.pointer, *damage.related)}) or (
        finding.rule.startswith("closure.") and damage.rule in ("gateway.altered-bytes", "gateway.dropped-field")
    )


def _message_of(pointer: str) -> tuple[str, ...]:
    return tuple(pointer.split("/")[1:3])


def _subject(decoded: Decoded, finding: Finding) -> _Subject:
    message = _message_at(decoded, finding)
    if message is not None:
        part = next((p for p in message.parts if _is_in(finding.pointer, message.absolute(p))), None)
        if isinstance(part, ToolCallIR | ToolResultIR):
            return _Subject(finding.rule, _named(part), finding.pointer[len(message.absolute(part)) :])
        return _Subject(finding.rule, fact(message, _plain), finding.pointer[len(message.pointer) :])
    tool = _TOOL.match(finding.pointer)
    tools = decoded.request.tools if decoded.request and finding.side == REQUEST else ()
    named = next((t.name for t in tools if tool and t.pointer == tool[0]), None)
    if tool and named:
        return _Subject(finding.rule, ("tool", named), finding.pointer[tool.end() :])
    return _Subject(finding.rule, "", finding.pointer)


def _message_at(decoded: Decoded, finding: Finding) -> Message | None:
    """The message that a pointer leads into."""
    messages = decoded.messages(finding.side)
    steps = finding.pointer.split("/")
    if len(steps) > 2 and steps[2].isdecimal() and int(steps[2]) < len(messages):
        guess = messages[int(steps[2])]
        if guess.pointer and _is_in(finding.pointer, guess.pointer):
            return guess
    return next((m for m in messages if _is_in(finding.pointer, m.pointer)), None)


def _is_in(pointer: str, node: str) -> bool:
    return pointer == node or pointer.startswith(f"{node}/")


def _named(part: ToolCallIR | ToolResultIR) -> Hashable:
    """A call by its id and what it says, a result by its id: the same in every request, and in the answer."""
    if isinstance(part, ToolCallIR):
        return "call", part.id, call_digest(part)
    return "result", part.tool_call_id


def _plain(message: Message) -> Hashable:
    said = items(message, is_answer=message.role in ANSWERING)
    return tuple(i.exact if i.call_id and looks_unique(i.call_id) else i.plain for i in said)


def _here(case: Case, finding: Finding) -> Origin | None:
    """This request did it, and what came before shows that it was whole; None where nothing shows it."""
    if finding.side != REQUEST or not case.earlier.exchanges:
        return None
    words = next(
        (said for begins, tell in _TELLERS if finding.rule.startswith(begins) and (said := tell(case, finding))), ""
    )
    return Origin(finding.exchange, REQUEST, finding.pointer, words, case.hops.hop) if words else None


def _part_of(case: Case, finding: Finding) -> Part | None:
    message = _message_at(case.decoded, finding)
    return next((p for p in message.parts if _is_in(finding.pointer, message.absolute(p))), None) if message else None


def _closure(case: Case, finding: Finding) -> str:
    """The pair was whole in an earlier exchange: an id was changed here, or one half cut off."""
    part = _part_of(case, finding)
    if isinstance(part, ToolCallIR):
        return _renamed(case, part) or dropped_result(case, part.id) or _unanswered(case, finding, part)
    if isinstance(part, ToolResultIR):
        return dropped_call(case, part.tool_call_id)
    return ""


def _unanswered(case: Case, finding: Finding, call: ToolCallIR) -> str:
    """No request ever held the result."""
    brought = next((exchange for exchange, c in _brought(case) if call.id and c.id == call.id), None)
    if brought is None or finding.rule != "closure.missing-result":
        return ""
    return f"exchange {brought + 1} brought the call, and this is the first request that goes on without its result"


def _renamed(case: Case, call: ToolCallIR) -> str:
    """The answer brought the same call under another id."""
    said = call_digest(call)
    for exchange, brought in _brought(case):
        if brought.id == call.id:
            return ""
        if call_digest(brought) == said:
            return f"exchange {exchange + 1} brought this call as {quote(brought.id)}, and this request changed the id"
    return ""


def _brought(case: Case) -> Iterator[tuple[int, ToolCallIR]]:
    """(exchange, call) of every call that answers of this conversation brought, the latest first."""
    for exchange, answer in reversed(case.earlier.answers):
        for message in answer.messages:
            yield from ((exchange, call) for _, call in message.tool_calls())


def _reasoning(case: Case, finding: Finding) -> str:
    """An answer brought the reasoning, and this is the first request that sends the turn without it, or otherwise."""
    for entry in case.ledger.entries:
        if entry.message is None or entry.received_in is None:
            continue
        if _is_in(finding.pointer, case.decoded.messages(REQUEST)[entry.message].pointer):
            said = (
                f"exchange {entry.received_in + 1} brought it, and this is the first request that does not send it so"
            )
            return " · ".join(filter(None, (said, dropped_reasoning(case, entry.call_ids))))
    return ""


_TELLERS: tuple[tuple[str, Callable[[Case, Finding], str]], ...] = (
    ("closure.", _closure),
    ("reasoning.", _reasoning),
)
"""What tells, by rule, that a fault was not there before."""
