"""Kinds of breakpoints, by name, and the check whether an exchange hits one. No I/O.

A kind names rules of this program, by family or one by one, and the side of the exchange on which they are checked: a
request before it is forwarded, a response before its tool calls reach the client. ``filter:EXPRESSION`` breaks on
anything the filter language can express; terms about the response (``tool:``, ``finish:`` …) are checked there.
At the hop between client and tool servers, ``mcp:SERVER`` or ``mcp:SERVER/TOOL`` breaks before a ``tools/call`` goes
out and before its result goes back. ``frame:TYPE`` breaks on messages of a WebSocket, of one direction
(``frame:sent/TYPE``, ``frame:received/TYPE``) or both; the other kinds apply to its turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from workbench import regex
from workbench.contracts import Finding, Severity
from workbench.errors import UsageError
from workbench.filters import And, Expression, Facts, Filter, Not, Or, Term
from workbench.filters import parse as parse_filter
from workbench.ir import NOTHING, JsonValue, Message, Text, ToolCallIR
from workbench.lazy_dataclass import dataclass, field
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.rules import quote


class PauseReason(NamedTuple):
    """One reason for a pause.

    Attributes:
        kind: name of the breakpoint: ``"closure"``, ``"filter:tool:Bash"``.
        rule: slug of the rule that it rests on; empty if none.
        words: one sentence.
        pointer: into the body of that side; empty for the whole.
    """

    kind: str
    rule: str
    words: str
    pointer: str


@dataclass(frozen=True, slots=True)
class JudgedSide:
    """One side of an exchange with its findings.

    Attributes:
        side: ``"request"`` or ``"response"``.
        findings: of both sides.
        facts: for filters.
        decoded: the exchange, where its answer is there.
        is_tool_hop: the exchange is with a tool server, not with a model.
    """

    side: str
    findings: Sequence[Finding]
    facts: Facts
    decoded: DecodedExchange | None = None
    is_tool_hop: bool = False


@dataclass(frozen=True, slots=True)
class BreakpointKind:
    """A kind of breakpoint.

    Attributes:
        description: what it breaks on, in words, without a full stop.
        rules: side → slugs of rules, or families that end in a dot.
        excluded: slugs of rules that do not count.
        extra_checks: side → further checks, which yield (sentence, pointer).
        tool_rules: as ``rules``, for exchanges with tool servers.
    """

    description: str
    rules: Mapping[str, tuple[str, ...]] = NOTHING
    excluded: tuple[str, ...] = ()
    extra_checks: Mapping[str, Callable[[JudgedSide], Iterable[tuple[str, str]]]] = NOTHING
    tool_rules: Mapping[str, tuple[str, ...]] = NOTHING

    @property
    def sides(self) -> frozenset[str]:
        """Sides on which it is checked of exchanges with models."""
        return frozenset((*self.rules, *self.extra_checks))

    @property
    def tool_sides(self) -> frozenset[str]:
        """Sides on which it is checked of exchanges with tool servers."""
        return frozenset(self.tool_rules)


_IDS: Final = ("closure.duplicate-id", "closure.id-format", "closure.id-mismatch")
_LOOPS: Final = ("retry.loop", "retry.duplicate-side-effect")


def _repeated_calls(seen: JudgedSide) -> Iterator[tuple[str, str]]:
    """Tool calls of the response that repeat an earlier one since the user last spoke, or one of the same response."""
    if seen.decoded is None:
        return
    earlier = list(_calls_since_the_question(seen.decoded.messages(REQUEST)))
    for message in seen.decoded.messages(RESPONSE):
        for _, call in message.tool_calls():
            if _is_repetition(earlier, call):
                words = (
                    f"{quote(call.name, 60)} repeats an earlier call with the same "
                    "arguments, with nothing new in between"
                )
                yield words, message.absolute(call)
            earlier.append(call)


def _is_repetition(earlier: Sequence[ToolCallIR], call: ToolCallIR) -> bool:
    """The call, and each since, was made before: tests that run again after an edit are no repetition."""
    last = max((n for n, other in enumerate(earlier) if _is_same(call, other)), default=None)
    if last is None:
        return False
    return all(any(_is_same(new, old) for old in earlier[: last + 1]) for new in earlier[last + 1 :])


def _calls_since_the_question(messages: tuple[Message, ...]) -> Iterator[ToolCallIR]:
    start = max((n for n, message in enumerate(messages) if _is_question(message)), default=0)
    return (call for message in messages[start:] for _, call in message.tool_calls())


def _is_question(message: Message) -> bool:
    """A message in which the user speaks: it has text and no tool results."""
    has_text = any(isinstance(part, Text) for part in message.parts)
    return message.role == "user" and has_text and not any(True for _ in message.tool_results())


def _is_same(call: ToolCallIR, other: ToolCallIR) -> bool:
    same_text = call.error is None or call.raw == other.raw
    return same_text and (call.name, call.input, call.error) == (other.name, other.input, other.error)


KINDS: Final[Mapping[str, BreakpointKind]] = {
    "closure": BreakpointKind(
        "a tool call without its result, a result without its call, or one of them in the wrong place",
        {REQUEST: ("closure.",)},
        excluded=("closure.duplicate-id", "closure.id-format", "closure.pending"),
    ),
    "reasoning": BreakpointKind(
        "required reasoning that is missing or was changed",
        {REQUEST: ("reasoning.",)},
        excluded=("reasoning.stale",),
    ),
    "id": BreakpointKind(
        "a tool call id with an invalid format, without a matching call or result, or used twice",
        {REQUEST: _IDS, RESPONSE: (*_IDS, "stream.id")},
    ),
    "arguments": BreakpointKind(
        "a tool call with arguments that need repair or violate the tool's schema", {RESPONSE: ("args.",)}
    ),
    "repeat": BreakpointKind(
        "the same call with the same arguments again, with nothing new in between, or a loop of steps",
        {REQUEST: _LOOPS},
        extra_checks={RESPONSE: _repeated_calls},
    ),
    "mcp-damage": BreakpointKind(
        "a tools/call, its result, or the request that passes it to the model, with a finding of the mcp family",
        {REQUEST: ("mcp.",)},
        tool_rules={REQUEST: ("mcp.",), RESPONSE: ("mcp.",)},
    ),
}
"""Every kind but the filter."""

ALL: Final = "all"
"""Name for all kinds."""

FILTER: Final = "filter:"

TOOLS: Final = "mcp:"
"""Begins the name of a breakpoint on a tool server, or on one of its tools."""

FRAMES: Final = "frame:"
"""Begins the name of a breakpoint on messages of a WebSocket."""

_DIRECTIONS: Final = {"sent": REQUEST, "received": RESPONSE}
_TYPE = regex.compile(r"[\w.*?-]{1,100}")

_BOTH: Final = frozenset((REQUEST, RESPONSE))

_OF_THE_ANSWER: Final = frozenset(("tool", "status", "response", "time", "state", "finish", "reasoning"))
_OF_BOTH: Final = frozenset(("", "text", "rule", "severity", "bytes", "id", "header"))


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """An armed breakpoint.

    Attributes:
        name: as it was armed.
        sides: of exchanges with models on which it is checked.
        tool_sides: of exchanges with tool servers.
        frame_sides: directions of a WebSocket whose messages it is checked on, as sides.
    """

    name: str
    sides: frozenset[str]
    _kind: BreakpointKind | None = None
    _filter: Filter | None = field(default=None, compare=False)
    tool_sides: frozenset[str] = frozenset()
    frame_sides: frozenset[str] = frozenset()
    _type: str = ""

    def frame_reasons(self, side: str, types: Iterable[str]) -> Iterator[PauseReason]:
        """Reasons to pause a message of a WebSocket that has these types (see ``frame_types``)."""
        found = next((each for each in types if fnmatchcase(each, self._type)), "") if side in self.frame_sides else ""
        if found:
            where = "has not been sent to the server" if side == REQUEST else "has not reached the client"
            yield PauseReason(self.name, "", f"the message {found} {where}", "")

    @property
    def is_filter(self) -> bool:
        """True for a filter expression, false for a kind."""
        return self._filter is not None and not self.tool_sides

    @property
    def rule_prefixes(self) -> frozenset[str] | None:
        """First words of the rules that may hit a request to a model ("closure"); None for any."""
        if self._kind is None:
            return None
        return frozenset(slug.partition(".")[0] for slug in self._kind.rules.get(REQUEST, ()))

    def sides_at(self, *, is_tool_hop: bool) -> frozenset[str]:
        """Sides on which it is checked at the hop to tool servers, or at that to models."""
        return self.tool_sides if is_tool_hop else self.sides

    def reasons(self, seen: JudgedSide) -> Iterator[PauseReason]:
        """Reasons to pause this side; empty if it is not hit."""
        if seen.side not in self.sides_at(is_tool_hop=seen.is_tool_hop):
            return
        if self._filter:
            yield from self._filter_reasons(self._filter, seen)
            return
        assert self._kind
        rules = (self._kind.tool_rules if seen.is_tool_hop else self._kind.rules).get(seen.side, ())
        for finding in seen.findings:
            if finding.side == seen.side and self._is_covered(self._kind, rules, finding):
                yield PauseReason(self.name, finding.rule, finding.message, finding.pointer)
        more = None if seen.is_tool_hop else self._kind.extra_checks.get(seen.side)
        for words, pointer in more(seen) if more else ():
            yield PauseReason(self.name, "", words, pointer)

    @staticmethod
    def _is_covered(kind: BreakpointKind, rules: Iterable[str], finding: Finding) -> bool:
        is_named = any(finding.rule == rule or (rule[-1] == "." and finding.rule.startswith(rule)) for rule in rules)
        is_of_the_whole = finding.rule in _LOOPS and not finding.pointer  # the request is repeated, not a call
        return (
            is_named and not is_of_the_whole and finding.rule not in kind.excluded and finding.severity != Severity.INFO
        )

    def _filter_reasons(self, condition: Filter, seen: JudgedSide) -> Iterator[PauseReason]:
        if not condition.passes(seen.facts):
            return
        words = {REQUEST: "the tool call has not been sent", RESPONSE: "the tool result has not reached the client"}
        words = words if self.tool_sides else dict.fromkeys(_BOTH, f"the {seen.side} matches the filter")
        yield PauseReason(self.name, "", words[seen.side], "")


def parse(name: str) -> tuple[Breakpoint, ...]:
    """The breakpoints of a name: a kind, ``"all"`` kinds, ``"mcp:SERVER/TOOL"`` or ``"filter:EXPRESSION"``.

    Raises:
        UsageError: there is no such kind; FilterError where the expression cannot be read.
    """
    if name == ALL:
        return tuple(_of_kind(each) for each in KINDS)
    if name.startswith(FILTER):
        expression = parse_filter(name.removeprefix(FILTER))
        return (Breakpoint(name, _sides(expression), _filter=Filter(expression)),)
    if name.startswith(TOOLS) and (tool_name := name.removeprefix(TOOLS)):
        tool_name = tool_name if "/" in tool_name else f"{tool_name}/*"
        term = Term("mcp", ":" if "*" in tool_name or "?" in tool_name else "=", tool_name)
        return (Breakpoint(name, frozenset(), _filter=Filter(term), tool_sides=_BOTH),)
    if name.startswith(FRAMES):
        return (_of_frames(name),)
    if name not in KINDS:
        hint = f"available: {', '.join(KINDS)}, {ALL}, {TOOLS}SERVER/TOOL, {FRAMES}TYPE and {FILTER}EXPRESSION"
        raise UsageError(f"no breakpoint named {name!a}", hint=hint)
    return (_of_kind(name),)


def _of_frames(name: str) -> Breakpoint:
    direction, slash, kind = name.removeprefix(FRAMES).rpartition("/")
    if (slash and direction not in _DIRECTIONS) or not _TYPE.fullmatch(kind):
        hint = f"give the type of a message, or a key it contains: {FRAMES}response.create, {FRAMES}sent/toolResponse"
        raise UsageError(f"{name!a} does not name WebSocket messages", hint=hint)
    sides = frozenset((_DIRECTIONS[direction],)) if slash else _BOTH
    return Breakpoint(name, frozenset(), frame_sides=sides, _type=kind)


def frame_types(value: JsonValue, opcode: str) -> tuple[str, ...]:
    """Names by which a message of a WebSocket is found: its type, else its keys, else its opcode."""
    if isinstance(value, Mapping) and value:
        kind = value.get("type")
        return (kind,) if isinstance(kind, str) else tuple(value)
    return (opcode,)


def _of_kind(name: str) -> Breakpoint:
    kind = KINDS[name]
    return Breakpoint(name, kind.sides, kind, tool_sides=kind.tool_sides)


def reasons_to_pause(breakpoints: Iterable[Breakpoint], seen: JudgedSide) -> tuple[PauseReason, ...]:
    """All reasons to pause this side."""
    return tuple(reason for each in breakpoints for reason in each.reasons(seen))


def request_rule_prefixes(breakpoints: Iterable[Breakpoint]) -> frozenset[str] | None:
    """First words of the rules that may hit a request to a model under any of these; None for any rule."""
    found = frozenset[str]()
    for each in breakpoints:
        if each.rule_prefixes is None:
            return None
        found |= each.rule_prefixes
    return found


def as_json(reasons: Iterable[PauseReason]) -> list[JsonValue]:
    """Reasons as JSON values."""
    return [reason._asdict() for reason in reasons]


def _sides(expression: Expression) -> frozenset[str]:
    """Sides on which a filter can be decided."""
    keys = frozenset(_keys(expression))
    if keys & _OF_THE_ANSWER:
        return frozenset((RESPONSE,))
    return frozenset((REQUEST, RESPONSE)) if keys & _OF_BOTH else frozenset((REQUEST,))


def _keys(expression: Expression) -> Iterator[str]:
    match expression:
        case Term():
            yield expression.key
        case Not(of):
            yield from _keys(of)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _keys(part)
