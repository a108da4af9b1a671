"""A recorded refusal of which no text is known: the rule by the place that it names, and the place by its rule.

Providers and gateways write the same refusal in many words. Most of them name a place in the request, or are of a kind
that tells what is at fault, and these two together tell the rule. Where the words tell the rule alone, the place is the
first value of the request that this rule is about, if there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from workbench import regex
from workbench.contracts import ErrorPlace
from workbench.errors import WireError
from workbench.ir import HISTORIES, JsonValue
from workbench.named_tuple import NamedTuple
from workbench.protocols import DecodedExchange
from workbench.provenance import escape, scalars
from workbench.wire import loads

if TYPE_CHECKING:
    from workbench.protocols.refusals import KnownRefusal

_MISSING = ("field-missing", "message-empty")
_OF_PARAMETERS = ("parameter-unsupported", "value-invalid", "parameter-range")


class _PlaceRule(NamedTuple):
    """One line of the table: a place, kinds of refusal (none for any), and the rule of both."""

    place: re.Pattern[str]
    kinds: tuple[str, ...]
    rule: str


_TURN = rf"^/(?:{'|'.join(HISTORIES)})/\d"
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

VAGUE = ("request-refused", "feature-disabled", "not-found")
"""Kinds that say nothing of what is wrong with a place."""

_ANSWER_SCHEMA = (
    r"^/(?:text/format|response_format|output_config/format|output_format"
    r"|generation_?[cC]onfig/response_?(?:[jJ]son_?)?[sS]chema)/.*(?:properties|items|required|anyOf|schema)"
)
_NO_PARAMETER = "type|model|tools|functions|messages|input|contents|system|instructions|systemInstruction"
_FAMILIES = tuple(
    _PlaceRule(regex.compile(place), VAGUE, rule)
    for place, rule in (
        (r"^/(?:tools|functions)/\d+(?:/[a-zA-Z_]+(?:/\d+(?:/[a-zA-Z_]+)?)?)?/name$", "schema.name"),
        (r"^/(?:tools|functions|toolConfig/tools)/", "schema.malformed"),
        (_ANSWER_SCHEMA, "schema.malformed"),
        (r"/cache_?[cC]ontrol(?:/|$)|/cachePoint(?:/|$)", "gateway.cache-limit"),
        (rf"{_TURN}+/role$", "content.role-order"),
        (rf"{_TURN}.*/(?:signature|encrypted_content|thought_?[sS]ignature)$", "reasoning.altered"),
        (rf"{_TURN}.*/(?:(?:tool_)?call_id|tool_use_id|toolUseId|id)$", "closure.id-format"),
        (_TURN, "content.shape"),
        (r"^/anthropic_beta(?:/|$)", "gateway.beta-header"),
        (r"^/(?:previous_response_id|conversation)", "state.lost"),
        (rf"^/(?!(?:{_NO_PARAMETER})(?:/|$))[a-zA-Z_]", "params.unsupported"),
    )
)
"""Place → the rule of what is refused there, for a text that names the place and says nothing else that is known."""


def rule_at(pointer: str, refusal: KnownRefusal) -> str:
    """The rule of a value that a refusal of this kind names; empty where place and kind do not tell it."""
    rule = _first_rule(_TABLE, pointer, refusal)
    field = refusal.values.get("field", "").rpartition(".")[2]
    lacks_other = refusal.kind.name == "field-missing" and field not in ("", "content", "text", "parts", "output")
    return "content.shape" if rule == "content.empty" and lacks_other else rule


def rule_of_place(pointer: str, refusal: KnownRefusal) -> str:
    """The rule of a place where the refusal says no more than that; empty where it does, or at no such place."""
    return _first_rule(_FAMILIES, pointer, refusal)


def _first_rule(table: tuple[_PlaceRule, ...], pointer: str, refusal: KnownRefusal) -> str:
    kind = refusal.kind.name
    return next((row.rule for row in table if (not row.kinds or kind in row.kinds) and row.place.search(pointer)), "")


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
        if key in (*HISTORIES, "tools"):
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
    for key in HISTORIES:
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


def _out_of_turn(body: Mapping[str, JsonValue]) -> Iterator[str]:
    """Messages of the role of the one before, then a model's turn at the beginning; calls and results take no turn."""
    first, before = "", ""
    for pointer, message in _messages(body):
        role = message.get("role")
        if role not in ("user", "assistant", "model") or message.get("tool_calls"):
            before = before if role in ("system", "developer") else ""
            continue
        if role == before:
            yield pointer
        first = first or (pointer if role != "user" and pointer.endswith("/0") else "")
        before = str(role)
    if first:
        yield first


_CARRIERS = (
    "encrypted_content",
    "signature",
    "thoughtSignature",
    "thought_signature",
    "reasoning_content",
    "reasoning",
)
_MEDIA = (
    "image_url",
    "input_audio",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
    "source",
    "image",
    "document",
)
_USUAL_ITEMS = (None, "message", "reasoning", "function_call", "function_call_output", "item_reference")


def _keys_named(*names: str) -> Callable[[Mapping[str, JsonValue]], Iterator[str]]:
    """Where members of these names are within messages, without the data of calls and tools."""
    return lambda body: (
        pointer
        for at, message in _messages(body)
        for pointer in _keys(dict(message), at)
        if pointer.rpartition("/")[2] in names
    )


def _parts(body: Mapping[str, JsonValue]) -> Iterator[str]:
    """Media, then items of a type that few endpoints know."""
    yield from _keys_named(*_MEDIA)(body)
    items = body.get("input")
    for n, each in enumerate(items if isinstance(items, list) else ()):
        if isinstance(each, dict) and each.get("type") not in _USUAL_ITEMS:
            yield f"/input/{n}/type"


def _odd_names(body: Mapping[str, JsonValue]) -> Iterator[str]:
    """Names of tools, then those of calls, that are empty or have other characters than letters, digits, _ and -."""
    for pointer, value in scalars(dict(body)):
        is_name = pointer.endswith("/name") and pointer.split("/")[1] in ("tools", "functions", *HISTORIES)
        if is_name and isinstance(value, str) and not _PLAIN_NAME.match(value):
            yield pointer


_PLAIN_NAME = regex.compile(r"[A-Za-z_][\w-]{0,63}\Z")

_FINDERS: Mapping[str, Callable[[Mapping[str, JsonValue]], Iterator[str]]] = {
    "choice.unsupported": _first_key("tool_choice", "toolConfig", "function_call"),
    "content.empty": _empty,
    "content.role-order": _out_of_turn,
    "content.system-position": _late_systems,
    "content.unsupported-part": _parts,
    "gateway.beta-header": _first_key("anthropic_beta"),
    "gateway.cache-limit": _keys_named("cache_control", "cachePoint"),
    **dict.fromkeys(("reasoning.altered", "reasoning.foreign", "reasoning.fabricated"), _keys_named(*_CARRIERS)),
    "schema.name": _odd_names,
    "schema.tool-type": _foreign_tools,
    "state.lost": _first_key("previous_response_id", "conversation"),
    "tools.unsupported": _first_key("tools", "toolConfig", "functions"),
}
"""Rule → the values of a body that it is about."""
