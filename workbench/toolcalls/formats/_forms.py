"""Forms of calls in text that no server asks for and models write all the same, in text of unknown format.

* ReAct in one object: ``Action: {"action": NAME, "action_input": {…}}`` (the form with lines is a separate format);
* an element by the name of the tool: ``<NAME><key>value</key></NAME>``;
* ``tool_code``: a Python call in a fence or an element of that name (Gemini, Gemma 3);
* ``<function=NAME{…}</function>``, the form of Llama that Groq refuses, also damaged.

Facts: model cards and chat templates of the models; huggingface/smolagents#1119; Groq's ``tool_use_failed`` errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.toolcalls.call_problems import DAMAGED
from workbench.toolcalls.formats import TextCall
from workbench.toolcalls.formats._python_literals import call as python_call
from workbench.toolcalls.formats._tags import Tags, TagSpec
from workbench.toolcalls.json_text import JsonTracker
from workbench.wire import loads

TAGS: Final = {
    "tool_code": Tags(TagSpec("call", "<tool_code>"), TagSpec("end", "</tool_code>"), TagSpec("call", "```tool_code")),
}
"""Control tokens of these forms, for halves and wrecks."""

_HINTS: Final = ("Action", "tool_code", "funct", "</", "/>", "<function")
_MOST: Final = 32  # calls of one form in a text: bounds the work
_NO_ACTION: Final = regex.compile(
    r"^(?![ \t]*[>|*`\-])[^\n]{0,80}?\b([\w.\-]{1,128})[\"' \t]{0,4}\n[\"' \t]{0,8}Action[ _]?Input\b[:\s]{0,3}",
    re.MULTILINE | re.IGNORECASE,
)
"""A step whose lines are damaged."""
_NO_LIST: Final = regex.compile(r"\W{0,4}\bfunct(?!ion)\w{0,5}\W{0,8}name\W{1,8}([\w.\-]{1,128})")
"""A list of calls that is damaged."""
_ACTION_OBJECT: Final = regex.compile(
    r"^[ \t]*Action:\s{0,4}(?:```\w{0,8}\s{0,4})?(?=\{)", re.MULTILINE | re.IGNORECASE
)
_CODE: Final = regex.compile(r"(?:^```tool_code|<tool_code>|\Atool_code)\s{0,8}(print\()?\s{0,8}", re.MULTILINE)
_CODE_END: Final = regex.compile(r"(?:\s*\))?(?:\s*(?:```|</tool_code>))?")
_FUNCTION: Final = regex.compile(r"(?:<function\s?[=(]\s?)?\b([\w.\-]{1,128})([)=]?>?)\s{0,4}(?=\{)")
_FUNCTION_END: Final = regex.compile(r"\s{0,4}</?function>")
_ELEMENT: Final = regex.compile(r"\s*<([A-Za-z_][\w\-]{0,63})>(.*?)</\1>", re.DOTALL)
_ATTRIBUTE: Final = regex.compile(r"""\s+([A-Za-z_][\w\-]{0,63})=(?:"([^"<>]{0,4000})"|'([^'<>]{0,4000})')""")


class _FormArguments(NamedTuple):
    """Arguments as read: their value, their text, the end of the call, and what is wrong."""

    value: JsonValue
    raw: str
    end: int
    problems: tuple[str, ...] = ()


def formed_calls(text: str, names: frozenset[str]) -> list[TextCall]:
    """Calls in these forms. ``names``: declared names that occur in the text."""
    if not names or not any(hint in text for hint in _HINTS):
        return []
    forms = (_react, _elements, _tool_code, _damaged_lists, _functions)
    return [call for form in forms for call in form(text, names)]


def _react(text: str, names: frozenset[str]) -> Iterator[TextCall]:
    for opened in _starts(_NO_ACTION, text, names):
        said = _object(text, opened.end()) or _line(text, opened.end())
        yield TextCall("react", opened[1], said.value, said.raw, opened.start(), said.end, problems=(DAMAGED,))
    for opened in _starts(_ACTION_OBJECT, text):
        said_object = _object(text, opened.end())
        if said_object and isinstance(said_object.value, dict) and said_object.value.get("action") in names:
            start = opened.end() - len(opened[0].lstrip())
            end = text.find("```", said_object.end, said_object.end + 8)
            end = end + 3 if end >= 0 else said_object.end
            value = said_object.value.get("action_input")
            yield TextCall("react", said_object.value["action"], value, said_object.raw, start, end)


