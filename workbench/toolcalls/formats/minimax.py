r"""MiniMax M2 XML: ``<minimax:tool_call><invoke name="NAME"><parameter name="KEY">VALUE</parameter></invoke>…``.

One block may contain several calls. Strings are raw, everything else is JSON; the schema decides which. The vendor's
own prompt example omits the closing tag of the block, and models copy that.

Facts: MiniMax-M2 ``docs/tool_calling_guide.md``; template of M2; sglang 0.5.23 ``minimax_m2``; vLLM 0.33.0
``minimax_m2`` (which takes names in double quotes, single quotes or none, and a call outside of a block).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.formats._element_parts import BLOCK, BLOCK_END, CALL, CALL_END, PARAM, PARAM_END
from workbench.toolcalls.formats._elements import NAME, NAMED, ElementGrammar
from workbench.toolcalls.formats._render import attribute, invokes, raw_or_json, result_text, unambiguous
from workbench.toolcalls.formats._scan import TagParser
from workbench.toolcalls.formats._tags import Tags, TagSpec
from workbench.toolcalls.formats._typing import tool_types


class _MiniMaxGrammar(ElementGrammar):
    name: ClassVar = "minimax"
    tags: ClassVar = Tags(
        TagSpec(BLOCK, "<minimax:tool_call>"),
        TagSpec(BLOCK_END, "</minimax:tool_call>"),
        TagSpec(CALL, "<invoke", NAMED),
        TagSpec(CALL_END, "</invoke>"),
        TagSpec(PARAM, "<parameter", NAMED),
        TagSpec(PARAM_END, "</parameter>"),
    )
    named: ClassVar = NAME


class MiniMax:
    """The format; see the module."""

    name = "minimax"
    title = "MiniMax XML (MiniMax M2, M2.1, M2.5, M2.7)"
    markers = ("<minimax:tool_call>", "</minimax:tool_call>")

    def parser(self, tools: Sequence[ToolDef] = ()) -> TagParser:
        """A fresh parser."""
        return TagParser(_MiniMaxGrammar(tool_types(tools, undeclared="json")), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """All calls in one block, a line for each tag and parameter."""
        lines = ["<minimax:tool_call>", *invokes(calls, attribute, raw_or_json), "</minimax:tool_call>"]
        return unambiguous(self, "\n".join(lines), calls, raw_or_json)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """The content of the one tool turn that carries all results."""
        return "\n".join(f"<response>{result_text(r)}</response>" for r in results)


text_format = MiniMax()
