"""Every call is answered once, by id, where the provider requires it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from workbench import protocols, regex
from workbench.chain import CallLine, CallState, Flaw
from workbench.contracts import Breaks, Finding, Severity, known_values
from workbench.ir import NOTHING, Message, NodeRef, Opaque, ToolCallIR
from workbench.lazy_dataclass import replace
from workbench.limits import MOST_NAMED
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, DecodedExchange, fact, history
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.trimming import dropped_call, dropped_result
from workbench.rules._shared.wording import LEGACY_ROLE, as_warning, is_misread, of_role, quote, with_related
from workbench.terms import Placement
from workbench.wire import CONNECTION

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

MISSING = Rule(
    "closure.missing-result",
    ERROR,
    "A tool call has no result where the protocol expects it.",
    breaks=Breaks.CONVERSATION,
)
ORPHAN = Rule(
    "closure.orphan-result",
    ERROR,
    "A tool result refers to a call that is not in the previous turn.",
    breaks=Breaks.CONVERSATION,
)
DUPLICATE_ID = Rule("closure.duplicate-id", ERROR, "Two tool calls have the same id.", breaks=Breaks.CONVERSATION)
DUPLICATE_RESULT = Rule(
    "closure.duplicate-result", ERROR, "A tool call has more than one result.", breaks=Breaks.CONVERSATION
)
NOT_ADJACENT = Rule(
    "closure.not-adjacent",
    WARNING,
    "Something separates a turn with tool calls from its results.",
    breaks=Breaks.REQUEST,
)
NOT_FIRST = Rule(
    "closure.result-not-first",
    WARNING,
    "Other content comes before or between the tool results of a turn.",
    breaks=Breaks.REQUEST,
)
WRONG_ROLE = Rule(
    "closure.wrong-role", ERROR, "A call or a result is in a message of the wrong role.", breaks=Breaks.CONVERSATION
)
MISMATCH = Rule(
    "closure.id-mismatch",
    ERROR,
    "A result answers the call by position but names a different id.",
    breaks=Breaks.CONVERSATION,
)
PENDING = Rule(
    "closure.pending",
    INFO,
    "A tool call is pending at the end of the conversation (not a problem).",
    breaks=Breaks.CONVERSATION,
)

RULES = (
    MISSING, ORPHAN, DUPLICATE_ID, DUPLICATE_RESULT, NOT_ADJACENT, NOT_FIRST, WRONG_ROLE, MISMATCH, PENDING
)  # fmt: skip

AT_END = "open-at-end"
"""Name of the check for a request that ends with open calls, if it is not the check for calls without results."""

MOST_RESULTS = 256
"""Limit of messages with results in a row that are searched for the turn before them; no provider accepts so many
calls."""


@of_messages
def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the closure of the request's history and of the response's calls."""
    answered_by_place = {line.stands_for for line in case.flawed_lines if line.stands_for}
    foreign = list(_foreign_results(case))
    answered_elsewhere = {result.call_id for result in foreign}
    seen: set[tuple[str, str]] = set()
    for line in case.flawed_lines:
        if line.is_server or line.call in answered_by_place or line.id in answered_elsewhere:
            continue
        for finding in _line(case, line):
            if (finding.rule, finding.pointer) not in seen:
                seen.add((finding.rule, finding.pointer))
                yield finding
    for result in foreign:
        text = f"a tool result is in {result.holder}, which belongs to another protocol"
        yield case.finding(WRONG_ROLE, REQUEST, result.pointer, text, when="foreign-role")


class _Foreign(NamedTuple):
    """A tool result in the form of another protocol: its pointer, and what holds it."""

    pointer: str
    holder: str
    call_id: str


