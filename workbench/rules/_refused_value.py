"""A recorded refusal of which no text is known: the rule by the place that it names, and the place by its rule.

Providers and gateways write the same refusal in many words. Most of them name a place in the request, or are of a kind
that tells what is at fault, and these two together tell the rule. Where the words tell the rule alone, the place is the
first value of the request that this rule is about, if there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from workbench import regex
from workbench.contracts import ErrorPlace
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple
from workbench.protocols import DecodedExchange
from workbench.protocols.refusals import KnownRefusal
from workbench.provenance import escape
from workbench.wire import loads

_MISSING = ("field-missing", "message-empty")
_OF_PARAMETERS = ("parameter-unsupported", "value-invalid", "parameter-range")
_LISTS = ("messages", "input", "contents")


class _PlaceRule(NamedTuple):
    """One line of the table: a place, kinds of refusal (none for any), and the rule of both."""

    place: re.Pattern[str]
    kinds: tuple[str, ...]
    rule: str


_TURN = r"^/(?:messages|input|contents)/\d"
_SCHEMA = r"^/(?:tools|functions)/.*/(?:parameters|input_?[sS]chema|json)"
_PLACES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (r"^/(?:tool_choice|function_call|tool_?[cC]onfig/(?:tool_?[cC]hoice|function))", (), "choice.unsupported"),
    (r"^/tools/\d+/type$", (), "schema.tool-type"),
    (r"^/tools/?", ("tool-type",), "schema.tool-type"),
    (f"{_SCHEMA}/", ("parameter-unsupported", "tool-schema"), "schema.unsupported-keyword"),
    (f"{_SCHEMA}(?:/|$)", ("value-invalid", "field-missing"), "schema.malformed"),
    (r"^/tools/\d+$", ("value-invalid",), "schema.malformed"),
    (_TURN, ("message-mixed",), "content.mixed-turn"),
    (_TURN, ("message-order",), "content.role-order"),
    (rf"{_TURN}+(?:/(?:content|parts|text|output))?(?:/\d+)?(?:/text)?$", _MISSING, "content.empty"),
    (_TURN, ("media-unsupported",), "content.unsupported-part"),
    (_TURN, ("media-too-large",), "content.image-limit"),
    (
        rf"{_TURN}+/(?:content|parts|output)/\d+(?:/content/\d+)?/type$",
        ("parameter-unsupported", "value-invalid"),
        "content.unsupported-part",
    ),
    (_TURN, ("parameter-unsupported", "value-invalid"), "content.shape"),
    (
        r"^/(?:tools|functions|toolConfig)(?:/tools)?$",
        ("parameter-unsupported", "tools-unsupported"),
        "tools.unsupported",
    ),
    (r"^/(?:previous_response_id|conversation)", ("state-unknown", "not-found"), "state.lost"),
    (r"^/(?:inference_?[cC]onfig|generation_?[cC]onfig|options|parameters)/", _OF_PARAMETERS, "params.unsupported"),
    (r"^/(?!tools$|messages$|input$|contents$)[a-zA-Z_]+$", _OF_PARAMETERS, "params.unsupported"),
)
_TABLE = tuple(_PlaceRule(regex.compile(place), kinds, rule) for place, kinds, rule in _PLACES)
"""Place and kind → rule; the first line that fits counts."""


def rule_at(pointer: str, refusal: KnownRefusal) -> str:
    """The rule of a value that a refusal of this kind names; empty where place and kind do not tell it."""
    kind = refusal.kind.name
    fitting = (row.rule for row in _TABLE if (not row.kinds or kind in row.kinds) and row.place.search(pointer))
    return next(fitting, "")


def place_by_rule(rule: str, decoded: DecodedExchange) -> ErrorPlace | None:
    """The first value of a request that a rule is about; None where there is none."""
    find = _FINDERS.get(rule)
    try:
        body = loads(decoded.request_text) if find else None
    except WireError:
        return None
    pointer = next(find(body), "") if find and isinstance(body, dict) else ""
    return ErrorPlace(pointer, decoded.request_index.span(pointer), "") if pointer else None


def place_of_key(text: str, decoded: DecodedExchange) -> ErrorPlace | None:
    """The first key of a message, part, call or tool that a text names; keys of the body itself are not looked for."""
    words = list(dict.fromkeys((*_QUOTED.findall(text), *(word for word in _WORD.findall(text) if "_" in word))))
    try:
        body = loads(decoded.request_text) if words else None
    except WireError:
        return None
    keys = dict(reversed([(each.rpartition("/")[2], each) for each in _keys_below(body)]))
    word = next((word for word in words if word in keys and word not in _USUAL), "")
    return ErrorPlace(keys[word], decoded.request_index.span(keys[word]), word) if word else None


_QUOTED = regex.compile(r"[`'\"]([A-Za-z_]\w{1,60})[`'\"]")
_WORD = regex.compile(r"[A-Za-z]\w{2,60}")
_USUAL = ("role", "content", "type", "text", "name", "id", "tool_calls", "function", "parts", "input", "arguments")
_OPAQUE = ("arguments", "args", "parameters", "input_schema", "inputSchema", "response", "metadata")


def _keys_below(body: JsonValue) -> Iterator[str]:
    """Pointers of the keys of what is in the lists of messages and tools, without values of tools themselves."""
    for key, value in body.items() if isinstance(body, dict) else ():
        if key in (*_LISTS, "tools"):
            yield from _keys(value, f"/{key}")


def _keys(value: JsonValue, pointer: str) -> Iterator[str]:
    if isinstance(value, list):
        for n, each in enumerate(value):
            yield from _keys(each, f"{pointer}/{n}")
    elif isinstance(value, dict):
        for key, each in value.items():
            yield f"{pointer}/{escape(key)}"
            if key not in _OPAQUE:
                yield from _keys(each, f"{pointer}/{escape(key)}")


def _messages(body: Mapping[str, JsonValue]) -> Iterator[tuple[str, Mapping[str, JsonValue]]]:
    for key in _LISTS:
        items = body.get(key)
        for n, each in enumerate(items if isinstance(items, list) else ()):
            if isinstance(each, dict):
                yield f"/{key}/{n}", each


def _empty(body: Mapping[str, JsonValue]) -> Iterator[str]:
    for pointer, message in _messages(body):
        for key in ("content", "parts"):
            value = message.get(key)
            if key in message and value in (None, "", []) and not message.get("tool_calls"):
                yield f"{pointer}/{key}"
            for n, part in enumerate(value if isinstance(value, list) else ()):
                if isinstance(part, dict) and isinstance(text := part.get("text"), str) and not text.strip():
                    yield f"{pointer}/{key}/{n}"


def _foreign_tools(body: Mapping[str, JsonValue]) -> Iterator[str]:
    tools = body.get("tools")
    for n, tool in enumerate(tools if isinstance(tools, list) else ()):
        if isinstance(tool, dict) and tool.get("type") not in (None, "function"):
            yield f"/tools/{n}/type"


def _first_key(*names: str) -> Callable[[Mapping[str, JsonValue]], Iterator[str]]:
    return lambda body: (f"/{name}" for name in names if body.get(name) is not None)


def _late_systems(body: Mapping[str, JsonValue]) -> Iterator[str]:
    for n, (pointer, message) in enumerate(_messages(body)):
        if n and message.get("role") in ("system", "developer"):
            yield pointer


_FINDERS: Mapping[str, Callable[[Mapping[str, JsonValue]], Iterator[str]]] = {
    "choice.unsupported": _first_key("tool_choice", "toolConfig", "function_call"),
    "content.empty": _empty,
    "content.system-position": _late_systems,
    "schema.tool-type": _foreign_tools,
    "state.lost": _first_key("previous_response_id", "conversation"),
    "tools.unsupported": _first_key("tools", "toolConfig", "functions"),
}
"""Rule → the values of a body that it is about."""
