r"""Claude-like XML: ``<function_calls><invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke>…``.

Written as plain text by models that were trained on such transcripts or are prompted for it, by gateways that turn
calls into text, and left over of DeepSeek's and MiniMax's formats when a server strips their marker tokens. Tags may
carry a prefix: ``antml:``, or ``atem:`` of Muse. Strings are raw, arrays and objects JSON; there are no entities. The
older shape of Claude 2 (``<invoke><tool_name>NAME</tool_name><parameters><KEY>VALUE</KEY></parameters></invoke>``) is
read, not written.

Facts: sglang 0.5.23 ``muse_glimmer_format``; failures reported at anthropics/claude-code#77061 and #61375,
openclaw/openclaw#97750.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from workbench import regex
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.formats import TextCall
from workbench.toolcalls.formats._element_parts import BLOCK, BLOCK_END, CALL, CALL_END, PARAM, PARAM_END, OpenCall
from workbench.toolcalls.formats._elements import NAME, NAMED, ElementGrammar
from workbench.toolcalls.formats._render import attribute, invokes, raw_or_json, result_text, unambiguous
from workbench.toolcalls.formats._scan import Block, TagParser
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.formats._typing import tool_types

_PREFIXES = ("", "antml:", "atem:")
_OLD_NAME = regex.compile(r"\s*<tool_name>\s*([^<>\n]{1,256}?)\s*</tool_name>")
_OLD_VALUE = regex.compile(r"<([A-Za-z_][\w.\-]{0,127})>(.*?)</\1>", re.DOTALL)


def _specs(prefix: str) -> tuple[TagSpec, ...]:
    return (
        TagSpec(BLOCK, f"<{prefix}function_calls>"),
        TagSpec(BLOCK_END, f"</{prefix}function_calls>"),
        TagSpec(CALL, f"<{prefix}invoke", NAMED),
        TagSpec(CALL_END, f"</{prefix}invoke>"),
        TagSpec(PARAM, f"<{prefix}parameter", NAMED),
        TagSpec(PARAM_END, f"</{prefix}parameter>"),
    )


class _ClaudeXmlGrammar(ElementGrammar):
    name: ClassVar = "claude-xml"
    tags: ClassVar = Tags(*(s for prefix in _PREFIXES for s in _specs(prefix)))
    named: ClassVar = NAME

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if an element follows; in a call without a name, the older shape."""
        verdict = super().accepts(opener, head)
        text = head.lstrip()
        if verdict is not False or not text:
            return verdict
        if "<tool_name>".startswith(text[:11]) and len(text) < 11:
            return None
        return text.startswith("<tool_name>")

    def _is_call(self, call: OpenCall, block: Block) -> bool:
        return super()._is_call(call, block) or bool(_OLD_NAME.match(block.since(call.tag.end)))

    def _call(self, call: OpenCall, block: Block, start: int) -> TextCall:
        body = block.since(call.tag.end)[: call.body_end - call.tag.end]
        old = None if self.name_in(call.tag) else _OLD_NAME.match(body)
        if not old:
            return super()._call(call, block, start)
        found: dict[str, JsonValue] = {}
        inner = body[old.end() :].strip().removeprefix("<parameters>").removesuffix("</parameters>")
        for pair in _OLD_VALUE.finditer(inner):
            found[pair[1]] = self.types.value(old[1], pair[1], pair[2])
        problems = (*dict.fromkeys(p for p, _ in call.problems), *self._unknown(old[1]))
        return TextCall(self.name, old[1], found, body, start, call.end, problems=problems, is_nested=block.is_nested)


class ClaudeXml:
    """The format; see the module."""

    name = "claude-xml"
    title = "Claude-like XML (<function_calls>, <invoke>)"
    markers = tuple(f"<{prefix}invoke" for prefix in _PREFIXES)

    def parser(self, tools: Sequence[ToolDef] = ()) -> TagParser:
        """A fresh parser."""
        return TagParser(_ClaudeXmlGrammar(tool_types(tools, undeclared="container")), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """All calls in one block, a line for each tag and parameter."""
        lines = ["<function_calls>", *invokes(calls, attribute, raw_or_json), "</function_calls>"]
        return unambiguous(self, "\n".join(lines), calls, raw_or_json)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """All results in one block."""
        inner = "\n".join(f"<result>\n{result_text(r)}\n</result>" for r in results)
        return f"<function_results>\n{inner}\n</function_results>"


text_format = ClaudeXml()
