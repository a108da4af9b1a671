"""DSML: the tags of DeepSeek V3.2, V4 and V4.1. A parameter says itself whether it is text or JSON.

Facts: sglang's ``encoding_dsv32`` and detectors, vLLM's ``parser/deepseek_v32.py``, ``v4.py``, ``v41.py``; chat
templates of V3.2 and V4. The bars are ``｜`` (U+FF5C); resellers turn them into ``|`` or ``‖``, double them, and put
blanks next to them (lsdefine/GenericAgent#804), and such tags are read. There is no escape: a value ends at the first
closing tag, and a value that holds one cannot be written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from workbench import regex
from workbench.errors import LocalProtocolError, WireError
from workbench.ir import JsonValue, ToolCallIR, ToolDef, ToolResultIR
from workbench.lazy_dataclass import dataclass
from workbench.toolcalls.call_problems import UNCLOSED
from workbench.toolcalls.formats import TextCall, TextParser
from workbench.toolcalls.formats._json_calls import plain_name
from workbench.toolcalls.formats._render import arguments_of, json_text, result_text
from workbench.toolcalls.formats._scan import BEFORE, END, GO_ON, SETTLED, Block, PlainGrammar, TagParser
from workbench.toolcalls.formats._tags import Tag, Tags, TagSpec
from workbench.toolcalls.json_text import names_of, parse_arguments, unknown
from workbench.wire import jsontext

_BARS: Final = (r"\s{0,2}", "[|｜‖]{1,2}", r"\s{0,2}")
_BLOCKS: Final = ("function_calls", "tool_calls", "calls", "toolcalls", "toolcall", "tool_call", "tool_use", "tool")
_ATTRIBUTES: Final = r"(?:\s[^<>]{0,400})?"


def _spec(kind: str, word: str, *, closes: bool = False) -> TagSpec:
    head = ["<", *(["/"] if closes else []), *_BARS, *"DSML", *_BARS, *word]
    if closes or kind == "block":
        return TagSpec(kind + "_end" * closes, [*head, r"\s{0,4}", ">"])
    return TagSpec(kind, head, rf"{_ATTRIBUTES}/?>", r"(?:[\s/][^<>]{0,401})?")


TAGS: Final = Tags(
    _spec("invoke", "invoke"),
    _spec("parameter", "parameter"),
    _spec("invoke", "invoke", closes=True),
    _spec("parameter", "parameter", closes=True),
    *(_spec("block", word) for word in _BLOCKS),
    *(_spec("block", word, closes=True) for word in _BLOCKS),
)
_PLAIN_TAG: Final = regex.compile(r"</?｜DSML｜ ?(?:function_calls|tool_calls|calls|invoke|parameter)\b")
_ATTRIBUTE: Final = regex.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s/>"']+))""")
_TAG_FOLLOWS: Final = regex.compile(r"\s*<")
_BODY_FOLLOWS: Final = regex.compile(r"\s*[<{]")


def _attributes(tag: Tag) -> dict[str, str]:
    return {
        m[1]: m[2] if m[2] is not None else m[3] if m[3] is not None else m[4] for m in _ATTRIBUTE.finditer(tag.text)
    }


@dataclass(slots=True)
class _DsmlState:
    invoke: Tag | None = None
    end: Tag | None = None


