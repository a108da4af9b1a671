"""ReAct: ``Action: NAME`` and ``Action Input: {…}`` on separate lines, as agents request it in their prompts.

The call ends where its JSON does, or with the line if the input is none; ``Observation:`` is what the agent writes
then. Two more forms: one object (``Action: {"action": NAME, "action_input": {…}}``, perhaps in a fence), and one line
with the name of a declared tool (``Action: NAME[input]``; the input is the tool's only or only required parameter).

Facts: Yao et al. 2022 (``Search[entity]``); prompts of LangChain's ReAct and structured chat agents and of LlamaIndex'.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar, Final

from workbench import regex
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.call_problems import MISSPELLED, NO_JSON, UNCLOSED
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.toolcalls.formats._json_calls import plain_name
from workbench.toolcalls.formats._json_tags import json_is_over
from workbench.toolcalls.formats._python_literals import call as python_call
from workbench.toolcalls.formats._render import arguments_of, json_text, result_text
from workbench.toolcalls.formats._scan import BEFORE, GO_ON, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.formats._typing import ToolTypes, tool_types
from workbench.toolcalls.json_text import JsonTracker, parse_arguments, unknown

_NAME: Final = "react"
CALL, STOP = "call", "stop"
_HEAD: Final = regex.compile(
    r"[ \t]{0,8}([\w.\-]{1,128})[ \t]{0,8}\r?\n[ \t]{0,8}(?:Action[ _]?Input|(Input)):[ \t]{0,8}", re.IGNORECASE
)
_SHORT: Final = 2  # the group of an input that lacks its "Action"
_NAME_BEGINS: Final = regex.compile(r"[\w.\-]{0,128}[ \t]{0,8}\r?")
_OBJECT: Final = regex.compile(r"\s{0,4}(?:```\w{0,8}\s{0,4})?(?=\{)")
_OBJECT_BEGINS: Final = regex.compile(r"\s{0,4}(?:`{0,3}|```\w{0,8}\s{0,4})")
_ONE_LINE: Final = regex.compile(
    r"[ \t]{0,8}([\w.\-]{1,128})[ \t]{0,4}(?:[,;]?[ \t]{0,4}(?:Action[ _]?)?Input:[ \t]{0,4})?(?=[\[({])", re.IGNORECASE
)
_ONE_LINE_BEGINS: Final = regex.compile(
    r"[ \t]{0,8}[\w.\-]{0,128}[ \t]{0,4}(?:[,;]?[ \t]{0,4}[A-Za-z _]{0,16}:?[ \t]{0,4})?", re.IGNORECASE
)
_INSIDE: Final = regex.compile(r"[\[(]([^\n]*)[\])][ \t]*\r?(?=\n|\Z)")
_FENCE_END: Final = regex.compile(r"\s{0,4}```")
_INPUTS: Final = ("action input:", "actioninput:", "action_input:", "input:")


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

    def __init__(self, types: ToolTypes) -> None:
        self.types = types

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if a name and the line of its input follow."""
        if _HEAD.match(head) or _OBJECT.match(head):
            return True
        one_line = _ONE_LINE.match(head)
        if one_line:
            return one_line[1] in self.types.names
        begins = _may_begin(head) or _OBJECT_BEGINS.fullmatch(head) or _ONE_LINE_BEGINS.fullmatch(head)
        return None if begins and len(head) < 290 else False

    def step(self, block: Block, tag: Tag) -> int:
        """The next step of the agent ends the call, unless it is inside its input."""
        if block.state is None:
            text = block.text()
            head = _head(text, len(block.opener.text))
            if head is None or not text.startswith("{", head.end()):
                return BEFORE
            return BEFORE if json_is_over(block, head.end(), tag) else GO_ON
        return BEFORE if json_is_over(block, 0, tag) else GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        """The one call of a block."""
        text, begin = block.text(), len(block.opener.text)
        head = _head(text, begin)
        if head is None:
            return []
        rest = text[head.end() :]
        if head.lastindex is None:
            step = _action_object(rest)
            return (
                [self._call(block, step[0], step[1], rest[: step[2]], begin=head.end(), stop=step[3])] if step else []
            )
        if rest.startswith(("[", "(")) and not _HEAD.match(text, begin):
            return self._one_line(block, head[1], rest, head.end())
        value, raw, problems = _input(rest)
        problems = (MISSPELLED, *problems) if head.lastindex == _SHORT else problems
        return [self._call(block, head[1], value, raw, problems, begin=head.end(), stop=len(raw))]

    def _one_line(self, block: Block, name: str, rest: str, begin: int) -> list[TextCall]:
        """A call with one input in brackets, or with arguments as in Python."""
        found = python_call(f"f{rest}", 0) if rest.startswith("(") else None
        if found and found.input is not None:
            return [self._call(block, name, found.input, found.raw, found.problems, begin=begin, stop=found.end - 1)]
        inside = _INSIDE.match(rest)
        if inside is None:
            raw = rest.partition("\n")[0].rstrip()
            if any(end in raw for end in "])"):
                return []  # a sentence goes on behind it
            return [self._call(block, name, None, raw, (UNCLOSED,), begin=begin, stop=len(raw))]
        key = self._only_key(name)
        raw = inside[1].strip()
        content = parse_arguments(raw) if raw.startswith("{") else None
        if content:
            return [self._call(block, name, content.value, raw, content.problems, begin=begin, stop=inside.end())]
        value = {key: self.types.value(name, key, raw.strip("\"'"))} if key else {} if not raw else None
        problems = () if value is not None else (NO_JSON,)
        return [self._call(block, name, value, raw, problems, begin=begin, stop=inside.end())]

    def _only_key(self, name: str) -> str:
        """The parameter that an input without a name is for; empty string if there is no or more than one."""
        schema = self.types.schema(name)
        for keys in (schema.get("required"), schema.get("properties")):
            if isinstance(keys, list | dict) and len(keys) == 1:
                return str(next(iter(keys)))
        return ""

    def _call(
        self,
        block: Block,
        name: str,
        value: JsonValue,
        raw: str,
        problems: Sequence[str] = (),
        *,
        begin: int,
        stop: int,
    ) -> TextCall:
        end = block.start + begin + stop
        faults = (*problems, *unknown(name, self.types.names))
        return TextCall(_NAME, name, value, raw, block.start, end, problems=faults, is_nested=block.is_nested)


