"""JSON arguments written by models: finds their end in a running text, and describes faults.

Facts: sglang's and vLLM's detectors take a JSON body up to the closing tag by regular expression; a tag inside a JSON
string ends it too early. Here a tag counts only outside strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from operator import is_
from typing import Final, TypeVar

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue, ToolDef
from workbench.named_tuple import NamedTuple
from workbench.toolcalls.call_problems import NO_JSON, NO_NAME, NO_OBJECT, NO_TOOL, TRAILING
from workbench.wire import jsontext, type_name

MOST_KEPT: Final = 8
"""Lists of tools: those of an agent, of its sub-agents, and of a few beside it."""

Made = TypeVar("Made")


def input_type(value: JsonValue) -> str:
    """The type of what a model wrote for arguments, in the words of its schema: ``"an array"``, ``"null"``."""
    name = type_name(value)
    return name if value is None else f"{'an' if name[0] in 'ao' else 'a'} {name}"


def per_tools(make: Callable[[Sequence[ToolDef]], Made]) -> Callable[[Sequence[ToolDef]], Made]:
    """A function that makes its result once for the same tools, as long as few other lists come between."""
    results: tuple[tuple[tuple[ToolDef, ...], Made], ...] = ()

    def look_up(tools: Sequence[ToolDef]) -> Made:
        nonlocal results
        for key, result in results:
            if len(key) == len(tools) and all(map(is_, key, tools)):
                return result
        result = make(tools)
        results = ((tuple(tools), result), *results[: MOST_KEPT - 1])
        return result

    return look_up


_STRING: Final = regex.compile(r'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+', re.DOTALL)
_LOOSE_STRING: Final = regex.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_OUTSIDE: Final = regex.compile(r'["{}\[\]]|[^\s,:0-9+\-.eEtruefalsnNaInity]')
_LOOSE_OUTSIDE: Final = regex.compile(r'["{}\[\]\\]')
_ESCAPED: Final = regex.compile(r"\\.", re.DOTALL)


class JsonTracker:
    """Follows one JSON object or array through text that arrives in pieces, without building it.

    A backslash consumes the next character, inside strings and outside: a tracker started elsewhere in the same text
    sees every quote either the same way or inverted, and never has to look twice.

    Attributes:
        is_inside_string: the current position is in a string.
        is_broken: it cannot be JSON: a line break in a string, or an invalid character outside of strings.
        is_over: the bracket that closes the first one was found.
    """

    __slots__ = ("_depth", "_skips", "is_broken", "is_inside_string", "is_over")

    def __init__(self) -> None:
        self.is_inside_string = False
        self.is_broken = False
        self.is_over = False
        self._depth = 0
        self._skips = False

    def find(self, text: str, at: int = 0) -> int:
        """Index after the bracket that closes the first one; -1 if it is not in this piece."""
        size = len(text)
        if self._skips and at < size:
            at, self._skips = at + 1, False
        while at < size and not self.is_over:
            if self.is_inside_string:
                at = self._string(text, at)
                continue
            found = (_LOOSE_OUTSIDE if self.is_broken else _OUTSIDE).search(text, at)
            if found is None:
                return -1
            at, char = found.end(), found[0]
            if char == '"':
                self.is_inside_string = True
            elif char in "{[":
                self._depth += 1
            elif char in "}]":
                self._depth -= 1
                self.is_over = self._depth <= 0
            else:
                self.is_broken = True
                if char == "\\":
                    self._skips = at == size
                    at += 1
        return at if self.is_over and at <= size else -1

    def _string(self, text: str, at: int) -> int:
        """Index after the end of the string, or of the part that exists."""
        found = (_LOOSE_STRING if self.is_broken else _STRING).match(text, at)
        at = found.end() if found else at
        if at == len(text):
            return at
        if text[at] == '"':
            self.is_inside_string = False
        elif text[at] == "\\":  # the last character of this piece
            self._skips = True
        else:
            self.is_broken = True
        return at + 1


def toggles(text: str) -> bool:
    """True if the text has an odd number of unescaped quotes: a JSON string begins or ends in it."""
    if "\\" not in text:
        return bool(text.count('"') & 1)
    if "\\\\" not in text:
        return bool((text.count('"') - text.count('\\"')) & 1)
    return bool(_ESCAPED.sub("", text).count('"') & 1)


def json_spans(text: str, separators: str = ", \t\r\n") -> Iterator[tuple[int, int]]:
    """Start and end of each JSON object or array of a sequence; the last may have no end: then it ends with the text.

    Text that is neither a value nor a separator ends the sequence.
    """
    at = len(text) - len(text.lstrip(separators))
    if text[at : at + 1] in ("{", "[") and _is_one_value(text[at:]):
        yield at, len(text.rstrip())
        return
    while True:
        while at < len(text) and text[at] in separators:
            at += 1
        if at == len(text) or text[at] not in "{[":
            return
        end = JsonTracker().find(text, at)
        yield at, end if end > 0 else len(text)
        if end < 0:
            return
        at = end


def _is_one_value(text: str) -> bool:
    """True if the text is JSON: then its first bracket is closed by its last, and no search for the end is needed."""
    try:
        jsontext.loads(text)
    except WireError:
        return False
    return True


class ArgumentText(NamedTuple):
    """Arguments as a value, and the faults of their text."""

    value: JsonValue
    problems: tuple[str, ...] = ()


def parse_arguments(raw: str) -> ArgumentText:
    """Parse argument text. The value is None if unreadable; empty text and ``null`` are no arguments."""
    text = raw.strip()
    if not text:
        return ArgumentText({}, ("arguments are empty",))
    try:
        value = jsontext.loads(text)
    except WireError:
        return _read_damaged(text)
    return plain_arguments(value)


def plain_arguments(value: JsonValue) -> ArgumentText:
    """Parsed arguments: an object, or a value that can be used as one; None if it has a number that JSON has not."""
    if not is_finite(value):
        return ArgumentText(None, ("a number that JSON cannot represent",))
    if type(value) is dict:
        return ArgumentText(value)
    if value is None:
        return ArgumentText({}, ("arguments are null",))
    if isinstance(value, str):
        return _read_twice(value)
    return ArgumentText(value, (NO_OBJECT,))


def _read_twice(text: str) -> ArgumentText:
    try:
        value = jsontext.loads(text)
    except WireError:
        value = None
    if type(value) is dict:
        return ArgumentText(value, ("arguments are a string that contains JSON",))
    return ArgumentText(text, (NO_OBJECT,))


def _read_damaged(text: str) -> ArgumentText:
    """Text that is not JSON, but may start with it or have it between doubled braces."""
    end = JsonTracker().find(text) if text[0] in "{[" else -1
    if 0 < end < len(text):
        first = _value(text[:end])
        if first is not None:
            again = text[end:].strip() == text[:end]
            return ArgumentText(first, ("the arguments occur twice" if again else TRAILING,))
    if text.startswith("{{") and text.endswith("}}"):
        inner = _value(text[1:-1])
        if inner is not None:
            return ArgumentText(inner, ("doubled braces",))
    return ArgumentText(None, (NO_JSON,))


def _value(text: str) -> JsonValue:
    try:
        value = jsontext.loads(text)
    except WireError:
        return None
    return value if is_finite(value) else None


def is_finite(value: JsonValue) -> bool:
    """True if no number in it is infinite or NaN. The parser has limited its depth."""
    waiting: list[Iterable[JsonValue]] = [(value,)]
    while waiting:
        for node in waiting.pop():
            kind = type(node)
            if kind is dict:
                waiting.append(node.values())
            elif kind is list:
                waiting.append(node)
            elif kind is float and not isfinite(node):
                return False
    return True


@per_tools
def names_of(tools: Sequence[ToolDef]) -> frozenset[str]:
    """Declared tool names."""
    return frozenset(t.name for t in tools if t.name)


def unknown(name: str | None, names: frozenset[str]) -> tuple[str, ...]:
    """Problem of a name: missing or undeclared."""
    if not name:
        return (NO_NAME,)
    return (NO_TOOL,) if names and name not in names else ()
