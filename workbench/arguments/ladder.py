"""The argument ladder: strict parse, syntax repair, coercion by schema, validation.

Each rung that was needed is named, and what was repaired is never silently valid. Size and depth are capped before
anything else; what could run for ever runs in a child process with a deadline (a thread would not help: a bad regular
expression holds the interpreter).
"""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from workbench import limits
from workbench.arguments._schema import COERCIBLE, DOUBLE_ENCODED, INVALID, Fault, NeedsChild, validate
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.wire.jsontext import dumps, loads

__all__ = ["COERCIBLE", "DOUBLE_ENCODED", "INVALID", "Fault", "Ladder", "Rung", "climb", "is_cut"]


class Rung(StrEnum):
    """A step that reading the arguments took."""

    STRICT = "strict"  # the text parses, or the protocol carries a value
    UNWRAPPED = "unwrapped"  # it was JSON inside a JSON string
    REPAIRED = "repaired"  # its syntax was mended
    COERCED = "coerced"  # values were read as the schema declares them
    VALIDATED = "validated"  # it fits the schema


@dataclass(frozen=True, slots=True)
class Ladder:
    """How far arguments could be read.

    Attributes:
        rungs: the steps taken, in order; empty when nothing could be read.
        value: what they are after the last step.
        faults: where the value breaks the schema before coercion.
        error: why the text does not parse as it stands, "" when it does.
        problem: why the climb stopped early: what is wrong with the text beyond ``error``, where there is one, else why
            the schema could not be applied; "" when it did not.
    """

    rungs: tuple[Rung, ...] = ()
    value: JsonValue = None
    faults: tuple[Fault, ...] = ()
    error: str = ""
    problem: str = ""


def climb(raw: str | None, value: JsonValue, schema: JsonValue) -> Ladder:
    """Read arguments as far as they can be read.

    Args:
        raw: the argument text; None where the protocol carries ``value`` itself.
        value: the arguments where ``raw`` is None.
        schema: JSON Schema of the tool, None where it has none.
    """
    rungs = [Rung.STRICT]
    if raw is not None:
        try:
            value = loads(raw)
        except WireError as error:
            return _repair(raw, schema, f"{error.what} ({error.where})" if error.where else error.what)
        if isinstance(value, str):
            value, rungs = _unwrap(value, rungs)
    return _validate(tuple(rungs), value, schema)


def _unwrap(text: str, rungs: list[Rung]) -> tuple[JsonValue, list[Rung]]:
    try:
        inner = loads(text)
    except WireError:
        return text, rungs
    return (inner, [*rungs, Rung.UNWRAPPED]) if isinstance(inner, dict | list) else (text, rungs)


def _repair(raw: str, schema: JsonValue, error: str) -> Ladder:
    if len(raw) > limits.MAX_ARGUMENT_REPAIR:
        return Ladder(error=error, problem=f"longer than {limits.MAX_ARGUMENT_REPAIR} characters: not repaired")
    value, faults, problem = _in_child(_job(text=raw, schema=schema))
    if value is None:
        return Ladder(error=error, problem=problem)
    return _coerce(Ladder((Rung.REPAIRED,), value, faults, error, problem), schema)


def _validate(rungs: tuple[Rung, ...], value: JsonValue, schema: JsonValue) -> Ladder:
    if not isinstance(schema, dict | bool):
        return Ladder(rungs, value)
    try:
        faults, problem = validate(value, schema)
    except NeedsChild:
        _, faults, problem = _in_child(_job(value=value, schema=schema))
    return _coerce(Ladder(rungs, value, faults, problem=problem), schema)


def _coerce(ladder: Ladder, schema: JsonValue) -> Ladder:
    """The last two rungs, where the faults found allow them."""
    if not isinstance(schema, dict | bool) or ladder.problem or any(f.kind == INVALID for f in ladder.faults):
        return ladder
    if not ladder.faults:
        return replace(ladder, rungs=(*ladder.rungs, Rung.VALIDATED))
    return replace(ladder, rungs=(*ladder.rungs, Rung.COERCED), value=_replaced(ladder.value, ladder.faults))


def _replaced(value: JsonValue, faults: tuple[Fault, ...]) -> JsonValue:
    """The value with every faulty place read as declared; an optional null is left out."""
    fixed = copy.deepcopy(value)
    for fault in faults:
        steps = [s.replace("~1", "/").replace("~0", "~") for s in fault.pointer.split("/")[1:]]
        if not steps:
            return fault.replacement
        holder = fixed
        for step in steps[:-1]:
            holder = holder[int(step) if isinstance(holder, list) else step]
        if fault.replacement is None and isinstance(holder, dict):
            del holder[steps[-1]]
        else:
            holder[int(steps[-1]) if isinstance(holder, list) else steps[-1]] = fault.replacement
    return fixed


_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]|"', re.DOTALL)
_TAIL = 64  # characters of the end that are searched for a half-written scalar or escape
_CUT_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\(?:u[0-9a-fA-F]{0,3})?$")
_CUT_SCALAR = re.compile(r"(?:t|tr|tru|f|fa|fal|fals|n|nu|nul|-?\d[-+.\deE]*|-)$")


def is_cut(text: str) -> bool:
    """The text is the beginning of a JSON array or object and stops before its end."""
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


def _job(**fields: JsonValue) -> bytes:
    return dumps(fields)


@lru_cache(maxsize=256)
def _in_child(job: bytes) -> tuple[JsonValue, tuple[Fault, ...], str]:
    """(value, faults, problem) as the child process gives them."""
    root = str(Path(__file__).resolve().parents[2])
    code = "import sys; sys.path.append(sys.argv[1]); from workbench.arguments._child import main; main()"
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, root], input=job, capture_output=True, timeout=limits.REPAIR_SECONDS
        )
        answer = loads(done.stdout)
    except subprocess.TimeoutExpired:
        return None, (), f"it takes too long, nothing was read within {limits.REPAIR_SECONDS:g} s"
    except (OSError, WireError):
        return None, (), "the process that reads broken arguments failed"
    return answer["value"], tuple(Fault(**f) for f in answer["faults"]), answer["problem"]