def _head(text: str, at: int) -> re.Match[str] | None:
    """What is before the input of an action."""
    return _HEAD.match(text, at) or _OBJECT.match(text, at) or _ONE_LINE.match(text, at)


def _action_object(text: str) -> tuple[str, JsonValue, int, int] | None:
    """(name, input, end of the object, end with its fence) of one object; None if it says no action."""
    stop = JsonTracker().find(text, 0)
    found = parse_arguments(text[:stop]) if stop >= 0 else None
    step = found.value if found else None
    if not isinstance(step, dict) or not isinstance(step.get("action"), str) or "action_input" not in step:
        return None
    fence = _FENCE_END.match(text, stop)
    return str(step["action"]), step["action_input"], stop, fence.end() if fence else stop


def _input(text: str) -> tuple[JsonValue, str, tuple[str, ...]]:
    """(value, text, problems) of an input: an object, or the rest of a line."""
    if not text.startswith("{"):
        return None, text.partition("\n")[0].rstrip(), (NO_JSON,)
    stop = JsonTracker().find(text, 0)
    raw = text[:stop] if stop >= 0 else text.rstrip()
    found = parse_arguments(raw)
    value = found.value if isinstance(found.value, dict) else None
    return value, raw, (*found.problems, *(() if stop >= 0 else (UNCLOSED,)))


class React:
    """``Action:`` and ``Action Input:``."""

    name = _NAME
    title = "ReAct (agents without tool calling)"
    markers: tuple[str, ...] = ("Action:",)

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        """A parser of one text."""
        return TagParser(_ReactGrammar(tool_types(tools)), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """A step for each call."""
        return "\n".join(f"Action: {plain_name(c)}\nAction Input: {json_text(arguments_of(c))}" for c in calls)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """An observation for each result."""
        return "\n".join(f"Observation: {result_text(result)}" for result in results)


text_format: Final = React()
