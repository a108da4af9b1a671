"""Gemma 3 and Gemini: Python calls in a fence or an element named ``tool_code``.

Gemma 3 is asked for the fence in its prompt (``NAME(key=value)`` inside); Gemini writes ``print(default_api.NAME(…))``
there when its own calls are off or break. The block ends with its fence or element, and what follows is prose. Code
that calls no declared tool is for an interpreter, and no call, unless it names ``default_api``.

Facts: https://ai.google.dev/gemma/docs/capabilities/function-calling; answers of Gemini 2 and later whose
``finishReason`` is ``MALFORMED_FUNCTION_CALL`` or ``UNEXPECTED_TOOL_CALL``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from workbench import regex
from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.call_problems import DAMAGED, TRAILING, UNCLOSED
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.toolcalls.formats._python_literals import PythonCall, PythonStrings
from workbench.toolcalls.formats._python_literals import call as python_call
from workbench.toolcalls.formats._render import result_text
from workbench.toolcalls.formats._scan import BEFORE, END, GO_ON, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.formats.pythonic import python_text
from workbench.toolcalls.json_text import names_of, unknown

_NAME: Final = "tool-code"
FENCE, CALL, CLOSE = "fence", "call", "end"
API: Final = "default_api."
"""Module that Gemini calls the declared tools in."""

_HEAD: Final = regex.compile(r"\s*(?:[A-Za-z_]\w{0,63}\s{0,4}=\s{0,4})?(print\s?\(\s{0,8})?(?=([^\W\d][\w.]{0,127})\()")
_HEAD_BEGINS: Final = regex.compile(
    r"\s*(?:[A-Za-z_]\w{0,63}\s{0,4}(?:=\s{0,4})?)?(?:print\s?\(\s{0,8})?[\w.]{0,128}(?:\(\s{0,8})?"
)
_SEPARATOR: Final = regex.compile(r"[ \t;]*(?:\n\s*|\Z)")
_FENCE_END: Final = regex.compile(r"\s*```")
_ELEMENT_END: Final = regex.compile(r"\s*</tool_code>")


class _ToolCodeGrammar(PlainGrammar):
    tags: ClassVar = Tags(TagSpec(CALL, "<tool_code>"), TagSpec(CLOSE, "</tool_code>"), TagSpec(FENCE, "```tool_code"))
    opens: ClassVar = frozenset((CALL, FENCE))
    is_half_text: ClassVar = True  # the end of a fence is the beginning of another

    def __init__(self, tools: Sequence[ToolDef]) -> None:
        self.names = names_of(tools)

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if the code begins with a call."""
        if _HEAD.match(head):
            return True
        return None if _HEAD_BEGINS.fullmatch(head) and len(head) < 290 else False

    def step(self, block: Block, tag: Tag) -> int:
        """The element ends outside of strings; a fence where its code does, or before the next block."""
        strings: PythonStrings = block.state or PythonStrings()
        block.state = strings
        if strings.is_inside(block.between() if len(block.tags) > 1 else block.text()[len(block.opener.text) :]):
            if tag.kind == CLOSE:
                block.back = block.back or tag.end
            strings.is_inside(tag.text)
            return GO_ON
        return END if tag.kind == CLOSE and block.opener.kind == CALL else BEFORE

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        """The calls of a block; none if it is code for an interpreter."""
        text, begin = block.text(), len(block.opener.text)
        calls = list(_statements(text, begin))
        if not calls or not self._is_meant([call.name for call in calls]):
            return []
        end = calls[-1].end
        closing = (_ELEMENT_END if block.opener.kind == CALL else _FENCE_END).match(text, end)
        more: tuple[str, ...] = ()
        if closing is None:
            stop = text.find("</tool_code>" if block.opener.kind == CALL else "\n```", end)
            more = (TRAILING,) if stop >= 0 else (UNCLOSED,)
            end = stop + (12 if block.opener.kind == CALL else 4) if stop >= 0 else end
        else:
            end = closing.end()
        return list(self._calls(calls, block, end, more))

    def _is_meant(self, names: Sequence[str]) -> bool:
        known = any(name in self.names or name.rpartition(".")[2] in self.names for name in names)
        return known or any(name.startswith(API) for name in names) or not self.names

    def _calls(self, calls: Sequence[PythonCall], block: Block, end: int, more: tuple[str, ...]) -> Iterator[TextCall]:
        start = 0
        for n, one in enumerate(calls):
            is_last = n == len(calls) - 1
            name = one.name if one.name in self.names else one.name.rpartition(".")[2]
            faults = (*one.problems, *(more if is_last else ()), *unknown(name, self.names))
            stop = end if is_last else one.end
            yield TextCall(
                _NAME,
                name,
                one.input,
                one.raw,
                block.start + start,
                block.start + stop,
                problems=tuple(dict.fromkeys(faults)),
                is_nested=block.is_nested,
            )
            start = stop


def _statements(text: str, at: int) -> Iterator[PythonCall]:
    """The calls from a place on, a line for each; the end of one is that of its ``print``."""
    while head := _HEAD.match(text, at):
        call = python_call(text, head.end())
        if call is None:
            yield PythonCall(head[2], None, text[head.end() :].rstrip(), head.end(), len(text.rstrip()), (DAMAGED,))
            return
        end, problems = call.end, call.problems
        if head[1]:
            closed = re.compile(r"\s*\)").match(text, end)
            end, problems = (closed.end(), problems) if closed else (end, (*problems, DAMAGED))
        yield call._replace(end=end, problems=problems)
        at = end
        if not _SEPARATOR.match(text, at):
            return


class ToolCode:
    """Python calls in a block named ``tool_code``."""

    name = _NAME
    title = "tool_code (Gemma 3, Gemini)"
    markers: tuple[str, ...] = ("```tool_code", "<tool_code>")

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        """A parser of one text."""
        return TagParser(_ToolCodeGrammar(tools), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """One fence, a line for each call."""
        lines = [python_text(call) for call in calls]
        return "\n".join(("```tool_code", *lines, "```"))

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """Results in fences, as the documentation of Gemma passes them on."""
        return "\n".join(f"```tool_output\n{result_text(result)}\n```" for result in results)


text_format: Final = ToolCode()
