"""Reasoning is sent back as received, if the provider requires it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TypeGuard

from workbench.chain import Entry, ReplayOutcome
from workbench.contracts import Breaks, Contract, Finding, Severity
from workbench.contracts import loading as contracts
from workbench.ir import Carrier, JsonValue, Message, NodeRef, Opaque, Part, Reasoning, ToolResultIR
from workbench.protocols import REQUEST, RESPONSE, asked_of
from workbench.provenance import escape
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.nodes import item_id
from workbench.rules._shared.reasoning import (
    BLOCKS,
    block_type,
    has_reasoning,
    is_off,
    is_placeholder,
    is_rebuilt,
    last_turn,
    received_words,
    sent_reasoning,
    stand_ins,
)
from workbench.rules._shared.trimming import dropped_reasoning
from workbench.rules._shared.wording import as_unproved, as_warning, quote, with_related
from workbench.rules.reasoning_place import ORDER
from workbench.terms import Scope

WARNING = Severity.WARNING

MISSING = Rule(
    "reasoning.missing", WARNING, "Reasoning state that must be sent back is missing.", breaks=Breaks.CONVERSATION
)
EMPTY = Rule(
    "reasoning.empty",
    WARNING,
    "Reasoning state is present but its value or signature is empty.",
    breaks=Breaks.CONVERSATION,
)
ALTERED = Rule(
    "reasoning.altered", WARNING, "Replayed reasoning differs from what was received.", breaks=Breaks.CONVERSATION
)
STALE = Rule(
    "reasoning.stale",
    WARNING,
    "Reasoning is sent back although the provider no longer expects it.",
    breaks=Breaks.REQUEST,
)

RULES = (MISSING, EMPTY, ALTERED, STALE)


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the reasoning that the request sends or lacks, and on proofs that a response lacks."""
    yield from _check_answer(case)
    if case.request is not None:
        yield from _turns(case)
        yield from _server_proofs(case)
        yield from _stale(case)
        yield from _without_calls(case)


def _check_answer(case: RuleContext) -> Iterator[Finding]:
    """Reasoning before a call that arrives without its proof: it can never be sent back."""
    answer = case.response
    is_read = answer is not None and not answer.error and answer.is_complete and not is_rebuilt(case)
    if answer is None or not is_read or not any(True for m in answer.messages for _ in m.tool_calls()):
        return
    for n, message in enumerate(answer.messages):
        for k, part in message.reasoning():
            if part.text and _lacks_proof(case, part):
                what = "thinking block" if part.carrier in SIGNED else f"entry of {part.carrier}"
                text = f"the {what} arrived without its signature: it cannot be sent back with the tool result"
                yield case.at(EMPTY, NodeRef(RESPONSE, n, k), text, when="no-signature")


SIGNED = (Carrier.THINKING, Carrier.REASONING_BLOCK)
"""Carriers of readable reasoning that can have a signature."""


def _lacks_proof(case: RuleContext, part: Reasoning) -> bool:
    """The provider of the reasoning signs all of it, and this piece has no signature.

    Whose it is says the contract, or the piece itself (``format`` of an entry of ``reasoning_details``).
    """
    if part.signature or part.data is not None:
        return False
    if part.carrier in SIGNED:
        return _asks_for_signatures(case)
    owners = case.contract.term("reasoning.formats") or {}
    owner = owners.get(str(part.extra.get("format"))) if isinstance(owners, Mapping) else None
    return part.carrier is Carrier.REASONING_DETAILS and bool(owner) and _signs_all(contracts.get(str(owner)))


def _asks_for_signatures(case: RuleContext) -> bool:
    is_checked = any(check.when == "no-signature" for check in case.contract.checks_of(EMPTY.slug))
    return is_checked or _signs_all(case.contract)


def _signs_all(contract: Contract) -> bool:
    """The provider signs every piece of reasoning and verifies it, and the form of its signatures is known."""
    return contract.term("reasoning.signature") == "verified-everywhere" and bool(contract.term("reasoning.proof"))


