"""The argument ladder: strict parse, syntax repair, coercion by schema, validation, refusal.

Each rung that was needed is named and shown, and repaired arguments are never silently valid. Size and depth are
limited first; work that could run for ever is done in a child process with a deadline (a thread would not help: a bad
regular expression holds the interpreter). A repair counts only if it provably lost nothing (``_proof``).
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Collection
from enum import StrEnum

from workbench import limits, regex
from workbench.errors import WireError
from workbench.ir import JsonValue, ToolCallIR, ToolDef
from workbench.lazy_dataclass import dataclass, replace
from workbench.toolcalls.arguments import _process
from workbench.toolcalls.arguments._plain_schema import is_plainly_valid
from workbench.toolcalls.arguments._schema import (
    INVALID,
    NeedsChild,
    SchemaFault,
    repeated_keys,
    snippet,
    validate,
)
from workbench.toolcalls.json_text import input_type
from workbench.wire import loads

MOST_NAMED = 3
"""Limit of faults named in one message; a model fixes them one by one anyway."""


class Code(StrEnum):
    """Reasons for refusing a call before its tool runs."""

    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    INVALID_JSON = "INVALID_JSON"
    AMBIGUOUS_JSON = "AMBIGUOUS_JSON"  # readable, but part of it would be lost, or there are two readings
    TRUNCATED = "TRUNCATED"  # the text stops in the middle
    NOT_AN_OBJECT = "NOT_AN_OBJECT"
    SCHEMA_VALIDATION_FAILED = "SCHEMA_VALIDATION_FAILED"
    SCHEMA_UNUSABLE = "SCHEMA_UNUSABLE"  # the tool's own schema is at fault: trying again does not help
    TOO_LARGE = "TOO_LARGE"
    TIMEOUT = "TIMEOUT"
    ONE_CALL_AT_A_TIME = "ONE_CALL_AT_A_TIME"
    TOOL_NOT_ENABLED = "TOOL_NOT_ENABLED"


@dataclass(frozen=True, slots=True)
class ArgumentRefusal:
    """Refusal of a call.

    Attributes:
        message: one or a few sentences for the model: what, where, and what was expected.
        retryable: the model can do better by trying again.
    """

    code: Code
    message: str
    retryable: bool = True

    def as_json(self) -> dict[str, JsonValue]:
        """The content of an error result."""
        return {
            "is_error": True,
            "error_code": self.code.value,
            "message": self.message,
            "retryable": self.retryable,
        }


def of_faults(faults: tuple[SchemaFault, ...]) -> ArgumentRefusal:
    """Refusal that names the schema faults of the arguments."""
    named = [f"{_place(fault.pointer)} {fault.message}" for fault in faults[:MOST_NAMED]]
    rest = len(faults) - len(named)
    more = f"; and {rest} more" if rest > 0 else ""
    return ArgumentRefusal(Code.SCHEMA_VALIDATION_FAILED, "; ".join(named) + more)


def _place(pointer: str) -> str:
    """``input.items[2].path`` for ``/items/2/path``."""
    steps = [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]
    place = "input" + "".join(f"[{s}]" if s.isdecimal() else f".{s}" for s in steps)
    return place if len(place) <= limits.SNIPPET else place[: limits.SNIPPET] + "…"


class ArgumentStep(StrEnum):
    """A step of reading the arguments."""

    STRICT = "strict"  # the text parses, or the protocol contains a value
    UNWRAPPED = "unwrapped"  # JSON inside a JSON string was unwrapped
    REPAIRED = "repaired"  # its syntax was mended
    COERCED = "coerced"  # values were read as the schema declares them
    VALIDATED = "validated"  # it fits the schema
    REFUSED = "refused"  # a step of ``steps`` only: where the climb ended


@dataclass(frozen=True, slots=True)
class LadderStep:
    """One rung with its input and output.

    Attributes:
        before, after: text if ``rung`` reads text, else a value; ``after`` of a refusal is the error result.
        note: the change in words; empty for none.
    """

    rung: ArgumentStep
    before: JsonValue
    after: JsonValue
    note: str = ""


@dataclass(frozen=True, slots=True)
class Ladder:
    """Result of reading arguments.

    Attributes:
        rungs: the steps used, in order; empty if nothing could be read.
        value: the value after the last step.
        faults: violations of the schema before coercion.
        error: reason why the text does not parse; empty if it does.
        problem: reason for stopping early: a fault of the text beyond ``error``, else why the schema could not be
            applied; empty if it did not stop.
        steps: the same rungs with before and after.
        refusal: reason why the arguments cannot be used; None if they can.
    """

    rungs: tuple[ArgumentStep, ...] = ()
    value: JsonValue = None
    faults: tuple[SchemaFault, ...] = ()
    error: str = ""
    problem: str = ""
    steps: tuple[LadderStep, ...] = ()
    refusal: ArgumentRefusal | None = None

    def with_step(self, rung: ArgumentStep, before: JsonValue, after: JsonValue, note: str = "") -> Ladder:
        """Add a rung."""
        step = LadderStep(rung, before, after, note)
        return replace(self, rungs=(*self.rungs, rung), value=after, steps=(*self.steps, step))

    def with_refusal(self, code: Code, message: str, *, retryable: bool = True) -> Ladder:
        """Add the refusal, unless there is one."""
        return self if self.refusal else replace(self, refusal=ArgumentRefusal(code, message, retryable))


def is_plain_object(raw: str | None, value: JsonValue, schema: JsonValue) -> bool:
    """True if ``climb`` finds no fault in the arguments, which a look shows of most; False says nothing.

    Args:
        raw, value, schema: as of ``climb``.
    """
    if raw is not None:
        try:
            value = loads(raw)
        except WireError:
            return False
    return isinstance(value, dict) and (schema is None or is_plainly_valid(value, schema))


def climb(raw: str | None, value: JsonValue, schema: JsonValue) -> Ladder:
    """Read arguments as far as possible.

    Args:
        raw: the argument text; None if the protocol carries ``value`` itself.
        value: the arguments if ``raw`` is None.
        schema: JSON Schema of the tool; None if it has none.
    """
    if raw is None:
        return _validate(
            Ladder().with_step(
                ArgumentStep.STRICT, value, value, "this protocol sends arguments as a JSON value, not as text"
            ),
            schema,
        )
    try:
        value = loads(raw)
    except WireError as error:
        return _repair(raw, schema, f"{error.what} ({error.where})" if error.where else error.what)
    ladder = Ladder().with_step(ArgumentStep.STRICT, raw, value, repeated_keys(raw))
    return _validate(_unwrap(ladder) if isinstance(value, str) else ladder, schema)


def judge(call: ToolCallIR, tools: Collection[ToolDef]) -> Ladder:
    """Read the arguments of a call to one of these tools; a call to an unknown tool is refused."""
    tool = next((t for t in tools if t.name == call.name), None)
    ladder = _climb_call(call, tool)
    if tool is not None:
        return ladder
    names = ", ".join(snippet(t.name) for t in list(tools)[:8])
    known = f"the tools are {names}{' …' if len(tools) > 8 else ''}" if tools else "no tool is declared"
    return replace(
        ladder, refusal=ArgumentRefusal(Code.UNKNOWN_TOOL, f"there is no tool {snippet(call.name)}; {known}")
    )


def steps(call: ToolCallIR, tool: ToolDef | None) -> tuple[LadderStep, ...]:
    """The ladder of a call as rows for people: every rung, and the refusal if there is one.

    Args:
        tool: the declared tool; None if undeclared: the arguments are then read without validation.
    """
    ladder = _climb_call(call, tool)
    if ladder.refusal is None:
        return ladder.steps
    before = ladder.value if ladder.steps else call.raw
    return (*ladder.steps, LadderStep(ArgumentStep.REFUSED, before, ladder.refusal.as_json(), ladder.refusal.message))


def _climb_call(call: ToolCallIR, tool: ToolDef | None) -> Ladder:
    schema = tool.schema if tool else None
    if call.raw is not None and not call.raw.strip() and call.input in (None, {}):
        empty = Ladder().with_step(ArgumentStep.STRICT, call.raw, {}, "empty text means no arguments: {}")
        return _validate(empty, schema)
    return climb(call.raw, call.input, schema)


def _unwrap(ladder: Ladder) -> Ladder:
    try:
        inner = loads(str(ladder.value))
    except WireError:
        return ladder
    if not isinstance(inner, dict | list):
        return ladder
    note = "; ".join(filter(None, ("JSON inside a JSON string was unwrapped", repeated_keys(str(ladder.value)))))
    return ladder.with_step(ArgumentStep.UNWRAPPED, ladder.value, inner, note)


def _repair(raw: str, schema: JsonValue, error: str) -> Ladder:
    if len(raw) > limits.MAX_ARGUMENT_REPAIR:
        problem = f"longer than {limits.MAX_ARGUMENT_REPAIR} characters: not repaired"
        message = f"input is not JSON ({error}) and {problem}; send valid JSON"
        return Ladder(error=error, problem=problem).with_refusal(Code.TOO_LARGE, message)
    if _depth(raw) > limits.MAX_REPAIR_DEPTH:
        problem = f"nested deeper than {limits.MAX_REPAIR_DEPTH}: not repaired"
        return Ladder(error=error, problem=problem).with_refusal(Code.TOO_LARGE, f"input is not JSON and {problem}")
    answer = _process.ask(text=raw, schema=schema)
    if answer.get("value") is None:
        return _refuse_unrepaired(raw, error, str(answer.get("lossy", "")), str(answer.get("problem", "")))
    note = "; ".join(answer["changes"])
    ladder = Ladder(error=error).with_step(ArgumentStep.REPAIRED, raw, answer["value"], note)
    return _decide(replace(ladder, faults=_faults(answer), problem=answer["problem"]), schema)


def _depth(raw: str) -> int:
    """Maximum of open brackets, including those in strings; a bracket of the other kind closes none, as in repair."""
    opened = list[str]()
    deepest = 0
    for bracket in _BRACKET.findall(raw):
        if bracket in "[{":
            opened.append("]" if bracket == "[" else "}")
            deepest = max(deepest, len(opened))
        elif opened and opened[-1] == bracket:
            opened.pop()
    return deepest


def _refuse_unrepaired(raw: str, error: str, lossy: str, problem: str) -> Ladder:
    ladder = Ladder(error=error, problem=problem or f"it cannot be repaired without loss: {lossy}")
    if is_cut(raw):
        return ladder.with_refusal(Code.TRUNCATED, f"input is incomplete ({error}); send the whole call again")
    if problem:
        message = f"input is not JSON: {error}; the repair did not finish: {problem}"
        return ladder.with_refusal(Code.TIMEOUT, message)
    if "{" not in raw and "[" not in raw:
        return ladder.with_refusal(Code.INVALID_JSON, f"input is not JSON: {error}; send one JSON object")
    message = f"input is not JSON: {error}; it cannot be repaired without loss: {lossy}; send one JSON object"
    return ladder.with_refusal(Code.AMBIGUOUS_JSON, message)


def _validate(ladder: Ladder, schema: JsonValue) -> Ladder:
    if isinstance(schema, dict | bool):
        try:
            faults, problem = validate(ladder.value, schema)
        except NeedsChild:
            answer = _process.ask(value=ladder.value, schema=schema)
            faults, problem = _faults(answer), str(answer["problem"])
        ladder = replace(ladder, faults=faults, problem=problem)
    return _decide(ladder, schema)


def _faults(answer: object) -> tuple[SchemaFault, ...]:
    return tuple(SchemaFault(**f) for f in answer.get("faults", ())) if isinstance(answer, dict) else ()


def _decide(ladder: Ladder, schema: JsonValue) -> Ladder:
    """Final rungs if the faults allow them, else the refusal."""
    if not isinstance(ladder.value, dict):
        message = f"input must be a JSON object, but it is {input_type(ladder.value)}"
        return ladder.with_refusal(Code.NOT_AN_OBJECT, message)
    unknown = _no_json(ladder.value)
    if unknown:
        return ladder.with_refusal(
            Code.INVALID_JSON, f"input contains {unknown}, which is not valid in JSON; send a number or null"
        )
    if not isinstance(schema, dict | bool):
        return ladder
    if any(f.kind == INVALID for f in ladder.faults):
        return replace(ladder, refusal=of_faults(tuple(f for f in ladder.faults if f.kind == INVALID)))
    if ladder.problem:
        if _process.is_own(ladder.problem):
            return ladder.with_refusal(Code.TIMEOUT, f"input was not checked: {ladder.problem}", retryable=False)
        message = f"input was not checked, the declared schema cannot be applied: {ladder.problem}"
        return ladder.with_refusal(Code.SCHEMA_UNUSABLE, message, retryable=False)
    if ladder.faults:
        return _coerce(ladder, schema)
    return ladder.with_step(ArgumentStep.VALIDATED, ladder.value, ladder.value)


def _no_json(value: JsonValue) -> str:
    """A number of the value that JSON cannot express; empty if there is none."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, float) and not math.isfinite(node):
            return str(node)
        waiting += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return ""


