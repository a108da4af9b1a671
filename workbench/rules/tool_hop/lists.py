"""Rules on a tool list: its pages, its schemas, what changed since it was last read, and texts aimed at the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from workbench import regex
from workbench.chain import fates
from workbench.contracts import Finding
from workbench.ir import JsonValue
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import (
    STATELESS,
    ChannelFacts,
    changes_of_list,
    is_named,
    is_over_http,
    request_object,
    response_object,
)
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import (
    DESCRIPTION_CHANGED,
    HIDDEN_TEXT,
    INFO,
    INJECTED_TEXT,
    LIST_CHANGED,
    NAME,
    PAGINATION,
    SCHEMA_CHANGED,
    SCHEMA_REJECTED,
    make,
    member,
)
from workbench.rules.tool_hop.schemas import schema_changes
from workbench.toolcalls.schemas import find_meta_faults, nodes

_COMBINATORS = ("anyOf", "oneOf", "allOf")
_PROPERTY = regex.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""Names of properties that every provider takes (the refusal of Anthropic's API, in freee/freee-mcp#16)."""

_TYPED = frozenset(("type", "$ref", "enum", "const", "not", "if", *_COMBINATORS))
"""Keywords of which a schema has one, unless any value fits it."""

_HIDDEN = regex.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
"""Characters without a width, characters that change the direction of text, tags, and controls."""

_ODD_NAME = regex.compile(r"[^A-Za-z0-9_.-]")
"""What no name of a tool should have (revision 2025-11-25, "Tool Names")."""

_ZERO_WIDTH_JOINER = "\u200d"
"""Character that joins emoji and letters of several scripts: alone it hides nothing."""

_ORDERS = regex.compile(
    r"<\s*/?\s*(?:important|system|instructions?|secret|hidden)\s*>"
    r"|\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|all|system|other)\b"
    r".{0,20}\b(?:instructions?|prompts?|rules?|messages?|context)\b"
    r"|\bdo not (?:tell|mention|inform|show|reveal|notify)\b.{0,40}\b(?:user|human|this)\b"
    r"|\bwithout (?:telling|informing|asking) the user\b"
    r"|\b(?:before|instead of) (?:using|calling|running) (?:this|any|the) .{0,60}\b(?:read|send|cat|open|call)\b.{0,80}"
    r"|~/\.(?:ssh|aws|config|cursor|netrc)\b|\bid_rsa\b",
    re.IGNORECASE,
)
"""Known forms of texts that give a model orders (Invariant Labs, tool poisoning, 2025-04-01; OWASP LLM01)."""


class ListRead(NamedTuple):
    """How far a client has read a tool list over HTTP.

    Attributes:
        exchange: index of the last response to ``tools/list``; -1 before it.
        at: when it was over, in seconds since the epoch; None if unknown.
        cursor: of the page that was not read yet; empty if there is none.
        changed: times at which the server said that the list had changed.
    """

    exchange: int = -1
    at: float | None = None
    cursor: str = ""
    changed: tuple[float, ...] = ()

    def after(self, decoded: DecodedExchange) -> ListRead:
        """The same, updated by a message to the server and its response."""
        exchange = decoded.exchange
        if not is_over_http(exchange) or exchange.request is None:
            return self
        changed = (*self.changed, *changes_of_list(decoded))
        if exchange.request.method == "tools/list":
            cursor = member(response_object(decoded), "result", "nextCursor")
            at = None if exchange.started_at is None else exchange.started_at + (exchange.duration or 0.0)
            return ListRead(decoded.index, at, cursor if isinstance(cursor, str) else "", changed)
        return self if changed == self.changed else self._replace(changed=changed)

    def without_findings(self) -> ListRead:
        """The same, without its findings."""
        return self._replace(cursor="", changed=())


def of_used_list(decoded: DecodedExchange, read: ListRead) -> Iterator[Finding]:
    """Findings on a request that uses a tool list of which a page, or a change, was not read."""
    began = decoded.exchange.started_at
    if read.cursor:
        text = (
            f"the list in exchange {read.exchange + 1} has a next page (cursor {quote(read.cursor)}), but the client "
            "did not request"
        )
        yield make(decoded, PAGINATION, REQUEST, "", f"{text} that page before this request")
    if read.at is not None and began is not None and any(read.at < change <= began for change in read.changed):
        text = f"the server announced a change of its tool list after exchange {read.exchange + 1}"
        yield make(
            decoded, LIST_CHANGED, REQUEST, "", f"{text}; the client did not fetch the list again before this request"
        )


