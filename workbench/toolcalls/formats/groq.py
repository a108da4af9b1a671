"""Llama in Groq's words: ``<function=NAME>{…}</function>``, and the forms that Groq refuses as ``tool_use_failed``.

Meta's prompt for own functions asks for it, and Groq's server does so for Llama 3; what it cannot read comes back in
``failed_generation``. Models leave out the ``>``, write brackets around the name or the object, and end with
``<function>``: such calls are readable and damaged. The arguments end where their JSON does.

Facts: https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_1/ ("User-defined Custom tool calling"); Groq's
errors in huggingface/smolagents#1119 and langchain-ai/langchain#33490.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from workbench import regex
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.call_problems import DAMAGED, NO_JSON, TRAILING, UNCLOSED
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.toolcalls.formats._json_calls import plain_name
from workbench.toolcalls.formats._json_tags import StringWatch, calls_behind
from workbench.toolcalls.formats._render import arguments_of, json_text, result_text
from workbench.toolcalls.formats._scan import BEFORE, END, GO_ON, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import NESTED_CLOSE, NESTED_OPEN, Tag, Tags, TagSpec
from workbench.toolcalls.json_text import JsonTracker, names_of, parse_arguments, unknown

_NAME: Final = "groq"
CALL, CLOSE = "call", "end"
_HEAD: Final = regex.compile(r"<function[=(]\s{0,4}([\w.\-:/]{1,128})\s{0,4}([>)(\],:=\s]{0,6})(?=[{\[])")
_HEAD_BEGINS: Final = regex.compile(r"\s{0,4}[\w.\-:/]{0,128}\s{0,4}[>)(\],:=\s]{0,6}")
_AFTER: Final = regex.compile(r"[\s>)\]]*")


class _GroqState:
    """Strings of the arguments, and the first closing tag inside one."""

    def __init__(self, opener: Tag) -> None:
        self.strings = StringWatch(0, len(opener.text))
        self.doubtful: Tag | None = None


class _GroqGrammar(PlainGrammar):
    tags: ClassVar = Tags(
        TagSpec(CALL, "<function="),
        TagSpec(CALL, "<function("),
        TagSpec(CLOSE, "</function>"),
        TagSpec(CLOSE, "<function>"),
    )
    opens: ClassVar = frozenset((CALL,))

    def __init__(self, tools: Sequence[ToolDef]) -> None:
        self.names = names_of(tools)

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if a name and an object follow."""
        if _HEAD.match(opener.text + head):
            return True
        return None if _HEAD_BEGINS.fullmatch(head) and len(head) < 290 else False

    def step(self, block: Block, tag: Tag) -> int:
        """End the call at a closing tag outside of strings, or before the next one."""
        if block.state is None:
            block.state = _GroqState(block.opener)
        state: _GroqState = block.state
        if state.strings.is_inside(block, tag):
            state.doubtful = state.doubtful or (tag if tag.kind == CLOSE else None)
            return GO_ON
        return END if tag.kind == CLOSE else BEFORE if tag.kind in (CALL, NESTED_OPEN, NESTED_CLOSE) else GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        """The call of a block, and those behind a string that has no end."""
        text, state = block.text(), block.state
        if not _HEAD.match(text):
            return []
        closing = block.tags[-1] if block.is_closed and block.tags and block.tags[-1].kind == CLOSE else None
        cut: Tag | None = state.doubtful if state and not block.is_closed else None
        end = closing or cut
        size = end.end - block.start if end else len(text.rstrip())
        found = self._call(block, text[:size], end)
        behind = text[size:]
        return [found, *(calls_behind(self, behind, cut.end, tools, is_nested=block.is_nested) if cut else ())]

    def _call(self, block: Block, text: str, end: Tag | None) -> TextCall:
        head = _HEAD.match(text)
        assert head
        body = text[head.end() : len(text) - (len(end.text) if end else 0)]
        value, raw, faults = _arguments(body)
        is_whole = text[len("<function")] == "=" and head[2].strip() == ">" and (not end or end.text[1] == "/")
        size = len(text) if end else head.end() + len(raw)
        problems = dict.fromkeys(
            (
                *(() if end else (UNCLOSED,)),
                *(() if is_whole else (DAMAGED,)),
                *faults,
                *unknown(head[1], self.names),
            )
        )
        start = block.start
        return TextCall(
            _NAME, head[1], value, raw, start, start + size, problems=tuple(problems), is_nested=block.is_nested
        )


def _arguments(body: str) -> tuple[JsonValue, str, tuple[str, ...]]:
    """(value, text, problems) of the object and what is behind it."""
    stop = JsonTracker().find(body)
    if stop < 0:
        return None, body.rstrip(), (NO_JSON,)
    found = parse_arguments(body[:stop])
    value = found.value[0] if isinstance(found.value, list) and len(found.value) == 1 else found.value
    rest = body[stop:].strip()
    closers = _AFTER.fullmatch(rest)
    is_listed = value is not found.value
    more = (*((DAMAGED,) if (rest and closers) or is_listed else ()), *(() if closers else (TRAILING,)))
    return value, body[:stop], (*(() if is_listed else found.problems), *more)


class Groq:
    """``<function=NAME>`` and one object."""

    name = _NAME
    title = "Llama functions in tags (Groq, Llama 3 prompts)"
    markers: tuple[str, ...] = ("<function=", "<function(")

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        """A parser of one text."""
        return TagParser(_GroqGrammar(tools), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """An element for each call, as Groq reads it."""
        return "".join(f"<function={plain_name(c)}>{json_text(arguments_of(c))}</function>" for c in calls)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """Text as a JSON string, as Llama's templates write it."""
        return "\n".join(json_text(result_text(result)) for result in results)


text_format: Final = Groq()