@of_messages
def _turns(case: RuleContext) -> Iterator[Finding]:
    if deviations := case.deviations:
        latest = case.ledger.entries[-1].turn
        for entry in deviations:
            yield from _entry(case, entry, is_latest=entry.turn == latest)
    yield from _check_signatures(case)
    yield from _check_empty(case)


def _entry(case: RuleContext, entry: Entry, *, is_latest: bool) -> Iterator[Finding]:
    is_by_call = Carrier.THOUGHT_SIGNATURE in case.contract.reasoning.carriers
    if is_by_call and entry.sent in (ReplayOutcome.MISSING, ReplayOutcome.EMPTY):
        return  # single calls owe it
    if entry.sent is ReplayOutcome.MISSING and entry.message is not None:
        if case.request and case.request.thinking is None and is_rebuilt(case):
            return  # a transcript does not say whether thinking was on
        finding = _missing(case, entry, entry.message)
        yield finding if _is_required(case) else as_warning(finding)
    elif entry.sent is ReplayOutcome.EMPTY and entry.sent_part and _was_something(entry):
        what = "signature" if entry.differs == "signature" else "text"
        message = f"the {_field(case, entry)} is present, but its {what} is empty"
        yield case.at(EMPTY, entry.sent_part, message, name=what, evidence=_history(entry), when=f"no-{what}")
    elif entry.sent is ReplayOutcome.ALTERED and not _is_replaced(case, entry):
        exact = case.contract.reasoning.exact
        if exact == "none" and entry.differs == "data":
            return  # what nobody can read and nobody checks may be encrypted anew
        is_current = is_latest or (entry.owed and is_by_call)
        is_binding = exact == "all" or (exact == "latest" and is_current)
        yield from (f if is_binding else as_warning(f) for f in _check_altered(case, entry))


def _is_replaced(case: RuleContext, entry: Entry) -> bool:
    """Something replaces what was lost, which is found for what it is; or its words go as plain text."""
    part = case.part(entry.sent_part) if entry.sent_part else None
    if isinstance(part, Reasoning) and part.carrier is Carrier.THINK_TEXT and entry.carrier != Carrier.THINK_TEXT:
        return True  # told to another provider, or in another protocol, where nobody compares it
    is_stand_in = isinstance(part, Reasoning) and part.signature in stand_ins(case)
    return is_stand_in or is_placeholder(entry.sent_text)


def _check_signatures(case: RuleContext) -> Iterator[Finding]:
    """Thinking blocks without the key of their signature, where the provider asks for it in every one."""
    if not _asks_for_signatures(case):
        return
    reported = {entry.sent_part for entry in case.deviations if entry.sent is ReplayOutcome.EMPTY}
    for ref, part in sent_reasoning(case, _is_unsigned):
        if part.carrier in SIGNED and part.signature is None and part.data is None and ref not in reported:
            yield case.at(EMPTY, ref, "the thinking block has no signature", when="no-signature")


_BLOCKS = (*BLOCKS, Carrier.REASONING_BLOCK, Carrier.THINKING_CHUNK)
"""Carriers that are separate blocks: an empty block means nothing."""


def _check_empty(case: RuleContext) -> Iterator[Finding]:
    """Proofs that are there and empty, and blocks without anything, in a request whose answers nobody recorded."""
    is_by_call = Carrier.THOUGHT_SIGNATURE in case.contract.reasoning.carriers
    found = (e for e in case.deviations if e.sent is ReplayOutcome.EMPTY and not is_by_call)
    reported = {entry.sent_part for entry in found if _was_something(entry)} | {*case.genuine}
    for ref, part in sent_reasoning(case, _has_empty):
        what = _empty_field(part)
        is_demanded = is_by_call and case.contract.reasoning.scope is Scope.TOOL_LOOP  # then its call has none
        if what and ref not in reported and not (is_demanded and part.carrier is Carrier.THOUGHT_SIGNATURE):
            message = f"the {what} of this reasoning block is empty"
            yield case.at(EMPTY, ref, message, name=what, when=f"no-{what}")


@asked_of(Reasoning)
def _has_empty(message: Message) -> bool:
    return any(_empty_field(part) for _, part in message.reasoning())