def of_list(
    decoded: DecodedExchange, channel: ChannelFacts | None, known: Mapping[str, JsonValue]
) -> Iterator[Finding]:
    """Findings on the response to ``tools/list``.

    Args:
        channel: facts of the whole connection, once it is over; None if that is not known.
        known: entries of the same server as last listed, by name.
    """
    result = response_object(decoded).get("result")
    yield from _pages(decoded, result, channel)
    tools = member(result, "tools")
    names: dict[str, int] = {}
    yield from _of_order(decoded, tools, known)
    for number, entry in enumerate(tools if isinstance(tools, list) else ()):
        pointer, name = f"/result/tools/{number}", member(entry, "name")
        yield from _schemas(decoded, entry, pointer)
        yield from texts_aimed_at_model(decoded, member(entry, "description"), f"{pointer}/description")
        if not isinstance(name, str):
            continue
        if odd := _ODD_NAME.search(name):
            text = (
                f"{quote(name)} has {quote(odd[0])} in its name: names may contain only letters, digits, '_', '-' "
                "and '.'"
            )
            yield make(decoded, NAME, RESPONSE, f"{pointer}/name", text)
        elif "." in name:
            text = f"{quote(name)} has a dot in its name, which several providers refuse: a client must replace the dot"
            yield make(decoded, NAME, RESPONSE, f"{pointer}/name", text, severity=INFO)
        if name in names:
            text = f"{quote(name)} is listed twice: here and at /result/tools/{names[name]}"
            yield make(decoded, NAME, RESPONSE, f"{pointer}/name", text)
        names.setdefault(name, number)
        before, now = member(known.get(name), "description"), member(entry, "description")
        if name in known and before != now:
            text = f"the description of {quote(name)} differs from the one that the server listed before"
            evidence = f"before: {quote(before)}; now: {quote(now)}"
            yield make(decoded, DESCRIPTION_CHANGED, RESPONSE, f"{pointer}/description", text, evidence)


def _of_order(decoded: DecodedExchange, tools: JsonValue, known: Mapping[str, JsonValue]) -> Iterator[Finding]:
    """The same tools as before in another order (revision 2026-07-28, "Tools": a deterministic one)."""
    names = [str(member(entry, "name")) for entry in (tools if isinstance(tools, list) else ())]
    before = list(known)
    if len(before) > 1 and names != before and sorted(names) == sorted(before):
        text = (
            "the same tools have a different order than in the previous list: requests with these tools miss the "
            "prompt cache"
        )
        yield make(decoded, LIST_CHANGED, RESPONSE, "/result/tools", text, severity=INFO)


_ABOUT = ("title", "description", "annotations", "outputSchema", "icons", "execution", "_meta")
"""Members of a listed tool that describe it; a gateway has to pass them on."""


def of_gateway(decoded: DecodedExchange, others: Mapping[str, Mapping[str, JsonValue]]) -> Iterator[Finding]:
    """Members of one server's tools that the list of another server with all these tools lacks: its gateway.

    Args:
        others: server → its tools as listed so far, by name.
    """
    tools = member(response_object(decoded), "result", "tools")
    entries = tools if isinstance(tools, list) else []
    here = {str(member(entry, "name")): entry for entry in entries}
    for server, there in others.items():
        for outer, inner, words in ((here, there, "here"), (there, here, f"in the list of {quote(server)}")):
            lost = [found for own, other in _pairs(outer, inner) if (found := _loss_of(own, other))]
            if lost:
                first = lost[0]
                number = next(n for n, entry in enumerate(entries) if entry is first.own or entry is first.other)
                more = f" ({len(lost):,} such tools)" if len(lost) > 1 else ""
                text = f"{first.text} {words}{more}"
                how = (
                    f"{quote(server)} lists the same tools: one of the two servers is assumed to be a gateway for "
                    "the other"
                )
                at = f"/result/tools/{number}" + (first.pointer if outer is here else "")
                yield make(decoded, SCHEMA_CHANGED, RESPONSE, at, text, how, INFO)
                return


class _LostOfTool(NamedTuple):
    """What a gateway's entry of a tool lacks of the server's."""

    own: JsonValue
    other: JsonValue
    pointer: str
    text: str


def _loss_of(own: JsonValue, other: JsonValue) -> _LostOfTool | None:
    """Members that are missing; else the first change of the schema."""
    name = quote(member(other, "name"))
    if names := [member_ for member_ in _ABOUT if not _is_kept(member(other, member_), member(own, member_))]:
        return _LostOfTool(own, other, "", f"{', '.join(map(quote, names))} of {name} are missing")
    changes = schema_changes(_takes(other), _takes(own))
    if not changes:
        return None
    return _LostOfTool(own, other, f"/inputSchema{changes[0].pointer}", f"in the schema of {name}, {changes[0].text}")