class _DsmlGrammar(PlainGrammar):
    tags = TAGS
    opens = frozenset({"block", "invoke"})

    def accepts(self, opener: Tag, head: str) -> bool | None:
        if opener.kind == "invoke" and not _attributes(opener).get("name"):
            return False
        if opener.text.endswith("/>"):
            return True
        if (_TAG_FOLLOWS if opener.kind == "block" else _BODY_FOLLOWS).match(head):
            return True
        return None if not head.strip() and len(head) < 200 else False

    def step(self, block: Block, tag: Tag) -> int:
        state = _state(block)
        if state.end:
            return END if tag.kind == "block_end" else BEFORE
        if tag.kind == "invoke":
            if state.invoke:
                return BEFORE
            state.invoke = tag
            if tag.text.endswith("/>"):
                state.end = tag
                return SETTLED
        elif tag.kind == "invoke_end" and state.invoke:
            state.end = tag
            return SETTLED
        elif tag.kind == "block_end":
            return END
        elif tag.kind == "block":
            return BEFORE
        return GO_ON

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        state = _state(block)
        if state.invoke is None or not _attributes(state.invoke).get("name"):
            return []
        name = _attributes(state.invoke)["name"]
        reader = _InvokeBody(block, state)
        value, problems = reader.value(name, tools)
        if any(not _PLAIN_TAG.match(t.text) for t in (block.opener, *block.tags) if "DSML" in t.text):
            problems.append("unusual tags")
        problems += unknown(name, names_of(tools))
        problems += [] if state.end else [UNCLOSED]
        end = block.start + len(block.text())
        return [
            TextCall(
                "dsml",
                name,
                value,
                reader.raw,
                block.start,
                end,
                problems=tuple(dict.fromkeys(problems)),
                is_nested=block.is_nested,
            )
        ]


def _state(block: Block) -> _DsmlState:
    if block.state is None:
        opener = block.opener
        block.state = _DsmlState(opener if opener.kind == "invoke" else None)
        if opener.kind == "invoke" and opener.text.endswith("/>"):
            block.state.end = opener
    state: _DsmlState = block.state
    return state


class _InvokeBody:
    """Content of one ``invoke``."""

    def __init__(self, block: Block, state: _DsmlState) -> None:
        invoke = state.invoke
        assert invoke is not None  # whoever calls has looked
        text, base = block.text(), block.start
        structure = [t for t in block.tags if t.start >= invoke.end and t.kind not in ("think", "think_end")]
        last = state.end or next((t for t in structure if t.kind == "block_end"), None)
        stop = max(last.start if last else base + TAGS.find_partial(text, 0), invoke.end)
        self.raw = text[invoke.end - base : stop - base].strip("\r\n")
        self._text, self._base, self._stop = text, base, stop
        self._tags = [t for t in structure if t.start < stop]
        self._begin = invoke.end

    def value(self, tool: str, tools: Sequence[ToolDef]) -> tuple[JsonValue, list[str]]:
        """The arguments and their problems."""
        if not any(t.kind == "parameter" for t in self._tags) and self.raw.strip():
            found = parse_arguments(self.raw)
            return found.value, list(found.problems)
        values, problems = self._parameters()
        return _unwrap(values, problems, tool, tools)

    def _parameters(self) -> tuple[dict[str, JsonValue], list[str]]:
        values, problems = dict[str, JsonValue](), list[str]()
        at = self._begin
        tags = self._tags
        for n, tag in enumerate(tags):
            if tag.kind != "parameter":
                at = tag.end
                continue
            if self._between(at, tag.start).strip():
                problems.append("text between the parameters")
            after = tags[n + 1] if n + 1 < len(tags) else None
            if after is None or after.kind != "parameter_end":
                problems.append("a parameter has no closing tag")
            attributes = _attributes(tag)
            key = attributes.get("name")
            if not key:
                problems.append("a parameter without name")
                continue
            if key in values:
                problems.append("a duplicate parameter")
            text = self._between(tag.end, after.start if after else self._stop)
            values[key] = _parameter_value(text, attributes.get("string"), problems)
            at = after.start if after else self._stop
        if self._between(at, self._stop).strip() and (not tags or tags[-1].kind != "parameter"):
            problems.append("text between the parameters")
        return values, problems

    def _between(self, start: int, end: int) -> str:
        return self._text[start - self._base : end - self._base]