def _empty_field(part: Reasoning) -> str:
    """Field of a piece of reasoning that is empty and must not be; "" for none."""
    if part.signature == "":
        return "signature"
    has_nothing = part.carrier is Carrier.REASONING_DETAILS and part.text is part.signature is None
    if part.data == "" or (has_nothing and part.data is None):
        return "data"
    is_bare = part.carrier in _BLOCKS and part.text is not None and not part.text.strip()
    return "text" if is_bare and not part.signature and not part.data else ""


_PROOFS = ("encrypted_content", "encrypted_stdout", "encrypted_index")
"""Members of results of server tools, and of citations, that only the provider can read (Anthropic's API reference)."""
MOST_PROOFS = 400
"""Proofs of server tools that are compared in one request."""


def _server_proofs(case: RuleContext) -> Iterator[Finding]:
    """Encrypted values in the results of server tools that are sent back otherwise than they came."""
    answers = [answer for _, answer in case.earlier.answers[-LOOKED_BACK:]]
    results = [p for answer in answers for m in answer.messages for p in m.parts if isinstance(p, ToolResultIR)]
    came = {part.tool_call_id: part for part in results if _is_of_server(part)}
    for n, message in enumerate(case.messages) if came else ():
        for k, part in enumerate(message.parts):
            before = came.get(part.tool_call_id) if _is_of_server(part) else None
            if before is not None and isinstance(part, ToolResultIR):
                known = {value for _, value in _proofs_in(before)}
                for suffix, value in _proofs_in(part):
                    if value not in known and known:
                        text = "the encrypted content of a server tool's result differs from what was received"
                        pointer = case.pointer(NodeRef(REQUEST, n, k)) + suffix
                        yield as_unproved(case.finding(ALTERED, REQUEST, pointer, text, evidence=quote(value, 60)))


LOOKED_BACK = 4
"""Number of responses whose server tools are compared with what is sent back: older faults were reported before."""


def _is_of_server(part: Part) -> TypeGuard[ToolResultIR]:
    return isinstance(part, ToolResultIR) and part.is_server and bool(part.tool_call_id)


def _proofs_in(result: ToolResultIR) -> list[tuple[str, str]]:
    """(pointer below the result, value) of every proof in a result of a server tool."""
    roots = [(each.source.pointer.removeprefix(result.source.pointer), each.value)
            for each in result.content if isinstance(each, Opaque)]  # fmt: skip
    found = ((at, value) for start, root in roots for at, value in _leaves_below(start, root, 0))
    return list(islice(found, MOST_PROOFS))


def _leaves_below(pointer: str, value: JsonValue, depth: int) -> Iterator[tuple[str, str]]:
    members = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in members if depth < 4 else ():
        if key in _PROOFS and isinstance(inner, str):
            yield f"{pointer}/{key}", inner
        else:
            yield from _leaves_below(f"{pointer}/{escape(str(key))}", inner, depth + 1)


@asked_of(Reasoning)
def _is_unsigned(message: Message) -> bool:
    found = (part for _, part in message.reasoning() if part.carrier in SIGNED)
    return any(part.signature is None and part.data is None for part in found)


def _is_required(case: RuleContext) -> bool:
    """The provider insists; in other modes it continues without, and the model without its thread."""
    when, thinking = case.contract.reasoning.required_when, case.request.thinking if case.request else None
    return when in ("", thinking)


def _was_something(entry: Entry) -> bool:
    """True unless it was received empty, or nobody requires it."""
    return entry.differs == "signature" or (entry.owed and entry.differs != "")


def _missing(case: RuleContext, entry: Entry, number: int) -> Finding:
    turn = case.messages[number]
    message = f"this turn called a tool while thinking, but its {_field(case, entry)} was not sent back"
    if not entry.call_ids:
        message = f"this turn was made while thinking, but its {_field(case, entry)} was not sent back"
    if entry.is_bare:
        message = f"the turn was received and is sent back without {_field(case, entry)}"
    evidence = " · ".join(filter(None, (_history(entry), dropped_reasoning(case, entry.call_ids))))
    if _carrier(case, entry) in BLOCKS and turn.parts:
        values = {"found": block_type(turn.parts[0])}
        return case.at(MISSING, NodeRef(REQUEST, number, 0), message, evidence=evidence, values=values)
    values = {"found": "", "name": _carrier(case, entry)}
    return case.finding(MISSING, REQUEST, turn.pointer, message, evidence=evidence, values=values)


