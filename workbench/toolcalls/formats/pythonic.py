"""Pythonic calls: ``[f(a=1), g(b="x")]`` with keyword arguments and literals (Llama 3.2, Llama 4, ToolACE, Olmo 3).

Facts: vLLM's and sglang's pythonic parsers; Llama 4 may wrap the list in ``<|python_start|>`` and ``<|python_end|>``.
A list of calls looks like Python, so this format prefers to miss a call: the list begins a line and ends the text, and
a declared tool is named in it. Where no tools were declared the list is the whole text, every argument is a literal,
and that nothing was declared is a problem of each call. Where the text ends decides, so calls are reported at its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.lazy_dataclass import replace
from workbench.toolcalls.call_problems import NO_TOOL, NO_TOOLS, UNCLOSED
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.toolcalls.formats._lines import HOLD, RESTART, LineParser
from workbench.toolcalls.formats._python_literals import MAX_DEPTH, PythonCall, call, skip
from workbench.toolcalls.formats._render import arguments_of, json_text, name_of, result_text
from workbench.toolcalls.json_text import names_of

_NAME: Final = "pythonic"
MAX_BEGINNINGS: Final = 16
"""Lines of one text that are tried as the start of its calls, counted from the end."""

_BEGINNING: Final = regex.compile(
    r"[ \t]*+(?P<tag><\|python_start\|>)?+\s*+(?P<list>\[\s*+)?+(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)\("
)
_TAG: Final = "<|python_start|>"
_BEGINS: Final = regex.compile(r"[ \t]*+(?:<\|python_start\|>)?+\s*+\[?+\s*+(?:[^\W\d][\w.]{0,200})?")
_OPENED: Final = regex.compile(r"[ \t]*+(?:<\|python_start\|>)?+\s*+(?:\[\s*+)?")
_LINE_START: Final = regex.compile(r"^", re.MULTILINE)
_OVER: Final = regex.compile(r"(?:\s|<\|(?:eot|eom|python_end|eot_id|eom_id)\|>)*\Z")
_TAG_OVER: Final = regex.compile(r"\s*<\|(?:python_end|eot|eom|eot_id|eom_id)\|>")
_IDENTIFIER: Final = regex.compile(r"[^\W\d]\w*")


class _PythonicReader:
    """Reads one text: everything from the first line that looks like a call is held."""

    def __init__(self, tools: Sequence[ToolDef]) -> None:
        self._names = names_of(tools)
        self._head: str | None = ""  # of what is held, until a call begins in it

    def begins(self, line: str, before: str, *, is_start: bool, is_whole: bool) -> bool | None:
        found = _BEGINNING.match(line)
        if found:
            return bool(found["tag"] or found["list"])
        if is_whole:
            return bool(line.strip() and _OPENED.fullmatch(line))  # it may go on below
        return None if _TAG.startswith(line.lstrip(" \t")) or _BEGINS.fullmatch(line) else False

    def continues(self, line: str) -> int:
        if self._head is None:
            return HOLD
        self._head += line
        if _BEGINNING.match(self._head):
            self._head = None
        elif len(self._head) > 1000 or not _OPENED.fullmatch(self._head):
            self._head = ""
            return RESTART
        return HOLD

    def read(self, text: str, start: int, *, is_nested: bool) -> list[TextCall]:
        places = [m.start() for m in _LINE_START.finditer(text)][-MAX_BEGINNINGS:]
        for at in sorted({0, *places}):
            found = self._calls(text, at, is_first=start + at == 0 or not (start or text[:at].strip()))
            if found:
                return [replace(c, start=c.start + start, end=c.end + start, is_nested=is_nested) for c in found]
        return []

    def _calls(self, text: str, at: int, *, is_first: bool) -> list[TextCall]:
        """The calls from here to the end of the text; none if anything else is in between."""
        opener = _BEGINNING.match(text, at)
        if not opener or not (opener["tag"] or opener["list"]):
            return []
        is_list = bool(opener["list"])
        found, end, is_closed = _sequence(text, opener.start("name"), is_list=is_list)
        over = _OVER.match(text, end)
        tag_over = _TAG_OVER.match(text, end) if opener["tag"] else None
        if is_closed and not over and not tag_over:
            return []
        stop = tag_over.end() if tag_over else len(text.rstrip()) if is_closed else len(text)
        if not self._is_likely(found, is_first=is_first and not opener["tag"], is_tagged=bool(opener["tag"])):
            return []
        begin = at + len(opener[0]) - len(opener[0].lstrip())
        return self._text_calls(found, begin, stop, is_closed=is_closed)

    def _is_likely(self, found: list[PythonCall], *, is_first: bool, is_tagged: bool) -> bool:
        if not found:
            return False
        if self._names:
            return is_tagged or any(c.name in self._names for c in found)
        return is_tagged or (is_first and all(c.input is not None and UNCLOSED not in c.problems for c in found))

    def _text_calls(self, found: list[PythonCall], start: int, stop: int, *, is_closed: bool) -> list[TextCall]:
        calls = list[TextCall]()
        for n, one in enumerate(found):
            is_last = n == len(found) - 1
            problems = list(one.problems)
            problems += [NO_TOOLS] if not self._names else [NO_TOOL] if one.name not in self._names else []
            problems += [UNCLOSED] if is_last and not is_closed else []
            end = stop if is_last else one.end
            every = tuple(dict.fromkeys(problems))
            calls.append(TextCall(_NAME, one.name, one.input, one.raw, start, end, problems=every))
            start = end
        return calls


def _sequence(text: str, at: int, *, is_list: bool) -> tuple[list[PythonCall], int, bool]:
    """(calls separated by commas, their end, True if they end there and not with the text)."""
    found = list[PythonCall]()
    while True:
        one = call(text, at)
        if one is None:
            cut = _cut(text, at)
            return ([*found, cut], len(text), False) if cut else ([], at, True)
        found.append(one)
        at = skip(text, one.end)
        if is_list and text.startswith("]", at):
            return found, at + 1, True
        if is_list and at == len(text):
            return found, at, False
        if not text.startswith(",", at):
            return (found, at, True) if not is_list else ([], at, True)
        at = skip(text, at + 1)
        if is_list and text.startswith("]", at):
            return found, at + 1, True
        if at == len(text):
            return found, at, not is_list


def _cut(text: str, at: int) -> PythonCall | None:
    """A call that the text ends in; its arguments are not read."""
    found = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*)\((?=\s*(?:\Z|[^\W\d]\w*\s*(?:=|\Z)))").match(text, at)
    return PythonCall(found[1], None, text[found.end() :], at, len(text), (UNCLOSED,)) if found else None


class Pythonic:
    """``[f(a=1, b="x"), g()]``."""

    name = _NAME
    title = "Pythonic list of calls (Llama 3.2, Llama 4, ToolACE, Olmo 3)"
    markers: tuple[str, ...] = ()

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        return LineParser(_PythonicReader(tools))

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """The list; strings with the quotes that Python chooses."""
        if not calls:
            raise LocalProtocolError(
                "no tool call to write", hint="this format cannot express a block without calls; give at least one call"
            )
        return f"[{', '.join(python_text(c) for c in calls)}]"

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """Text as a JSON string, as the templates of these models write it."""
        return "\n".join(json_text(result_text(r)) for r in results)


def python_text(found: ToolCallIR) -> str:
    """A call as Python with keyword arguments. Raises LocalProtocolError for names that are none in Python."""
    name = name_of(found)
    if not all(_IDENTIFIER.fullmatch(part) for part in name.split(".")):
        raise LocalProtocolError(f"{name!r} is not a Python name", hint="use letters, digits and _")
    return f"{name}({', '.join(_argument(k, v) for k, v in arguments_of(found).items())})"


def _argument(key: str, value: Any) -> str:
    if not _IDENTIFIER.fullmatch(key):
        raise LocalProtocolError(f"{key!r} is not a Python argument name", hint="use letters, digits and _")
    json_text(value)  # says what no JSON value is
    return f"{key}={_literal(value, 1)}"


def _literal(value: Any, depth: int) -> str:
    if depth > MAX_DEPTH:
        raise LocalProtocolError("arguments nested too deeply for this format", hint=f"{MAX_DEPTH} levels at most")
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k!r}: {_literal(v, depth + 1)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(_literal(v, depth + 1) for v in value)}]"
    if isinstance(value, int) and abs(value) >= 10**300:
        raise LocalProtocolError("a number with more than a hundred digits", hint="write the number as text")
    return repr(value)


text_format: Final = Pythonic()