def _elements(text: str, names: frozenset[str]) -> Iterator[TextCall]:
    """Elements by the name of a tool: their children or attributes are the arguments, or JSON is."""
    for name in sorted(names):
        for opened in _starts(re.compile(rf"<{re.escape(name)}(?=[\s/>])"), text):
            said = _element(text, opened.end(), name)
            if said:
                yield TextCall("element", name, said.value, said.raw, opened.start(), said.end, problems=said.problems)


def _element(text: str, at: int, name: str) -> _FormArguments | None:
    value: dict[str, JsonValue] = {}
    start = at
    while found := _ATTRIBUTE.match(text, at):
        value[found[1]], at = found[2] if found[2] is not None else found[3], found.end()
    if text.startswith(("/>", " />"), at):
        return _FormArguments(value, text[start:at], text.index(">", at) + 1) if value else None
    close = text.find(f"</{name}>", at)
    if not text.startswith(">", at) or close < 0:
        return None
    raw, end = text[at + 1 : close], close + len(name) + 3
    parsed = _json(raw)
    if isinstance(parsed, dict):
        return _FormArguments(parsed, raw, end)
    inside = 0
    while child := _ELEMENT.match(raw, inside):
        value[child[1]], inside = child[2].strip(), child.end()
    return _FormArguments(value, raw, end) if value and not raw[inside:].strip() else None


def _tool_code(text: str, names: frozenset[str]) -> Iterator[TextCall]:
    for opened in _starts(_CODE, text):
        made = python_call(text, opened.end())
        name = made.name.rpartition(".")[2] if made else ""
        if made and name in names:
            closed = _CODE_END.match(text, made.end)
            end = closed.end() if closed else made.end
            yield TextCall("tool_code", name, made.input, made.raw, opened.start(), end, problems=made.problems)


def _damaged_lists(text: str, names: frozenset[str]) -> Iterator[TextCall]:
    """Damaged ``functools[…]``; the format itself reads complete lists."""
    for opened in _starts(_NO_LIST, text, names):
        end = len(text.rstrip())
        yield TextCall(
            "functools", opened[1], None, text[opened.start() : end], opened.start(), end, problems=(DAMAGED,)
        )


def _functions(text: str, names: frozenset[str]) -> Iterator[TextCall]:
    """``<function=NAME>{…}</function>`` as Llama writes it, and near variants."""
    for opened in _starts(_FUNCTION, text, names) if "</function>" in text or "<function" in text else ():
        said = _object(text, opened.end())
        closed = _FUNCTION_END.match(text, said.end) if said else None
        if said and (closed or opened[0].startswith("<")):
            end = closed.end() if closed else said.end
            is_whole = closed and opened[0].startswith("<function=") and opened[2] == ">"
            form, problems = ("llama-json", said.problems) if is_whole else ("groq", (DAMAGED,))
            yield TextCall(form, opened[1], said.value, said.raw, opened.start(), end, problems=problems)


def _starts(pattern: re.Pattern[str], text: str, names: frozenset[str] | None = None) -> Iterator[re.Match[str]]:
    """The first matches of an opening, of those that say one of the names."""
    return islice((m for m in pattern.finditer(text) if names is None or m[1] in names), _MOST)


def _object(text: str, at: int) -> _FormArguments | None:
    """The JSON object at a place."""
    stop = JsonTracker().find(text, at) if text.startswith("{", at) else -1
    raw = text[at:stop]
    value = _json(raw) if stop >= 0 else None
    return _FormArguments(value, raw, stop, () if isinstance(value, dict) else (DAMAGED,)) if stop >= 0 else None


def _line(text: str, at: int) -> _FormArguments:
    """The rest of a line, which is no object."""
    raw = text[at:].partition("\n")[0].rstrip()
    return _FormArguments(None, raw, at + len(raw), (DAMAGED,))


def _json(text: str) -> JsonValue:
    try:
        return loads(text.encode("utf-8", "replace"))
    except WireError:
        return None