def _check_altered(case: RuleContext, entry: Entry) -> Iterator[Finding]:
    if entry.sent_part is None:
        return
    rule = ORDER if entry.differs == "order" else ALTERED
    name = entry.differs if entry.differs in ("text", "signature", "data") else None
    field = _field(case, entry)
    message = {
        "order": "the thinking blocks of this turn are in a different order than received",
        "count": f"the number of {field} blocks in this turn differs from the number received",
    }.get(entry.differs, f"the replayed {field} differs from what was received")
    values = {"id": item_id(case.message(entry.sent_part))}
    evidence, when = _difference(entry), entry.differs
    yield case.at(rule, entry.sent_part, message, name=name, evidence=evidence, when=when, values=values)


def _carrier(case: RuleContext, entry: Entry) -> str:
    return entry.carrier or next(iter(case.contract.reasoning.carriers), Carrier.REASONING_CONTENT)


def _field(case: RuleContext, entry: Entry) -> str:
    carrier = _carrier(case, entry)
    return "thinking block" if carrier in BLOCKS else str(carrier)


def _history(entry: Entry) -> str:
    """Place where the reasoning was received, and the reason why it is required."""
    parts = [received_words(entry), entry.why]
    return " · ".join(p for p in parts if p)


def _difference(entry: Entry) -> str:
    parts = [received_words(entry)]
    if entry.differs == "text" and entry.text is not None and entry.sent_text is not None:
        at = next((n for n, (a, b) in enumerate(zip(entry.text, entry.sent_text, strict=False)) if a != b), None)
        at = min(len(entry.text), len(entry.sent_text)) if at is None else at
        was, now = entry.text[at : at + 40], entry.sent_text[at : at + 40]
        parts.append(f"from character {at}: was {quote(was)}, is {quote(now)}")
    return " · ".join(p for p in parts if p)


def _stale(case: RuleContext) -> Iterator[Finding]:
    """Reasoning in the last turn although thinking is off. Sources disagree whether it is refused: a warning."""
    if case.contract.check_for(STALE.slug) is None or not is_off(case):
        return
    for ref in last_turn(case):
        part = case.part(ref)
        if isinstance(part, Reasoning) and part.carrier in BLOCKS:
            yield as_warning(
                case.at(STALE, ref, "thinking is off, but the last turn still contains its thinking block")
            )


def _without_calls(case: RuleContext) -> Iterator[Finding]:
    """Turns without calls that leave their reasoning out, where sources disagree whether the provider asks for it."""
    if case.contract.term("reasoning.without-calls") != "warning" or is_off(case):
        return
    messages = case.messages
    open_turns = _thinking_turns(case)
    bare = [
        e for e in case.ledger.entries
        if e.sent is ReplayOutcome.NOT_OWED and e.message is not None and (e.text or e.message in open_turns)
    ]  # fmt: skip
    if bare and case.request and case.request.tools:
        places = [messages[e.message].pointer for e in bare if e.message is not None]
        message = f"{len(bare)} turn{'s' * (len(bare) > 1)} without calls do not send back the {_field(case, bare[0])}"
        came = received_words(bare[0]) or "the calls before it were made while thinking"
        evidence = f"{came} · the documentation exempts such turns, but clients report refusals"
        yield with_related(as_warning(case.finding(MISSING, REQUEST, places[0], message, evidence=evidence)), places)


def _thinking_turns(case: RuleContext) -> frozenset[int]:
    """Messages without reasoning that answer after calls which were made while thinking, up to the next question."""
    found, is_thinking = set(), False
    for n, message in enumerate(case.messages):
        if message.role == case.contract.closure.call_role:
            has_calls, thinks = any(True for _ in message.tool_calls()), has_reasoning(message)
            if is_thinking and not has_calls and not thinks:
                found.add(n)
            is_thinking = is_thinking or (has_calls and thinks)
        elif message.role == "user":
            is_thinking = False
    return frozenset(found)