def _foreign_results(case: RuleContext) -> Iterator[_Foreign]:
    """Messages of the role, and blocks of the type, that results have on another wire."""
    expected_role = case.contract.closure.result_role
    for _, message in case.suspects(_is_foreign, expected_role):
        if _has_foreign_role(message, expected_role):
            call_id = message.extra.get("tool_call_id")
            yield _Foreign(f"{message.pointer}/role", f"a message {of_role(message.role)}", str(call_id))
        for part in message.parts:
            if isinstance(part, Opaque) and part.type == "tool_result" and isinstance(part.value, dict):
                call_id = part.value.get("tool_use_id")
                yield _Foreign(message.absolute(part), "a 'tool_result' block", str(call_id))


def _may_be_foreign(kind: history.MessageKind, expected_role: str) -> bool:
    return _has_foreign_role(kind, expected_role) or Opaque in kind.part_types


@history.asked_of_kind(_may_be_foreign)
def _is_foreign(message: Message, expected_role: str) -> bool:
    """True for a message with the role, or with a block, of tool results in another protocol."""
    return _has_foreign_role(message, expected_role) or Opaque in map(type, message.parts)


def _has_foreign_role(message: Message | history.MessageKind, expected_role: str) -> bool:
    return bool(expected_role) and message.role in _TOOL_ROLES and expected_role not in _TOOL_ROLES


_TOOL_ROLES = ("tool", LEGACY_ROLE)


def _line(case: RuleContext, line: CallLine) -> Iterator[Finding]:
    if line.stands_for is not None and is_misread(case, line.stands_for, "id"):
        return
    flaws = list(_flaws(case, line))
    yield from flaws
    if flaws or Flaw.BY_POSITION in line.flaws:
        return
    if line.state is CallState.PENDING and line.call:
        yield _open_call(case, line, line.call)
    elif line.state is CallState.MISSING and line.call:
        yield _missing(case, line, line.call)
    elif line.state is CallState.MISSING and line.is_remembered and _is_held_alone(case, line):
        yield _missing_for_held(case, line)
    elif line.state in (CallState.ORPHAN, CallState.OUT_OF_ORDER):
        for ref in line.results:
            yield _with_related(case, _orphan(case, line, ref), line)


def _orphan(case: RuleContext, line: CallLine, ref: NodeRef) -> Finding:
    messages = case.messages
    nearest = range(ref.message - 1, max(-1, ref.message - MOST_RESULTS), -1)
    other = next((messages[n] for n in nearest if not any(messages[n].tool_results())), None)
    after_calls = other is not None and any(other.tool_calls())
    message = f"tool result {quote(line.id)} has no matching tool call in the previous turn"
    if line.id is None:
        message = "a tool result has no id, and its position does not show which call it answers"
    evidence = " · ".join(filter(None, (_evidence(case, line), dropped_call(case, line.id))))
    values = {"found": other.role if other else "", "before": messages[ref.message - 1].role if ref.message else ""}
    return case.at(ORPHAN, ref, message, evidence=evidence, when="unknown-id" if after_calls else "", values=values)


def _open_call(case: RuleContext, line: CallLine, ref: NodeRef) -> Finding:
    if ref.side == REQUEST and (_is_refused_for_it(case) or _ends_with_results(case)):
        is_last = ref.message + 1 == len(case.messages)
        return _missing(case, line, ref, when=AT_END if is_last else "")
    return case.at(PENDING, ref, f"{_call(line)} is pending: no result yet")


_NAMED = regex.compile(r"\bmessage (\d+)")


def _evidence(case: RuleContext, line: CallLine) -> str:
    """Note of the closure; a message is named with its pointer, since providers count from zero."""
    if any(ref and ref.side != REQUEST for ref in (line.call, line.twin)):
        return line.note
    messages, numbers_done = case.messages, set()

    def with_pointer(match: re.Match[str]) -> str:
        number = int(match[1])
        if number in numbers_done or number > len(messages):
            return match[0]
        numbers_done.add(number)
        return f"{match[0]} ({messages[number - 1].pointer})"

    return _NAMED.sub(with_pointer, line.note)


def _is_refused_for_it(case: RuleContext) -> bool:
    """The request was refused, and open calls may be the reason."""
    return case.is_refused and not _accepts_unanswered(case)


