"""DeepSeek V3.1 and V3.2-Exp: the name, a separator, and the arguments as bare JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.formats import TextParser
from workbench.toolcalls.formats._deepseek import DeepSeekGrammar
from workbench.toolcalls.formats._json_calls import plain_name
from workbench.toolcalls.formats._render import arguments_of, json_text, result_text
from workbench.toolcalls.formats._scan import TagParser

_GRAMMAR: Final = DeepSeekGrammar("deepseek-v31", is_fenced=False)


class DeepSeekV31:
    """``<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>OBJECT<｜tool▁call▁end｜>``, nothing between two calls."""

    name = "deepseek-v31"
    title = "DeepSeek tokens with bare JSON (V3.1, V3.2-Exp)"
    markers: tuple[str, ...] = ("calls▁begin", "call▁begin", "calls_begin", "call_begin", "calls begin", "call begin")

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        return TagParser(_GRAMMAR, tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        blocks = (
            f"<｜tool▁call▁begin｜>{plain_name(c)}<｜tool▁sep｜>{json_text(arguments_of(c))}<｜tool▁call▁end｜>"
            for c in calls
        )
        return "<｜tool▁calls▁begin｜>" + "".join(blocks) + "<｜tool▁calls▁end｜>"

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        return "".join(f"<｜tool▁output▁begin｜>{result_text(r)}<｜tool▁output▁end｜>" for r in results)


text_format = DeepSeekV31()
