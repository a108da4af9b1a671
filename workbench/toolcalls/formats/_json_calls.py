"""Calls that are JSON objects: ``{"name": …, "arguments": …}`` under the keys that models use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from workbench import regex
from workbench.errors import LocalProtocolError, WireError
from workbench.ir import JsonValue, ToolCallIR
from workbench.named_tuple import NamedTuple
from workbench.toolcalls.call_problems import DOUBLED_BRACES, IN_STRING, NO_JSON, NO_TOOLS, PYTHON, UNCLOSED
from workbench.toolcalls.formats import TextCall
from workbench.toolcalls.formats._python_literals import literal
from workbench.toolcalls.json_text import JsonTracker, json_spans, parse_arguments, plain_arguments
from workbench.wire import jsontext

NAMES: Final = ("name", "tool", "function", "tool_name", "function_name")
ARGUMENTS: Final = ("arguments", "parameters", "input", "args", "tool_input")
_CODE_FENCE: Final = regex.compile(r"\s*```\w*\s*")
_PLAIN_NAME: Final = regex.compile(r"[\w.\-:/]{1,128}")
_BESIDE: Final = frozenset({"id", "type", "tool_call_id", "call_id", "index"})
WRAPPERS: Final = ("tool_calls", "tool_call", "function_call", "tool_calling", "call")
STEP: Final = frozenset({"thought", "thoughts", "reasoning", "action", "action_input"})
"""Keys of a step of ReAct that is written as one object."""
_A_NAME: Final = "name|tool|function|tool_name|function_name"
_SOME: Final = "arguments|parameters|input|args|tool_input"
_OPENING: Final = r'\s*\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?(?:"function"\s*:\s*\{\s*)?'
_USUAL: Final = regex.compile(rf'\s*\{{\s*"(?:{_A_NAME})"\s*:\s*"[^"\\]*+"\s*,\s*"({_SOME})"\s*:\s*')
_HEAD: Final = regex.compile(rf'{_OPENING}"(?:{_A_NAME})"\s*:\s*"([^"\\]{{1,200}})"\s*,\s*"(?:{_SOME})"\s*:')
_NAME: Final = regex.compile(rf"""["'](?:{_A_NAME})["']\s*:\s*["']([^"'\\\n]{{1,256}})["']""")
_ARGUMENTS: Final = regex.compile(rf"""["']({_SOME})["']\s*:\s*""")


class JsonCall(NamedTuple):
    """Call in one object.

    Attributes:
        input: None if unreadable.
        raw: text of the arguments.
        key: key of the arguments; empty if there are none.
    """

    name: str | None
    input: JsonValue
    raw: str
    id: str | None = None
    problems: tuple[str, ...] = ()
    key: str = ""


def from_text(text: str, *, is_strict: bool = False) -> JsonCall | None:
    """The call in a JSON text; None if there is none.

    Args:
        text: one JSON object, perhaps cut or broken.
        is_strict: accept only a complete call: no other keys, a string name, arguments.
    """
    try:
        value = jsontext.loads(text)
    except WireError:
        return _from_broken(text, is_strict=is_strict)
    return from_value(value, text, is_strict=is_strict)


def from_value(value: JsonValue, text: str, pointer: str = "", *, is_strict: bool = False) -> JsonCall | None:
    """The call in a parsed object at a pointer of ``text``."""
    if type(value) is not dict:
        return None
    inner = value.get("function")
    if type(inner) is dict:  # the shape of the chat protocol
        if is_strict and set(value) - {"function", *_BESIDE}:
            return None
        value, pointer = {**{k: v for k, v in value.items() if k in _BESIDE}, **inner}, f"{pointer}/function"
    name_key = next((k for k in NAMES if isinstance(value.get(k), str)), None)
    key = next((k for k in ARGUMENTS if k in value), None)
    if is_strict and (name_key is None or key is None or not set(value) <= {name_key, key, *_BESIDE}):
        return None
    name = value[name_key] if name_key else None
    number = value.get("id")
    id_ = number if isinstance(number, str) else None
    if key is None:
        return JsonCall(name, {}, "", id_, ("arguments are missing",)) if name else None
    raw = _member(text, pointer, key, value)
    if key == "arguments" and isinstance(value[key], str):
        found = parse_arguments(value[key])  # as the chat protocol has them: text
        problems = (*found.problems, IN_STRING) if value[key] else found.problems
        return JsonCall(name, found.value, raw, id_, problems, key)
    found = plain_arguments(value[key])
    return JsonCall(name, found.value, raw, id_, found.problems, key)


@lru_cache(1)
def _index_of(text: str) -> tuple[bytes, jsontext.JsonIndex]:
    """Bytes of a text, and the index of its values: one array may hold thousands of calls."""
    body = text.encode("utf-8", "surrogatepass")
    return body, jsontext.JsonIndex(body)


def _member(text: str, pointer: str, key: str, value: Mapping[str, JsonValue]) -> str:
    """Text of the arguments."""
    usual = _USUAL.match(text) if not pointer and len(value) == 2 else None
    if usual and usual[1] == key:
        return text.rstrip()[usual.end() : -1].rstrip()
    index = _index_of(text)
    body, span = index[0], index[1].span(f"{pointer}/{key}")
    return body[span[0] : span[1]].decode("utf-8", "surrogatepass") if span else ""


def _from_broken(text: str, *, is_strict: bool) -> JsonCall | None:
    """Call in text that is no JSON: with Python literals, in doubled braces, or with only a readable name."""
    inner = text.strip()[1:-1] if text.startswith("{{") and text.rstrip().endswith("}}") else ""
    doubled = from_text(inner, is_strict=True) if inner else None
    if doubled and NO_JSON not in doubled.problems:
        return doubled._replace(problems=(DOUBLED_BRACES, *doubled.problems))
    value = literal(text)
    call = from_value(value, text, is_strict=is_strict) if isinstance(value, dict) else None
    if call:
        key = _ARGUMENTS.search(text)
        raw = text.rstrip()[key.end() : -1].rstrip() if key else ""
        return call._replace(raw=raw, problems=(*call.problems, PYTHON))
    head = _HEAD.match(text) if is_strict else _NAME.search(text)
    if not head:
        return None
    key = _ARGUMENTS.search(text)
    if not key:
        return JsonCall(head[1], None, "", None, (NO_JSON,))
    rest = text[key.end() :].rstrip()
    stop = JsonTracker().find(rest) if rest[:1] == "{" else -1
    if stop > 0:  # whole, whatever follows
        return JsonCall(head[1], parse_arguments(rest[:stop]).value, rest[:stop], None, (NO_JSON,), key[1])
    return JsonCall(head[1], None, rest, None, (NO_JSON,), key[1])


class LocatedCall(NamedTuple):
    """A call of a text that contains only calls; ``start`` and ``end`` are characters of that text."""

    call: JsonCall
    start: int
    end: int


def calls_only(text: str, names: frozenset[str], separators: str = " \t\r\n,;") -> list[LocatedCall]:
    """Calls of a text that contains only calls, in JSON; empty if it contains anything else.

    A text without tags is a call only if every object in it has exactly the keys of a call and names a declared tool.
    If nothing was declared, that is a problem of each. A tool declaration is not a call.
    """
    found = list[LocatedCall]()
    end = 0
    for start, end in json_spans(text, separators):
        calls = _calls_of(text[start:end])
        if not calls or not all(_is_likely(c, names) for c in calls):
            return []
        if JsonTracker().find(text, start) < 0:
            calls[-1] = calls[-1]._replace(problems=(*calls[-1].problems, UNCLOSED))
        places = _places(text[start:end], len(calls))
        found += (LocatedCall(c, start + a, start + b) for c, (a, b) in zip(calls, places, strict=True))
    if text[end:].strip(separators):
        return []
    return found if names else [w._replace(call=_mark_undeclared(w.call)) for w in found]


def _places(text: str, count: int) -> list[tuple[int, int]]:
    """Positions of the objects of one value."""
    inside = text.find("[") + 1
    found = [(inside + a, inside + b) for a, b in json_spans(text[inside:])] if count > 1 else []
    return found if len(found) == count else [(0, len(text))] * count


def in_sequence(text: str, value: JsonValue = None) -> list[LocatedCall]:
    """Calls of a text: one object, an array, or several in sequence, perhaps in a code fence.

    An object without a name is not a call. ``end`` of each is the end of its enclosing value.

    Args:
        value: the parsed text, if that is known.
    """
    if type(value) is dict:
        only = from_value(value, text)
        return [LocatedCall(only, len(text) - len(text.lstrip()), len(text.rstrip()))] if only and only.name else []
    fence = _CODE_FENCE.match(text)
    at = fence.end() if fence else 0
    found = list[LocatedCall]()
    for start, end in json_spans(text[at:], ", \t\r\n;"):
        piece = text[at + start : at + end]
        found += (LocatedCall(c, at + start, at + end) for c in _named_calls(piece))
    return found


def whole_object(text: str) -> JsonCall | None:
    """The call with a name in a text that is one JSON object; None if it is anything else."""
    try:
        value = jsontext.loads(text)
    except WireError:
        return None
    call = from_value(value, text)
    return call if call and call.name else None


def _named_calls(text: str) -> list[JsonCall]:
    """The calls with a name in one object or array."""
    call = from_text(text) if text[:1] == "{" else None
    if call or text[:1] == "{":
        return [call] if call and call.name else []
    try:
        value = jsontext.loads(text)
    except WireError:
        value = None
    if not isinstance(value, list):
        repaired_calls = _from_broken(text, is_strict=False)
        return [repaired_calls] if repaired_calls and repaired_calls.name else []
    every = (from_value(v, text, f"/{n}") for n, v in enumerate(value))
    return [c for c in every if c and c.name]


def mark_unclosed(found: LocatedCall) -> LocatedCall:
    """The same call, marked as missing the end of its enclosing value."""
    problems = (*found.call.problems, UNCLOSED)
    return found._replace(call=found.call._replace(problems=problems))


def _mark_undeclared(call: JsonCall) -> JsonCall:
    return call._replace(problems=(*call.problems, NO_TOOLS))


def _calls_of(text: str) -> list[JsonCall]:
    """Calls of one value: an object or an array of objects, perhaps in one key (``{"tool_calls": […]}``)."""
    try:
        value = jsontext.loads(text)
    except WireError:
        inside = [text[1:][a:b] for a, b in json_spans(text[1:])] if text.startswith("[") else [text]
        maybe = [from_text(piece, is_strict=True) for piece in inside]
        return [] if None in maybe else [c for c in maybe if c]
    pointer = ""
    if isinstance(value, Mapping) and len(value) == 1 and next(iter(value)) in WRAPPERS:
        pointer = f"/{next(iter(value))}"
        value = next(iter(value.values()))
    if isinstance(value, list):
        every = [_whole_call(v, text, f"{pointer}/{n}") for n, v in enumerate(value)]
    else:
        every = [_whole_call(value, text, pointer)]
    return [] if None in every else [c for c in every if c]


def _whole_call(value: JsonValue, text: str, pointer: str) -> JsonCall | None:
    """The call in an object that holds nothing else, or in a step of ReAct that is one object."""
    call = from_value(value, text, pointer, is_strict=True)
    if call or not isinstance(value, Mapping) or not set(value) <= STEP or "action_input" not in value:
        return call
    name = value.get("action")
    found = plain_arguments(value["action_input"])
    raw = _member(text, pointer, "action_input", value)
    return JsonCall(name, found.value, raw, None, found.problems, "action_input") if isinstance(name, str) else None


def _is_likely(call: JsonCall, names: frozenset[str]) -> bool:
    if names and call.name not in names:
        return False
    if not names and (NO_JSON in call.problems or not call.name or not _PLAIN_NAME.fullmatch(call.name)):
        return False
    value = call.input
    if isinstance(value, dict):
        return not ("type" in value and "properties" in value)
    return value is None or IN_STRING in call.problems


def adjoin_calls(
    name: str, calls: list[LocatedCall], start: int, end: int, body: int, *, is_nested: bool
) -> list[TextCall]:
    """Calls of one block, each starting at the end of the previous one.

    Args:
        name: of the format.
        start, end: of the block, in characters of the whole text.
        body: start of the text they were read from.
    """
    found = list[TextCall]()
    for n, (call, _, place) in enumerate(calls):
        stop = end if n == len(calls) - 1 else body + place
        problems = tuple(dict.fromkeys(call.problems))
        found.append(TextCall(name, call.name, call.input, call.raw, start, stop, call.id, problems, is_nested))
        start = stop
    return found


def plain_name(call: ToolCallIR) -> str:
    """Name of a call, for formats without a tag after the name.

    Raises:
        LocalProtocolError: it has none, or one that would be read differently.
    """
    if not call.name or not _PLAIN_NAME.fullmatch(call.name):
        raise LocalProtocolError(
            f"{call.name!r} cannot be written as a name in this format", hint="use letters, digits, - and _"
        )
    return call.name
