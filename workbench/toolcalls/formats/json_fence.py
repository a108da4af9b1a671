"""JSON in a code fence, or as the whole text: written by models without a trained format.

Facts: every small model does so now and then (reference of malformed calls, "call inside fences"). An ordinary answer
in JSON, a sample of code and documentation about calls look much the same, so this format prefers to miss a call:

* every object has the keys of a call (``name``/``tool``/``function`` and ``arguments``/``parameters``/``input``) and
  no others but ids, and names a declared tool; where no tools were declared that is one of its problems;
* bare JSON is the whole text, but for reasoning in front; the text ends with the fences of calls;
* the fence is marked as JSON or as nothing, and no line that speaks of an example or format introduces it.

Where the text ends decides, so calls are reported at its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from workbench import regex
from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.toolcalls.formats._json_calls import (
    ARGUMENTS,
    NAMES,
    STEP,
    WRAPPERS,
    LocatedCall,
    adjoin_calls,
    calls_only,
    mark_unclosed,
)
from workbench.toolcalls.formats._lines import HOLD, RELEASE, RESTART, LineParser
from workbench.toolcalls.formats._render import arguments_of, json_text, name_of, result_text
from workbench.toolcalls.json_text import names_of

_NAME: Final = "json-fence"
_LANGUAGES: Final = frozenset(
    {"", "json", "jsonc", "json5", "tool_call", "tool_calls", "tool", "tool_code", "function"}
)
_OPENER: Final = regex.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([\w-]*)[ \t]*\r?\n?")
_OPENER_BEGINS: Final = regex.compile(r" {0,3}(?:`{0,2}|~{0,2}|(?:`{3,}|~{3,})[ \t]*[\w-]{0,40}[ \t]*\r?)")
_EXAMPLE: Final = regex.compile(
    r"\b(?:examples?|e\.g|for instance|formats?|syntax|schema|template|would (?:look|be)|looks like|such as|sample)\b",
    re.I,
)
_KEY: Final = regex.compile(r'[\s\[{]*"([^"\\]{0,40})"')
_KEY_BEGINS: Final = regex.compile(r'[\s\[{]*(?:"[^"\\]{0,40})?')
_KEYS: Final = frozenset({*NAMES, *ARGUMENTS, *STEP, *WRAPPERS, "id", "type", "tool_call_id", "call_id", "index"})


def may_be_calls(head: str) -> bool | None:
    """True if JSON with this beginning may be calls, by its first key; None while that is missing."""
    key = _KEY.match(head)
    if key:
        return key[1] in _KEYS
    return None if _KEY_BEGINS.fullmatch(head) else False


class _FenceReader:
    """Reads one text. Held text is either bare JSON, or fences with calls and perhaps an open one."""

    def __init__(self, tools: Sequence[ToolDef]) -> None:
        self._names = names_of(tools)
        self._reset()

    def _reset(self) -> None:
        self._head: str | None = ""  # of bare JSON, until its first key is known
        self._mark = ""  # of the open fence
        self._body: list[str] = []
        self._opened = self._began = 0
        self._size = 0
        self._done: list[
            tuple[int, int, int, list[LocatedCall]]
        ] = []  # fences with calls: start, text in it, end, calls
        self._is_bare = False

    def begins(self, line: str, before: str, *, is_start: bool, is_whole: bool) -> bool | None:
        first = line.lstrip()[:1]
        if is_start and first in ("{", "["):
            return True
        if is_start and not first:
            return False if is_whole else None
        if not is_whole:
            return None if _OPENER_BEGINS.fullmatch(line) else False
        found = _OPENER.fullmatch(line)
        return bool(found and found[2].lower() in _LANGUAGES and not _EXAMPLE.search(before))

    def continues(self, line: str) -> int:
        verdict = self._line(line)
        self._size += len(line)
        if verdict != HOLD:
            self._reset()
        return verdict

    def _line(self, line: str) -> int:
        if self._is_bare:
            return self._bare(line)
        if self._mark:
            return self._fenced_line(line)
        opener = _OPENER.fullmatch(line)
        if opener and opener[2].lower() in _LANGUAGES:
            self._mark, self._body, self._opened = opener[1], [], self._size
            self._began = self._size + len(line)
            return HOLD
        if not self._size:
            self._is_bare = True
            return self._bare(line)
        return RESTART if line.strip() else HOLD

    def _bare(self, line: str) -> int:
        if self._head is not None:
            self._head += line
            verdict = may_be_calls(self._head)
            if verdict is False or (verdict is None and len(self._head) > 1000):
                return RELEASE
            self._head = None if verdict else self._head
        return HOLD

    def _fenced_line(self, line: str) -> int:
        if not line.lstrip(" ").startswith(self._mark) or line.strip().strip(self._mark[0]):
            self._body.append(line)
            return HOLD
        calls = calls_only("".join(self._body), self._names)
        if not calls:
            return RELEASE
        self._done.append((self._opened, self._began, self._size + len(line.rstrip("\r\n")), calls))
        self._mark = ""
        return HOLD

    def read(self, text: str, start: int, *, is_nested: bool) -> list[TextCall]:
        if self._is_bare:
            lead, end = len(text) - len(text.lstrip()), start + len(text.rstrip())
            return adjoin_calls(_NAME, calls_only(text, self._names), start + lead, end, start, is_nested=is_nested)
        if self._mark:
            calls = calls_only("".join(self._body), self._names)
            if not calls:
                return []
            calls[-1] = mark_unclosed(calls[-1])
            self._done.append((self._opened, self._began, len(text), calls))
        blocks = (
            adjoin_calls(_NAME, c, start + a, start + b, start + body, is_nested=is_nested)
            for a, body, b, c in self._done
        )
        return [call for block in blocks for call in block]


class JsonFence:
    """```` ```json ````, one object with ``name`` and ``arguments``, ```` ``` ````."""

    name = _NAME
    title = "JSON, bare or in a code fence (models without their own format)"
    markers: tuple[str, ...] = ()

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        return LineParser(_FenceReader(tools))

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        return "\n".join(
            f"```json\n{json_text({'name': name_of(c), 'arguments': arguments_of(c)})}\n```" for c in calls
        )

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        return "\n".join(f"```\n{result_text(r)}\n```" for r in results)


text_format: Final = JsonFence()