def _is_kept(before: JsonValue, now: JsonValue) -> bool:
    """Nothing of a member is missing; its texts may be others."""
    if not before or now is None:
        return not before
    return not any(fate.kind in ("dropped", "truncated") for fate in fates(before, now))


def _pairs(outer: Mapping[str, JsonValue], inner: Mapping[str, JsonValue]) -> list[tuple[JsonValue, JsonValue]]:
    """Each inner tool with the outer one of its name; empty if one has none, or if none says and takes the same."""
    found = [next((own for name, own in outer.items() if is_named(name, tool)), None) for tool in inner]
    pairs = [] if None in found else list(zip(found, inner.values(), strict=True))
    return pairs if any(_is_of_same(own, other) for own, other in pairs) else []


def _is_of_same(own: JsonValue, other: JsonValue) -> bool:
    """Two entries are of one tool: they take the same, or say the same of it."""
    description = member(other, "description")
    return _takes(own) == _takes(other) or (
        isinstance(description, str) and bool(description) and description == member(own, "description")
    )


def _takes(entry: JsonValue) -> JsonValue:
    return member(entry, "inputSchema")


def _pages(decoded: DecodedExchange, result: JsonValue, channel: ChannelFacts | None) -> Iterator[Finding]:
    cursor = member(result, "nextCursor")
    request_cursor = member(request_object(decoded), "params", "cursor")
    if cursor == "" and request_cursor is None:
        text = "nextCursor is empty instead of absent: some clients request the next page in a loop, others stop"
        yield make(decoded, PAGINATION, RESPONSE, "/result/nextCursor", text, severity=INFO)
    if not isinstance(cursor, str) or (not cursor and request_cursor is None):
        return
    if cursor == request_cursor:
        text = f"the page at cursor {quote(cursor)} has the same cursor as nextCursor: the list never ends"
        yield make(decoded, PAGINATION, RESPONSE, "/result/nextCursor", text)
    elif channel is not None and cursor not in channel.cursors:
        text = f"the list has a next page (cursor {quote(cursor)}), but the client never requested that page"
        yield make(decoded, PAGINATION, RESPONSE, "/result/nextCursor", text)


def _schemas(decoded: DecodedExchange, entry: JsonValue, pointer: str) -> Iterator[Finding]:
    inputs, outputs = member(entry, "inputSchema"), member(entry, "outputSchema")
    where = f"{pointer}/inputSchema"
    if isinstance(inputs, dict) and inputs.get("type") != "object":
        combinator = next((name for name in _COMBINATORS if name in inputs), "")
        why = f" ({combinator} at the root)" if combinator else ""
        text = (
            f"an inputSchema must have type object at its root{why}; clients drop this tool, or all tools of its server"
        )
        yield make(decoded, SCHEMA_REJECTED, RESPONSE, where, text)
    elif isinstance(inputs, dict) and not inputs.get("properties") and inputs.get("additionalProperties") == {}:
        text = "an inputSchema with additionalProperties {} and without properties is refused by several clients"
        yield make(decoded, SCHEMA_REJECTED, RESPONSE, where, text, severity=INFO)
    if isinstance(outputs, dict) and outputs.get("type") != "object":
        text = f"before revision {STATELESS} an outputSchema must have type object; clients may refuse the whole list"
        yield make(decoded, SCHEMA_REJECTED, RESPONSE, f"{pointer}/outputSchema", text)
    for member_name, schema in (("inputSchema", inputs), ("outputSchema", outputs)):
        lost = next(_dangling(schema, schema), None) if isinstance(schema, dict) else None
        if lost:
            text = (
                f"the reference {quote(lost)} has no target in this schema; clients drop this tool, or the whole list"
            )
            yield make(decoded, SCHEMA_REJECTED, RESPONSE, f"{pointer}/{member_name}", text)
        fault = next(iter(find_meta_faults(schema)), None) if isinstance(schema, dict) else None
        if fault:
            text = f"not a valid JSON Schema: {fault.message}; clients drop this tool, or the whole list"
            yield make(decoded, SCHEMA_REJECTED, RESPONSE, f"{pointer}/{member_name}{fault.pointer}", text)
    yield from _of_readers(decoded, inputs, where)
    properties = member(inputs, "properties")
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        inside = name.replace("~", "~0").replace("/", "~1")
        if not _PROPERTY.fullmatch(name):
            text = f"the name {quote(name)} has characters that providers refuse in property names"
            yield make(decoded, SCHEMA_REJECTED, RESPONSE, f"{where}/properties/{inside}", text, severity=INFO)
        if isinstance(schema, dict) and _TYPED.isdisjoint(schema):
            text = f"the schema of {quote(name)} has no type: some clients leave the tool out"
            yield make(decoded, SCHEMA_REJECTED, RESPONSE, f"{where}/properties/{inside}", text, severity=INFO)
        elif isinstance(schema, bool):
            text = f"the schema of {quote(name)} is {str(schema).lower()}, which several providers refuse"
            yield make(decoded, SCHEMA_REJECTED, RESPONSE, f"{where}/properties/{inside}", text, severity=INFO)


