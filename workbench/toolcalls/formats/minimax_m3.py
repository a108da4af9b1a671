r"""MiniMax M3: every tag after the marker ``]<]minimax[>[``, arguments as elements named after them, nested.

``]<]minimax[>[<invoke name="NAME">]<]minimax[>[<KEY>VALUE]<]minimax[>[</KEY>…``. Elements of arrays are ``item``s, a
name that is repeated is an array, types come from the schema. An argument that is null cannot be said: the template
leaves it out.

Facts: template of M3; sglang 0.5.23 ``minimax_m3``; vLLM 0.33.0 ``minimax_m3`` parser; MiniMax-AI/MiniMax-M3#31.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.lazy_dataclass import dataclass, field
from workbench.toolcalls.call_problems import OTHER_END
from workbench.toolcalls.formats._element_parts import BLOCK, BLOCK_END, CALL, CALL_END, PARAM, PARAM_END, OpenParameter
from workbench.toolcalls.formats._elements import NAME, NAMED, ElementGrammar, ElementState
from workbench.toolcalls.formats._render import arguments_of, attribute, json_text, name_of, result_text
from workbench.toolcalls.formats._scan import GO_ON, Block, TagParser
from workbench.toolcalls.formats._tags import NESTED_CLOSE, NESTED_OPEN, Tag, Tags, TagSpec
from workbench.toolcalls.formats._typing import ToolTypes, items_of, property_of, tool_types, types_of

MARK: Final = "]<]minimax[>["
MAX_DEPTH: Final = 60
"""Limit of nested elements; deeper ones are text."""

_ELEMENT = r"[^\s<>/\[\]]{1,200}>"
_TAG = regex.compile(rf"{re.escape(MARK)}\s{{0,8}}<(/?)([^\s<>/\[\]]{{1,200}})>")
_KEY = regex.compile(r"[^\s<>/\[\]]{1,200}")


class _MiniMaxM3Grammar(ElementGrammar):
    name: ClassVar = "minimax-m3"
    is_flat: ClassVar = False
    tags: ClassVar = Tags(
        TagSpec(BLOCK, f"{MARK} <tool_call>"),
        TagSpec(BLOCK_END, f"{MARK} </tool_call>"),
        TagSpec(CALL, f"{MARK} <invoke", rf"(?=\s){NAMED}"),
        TagSpec(CALL_END, f"{MARK} </invoke>"),
        TagSpec(PARAM, f"{MARK} <", _ELEMENT),
        TagSpec(PARAM_END, f"{MARK} </", _ELEMENT),
        TagSpec(NESTED_OPEN, "<mm:think>"),
        TagSpec(NESTED_CLOSE, "</mm:think>"),
    )

    def name_in(self, tag: Tag) -> str:
        """The name in an ``invoke``, or of an element."""
        text = tag.text[len(MARK) :].lstrip()
        if tag.kind != CALL:
            return text.strip("<>/")
        found = NAME.match(text)
        name = found[1] if found else ""
        return name[1:-1] if name[:1] in ("'", '"') else name

    def step(self, block: Block, tag: Tag) -> int:
        """Treat elements inside an argument as part of its value."""
        state: ElementState | None = block.state
        if state and state.param and not state.closer:
            if tag.kind == PARAM:
                state.depth += 1
                return GO_ON
            if tag.kind == PARAM_END and state.depth:
                state.depth -= 1
                return GO_ON
            if tag.kind == PARAM_END and self.name_in(tag) != self.name_in(state.param.tag) and state.call:
                state.call.problems.append((OTHER_END, tag))
        verdict = super().step(block, tag)
        if block.state and not block.state.param:
            block.state.depth = 0
        return verdict

    def value(self, tool: str, key: str, text: str, param: OpenParameter) -> JsonValue:
        """Value of an element's text, typed by the schema level by level."""
        root = self.types.schema(tool)
        return _value(_tree(text), property_of(root, key, root), root, self.types)


