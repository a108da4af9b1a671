r"""Qwen3-Coder XML: ``<tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>``.

Written by Qwen3-Coder, Qwen3-Next-Coder, Qwen3.5 and later, Step-3.5 and Nanbeige. A line break follows each opening
tag and precedes each closing tag; one on each side belongs to the markup, everything else is the value. Values have no
types: the schema tells. The chat templates write objects and arrays as JSON and everything else with Python's ``str``,
so models copy ``True`` and ``None`` from their history.

Facts: templates of Qwen3-Coder and Qwen3.5; sglang 0.5.23 ``qwen3_coder_detector``; vLLM 0.33.0 ``qwen3`` parser.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from workbench import regex
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.formats._element_parts import BLOCK, BLOCK_END, CALL, CALL_END, PARAM, PARAM_END
from workbench.toolcalls.formats._elements import ElementGrammar
from workbench.toolcalls.formats._render import arguments_of, json_text, name_of, result_text, unambiguous
from workbench.toolcalls.formats._scan import TagParser
from workbench.toolcalls.formats._tags import Tags, TagSpec
from workbench.toolcalls.formats._typing import tool_types

_NAME = r"[^<>\n]{1,256}>"
_FORBIDDEN = "<>\n"


class _Qwen3CoderGrammar(ElementGrammar):
    name: ClassVar = "qwen3-coder"
    tags: ClassVar = Tags(
        TagSpec(BLOCK, "< tool_call >"),
        TagSpec(BLOCK_END, "< / tool_call >"),
        TagSpec(CALL, "< function =", _NAME),
        TagSpec(CALL_END, "< / function >"),
        TagSpec(PARAM, "< parameter =", _NAME),
        TagSpec(PARAM_END, "< / parameter >"),
    )
    named: ClassVar = regex.compile(r"<\s*(?:function|parameter)\s*=\s*(.*?)\s*>\Z")
    trims: ClassVar = True


class Qwen3Coder:
    """The format; see the module."""

    name = "qwen3-coder"
    title = "Qwen3-Coder XML (Qwen3-Coder, Qwen3.5 and later)"
    markers = ("<function", "< function")

    def parser(self, tools: Sequence[ToolDef] = ()) -> TagParser:
        """A fresh parser."""
        return TagParser(_Qwen3CoderGrammar(tool_types(tools, literals=True)), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """One block per call, a line break between two."""
        return unambiguous(self, "\n".join(_render_call(c) for c in calls), calls, _text)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """The content of the user turn that carries results."""
        return "\n".join(f"<tool_response>\n{result_text(r)}\n</tool_response>" for r in results)


def _render_call(call: ToolCallIR) -> str:
    lines = ["<tool_call>", f"<function={name_of(call, _FORBIDDEN)}>"]
    for key, value in arguments_of(call).items():
        lines += [f"<parameter={key}>", _text(value), "</parameter>"]
    return "\n".join([*lines, "</function>", "</tool_call>"])


def _text(value: JsonValue) -> str:
    """Text of a value, as the template's string conversion writes it."""
    if isinstance(value, str):
        return value
    return json_text(value) if isinstance(value, dict | list | float) else str(value)


text_format = Qwen3Coder()
