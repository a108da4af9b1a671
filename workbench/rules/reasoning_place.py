"""Reasoning is where it was, and where the provider looks for it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from workbench import protocols
from workbench.chain import Entry
from workbench.contracts import Breaks, Finding, Severity, dotted_path, known_values
from workbench.ir import (
    NOTHING,
    Carrier,
    JsonValue,
    Message,
    ModelRequest,
    NodeRef,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.protocols import REQUEST, HistoryPrefix, MessageShape, asked_by_shape, fact
from workbench.provenance import escape
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.reasoning import (
    BLOCKS,
    block_type,
    has_reasoning,
    is_rebuilt,
    last_turn,
    received_words,
    sent_reasoning,
    turn_from,
)
from workbench.rules._shared.wording import as_warning, quote

WARNING = Severity.WARNING

ORDER = Rule("reasoning.order", WARNING, "The reasoning block is not where it was received.", breaks=Breaks.REQUEST)
MISPLACED = Rule(
    "reasoning.misplaced", WARNING, "The reasoning field is in the wrong object.", breaks=Breaks.CONVERSATION
)

RULES = (ORDER, MISPLACED)


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the order of blocks, and on reasoning fields of objects that are no assistant message."""
    if case.request is not None:
        if case.contract.reasoning.leading:
            yield from _order(case)
        yield from _check_places(case, case.request)


@of_messages
def _order(case: RuleContext) -> Iterator[Finding]:
    """Blocks have to lead their turn and may not end it."""
    starts = _starts(case) if any(True for _ in sent_reasoning(case)) else []
    if not starts:
        return
    known, answers = case.genuine, dict(case.earlier.answers)
    for turn in (turn_from(case, start) for start in starts):
        parts = [case.part(ref) for ref in turn]
        blocks = [ref for ref, p in zip(turn, parts, strict=True) if isinstance(p, Reasoning) and p.carrier in BLOCKS]
        entry = next((known[ref] for ref in blocks if ref in known), None)
        if entry and entry.received_in in answers:
            came = [p for m in answers[entry.received_in].messages for p in m.parts]
            yield from _check_moved(case, entry, turn, came)
        elif not blocks or entry:
            continue
        elif blocks[0] != turn[0] and case.request and case.request.thinking == "on":
            message = "the turn contains thinking blocks but does not begin with one"
            values = known_values(case.pointer(turn[0]), case.decoded, case.contract, None)
            found = {
                "message": values.get("message", ""),
                "part": values.get("part", ""),
                "found": block_type(parts[0]),
            }
            yield case.at(ORDER, blocks[0], message, when="not-leading", values=found)
        elif blocks[-1] == turn[-1] and not is_rebuilt(case):
            yield case.at(ORDER, blocks[-1], "the last block of the turn is a thinking block", when="last-block")


def _starts(case: RuleContext) -> list[int]:
    """First messages of the turns whose blocks may be out of order."""
    messages, role = case.messages, case.contract.closure.call_role
    if isinstance(messages, HistoryPrefix):
        found = messages.fold(_UnorderedTurns, role)
    else:
        found = _UnorderedTurns(role)
        found.read(messages)
    return found.starts[bisect_left(found.starts, case.start) : bisect_left(found.starts, len(messages))]


class _UnorderedTurns:
    """A fold over a history: turns of several messages, and those in which a block is not at the beginning.

    Attributes:
        starts: their first messages. What makes a turn one of them may be behind the messages of a request.
    """

    def __init__(self, role: str) -> None:
        self.role = role
        self.starts: list[int] = []
        self._turns: list[int] = []  # of each message, the first message of its turn; -1 if it is of nobody's

    def read(self, messages: Sequence[Message]) -> None:
        for n in range(len(self._turns), len(messages)):
            is_own = messages[n].role == self.role
            is_continued = is_own and n > 0 and self._turns[-1] >= 0
            start = (self._turns[-1] if is_continued else n) if is_own else -1
            self._turns.append(start)
            if is_own and (is_continued or fact(messages[n], _is_unordered)) and self.starts[-1:] != [start]:
                self.starts.append(start)

    def fork(self, length: int) -> _UnorderedTurns:
        other = _UnorderedTurns(self.role)
        other.starts, other._turns = self.starts[: bisect_left(self.starts, length)], self._turns[:length]
        return other


