"""DeepSeek V3, V3-0324 and R1-0528: a type word, a separator, the name, and the arguments in a code fence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from workbench.ir import ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.formats import TextParser
from workbench.toolcalls.formats._deepseek import DeepSeekGrammar
from workbench.toolcalls.formats._json_calls import plain_name
from workbench.toolcalls.formats._render import arguments_of, json_text, result_text
from workbench.toolcalls.formats._scan import TagParser

_GRAMMAR: Final = DeepSeekGrammar("deepseek-v3", is_fenced=True)


class DeepSeekV3:
    """``<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME``, newline, ```` ```json ````, object, ```` ``` ````."""

    name = "deepseek-v3"
    title = "DeepSeek tokens with a JSON fence (V3, V3-0324, R1-0528)"
    markers: tuple[str, ...] = ("calls▁begin", "call▁begin", "calls_begin", "call_begin", "calls begin", "call begin")

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        return TagParser(_GRAMMAR, tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        blocks = (
            f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{plain_name(c)}\n```json\n{json_text(arguments_of(c))}\n```<｜tool▁call▁end｜>"
            for c in calls
        )
        return "<｜tool▁calls▁begin｜>" + "\n".join(blocks) + "<｜tool▁calls▁end｜>"

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        blocks = (f"<｜tool▁output▁begin｜>{result_text(r)}<｜tool▁output▁end｜>" for r in results)
        return "<｜tool▁outputs▁begin｜>" + "\n".join(blocks) + "<｜tool▁outputs▁end｜>"


text_format = DeepSeekV3()