def _coerce(ladder: Ladder, schema: JsonValue) -> Ladder:
    value, changes = _replace_faults(ladder.value, ladder.faults)
    higher = ladder.with_step(ArgumentStep.COERCED, ladder.value, value, "; ".join(changes))
    try:
        faults, problem = validate(value, schema)
    except NeedsChild:
        answer = _process.ask(value=value, schema=schema)
        faults, problem = _faults(answer), str(answer["problem"])
    if problem:
        return higher.with_refusal(Code.TIMEOUT, f"the coerced input was not checked: {problem}", retryable=False)
    return (
        replace(higher, refusal=of_faults(faults)) if faults else higher.with_step(ArgumentStep.VALIDATED, value, value)
    )


def _replace_faults(value: JsonValue, faults: tuple[SchemaFault, ...]) -> tuple[JsonValue, list[str]]:
    """The value with every faulty place replaced as declared, and the changes; an optional null is left out."""
    fixed, changes = copy.deepcopy(value), []
    for fault in faults:
        steps = [s.replace("~1", "/").replace("~0", "~") for s in fault.pointer.split("/")[1:]]
        if not steps:
            return fault.replacement, [f"the whole input became {snippet(fault.replacement)}"]
        holder = fixed
        for step in steps[:-1]:
            holder = holder[int(step) if isinstance(holder, list) else step]
        last = int(steps[-1]) if isinstance(holder, list) else steps[-1]
        if fault.replacement is None and isinstance(holder, dict) and holder[last] is None:
            changes.append(f"{fault.pointer}: null was removed")
            del holder[last]
        else:
            changes.append(f"{fault.pointer}: {snippet(holder[last])} was read as {snippet(fault.replacement)}")
            holder[last] = fault.replacement
    return fixed, changes