def _is_unordered(message: Message) -> bool:
    """Some of its reasoning is not in blocks at its beginning, it ends with a block, or a call may lack between two."""
    is_leading = [isinstance(part, Reasoning) and part.carrier in BLOCKS for part in message.parts]
    lead = next((n for n, is_block in enumerate(is_leading) if not is_block), len(message.parts))
    return any(n >= lead for n, _ in message.reasoning()) or lead > 1 or (lead > 0 and lead == len(message.parts))


def _check_moved(case: RuleContext, entry: Entry, turn: Sequence[NodeRef], came: Sequence[Part]) -> Iterator[Finding]:
    """A block that is sent behind a call or a text that came after it, or without the call that came before it."""
    pairs = zip(came, _ahead(came), strict=True)
    before = {(p.text, p.signature): ahead for p, ahead in pairs if isinstance(p, Reasoning)}
    parts = [case.part(ref) for ref in turn]
    sent = {part.id for part in parts if isinstance(part, ToolCallIR)}
    for ref, part, ahead in zip(turn, parts, _ahead(parts), strict=True):
        received = before.get((part.text, part.signature), ahead) if isinstance(part, Reasoning) else ahead
        lost = [call for call in came if isinstance(call, ToolCallIR) and call.id in received - sent]
        if ahead - received:
            message = "the block was received before the part that it now follows"
            yield case.at(ORDER, ref, message, evidence=received_words(entry))
        elif lost:
            message = f"the call {quote(lost[0].name)} that was received before this block is no longer in the turn"
            found = case.at(ORDER, ref, message, when="lost-call", evidence=received_words(entry))
            yield found if ref in last_turn(case) else as_warning(found)


def _ahead(parts: Sequence[Part]) -> Iterator[frozenset[str]]:
    """For each part, the ids of the calls before it, and "" where text is before it."""
    seen: frozenset[str] = frozenset()
    for part in parts:
        yield seen
        if isinstance(part, ToolCallIR) and part.id:
            seen |= {part.id}
        elif isinstance(part, Text) and part.text.strip():
            seen |= {""}


_OF_BODIES = (Carrier.REASONING_CONTENT, Carrier.REASONING_DETAILS)
"""Carriers whose field names mean nothing else in the body of any wire."""

_Object: TypeAlias = tuple[str, Mapping[str, JsonValue]]
"""Pointer of an object of the wire, and its keys that no reader knows."""


def _check_places(case: RuleContext, request: ModelRequest) -> Iterator[Finding]:
    """Fields of reasoning, and of its proofs, where no protocol has them or this one has not."""
    own = protocols.traits(case.decoded.protocol).carriers
    for name in dict.fromkeys((*_OF_BODIES, *own)):
        if request.params.get(name) is not None and f"/{name}" not in own.get(name, ()):
            yield _stray_finding(case, f"/{name}", name)
    yield from _in_messages(case)


@of_messages
def _in_messages(case: RuleContext) -> Iterator[Finding]:
    role, own = case.contract.closure.call_role, protocols.traits(case.decoded.protocol).carriers
    for n, message in case.suspects(_has_stray_fields, role):
        for pointer, keys in _objects(message, role):
            for name, value in keys.items():
                if value is not None and name in _fields() and not _is_own_place(case, f"{pointer}/{name}", n, own):
                    yield _stray_finding(case, f"{pointer}/{name}", name)
        for k, part in message.reasoning() if message.role != role and case.contract.covers else ():
            if part.carrier is not Carrier.THINK_TEXT:
                yield _stray_finding(case, _field_of(case, NodeRef(REQUEST, n, k), part), str(part.carrier))


@cache
def _fields() -> frozenset[str]:
    """Fields that carry reasoning in any protocol."""
    return frozenset(name for adapter in protocols.every() for name in adapter.traits.carriers)