def _accepts_unanswered(case: RuleContext) -> bool:
    return bool(case.contract.term("closure.unanswered") == "accepted")


def _ends_with_results(case: RuleContext) -> bool:
    """The provider takes no request that ends with open calls; one that was made from a transcript was never sent."""
    is_owed = case.contract.term("closure.open-at-end") == "refused"
    return is_owed and not case.decoded.exchange.is_transcript


def _missing(case: RuleContext, line: CallLine, ref: NodeRef, when: str = "") -> Finding:
    message = f"{_call(line)} has no tool result in the next message"
    evidence = " · ".join(filter(None, (_evidence(case, line), dropped_result(case, line.id))))
    finding = case.at(MISSING, ref, message, evidence=evidence, values=_open_turn(case, line), when=when)
    if finding.check and finding.check.when not in ("", when):
        finding = replace(finding, check=None, refusal="", source="")
    if when == AT_END:  # nothing is lost: the results may come yet, unless the provider wants them now
        finding = replace(finding, breaks=Breaks.REQUEST)
    if _accepts_unanswered(case):
        finding = as_warning(finding)
    return _with_related(case, finding, line)


def _is_held_alone(case: RuleContext, line: CallLine) -> bool:
    """The server keeps the response, and the request does not repeat the call with its result."""
    params = case.request.params if case.request else NOTHING
    is_stored = CONNECTION in case.decoded.exchange.meta or params.get("store") is not False
    return is_stored and all(call.id != line.id for message in case.messages for _, call in message.tool_calls())


def _missing_for_held(case: RuleContext, line: CallLine) -> Finding:
    """A call of the response that the request continues by its id: only the server has it."""
    pointer = protocols.traits(case.decoded.protocol).previous_pointer
    message = f"{_call(line)} of the response that this request continues has no tool result in this request"
    finding = case.finding(MISSING, REQUEST, pointer, message, evidence=line.note, values={"id": line.id or ""})
    return as_warning(finding) if _accepts_unanswered(case) or finding.check is None else finding


def _open_turn(case: RuleContext, line: CallLine) -> Mapping[str, str]:
    """Values for a refusal of open calls: all calls of the turn, its message, and the message after it.

    ``{next}`` is the first message behind the turn that is no result of it.
    """
    if line.call is None:
        return NOTHING
    turn = line.call.message
    open_calls = case.closure.open_in(turn)
    ids_text = ", ".join(open_calls[:MOST_NAMED])
    if len(open_calls) > MOST_NAMED:
        ids_text += f" and {len(open_calls) - MOST_NAMED:,} more"
    messages = case.messages
    values = {"id": line.id or "", "ids": ids_text, "next": str(fact(case.decoded, _next_other, turn))}
    if case.contract.closure.placement is Placement.NEXT_MESSAGE:
        known = known_values(messages[turn].pointer, case.decoded, case.contract, None)
        values["message"] = known.get("message", str(turn))
    return values


def _next_other(decoded: DecodedExchange, turn: int) -> int:
    """The first message after a turn that is not a tool result; the last one if all are."""
    messages = decoded.messages(REQUEST)
    behind = (n for n in range(turn + 1, len(messages)) if not any(messages[n].tool_results()))
    return next(behind, len(messages) - 1)


def _flaws(case: RuleContext, line: CallLine) -> Iterator[Finding]:
    for flaw in line.flaws:
        yield from (_with_related(case, finding, line) for finding in _flaw(case, line, flaw))


