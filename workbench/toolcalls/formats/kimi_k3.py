r"""Kimi K3 channels (XTML): ``<|open|>call tool="NAME" index="1"<|sep|>…<|close|>call<|sep|>``.

Arguments are elements that say their type,
``<|open|>argument key="KEY" type="string"<|sep|>VALUE<|close|>argument<|sep|>``; arguments that were given as text are
one ``json`` element. Relays that drop the tokens between two tags glue their names (``toolscall``, oh-my-pi issue
8495). Only ``&quot;`` and ``&amp;`` are escaped, and only in attributes.

Facts: template of Kimi-K3; sglang 0.5.23 ``kimik3_detector``, ``kimik3_format``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.toolcalls.formats import TextCall
from workbench.toolcalls.formats._element_parts import (
    BLOCK,
    BLOCK_END,
    CALL,
    CALL_END,
    PARAM,
    PARAM_END,
    OpenCall,
    OpenParameter,
)
from workbench.toolcalls.formats._elements import ElementGrammar
from workbench.toolcalls.formats._render import arguments_of, name_of, raw_or_json, result_text, unambiguous
from workbench.toolcalls.formats._scan import Block, TagParser
from workbench.toolcalls.formats._tags import NESTED_CLOSE, NESTED_OPEN, Tag, Tags, TagSpec
from workbench.toolcalls.formats._typing import UNREAD, json_value, tool_types
from workbench.toolcalls.json_text import parse_arguments
from workbench.wire import type_name

_REST = r"\s[^<>]{1,500}<\|sep\|>"
_OPEN_REST = r"\s[^<>]{0,500}(?:<(?:\|(?:s(?:e(?:p(?:\|)?)?)?)?)?)?"
_NAMED = regex.compile(r'<\|open\|>\w+\s.*?(?:tool|key)\s*=\s*"([^"]*)"', re.DOTALL)
_TYPE = regex.compile(r'\stype\s*=\s*"(\w+)"')
_JSON = "<|open|>json"


class _KimiK3Grammar(ElementGrammar):
    name: ClassVar = "kimi-k3"
    tags: ClassVar = Tags(
        TagSpec(BLOCK, "<|open|>tools<|sep|>"),
        TagSpec(BLOCK_END, "<|close|>tools<|sep|>"),
        TagSpec(BLOCK_END, "<|close|>toolsmessage<|sep|>"),
        TagSpec(CALL, "<|open|>call", _REST, _OPEN_REST),
        TagSpec(CALL, "<|open|>toolscall", _REST, _OPEN_REST),
        TagSpec(CALL_END, "<|close|>call<|sep|>"),
        TagSpec(PARAM, "<|open|>argument", _REST, _OPEN_REST),
        TagSpec(PARAM_END, "<|close|>argument<|sep|>"),
        TagSpec(PARAM, _JSON, _REST, _OPEN_REST),
        TagSpec(PARAM_END, "<|close|>json<|sep|>"),
        TagSpec(NESTED_OPEN, "<|open|>think<|sep|>"),
        TagSpec(NESTED_CLOSE, "<|close|>think<|sep|>"),
    )

    def name_in(self, tag: Tag) -> str:
        """The name in an opening tag's attributes."""
        found = _NAMED.match(tag.text)
        return found[1].replace("&quot;", '"').replace("&amp;", "&") if found else ""

    def value(self, tool: str, key: str, text: str, param: OpenParameter) -> JsonValue:
        """The tag says the type; what is not of it stays text."""
        type_name = _TYPE.search(param.tag.text)
        if not type_name or type_name[1] == "string":
            return text
        value = json_value(text)
        return text if value is UNREAD else value

    def _call(self, call: OpenCall, block: Block, start: int) -> TextCall:
        whole = [p for p in call.params if p.tag.text.startswith(_JSON)]
        if len(whole) != 1 or len(call.params) != 1:
            return super()._call(call, block, start)
        name = self.name_in(call.tag) or None
        raw = block.text()[whole[0].start - block.start : whole[0].end - block.start]
        arguments = parse_arguments(raw)
        problems = dict.fromkeys((*(p for p, _ in call.problems), *arguments.problems, *self._unknown(name)))
        return TextCall(
            self.name, name, arguments.value, raw, start, call.end, problems=tuple(problems), is_nested=block.is_nested
        )


class KimiK3:
    """The format; see the module."""

    name = "kimi-k3"
    title = "Kimi channels (Kimi K3)"
    markers = ("<|open|>call", "<|open|>toolscall")

    def parser(self, tools: Sequence[ToolDef] = ()) -> TagParser:
        """A fresh parser."""
        return TagParser(_KimiK3Grammar(tool_types(tools)), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """All calls in the channel ``tools``."""
        inner = "".join(_render_call(call, n) for n, call in enumerate(calls, 1))
        return unambiguous(self, f"<|open|>tools<|sep|>{inner}<|close|>tools<|sep|>", calls, raw_or_json)

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """Content of the first result's turn; every further one with the tokens of a separate turn."""
        turns = [result_text(r) for r in results]
        between = "<|close|>message<|sep|><|end_of_msg|>"
        further = (
            f"{between}<|open|>message{_attributes(role='tool', tool=r.name or '', index=str(n))}<|sep|>{text}"
            for n, (r, text) in enumerate(zip(results, turns, strict=True), 1)
            if n > 1
        )
        return "".join((*turns[:1], *further))


def _render_call(call: ToolCallIR, n: int) -> str:
    pairs = (
        f"<|open|>argument{_attributes(key=k, type=type_name(v))}<|sep|>{raw_or_json(v)}<|close|>argument<|sep|>"
        for k, v in arguments_of(call).items()
    )
    opener = f"<|open|>call{_attributes(tool=name_of(call), index=str(n))}<|sep|>"
    return f"{opener}{''.join(pairs)}<|close|>call<|sep|>"


def _attributes(**values: str) -> str:
    if any(c in v for v in values.values() for c in "<>"):
        raise LocalProtocolError("a name with < or > is not allowed in a tag", hint="rename the tool or parameter")
    escaped = {k: v.replace("&", "&amp;").replace('"', "&quot;") for k, v in values.items()}
    return "".join(f' {k}="{v}"' for k, v in escaped.items())


text_format = KimiK3()