def _objects(message: Message, role: str) -> Iterator[_Object]:
    """Objects of a message in which reasoning may be misplaced: itself, its parts, and objects that wrap a call."""
    yield message.pointer, message.extra
    for part in message.parts:
        if not isinstance(part, Opaque):
            yield from _with_inner(message.absolute(part), part.extra)
        for inner in part.content if isinstance(part, ToolResultIR) else ():
            if _is_block(inner):
                yield message.absolute(inner), {_BLOCK: True}


def _with_inner(pointer: str, keys: Mapping[str, JsonValue]) -> Iterator[_Object]:
    yield pointer, keys
    yield from ((f"{pointer}/{escape(key)}", value) for key, value in keys.items() if isinstance(value, Mapping))


_BLOCK = "thinking"
"""Field for which a whole block of reasoning is named where it may not be."""


def _is_block(part: Part) -> bool:
    """A block of reasoning, read or not."""
    if isinstance(part, Opaque):
        return part.type in (Carrier.THINKING, Carrier.REDACTED_THINKING)
    return isinstance(part, Reasoning) and part.carrier is not Carrier.THINK_TEXT


_MARKS = ("think", "thought", "reason", "plan", "signature", "encrypted")
"""One of these is in every name of ``_fields`` and in every type of reasoning, so that no protocol is read for most."""


def _may_have_stray_fields(shape: MessageShape, role: str) -> bool:
    return any(mark in name.lower() for name in shape.names for mark in _MARKS)


@asked_by_shape(_may_have_stray_fields)
def _has_stray_fields(message: Message, role: str) -> bool:
    if message.role != role and has_reasoning(message):
        return True
    if message.extra is NOTHING and all(map(_is_plain, message.parts)):  # as most messages: no protocol is read
        return False
    found = [name for _, keys in _objects(message, role) for name, value in keys.items() if value is not None]
    return bool(found) and not _fields().isdisjoint(found)


def _is_plain(part: Part) -> bool:
    """It has neither a key that no reader knows, nor parts of its own other than text."""
    if isinstance(part, ToolResultIR) and any(not isinstance(inner, Text) for inner in part.content):
        return False
    return isinstance(part, Opaque) or part.extra is NOTHING


def _is_own_place(case: RuleContext, pointer: str, number: int, own: Mapping[str, tuple[str, ...]]) -> bool:
    """This wire has the field at a place; a condition of a step on its object is asked of the request itself."""
    return any(_fits(case, pointer, place) for place in own.get(pointer.rpartition("/")[2], ()))


def _fits(case: RuleContext, pointer: str, place: str) -> bool:
    steps, pattern = pointer.split("/")[1:], place.split("/")[1:]
    if len(steps) != len(pattern) or not all(w == s or w.startswith("*") for s, w in zip(steps, pattern, strict=True)):
        return False
    filters = [(n, w[2:-1].partition("=")) for n, w in enumerate(pattern) if w.startswith("*[")]
    return all(_text_at(case, [*steps[: n + 1], key]) == value for n, (key, _, value) in filters)


def _text_at(case: RuleContext, steps: list[str]) -> str:
    span = case.decoded.place(REQUEST, "/" + "/".join(steps)).span
    return case.decoded.request_text[slice(*span)].decode("utf-8", "replace").strip('"') if span else ""


def _field_of(case: RuleContext, ref: NodeRef, part: Reasoning) -> str:
    """The field of a piece of reasoning if it is one of its message, else the block."""
    return case.pointer(ref) if part.carrier in BLOCKS or part.text is None else case.pointer(ref, "text")


def _stray_finding(case: RuleContext, pointer: str, name: str) -> Finding:
    places = protocols.traits(case.decoded.protocol).carriers.get(name, ())
    has = (
        f"in this protocol, the field belongs at {' or '.join(places)}" if places else "this protocol has no such field"
    )
    holder = dotted_path(pointer.rpartition("/")[0]) or "the top of the request"
    return case.finding(
        MISPLACED, REQUEST, pointer, f"{name} is in {holder}, where the provider does not read it: {has}"
    )
