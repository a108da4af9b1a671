r"""GLM text: ``<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>``.

GLM-4.5 and 4.6 write a line break after the name and between the tags, GLM-4.7 and later none. Strings are raw,
everything else is JSON; the schema tells which is which.

Facts: templates of GLM-4.6 and GLM-4.7-Flash; sglang 0.5.23 ``glm4_moe_detector``, ``glm47_moe_detector``; vLLM 0.33.0
``glm47_moe`` parser; zai-org/GLM-5#84.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from workbench import regex
from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.call_problems import NO_PARAM_END
from workbench.toolcalls.formats._element_parts import CALL, CALL_END, PARAM, PARAM_END
from workbench.toolcalls.formats._elements import ElementGrammar, ElementState
from workbench.toolcalls.formats._render import arguments_of, name_of, raw_or_json, result_text, unambiguous
from workbench.toolcalls.formats._scan import GO_ON, Block, TagParser
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.formats._typing import tool_types

KEY, KEY_END = "key", "key_end"
_GAP = r"(?:\s|\\n)*"
_HEAD = regex.compile(rf"{_GAP}[\w.\-:/]{{1,200}}{_GAP}(?:(<)|\\?\Z)")
_FORBIDDEN = "<>\n"


class _GlmGrammar(ElementGrammar):
    name: ClassVar = "glm"
    tags: ClassVar = Tags(
        TagSpec(CALL, "< tool_call >"),
        TagSpec(CALL_END, "< / tool_call >"),
        TagSpec(KEY, "<arg_key>"),
        TagSpec(KEY_END, "</arg_key>"),
        TagSpec(PARAM, "<arg_value>"),
        TagSpec(PARAM_END, "</arg_value>"),
    )
    opens: ClassVar = frozenset((CALL,))
    has_blocks: ClassVar = False
    is_flat: ClassVar = False

    def name_in(self, tag: Tag) -> str:
        """Return nothing: names are between the tags; ``step`` puts them into the tag that follows."""
        return tag.text if tag.kind in (CALL, PARAM) else ""

    def gap(self, block: Block) -> str:
        """Words between two tags, without line breaks written as backslash and n."""
        return _plain(block.between())

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if a name and a tag follow."""
        if not head.strip():
            return None if len(head) < 300 else False
        found = _HEAD.match(head)
        if not found:
            return False
        if not found[1]:
            return None if len(head) < 500 else False
        text = head[found.end() - 1 :]
        tag = self.tags.pattern.match(text)
        if tag:
            return self.tags.kind(tag) in (KEY, CALL_END)
        return None if self.tags.find_partial(text, 0) == 0 else False

    def step(self, block: Block, tag: Tag) -> int:
        """Process a tag inside the call; names and keys are texts between tags."""
        state: ElementState | None = block.state
        if state is None:
            state = block.state = ElementState()
            self._open_call(state, Tag(CALL, block.opener.start, tag.start, _plain(block.between())))
            block.mark = len(block.pieces)
        if state.param and tag.kind == KEY and state.call and not state.closer:
            state.param.end = tag.start
            state.call.problems.append((NO_PARAM_END, tag))
            state.param = None
            return GO_ON
        if state.call and not state.param:
            if tag.kind in (KEY, KEY_END):
                if tag.kind == KEY_END:
                    state.key = block.between().strip()
                return GO_ON
            if tag.kind == PARAM:
                tag = tag._replace(text=state.key)
                state.key = ""
                block.mark = len(block.pieces)
        return super().step(block, tag)


def _plain(text: str) -> str:
    """Text without surrounding blanks, including those written as backslash and n."""
    return re.sub(rf"\A{_GAP}|{_GAP}\Z", "", text)


class Glm:
    """The format; see the module."""

    name = "glm"
    title = "GLM XML (GLM-4.5 to GLM-5)"
    markers = ("tool_call",)

    def parser(self, tools: Sequence[ToolDef] = ()) -> TagParser:
        """A fresh parser."""
        return TagParser(_GlmGrammar(tool_types(tools, undeclared="json", literals=True)), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """One block per call without line breaks, as GLM-4.7 and later write."""
        return unambiguous(self, "".join(_render_call(c) for c in calls), calls, raw_or_json)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """Text after ``<|observation|>``."""
        return "".join(f"<tool_response>{result_text(r)}</tool_response>" for r in results)


def _render_call(call: ToolCallIR) -> str:
    pairs = (
        f"<arg_key>{key}</arg_key><arg_value>{raw_or_json(value)}</arg_value>"
        for key, value in arguments_of(call).items()
    )
    return f"<tool_call>{name_of(call, _FORBIDDEN)}{''.join(pairs)}</tool_call>"


text_format = Glm()
