"""Calls in markup of no known format, in text of unknown format: they are found by the name of a declared tool.

New models bring new tags, of few forms. Known are those of MiniCPM5 (``<function name="NAME"><param name="KEY">``),
Grok (``<xai:function_call name="NAME">``), Step (``<steptml:invoke name="NAME">``), LongCat and K2 Horizon (``NAME``
and pairs of ``arg_key`` and ``arg_value`` behind a prefix), Qwen-Agent (``✿FUNCTION✿: NAME``), Gemma without its tokens
(``call:NAME{…}``) and MiniMax (``[TOOL_CALL]{tool => "NAME"``).

Facts: jundot/omlx#3429, NousResearch/hermes-agent#83023, and the chat templates of these models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from workbench import regex
from workbench.ir import JsonValue, ToolDef
from workbench.named_tuple import NamedTuple
from workbench.toolcalls.call_problems import DAMAGED, FOREIGN_TAGS, UNCLOSED
from workbench.toolcalls.formats import TextCall
from workbench.toolcalls.formats._typing import tool_types
from workbench.toolcalls.json_text import parse_arguments

_TAG: Final = r"[A-Za-z_|][\w:|.\-]{0,40}?"
_CALLING: Final = r"(?=[\w:|.\-]{0,32}(?:tool|func|call|invoke|action))"
_ATTRIBUTE: Final = r"""(?:=|\s(?:name|tool|tool_name|function)\s?=\s?)["']?"""
_WORD: Final = r"(?:[\w.\-]{1,24}[:|_])?(?:tool_call|tool|function|call|action|execute_tool)[|]?"
_KEY: Final = regex.compile(
    rf"<({_TAG}){_ATTRIBUTE}([\w.\-]{{1,128}})[^<>]{{0,80}}>"
    r"|<((?:\w{1,24}[:|_])?arg_key)>([^<>]{1,128})</[\w:|]{1,40}>\s{0,8}<((?:\w{1,24}[:|_])?arg_value)>"
)
_HINTS: Final = ("name=", "name =", "tool=", "arg_key", "✿FUNCTION✿", "call:", "tool =>", "execute_tool", '="')
_MOST: Final = 32  # calls in a text: bounds the work
_MAX_LABEL: Final = 40  # characters before an object of arguments


class _Form(NamedTuple):
    """A form of calls: how one begins with a name, and how it ends with the tag of its beginning."""

    pattern: str
    format: str
    problem: str


_FORMS: Final = (
    _Form(rf"<(?P<tag>{_CALLING}{_TAG}){_ATTRIBUTE}(?P<name>NAMES)[\"']?\s?[|]?>", "claude-xml", FOREIGN_TAGS),
    _Form(rf"<(?P<tag>{_WORD})>\s{{0,8}}(?P<name>NAMES)\s{{0,8}}(?=<[\w:|]{{0,25}}arg_key>|\()", "glm", FOREIGN_TAGS),
    _Form(r"✿(?P<tag>FUNCTION)✿\s?[:：]\s?(?P<name>NAMES)\b", "json-fence", FOREIGN_TAGS),
    _Form(r"\[(?P<tag>TOOL_CALL)\]\s{0,8}\{\s{0,8}tool\s?=>\s?[\"'](?P<name>NAMES)[\"']", "json-fence", DAMAGED),
    _Form(r"(?:\A|(?<=\n))\s{0,8}(?P<tag>call):(?P<name>NAMES)(?=\{)", "gemma", DAMAGED),
)


def element_calls(text: str, tools: Sequence[ToolDef], names: frozenset[str]) -> Iterator[TextCall]:
    """Calls of declared tools in markup of the known forms. ``names``: declared names that occur in the text."""
    is_document = text.lstrip().startswith("<?xml")
    if not names or is_document or not any(map(text.__contains__, _HINTS)):
        return
    end = 0
    for form, pattern in zip(_FORMS, _patterns(names), strict=True):
        for opened in islice(pattern.finditer(text), _MOST):
            call = _call(text, opened, form, tools) if opened.start() >= end else None
            if call:
                end = max(end, call.end)
                yield call


@lru_cache(maxsize=64)
def _patterns(names: frozenset[str]) -> tuple[re.Pattern[str], ...]:
    either = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    return tuple(re.compile(form.pattern.replace("NAMES", either)) for form in _FORMS)


def _call(text: str, opened: re.Match[str], form: _Form, tools: Sequence[ToolDef]) -> TextCall | None:
    """The call that begins here; None if what follows are no arguments."""
    close = {"FUNCTION": "", "TOOL_CALL": "[/TOOL_CALL]", "call": ""}.get(opened["tag"], f"</{opened['tag']}>")
    stop = text.find(close, opened.end()) if close else len(text.rstrip())
    body = text[opened.end() : stop if stop >= 0 else len(text)]
    arguments = _arguments(body, opened["name"], tools)
    if arguments is None and form.problem == FOREIGN_TAGS:
        return None
    end = stop + len(close) if stop >= 0 else len(text.rstrip())
    problems = (form.problem,) if stop >= 0 else (form.problem, UNCLOSED)
    return TextCall(form.format, opened["name"], arguments, body, opened.start(), end, problems=problems)


def _arguments(body: str, name: str, tools: Sequence[ToolDef]) -> JsonValue:
    """The arguments in a body: none, parameters by name, pairs of key and value, a JSON object, or a Python call."""
    inner = body.strip()
    if not inner or inner.startswith("("):
        return {}
    types = tool_types(tools, undeclared="container")
    found: dict[str, JsonValue] = {key: types.value(name, key, value) for key, value in _parameters(inner)}
    start = inner.find("{")
    value = None if found or start < 0 or len(inner[:start]) > _MAX_LABEL else parse_arguments(inner[start:]).value
    return found or (value if isinstance(value, dict) else None)


def _parameters(text: str) -> Iterator[tuple[str, str]]:
    """(key, text of the value) of each parameter, up to the first that does not end."""
    end = 0
    while opened := _KEY.search(text, end):
        close = f"</{opened[1] or opened[5]}"
        stop = text.find(close, opened.end())
        if stop < 0:
            return
        yield (opened[2] or opened[4]).strip(), text[opened.end() : stop]
        end = stop + len(close)
