"""Reasoning is where it was, and where the provider looks for it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from workbench.chain import Entry
from workbench.contracts import Breaks, Finding, Severity, known_values
from workbench.ir import Carrier, JsonValue, Message, ModelRequest, NodeRef, Part, Reasoning, Text, ToolCallIR
from workbench.protocols import REQUEST, HistoryPrefix, fact
from workbench.rules._reasoning import (
    BLOCKS,
    block_type,
    is_rebuilt,
    received_words,
    sent_reasoning,
    turn_from,
)
from workbench.rules.context import Rule, RuleContext

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
            yield from _order(case, case.request)
        yield from _check_order(case, case.request)


def _order(case: RuleContext, request: ModelRequest) -> Iterator[Finding]:
    """Blocks have to lead their turn and may not end it."""
    starts = _starts(case) if any(True for _ in sent_reasoning(case)) else []
    if not starts:
        return
    known, answers = case.ledger.genuine, dict(case.earlier.answers)
    for turn in (turn_from(case, start) for start in starts):
        parts = [case.part(ref) for ref in turn]
        blocks = [ref for ref, p in zip(turn, parts, strict=True) if isinstance(p, Reasoning) and p.carrier in BLOCKS]
        entry = next((known[ref] for ref in blocks if ref in known), None)
        if entry and entry.received_in in answers:
            came = [p for m in answers[entry.received_in].messages for p in m.parts]
            yield from _check_moved(case, entry, turn, came)
        elif not blocks or entry:
            continue
        elif blocks[0] != turn[0] and request.thinking == "on":
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
    messages, role = case.decoded.messages(REQUEST), case.contract.closure.call_role
    if isinstance(messages, HistoryPrefix):
        found = messages.fold(_UnorderedTurns, role)
    else:
        found = _UnorderedTurns(role)
        found.read(messages)
    return found.starts[: bisect_left(found.starts, len(messages))]


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
    """Some of its reasoning is not in blocks at its beginning, or it ends with a block."""
    is_leading = [isinstance(part, Reasoning) and part.carrier in BLOCKS for part in message.parts]
    lead = next((n for n, is_block in enumerate(is_leading) if not is_block), len(message.parts))
    return any(n >= lead for n, _ in message.reasoning()) or (lead > 0 and lead == len(message.parts))


def _check_moved(case: RuleContext, entry: Entry, turn: Sequence[NodeRef], came: Sequence[Part]) -> Iterator[Finding]:
    """A block that came in before a call, or before any text, and is sent behind it."""
    pairs = zip(came, _ahead(came), strict=True)
    before = {(p.text, p.signature): ahead for p, ahead in pairs if isinstance(p, Reasoning)}
    parts = [case.part(ref) for ref in turn]
    for ref, part, ahead in zip(turn, parts, _ahead(parts), strict=True):
        if isinstance(part, Reasoning) and ahead - before.get((part.text, part.signature), ahead):
            yield case.at(
                ORDER, ref, "the block was received before the part that it now follows", evidence=received_words(entry)
            )


def _ahead(parts: Sequence[Part]) -> Iterator[frozenset[str]]:
    """For each part, the ids of the calls before it, and "" where text is before it."""
    seen: frozenset[str] = frozenset()
    for part in parts:
        yield seen
        if isinstance(part, ToolCallIR) and part.id:
            seen |= {part.id}
        elif isinstance(part, Text) and part.text.strip():
            seen |= {""}


_FIELDS = (Carrier.REASONING_CONTENT, Carrier.REASONING_DETAILS)
"""Carriers whose field names mean nothing else in any object of the wire."""


def _check_order(case: RuleContext, request: ModelRequest) -> Iterator[Finding]:
    role = case.contract.closure.call_role
    objects: list[_Object] = [("", request.params)]
    for _, message in case.suspects(_has_stray, role):
        objects += _objects(message, role)
    for held in objects:
        for name in _FIELDS:
            yield from _strays(case, held, name)


_Object: TypeAlias = tuple[str, Mapping[str, JsonValue]]
"""Pointer of an object of the wire, and its keys."""


def _objects(message: Message, role: str) -> Iterator[_Object]:
    """Objects of a message that hold no reasoning: calls, results, and itself if ``role`` is not its own."""
    if message.role != role:
        yield message.pointer, message.extra
        yield from ((message.absolute(r), {str(r.carrier): r.text}) for _, r in message.reasoning())
    yield from ((message.absolute(part), part.extra) for _, part in message.tool_calls())
    yield from ((message.absolute(part), part.extra) for _, part in message.tool_results())


def _has_stray(message: Message, role: str) -> bool:
    held = [keys for each in _objects(message, role) for _, keys in _with_function(each)]
    return any(name in keys for keys in held for name in _FIELDS)


def _with_function(held: _Object) -> tuple[_Object, ...]:
    """An object, and the object ``function`` in it."""
    pointer, keys = held
    inner = keys.get("function")
    return (held, (f"{pointer}/function", inner)) if isinstance(inner, Mapping) else (held,)


def _strays(case: RuleContext, held: _Object, name: str) -> Iterator[Finding]:
    for at, keys in _with_function(held):
        if name in keys:
            place = at if at.endswith(f"/{name}") else f"{at}/{name}"
            message = f"{name} is on an object that is not an assistant message; the provider does not read it here"
            yield case.finding(MISPLACED, REQUEST, place, message)