_BRACKET = regex.compile(r"[\[{\]}]")
_TOKEN = regex.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]|"', re.DOTALL)
_TAIL = 64  # characters of the end that are searched for a half-written scalar or escape
_CUT_ESCAPE = regex.compile(r"(?<!\\)(?:\\\\)*\\(?:u[0-9a-fA-F]{0,3})?$")
_CUT_SCALAR = regex.compile(r"(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-?\d[-+.\deE]*|-)$")


def is_cut(text: str) -> bool:
    """True if the text is the beginning of a JSON array or object without its end."""
    closers: list[str] = []
    in_string = False
    for token in _TOKEN.finditer(text):
        if token[0] == '"':
            in_string = True
            break
        if token[0] in "[{":
            closers.append("]" if token[0] == "[" else "}")
        elif token[0] in "]}" and closers:
            closers.pop()
    if not closers:
        return False
    head = text[:-_TAIL] + (_CUT_ESCAPE if in_string else _CUT_SCALAR).sub("", text[-_TAIL:])
    end = "".join(reversed(closers))
    tails = ('"', '":null') if in_string else ("", "null", ":null", '"":null')
    return any(_parses(head + tail + end) for tail in tails)


def _parses(text: str) -> bool:
    try:
        loads(text)
    except WireError:
        return False
    return True