@dataclass(slots=True)
class _Element:
    """An element: the elements in it, and the text between them."""

    name: str = ""
    children: list[_Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


def _tree(text: str) -> _Element:
    """Nested elements. If closing tags do not fit, everything is text."""
    stack, at = [_Element()], 0
    for found in _TAG.finditer(text):
        stack[-1].texts.append(text[at : found.start()])
        at = found.end()
        if not found[1]:
            node = _Element(found[2])
            stack[-1].children.append(node)
            stack.append(node)
        elif len(stack) > 1 and stack[-1].name == found[2]:
            stack.pop()
        else:
            return _Element(texts=[text])
        if len(stack) > MAX_DEPTH:
            return _Element(texts=[text])
    stack[-1].texts.append(text[at:])
    return stack[0] if len(stack) == 1 else _Element(texts=[text])


def _value(node: _Element, schema: JsonValue, root: Mapping[str, Any], types: ToolTypes) -> JsonValue:
    allowed = types_of(schema, root)
    if not node.children:
        return _leaf("".join(node.texts), allowed, types)
    names = [c.name for c in node.children]
    if set(names) == {"item"} and "object" not in allowed:
        items = items_of(schema, root)
        return [_value(c, items, root, types) for c in node.children]
    found: dict[str, JsonValue] = {}
    repeated = {n for n in names if names.count(n) > 1} if len(names) < 1000 else set()
    for child in node.children:
        inner = property_of(schema, child.name, root)
        if child.name in repeated:
            found.setdefault(child.name, []).append(_value(child, items_of(inner, root), root, types))
        else:
            found[child.name] = _value(child, inner, root, types)
    return found


_LITERALS: Final = {"true": True, "false": False, "null": None}


def _leaf(text: str, allowed: tuple[str, ...], types: ToolTypes) -> JsonValue:
    if not allowed:
        return _LITERALS.get(text, text)
    if "null" in allowed and text in ("null", "Null", "NULL", ""):
        return None
    if not text.strip() and "array" in allowed:
        return []
    if not text.strip() and "object" in allowed:
        return {}
    return types.read(text, tuple(n for n in allowed if n != "null"))


class MiniMaxM3:
    """The format; see the module."""

    name = "minimax-m3"
    title = "MiniMax elements (MiniMax M3)"
    markers = (MARK,)

    def parser(self, tools: Sequence[ToolDef] = ()) -> TagParser:
        """A fresh parser."""
        return TagParser(_MiniMaxM3Grammar(tool_types(tools)), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        """All calls in one block, each on one line."""
        lines = [f"{MARK}<tool_call>"]
        for call in calls:
            inner = "".join(_element(k, v) for k, v in arguments_of(call).items())
            lines.append(f"{MARK}<invoke name={attribute(name_of(call))}>{inner}{MARK}</invoke>")
        return "\n".join((*lines, f"{MARK}</tool_call>"))

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        """The content of the one tool turn that carries all results."""
        return "\n".join(f"<response>{result_text(r)}</response>" for r in results)


def _element(key: str, value: JsonValue) -> str:
    if not _KEY.fullmatch(key):
        raise LocalProtocolError(f"the argument {key!r} cannot be an element name", hint="rename the argument")
    return f"{MARK}<{key}>{_inner(value)}{MARK}</{key}>"


def _inner(value: JsonValue) -> str:
    if isinstance(value, dict):
        return "".join(_element(k, v) for k, v in value.items())
    if isinstance(value, list):
        return "".join(_element("item", v) for v in value)
    if value is None:
        raise LocalProtocolError("a null argument cannot be written", hint="leave out the argument")
    if isinstance(value, str):
        if MARK[:-1] in value or any(value.endswith(MARK[:n]) for n in range(1, len(MARK))):
            raise LocalProtocolError(
                f"an argument contains the marker {MARK} or its beginning",
                hint="this format cannot escape the marker: remove it from the argument",
            )
        return value
    return json_text(value)


text_format = MiniMaxM3()
