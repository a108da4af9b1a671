"""Phi-4 mini: ``functools[{"name": …, "arguments": {…}}, …]``.

The list ends where its JSON does; what follows is prose. Facts: chat template of Phi-4-mini-instruct, and vLLM's
``phi4_mini_json`` parser.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from workbench import regex
from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.call_problems import NO_JSON, UNCLOSED
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.toolcalls.formats._json_calls import LocatedCall, adjoin_calls, from_text
from workbench.toolcalls.formats._json_tags import json_is_over
from workbench.toolcalls.formats._render import arguments_of, json_text, name_of, result_text
from workbench.toolcalls.formats._scan import BEFORE, GO_ON, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.json_text import JsonTracker, json_spans, names_of, unknown

_NAME: Final = "functools"
CALL: Final = "call"
_CALL_NAME: Final = regex.compile(r"name\W{1,8}([\w.\-]{1,128})")


class _FunctoolsGrammar(PlainGrammar):
    tags: ClassVar = Tags(TagSpec(CALL, "functools["))
    opens: ClassVar = frozenset((CALL,))

    def __init__(self, tools: Sequence[ToolDef]) -> None:
        self.names = names_of(tools)

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if an object follows."""
        text = head.lstrip()
        return None if not text and len(head) < 100 else text.startswith("{")

    def step(self, block: Block, tag: Tag) -> int:
        """A second list is separate, unless it is inside a string."""
        return BEFORE if json_is_over(block, len(_NAME), tag) else GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        """The calls of the list."""
        text = block.text()
        stop = JsonTracker().find(text, len(_NAME))
        end = stop if stop >= 0 else len(text.rstrip())
        inside = text[len(block.opener.text) : end - 1 if stop >= 0 else end]
        start, body = block.start, block.start + len(block.opener.text)
        calls = adjoin_calls(_NAME, list(_objects(inside)), start, start + end, body, is_nested=block.is_nested)
        more = () if stop >= 0 else (UNCLOSED,)
        if not calls:
            name = _CALL_NAME.search(inside)
            problems = (*more, NO_JSON)
            return [TextCall(_NAME, name and name[1], None, text[:end], start, start + end, problems=problems)]
        return [_add_problems(call, (*more, *unknown(call.name, self.names))) for call in calls]


def _objects(text: str) -> Iterator[LocatedCall]:
    """The calls between the brackets."""
    for start, end in json_spans(text, ", \t\r\n"):
        call = from_text(text[start:end])
        if call:
            yield LocatedCall(call, start, end)


def _add_problems(call: TextCall, more: tuple[str, ...]) -> TextCall:
    problems = tuple(dict.fromkeys((*call.problems, *more)))
    return TextCall(
        call.format, call.name, call.input, call.raw, call.start, call.end, call.id, problems, call.is_nested
    )


class Functools:
    """``functools[…]``."""

    name = _NAME
    title = "functools (Phi-4 mini)"
    markers: tuple[str, ...] = ("functools[",)

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        """A parser of one text."""
        return TagParser(_FunctoolsGrammar(tools), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """One list of all calls."""
        return f"{_NAME}{json_text([{'name': name_of(c), 'arguments': arguments_of(c)} for c in calls])}"

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """Results one below the other."""
        return "\n".join(result_text(result) for result in results)


text_format: Final = Functools()
