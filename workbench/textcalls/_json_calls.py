"""Calls that are JSON objects: ``{"name": …, "arguments": …}`` under the keys that models use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from workbench.errors import LocalProtocolError, WireError
from workbench.ir import JsonValue, ToolCallIR
from workbench.textcalls._json_text import NO_JSON, TRAILING, plain, read
from workbench.wire import jsontext

NAMES: Final = ("name", "tool", "function", "tool_name", "function_name")
ARGUMENTS: Final = ("arguments", "parameters", "input", "args", "tool_input")
_PLAIN_NAME: Final = re.compile(r"[\w.\-:/]{1,128}")
_BESIDE: Final = frozenset({"id", "type", "tool_call_id", "call_id", "index"})
_HEAD: Final = re.compile(
    r'\s*\{\s*"(?:name|tool|function|tool_name|function_name)"\s*:\s*"([^"\\]{1,200})"\s*'
    r'(?:,\s*"(?:arguments|parameters|input|args|tool_input)"\s*:\s*(?=([\s\S]*)))?'
)


class JsonCall(NamedTuple):
    """What one object says.

    Attributes:
        input: None where unreadable.
        raw: text of the arguments.
    """

    name: str | None
    input: JsonValue
    raw: str
    id: str | None = None
    problems: tuple[str, ...] = ()


def from_text(text: str, *, is_strict: bool = False) -> JsonCall | None:
    """The call that a JSON text says; None where it says none.

    Args:
        text: one JSON object, perhaps cut or broken.
        is_strict: anything else than a whole call is none: no other keys, a name in a string, arguments.
    """
    try:
        value = jsontext.loads(text)
    except WireError:
        return _broken(text, is_strict=is_strict)
    return from_value(value, text, is_strict=is_strict)


def from_value(value: JsonValue, text: str, *, is_strict: bool = False) -> JsonCall | None:
    """The call that an object says which was parsed already; ``text`` is what it was parsed from."""
    if not isinstance(value, Mapping):
        return None
    pointer = ""
    inner = value.get("function")
    if isinstance(inner, Mapping):  # the shape of the chat protocol
        if is_strict and set(value) - {"function", *_BESIDE}:
            return None
        value, pointer = {**{k: v for k, v in value.items() if k in _BESIDE}, **inner}, "/function"
    name_key = next((k for k in NAMES if isinstance(value.get(k), str)), None)
    key = next((k for k in ARGUMENTS if k in value), None)
    if is_strict and (name_key is None or key is None or not set(value) <= {name_key, key, *_BESIDE}):
        return None
    name = value[name_key] if name_key else None
    number = value.get("id")
    id_ = number if isinstance(number, str) else None
    if key is None:
        return JsonCall(name, {}, "", id_, ("arguments are missing",)) if name else None
    raw = _member(text, f"{pointer}/{key}")
    if key == "arguments" and isinstance(value[key], str):
        found = read(value[key])  # as the chat protocol has them: text
        return JsonCall(name, found.value, raw, id_, (*found.problems, "arguments are JSON in a string"))
    found = plain(value[key]) if "NaN" not in raw and "Infinity" not in raw else read(raw)
    return JsonCall(name, found.value, raw, id_, found.problems)


def _member(text: str, pointer: str) -> str:
    body = text.encode("utf-8", "surrogatepass")
    span = jsontext.JsonIndex(body).span(pointer)
    return body[span[0] : span[1]].decode("utf-8", "surrogatepass") if span else ""


def _broken(text: str, *, is_strict: bool) -> JsonCall | None:
    """Text that is no JSON, but begins as a call does."""
    head = _HEAD.match(text)
    if not head or (is_strict and head[2] is None):
        return None
    rest = (head[2] or "").rstrip()
    found = read(rest) if rest else None
    if found and found.problems == (TRAILING,) and rest.removesuffix("}") != rest:
        return JsonCall(head[1], found.value, rest, None, (NO_JSON,))
    return JsonCall(head[1], None, rest, None, (NO_JSON,))


def plain_name(call: ToolCallIR) -> str:
    """The name of a call, where names end without a tag of their own.

    Raises:
        LocalProtocolError: it has none, or one that would be read differently.
    """
    if not call.name or not _PLAIN_NAME.fullmatch(call.name):
        raise LocalProtocolError(f"{call.name!r} is no name this format can write", hint="use letters, digits, - and _")
    return call.name
