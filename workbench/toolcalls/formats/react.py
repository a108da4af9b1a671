"""ReAct: ``Action: NAME`` and ``Action Input: {…}`` on separate lines, as agents request it in their prompts.

The call ends where its JSON does, or with the line if the input is none; ``Observation:`` is what the agent writes
then. Facts: Yao et al. 2022; prompts of LangChain's and LlamaIndex' ReAct agents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from workbench import regex
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.call_problems import NO_JSON, UNCLOSED
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.toolcalls.formats._json_calls import plain_name
from workbench.toolcalls.formats._json_tags import json_is_over
from workbench.toolcalls.formats._render import arguments_of, json_text, result_text
from workbench.toolcalls.formats._scan import BEFORE, GO_ON, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.json_text import JsonTracker, names_of, read, unknown

_NAME: Final = "react"
CALL, STOP = "call", "stop"
_HEAD: Final = regex.compile(
    r"[ \t]{0,8}([\w.\-]{1,128})[ \t]{0,8}\r?\n[ \t]{0,8}Action[ _]?Input:[ \t]{0,8}", re.IGNORECASE
)
_NAME_BEGINS: Final = regex.compile(r"[\w.\-]{0,128}[ \t]{0,8}\r?")
_INPUTS: Final = ("action input:", "actioninput:", "action_input:")


def _may_begin(head: str) -> bool:
    """A text may become the head of a call."""
    name, newline, rest = head.lstrip(" \t").partition("\n")
    if not newline:
        return bool(_NAME_BEGINS.fullmatch(name))
    rest = rest.lstrip(" \t").lower()
    return bool(name.strip()) and any(word.startswith(rest) for word in _INPUTS)


class _ReactGrammar(PlainGrammar):
    tags: ClassVar = Tags(
        TagSpec(CALL, "Action:"),
        *(TagSpec(STOP, word) for word in ("Observation:", "Thought:", "Final Answer:")),
    )
    opens: ClassVar = frozenset((CALL,))

    def __init__(self, tools: Sequence[ToolDef]) -> None:
        self.names = names_of(tools)

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if a name and the line of its input follow."""
        if _HEAD.match(head):
            return True
        return None if _may_begin(head) and len(head) < 290 else False

    def step(self, block: Block, tag: Tag) -> int:
        """The next step of the agent ends the call, unless it is inside its input."""
        if block.state is None:
            text = block.text()
            head = _HEAD.match(text, len(block.opener.text))
            if head is None or not text.startswith("{", head.end()):
                return BEFORE
            return BEFORE if json_is_over(block, head.end(), tag) else GO_ON
        return BEFORE if json_is_over(block, 0, tag) else GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        """The one call of a block."""
        text = block.text()
        head = _HEAD.match(text, len(block.opener.text))
        if head is None:
            return []
        value, raw, problems = _input(text[head.end() :])
        end = block.start + head.end() + len(raw)
        problems = (*problems, *unknown(head[1], self.names))
        return [TextCall(_NAME, head[1], value, raw, block.start, end, problems=problems, is_nested=block.is_nested)]


def _input(text: str) -> tuple[JsonValue, str, tuple[str, ...]]:
    """(value, text, problems) of an input: an object, or the rest of a line."""
    if not text.startswith("{"):
        return None, text.partition("\n")[0].rstrip(), (NO_JSON,)
    stop = JsonTracker().find(text, 0)
    raw = text[:stop] if stop >= 0 else text.rstrip()
    found = read(raw)
    value = found.value if isinstance(found.value, dict) else None
    return value, raw, (*found.problems, *(() if stop >= 0 else (UNCLOSED,)))


class React:
    """``Action:`` and ``Action Input:``."""

    name = _NAME
    title = "ReAct (agents without tool calling)"
    markers: tuple[str, ...] = ("Action:",)

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        """A parser of one text."""
        return TagParser(_ReactGrammar(tools), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """A step for each call."""
        return "\n".join(f"Action: {plain_name(c)}\nAction Input: {json_text(arguments_of(c))}" for c in calls)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """An observation for each result."""
        return "\n".join(f"Observation: {result_text(result)}" for result in results)


text_format: Final = React()