def _parameter_value(text: str, flag: str | None, problems: list[str]) -> JsonValue:
    """Value of a parameter: ``true`` is text, ``false`` is JSON.

    Without the flag vLLM reads JSON if it is JSON, and sglang drops the call.
    """
    if flag == "true":
        return text
    if flag != "false":
        problems.append("a parameter without string=true or false")
    found = _json(text)
    if found is None and text.strip() != "null":
        if flag == "false":
            problems.append("a value that is not JSON")
        return text
    return found


def _json(text: str) -> JsonValue:
    """Value of a JSON text; None if it is none."""
    try:
        value = jsontext.loads(text)
    except WireError:
        return None
    return parse_arguments(f'{{"a":{text}}}').value and value


def _unwrap(
    values: dict[str, JsonValue], problems: list[str], tool: str, tools: Sequence[ToolDef]
) -> tuple[JsonValue, list[str]]:
    """Unwrap arguments nested under one extra key, as vLLM does, if the tool has no such parameter."""
    key = next(iter(values), None)
    schema = next((t.schema for t in tools if t.name == tool), None)
    declared = schema.get("properties") if isinstance(schema, Mapping) else None
    if len(values) != 1 or key not in ("arguments", "input") or not isinstance(declared, Mapping) or key in declared:
        return values, problems
    inner = values[key]
    if isinstance(inner, str):
        inner = parse_arguments(inner).value
    if not isinstance(inner, dict) or not set(inner) <= set(declared):
        return values, problems
    return inner, [*problems, "arguments nested under an extra key"]


class Dsml:
    """``<｜DSML｜tool_calls>`` with ``invoke`` and ``parameter``, in the spelling of one model.

    Args:
        block: name of the outer tag.
        blank: text before a tag's name (V4.1: a blank).
        empty: content of a call without parameters.
    """

    name = "dsml"
    title = "DSML (DeepSeek V3.2, V4, V4.1)"
    markers: tuple[str, ...] = ("DSML",)

    def __init__(self, block: str = "tool_calls", blank: str = "", empty: str = "\n\n") -> None:
        self._block = f"｜DSML｜{blank}{block}"
        self._mark = f"｜DSML｜{blank}"
        self._empty = empty

    def parser(self, tools: Sequence[ToolDef] = ()) -> TextParser:
        return TagParser(_DsmlGrammar(), tools)

    def render(self, calls: Sequence[ToolCallIR]) -> str:
        return f"<{self._block}>\n" + "".join(self._call(c) for c in calls) + f"</{self._block}>"

    def _call(self, call: ToolCallIR) -> str:
        mark, arguments = self._mark, arguments_of(call)
        lines = "\n".join(self._parameter(k, v) for k, v in arguments.items())
        body = f"\n{lines}\n" if arguments else self._empty
        return f'<{mark}invoke name="{plain_name(call)}">{body}</{mark}invoke>\n'

    def _parameter(self, key: str, value: Any) -> str:
        is_text = isinstance(value, str)
        text, closer = value if is_text else json_text(value), f"</{self._mark}parameter>"
        first = next((m for m in TAGS.pattern.finditer(text + closer) if "DSML" in m[0]), None)
        if first is None or first.start() < len(text):
            raise LocalProtocolError(
                f"the value of {key!r} contains a tag of the format",
                hint="remove the tag: this format cannot escape tags",
            )
        if not key or re.search(r'["<>\r\n]', key) or len(key) > 300:
            raise LocalProtocolError(f"{key!r} is not a valid parameter name", hint="use letters and digits")
        return f'<{self._mark}parameter name="{key}" string="{"true" if is_text else "false"}">{text}{closer}'

    def render_results(self, results: Sequence[ToolResultIR]) -> str:
        if self._block == v32._block:
            lines = "\n".join(f"<result>{result_text(r)}</result>" for r in results)
            return f"<function_results>\n{lines}\n</function_results>"
        return "\n\n".join(f"<tool_result>{result_text(r)}</tool_result>" for r in results)


v32: Final = Dsml("function_calls", empty="\n")
v41: Final = Dsml("calls", blank=" ")
text_format: Final = Dsml()