def _flaw(case: RuleContext, line: CallLine, flaw: Flaw) -> Iterator[Finding]:
    note = _evidence(case, line)
    if flaw is Flaw.CALL_ROLE and line.call:
        role = case.message(line.call).role
        yield case.at(
            WRONG_ROLE,
            line.call,
            f"{_call(line)} is in a message {of_role(role)}",
            evidence=note,
            when="call",
            values={"found": role},
        )
    elif flaw is Flaw.RESULT_ROLE:
        for ref in line.results:
            role = case.message(ref).role
            if role == LEGACY_ROLE and case.contract.closure.result_role == "tool":
                continue
            which = "a tool result without an id" if line.id is None else f"tool result {quote(line.id)}"
            message = f"{which} is in a message {of_role(role)}"
            yield case.at(WRONG_ROLE, ref, message, evidence=note, when="result", values={"found": role})
    elif flaw is Flaw.DUPLICATE_ID and line.call:
        message = f"id {quote(line.id)} was already used by an earlier tool call"
        finding = case.at(DUPLICATE_ID, line.call, message, name="id", evidence=note)
        yield finding if _is_one_turn(case, line) else as_warning(finding)
    elif flaw is Flaw.DUPLICATE_RESULT:
        for ref in line.results[1:]:
            message = f"duplicate tool result for {quote(line.id)}"
            first = known_values(case.pointer(line.results[0]), case.decoded, case.contract, None)
            values = {"first": first.get("message", "")}
            yield case.at(DUPLICATE_RESULT, ref, message, name="tool_call_id", evidence=note, values=values)
    elif flaw is Flaw.ID_MISMATCH:
        yield from _mismatch(case, line)
    elif flaw is Flaw.NOT_ADJACENT and line.between is not None:
        between = case.messages[line.between]
        message = f"a message {of_role(between.role)} separates {_call(line)} from its result"
        values = {**_open_turn(case, line), "before": case.messages[line.between - 1].role}
        yield case.finding(NOT_ADJACENT, REQUEST, between.pointer, message, evidence=note, values=values)
    elif flaw is Flaw.RESULT_NOT_FIRST and line.before:
        message = f"content comes before the result of {_call(line)}; tool results must come first in the message"
        yield case.at(NOT_FIRST, line.before, message, evidence=note, values=_open_turn(case, line))


def _is_one_turn(case: RuleContext, line: CallLine) -> bool:
    """Nobody else speaks between the two calls.

    An id that comes again in a later turn is still told apart by its place: requests like that are reported as refused,
    and recorded as accepted.
    """
    if line.twin is None or line.call is None or line.twin.side != line.call.side:
        return False
    between = case.decoded.messages(line.call.side)[line.twin.message : line.call.message + 1]
    return all(m.role == case.contract.closure.call_role for m in between)


def _mismatch(case: RuleContext, line: CallLine) -> Iterator[Finding]:
    if line.stands_for is None:
        return
    call = case.part(line.stands_for)
    expected_role = call.id if isinstance(call, ToolCallIR) else None
    has = "has no id" if expected_role is None else f"is {quote(expected_role)}"
    answered = case.closure.line_of(line.stands_for) or line
    turn = _open_turn(case, answered)
    for ref in line.results:
        message = f"the tool result names {quote(line.id)}, but the call at its position {has}"
        values = {name: turn[name] for name in ("ids", "next") if name in turn}
        finding = case.at(MISMATCH, ref, message, name="tool_call_id", evidence=_evidence(case, line), values=values)
        if finding.check is None:  # then the provider misses the result of the call
            open_call = case.at(MISSING, line.stands_for, message, values=turn)
            if open_call.check and open_call.check.when != AT_END:
                finding = replace(
                    finding,
                    check=open_call.check,
                    values=open_call.values,
                    source=open_call.source,
                    refusal=open_call.refusal,
                )
        if expected_role is None:
            finding = as_warning(finding)  # a consequence: the missing id is the fault
        yield with_related(finding, [case.pointer(line.stands_for, "id")])


def _with_related(case: RuleContext, finding: Finding, line: CallLine) -> Finding:
    nodes = [ref for ref in (line.call, line.twin, *line.results) if ref and ref.side == finding.side]
    return with_related(finding, [*finding.related, *(case.pointer(ref) for ref in nodes)])


def _call(line: CallLine) -> str:
    which = "the tool call without an id" if line.id is None else f"tool call {quote(line.id)}"
    return f"{which} ({quote(line.name)[1:-1]})" if line.name else which
