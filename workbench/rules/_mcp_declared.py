"""Rules on how the tools of servers are declared to a model: names, schemas, and tools that are not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workbench.contracts import Finding
from workbench.ir import JsonValue, ToolDef
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, DecodedExchange
from workbench.protocols.clients import search_tools
from workbench.protocols.mcp import is_named
from workbench.provenance import escape
from workbench.rules._mcp_rules import INFO, NAME, SCHEMA_CHANGED, TOOL_MISSING, WARNING, make, member
from workbench.rules.wording import quote
from workbench.toolcalls.schemas import resolve

_LONGEST = 64
"""Characters of a name that every provider takes (OpenAI, Gemini, Bedrock; platform documentation, 2026)."""

_SEARCH = ("search", "load_tools")
"""Words in the name of a tool by which any client may let the model find the tools that it keeps back."""

_LIMITS = (
    "enum",
    "const",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "items",
    "anyOf",
    "oneOf",
)
"""Keywords whose loss makes a schema accept more, or say less to the model."""


_LONG, _MARK = 200, 40
"""Characters of a description that clients cut, and those that a mark of the cut may have."""

_ALTERNATIVES = ("$ref", "anyOf", "oneOf", "allOf")
"""Keywords under which properties may be declared instead."""

_MOST_DEPTH = 8
"""Schemas within schemas that are compared; a reference may lead back to where it is."""


class ListedTool(NamedTuple):
    """A tool as its server lists it."""

    server: str
    name: str
    entry: Mapping[str, JsonValue]


def of_declared(decoded: DecodedExchange, listed: Sequence[ListedTool]) -> Iterator[Finding]:
    """Findings on the declared tools of a request against what the servers listed."""
    declared = decoded.request.tools if decoded.request else ()
    taken: dict[str, list[ListedTool]] = {}
    for tool in declared:
        if tool.name and (sources := [one for one in listed if _is_from(tool.name, one)]):
            taken[tool.name] = sources
            yield from _of_tool(decoded, tool, sources, declared)
    yield from _of_missing(decoded, declared, listed, taken)


def _is_from(name: str, tool: ListedTool) -> bool:
    return is_named(name, tool.name)


def _of_tool(
    decoded: DecodedExchange, tool: ToolDef, sources: Sequence[ListedTool], declared: Sequence[ToolDef]
) -> Iterator[Finding]:
    name, pointer = tool.name or "", tool.pointer
    if len(name) > _LONGEST:
        text = (
            f"with the prefix for its server, the name has {len(name)} characters; only {_LONGEST} are accepted "
            "by every provider"
        )
        yield make(decoded, NAME, REQUEST, f"{pointer}/name", text)
    equal = [one for one in sources if _plain(one.name) == _plain(name)]
    if len(equal) > 1:
        servers = ", ".join(quote(one.server) for one in equal)
        text = f"{servers} each have a tool {quote(name)}; only one is declared, and its server is unknown"
        yield make(decoded, NAME, REQUEST, f"{pointer}/name", text)
    best = max(sources, key=lambda one: (len(_plain(one.name)), _plain(one.server) in _plain(name)))
    alike = [
        one for one in sources if _provider_name(one.name) == _provider_name(best.name) and one.server == best.server
    ]
    if len(alike) > 1 and sum(_is_from(each.name or "", best) for each in declared) < len(alike):
        names = ", ".join(quote(one.name) for one in alike)
        text = (
            f"{names} of server {quote(best.server)} get the same name when special characters are replaced; "
            "only one is declared"
        )
        yield make(decoded, NAME, REQUEST, f"{pointer}/name", text)
    yield from _of_description(decoded, tool, best)
    change = _schema_change(member(best.entry, "inputSchema"), tool.schema)
    if change:
        inside, words = change
        text = f"{words}: server {quote(best.server)} listed {quote(best.name)} differently"
        place = next((p for p in _schema_places(decoded, pointer)), pointer)
        yield make(decoded, SCHEMA_CHANGED, REQUEST, f"{place}{inside}", text)


def _of_description(decoded: DecodedExchange, tool: ToolDef, listed: ListedTool) -> Iterator[Finding]:
    """A description whose end the model does not get; marks of the cut may be behind what is left."""
    whole, kept = member(listed.entry, "description"), (tool.description or "").rstrip()
    if isinstance(whole, str) and _LONG < len(kept) < len(whole.rstrip()) and whole.startswith(kept[:-_MARK]):
        text = f"{len(kept):,} of {len(whole):,} characters of the description of {quote(listed.name)} are declared"
        yield make(decoded, SCHEMA_CHANGED, REQUEST, f"{tool.pointer}/description", text, severity=INFO)


def _schema_places(decoded: DecodedExchange, pointer: str) -> Iterator[str]:
    for name in ("input_schema", "parameters", "function/parameters", "parametersJsonSchema", "inputSchema"):
        if decoded.place(REQUEST, f"{pointer}/{name}").spans:
            yield f"{pointer}/{name}"


def _plain(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


def _provider_name(name: str) -> str:
    """A name as clients clean it for providers."""
    return "".join(char if char.isalnum() else "_" for char in name.lower())


def _schema_change(listed: JsonValue, declared: JsonValue) -> tuple[str, str] | None:
    """Pointer and words of what a declared schema lost of a listed one; None for changes without a meaning.

    References are followed on both sides: one that was replaced by what it points to is no change.
    """
    if not isinstance(listed, dict) or not isinstance(declared, dict):
        return None
    for name in ("$defs", "definitions"):
        if name in listed and name not in declared and f"#/{name}/" in repr(declared):
            return "", f"{name} is missing, and a $ref still points to it"
    return _node_change((listed, declared), listed, declared, "", 0)


def _node_change(
    roots: tuple[JsonValue, JsonValue], listed: JsonValue, declared: JsonValue, at: str, depth: int
) -> tuple[str, str] | None:
    one, other = _target(roots[0], listed), _target(roots[1], declared)
    if depth > _MOST_DEPTH or not isinstance(one, dict) or not isinstance(other, dict):
        return None
    found = _leaf_change(one, other, at, is_reference=declared is not other) or _object_change(one, other, at)
    if found:
        return found
    known, kept = member(one, "properties"), member(other, "properties")
    inner = [(f"{at}/properties/{escape(n)}", known[n], kept[n]) for n in known if n in kept] if known and kept else []
    if "items" in one and "items" in other:
        inner.append((f"{at}/items", one["items"], other["items"]))
    changes = (_node_change(roots, before, now, where, depth + 1) for where, before, now in inner)
    return next((change for change in changes if change), None)


def _target(root: JsonValue, schema: JsonValue) -> JsonValue:
    """The schema that a reference points to; any other schema, and a reference that leads nowhere, as it is."""
    ref = member(schema, "$ref")
    found = resolve(root, ref) if isinstance(ref, str) else None
    return schema if found is None else found


def _object_change(
    listed: Mapping[str, JsonValue], declared: Mapping[str, JsonValue], at: str
) -> tuple[str, str] | None:
    known, kept = member(listed, "properties"), member(declared, "properties")
    if isinstance(known, dict) and known and kept is None and not any(name in declared for name in _ALTERNATIVES):
        return at, f"its properties are missing, for example {quote(next(iter(known)))}"
    for name in known if isinstance(known, dict) and isinstance(kept, dict) else ():
        if name not in kept:
            return f"{at}/properties", f"the property {quote(name)} is missing"
    before, now = _names(listed.get("required")), _names(declared.get("required"))
    if more := sorted(now - before):
        return f"{at}/required", f"{quote(more[0])} is required"
    if less := sorted(before - now):
        return (f"{at}/required" if "required" in declared else at), f"{quote(less[0])} is no longer required"
    if listed.get("additionalProperties", False) is not False and declared.get("additionalProperties") is False:
        return f"{at}/additionalProperties", "it no longer allows additional properties (additionalProperties is false)"
    return None


def _leaf_change(
    listed: Mapping[str, JsonValue], declared: Mapping[str, JsonValue], at: str, *, is_reference: bool
) -> tuple[str, str] | None:
    gone = [name for name in _LIMITS if name in listed and name not in declared]
    if gone and ("$ref" not in declared or is_reference) and not _may_be_written_otherwise(gone[0], listed, declared):
        return at, f"{gone[0]} is missing"
    one, other = listed.get("type"), declared.get("type")
    is_same = not isinstance(one, str) or not isinstance(other, str) or one.lower() == other.lower()
    return None if is_same else (f"{at}/type", f"the type is {quote(other)} instead of {quote(one)}")


def _may_be_written_otherwise(name: str, listed: Mapping[str, JsonValue], declared: Mapping[str, JsonValue]) -> bool:
    """A constant may be an enum of one; alternatives that alone say the type may be a type list or nullable."""
    is_type = name in ("anyOf", "oneOf") and "type" not in listed
    return (name == "const" and "enum" in declared) or (
        is_type and any(word in declared for word in ("nullable", "type", "anyOf"))
    )


def _names(value: JsonValue) -> set[str]:
    return {name for name in value if isinstance(name, str)} if isinstance(value, list) else set()


def _of_missing(
    decoded: DecodedExchange,
    declared: Sequence[ToolDef],
    listed: Sequence[ListedTool],
    names_in_use: Mapping[str, object],
) -> Iterator[Finding]:
    """Tools that are not declared, unless the client keeps tools back for a search."""
    names = [tool.name or "" for tool in declared]
    if any(word.lower() in name.lower() for name in names for word in (*_SEARCH, *search_tools())):
        return
    missing = [one for one in listed if not any(is_named(name, one.name) for name in names)]
    if missing:
        all_of = sorted({one.server for one in missing} - {one.server for one in listed if one not in missing})
        shown = ", ".join(quote(one.name) for one in missing[:5]) + (" …" if len(missing) > 5 else "")
        words = f"{len(missing):,} listed tools are not declared: {shown}"
        text = f"{words}; no tool of {', '.join(map(quote, all_of))} is declared" if all_of else words
        yield make(decoded, TOOL_MISSING, REQUEST, "", text, severity=WARNING if all_of else INFO)