def _of_readers(decoded: DecodedExchange, schema: JsonValue, where: str) -> Iterator[Finding]:
    """What is valid JSON Schema, but refused by strict readers: references into properties, values listed twice."""
    for node in nodes(schema) if isinstance(schema, dict) else ():
        ref, values = member(node.schema, "$ref"), member(node.schema, "enum")
        is_item = node.pointer.endswith("/items")
        if member(node.schema, "type") == "array" and not {"items", "prefixItems"} & set(node.schema):
            text = "an array without items: VS Code and several providers refuse the tool (microsoft/vscode#246119)"
            yield make(decoded, SCHEMA_REJECTED, RESPONSE, f"{where}{node.pointer}", text, severity=INFO)
        if is_item and isinstance(member(node.schema, "type"), list):
            text = "the items have a list of types, because of which several providers refuse the whole request"
            yield make(decoded, SCHEMA_REJECTED, RESPONSE, f"{where}{node.pointer}/type", text, severity=INFO)
        if isinstance(node.schema, bool) and "/properties/" in node.pointer and node.depth > 1:
            text = f"a schema is {str(node.schema).lower()}: several providers refuse the whole request because of it"
            yield make(decoded, SCHEMA_REJECTED, RESPONSE, f"{where}{node.pointer}", text, severity=INFO)
        if isinstance(ref, str) and ref.startswith("#") and not ref.startswith(("#/$defs/", "#/definitions/")):
            text = f"the reference {quote(ref)} does not point into $defs: strict clients refuse the whole list"
            yield make(decoded, SCHEMA_REJECTED, RESPONSE, f"{where}{node.pointer}", text, severity=INFO)
        if isinstance(values, list) and any(value in values[:number] for number, value in enumerate(values)):
            text = "enum contains a value twice: validators refuse the schema"
            yield make(decoded, SCHEMA_REJECTED, RESPONSE, f"{where}{node.pointer}/enum", text)


def _dangling(value: JsonValue, schema: JsonValue) -> Iterator[str]:
    """References in a value to places that a schema does not have."""
    if isinstance(value, dict):
        ref = value.get("$ref")
        if isinstance(ref, str) and ref.startswith("#/") and not _has_place(schema, ref[2:].split("/")):
            yield ref
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(inner, dict | list):
            yield from _dangling(inner, schema)


def _has_place(schema: JsonValue, path: list[str]) -> bool:
    for word in path:
        name = unquote(word).replace("~1", "/").replace("~0", "~")
        if isinstance(schema, dict) and name in schema:
            schema = schema[name]
        elif isinstance(schema, list) and name.isdecimal() and int(name) < len(schema):
            schema = schema[int(name)]
        else:
            return False
    return True


def texts_aimed_at_model(decoded: DecodedExchange, text: JsonValue, pointer: str) -> Iterator[Finding]:
    """Findings on texts of a server with hidden characters, or with orders to the model, recognised by form."""
    if not isinstance(text, str):
        return
    hidden = [char for char in _HIDDEN.findall(text) if char != _ZERO_WIDTH_JOINER]
    if hidden:
        kinds = ", ".join(dict.fromkeys(f"U+{ord(char):04X}" for char in hidden))
        words = f"{len(hidden):,} invisible characters: {kinds[:80]}"
        yield make(decoded, HIDDEN_TEXT, RESPONSE, pointer, words, _uncover(hidden))
    order = _ORDERS.search(text)
    if order:
        words = "the text gives instructions to the model; the user does not see this text"
        yield make(decoded, INJECTED_TEXT, RESPONSE, pointer, words, quote(order[0]))


def _uncover(hidden: list[str]) -> str:
    """What tag characters spell; empty for others."""
    letters = "".join(chr(ord(char) - 0xE0000) for char in hidden if 0xE0020 <= ord(char) < 0xE007F)
    return f"these characters spell {quote(letters)}" if letters else ""
