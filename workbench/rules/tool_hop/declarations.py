"""Rules on how the tools of servers are declared to a model: names, schemas, and tools that are not there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from workbench import regex
from workbench.contracts import Finding
from workbench.ir import JsonValue, ToolDef
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, DecodedExchange
from workbench.protocols.clients import ClientFacts, SchemaRule, search_tools
from workbench.protocols.mcp import is_named, tool_key, tools_meant
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import INFO, INSTRUCTIONS, NAME, SCHEMA_CHANGED, TOOL_MISSING, WARNING, make, member
from workbench.rules.tool_hop.schemas import SchemaChange, schema_changes

_LONGEST = 64
"""Characters of a name that every provider takes (OpenAI, Gemini, Bedrock; platform documentation, 2026)."""

_PLAIN_TEXT = regex.compile(r"[A-Za-z0-9 .,:;()_-]+")
"""Characters that JSON writes as they are."""

_HEAD, _TELLING, _RUN = 160, 12, 40
"""Characters of instructions in which a run of such characters is looked for, those that no other text has, and those
of the run that are looked for: clients cut the rest."""

_BETWEEN = rb"(?:\s|\\+[nrt]|[>#*|])*"
"""What may be between two words of a text in JSON that a client wraps, indents or quotes."""

_SEARCH = ("search", "load_tools")
"""Words in the name of a tool by which any client may let the model find the tools that it keeps back."""

_LONG, _MARK = 200, 40
"""Characters of a description that clients cut, and those that a mark of the cut may have."""


class ListedTool(NamedTuple):
    """A tool as its server lists it."""

    server: str
    name: str
    entry: Mapping[str, JsonValue]


def of_declared(
    decoded: DecodedExchange, listed: Sequence[ListedTool], client_of: Callable[[str], ClientFacts]
) -> Iterator[Finding]:
    """Findings on the declared tools of a request against what the servers listed.

    Args:
        client_of: facts of the client of a server.
    """
    declared = decoded.request.tools if decoded.request else ()
    places_by_key: dict[str, list[int]] = {}
    for place, one in enumerate(listed):
        places_by_key.setdefault(tool_key(one.name), []).append(place)
    sources_by_name: dict[str, list[ListedTool]] = {}
    for tool in declared:
        places = sorted(place for key in tools_meant(tool.name, None) for place in places_by_key.get(key, ()))
        if tool.name and (sources := [listed[place] for place in places]):
            sources_by_name[tool.name] = sources
            yield from _of_tool(decoded, tool, sources, declared)
            yield from _of_schema(decoded, tool, _best_of(tool, sources), client_of)
    yield from _of_missing(decoded, declared, listed, sources_by_name)


def _is_from(name: str, tool: ListedTool) -> bool:
    return is_named(name, tool.name)


def _of_tool(
    decoded: DecodedExchange, tool: ToolDef, sources: Sequence[ListedTool], declared: Sequence[ToolDef]
) -> Iterator[Finding]:
    name, pointer = tool.name or "", tool.pointer
    if len(name) > _LONGEST:
        text = (
            f"with the server's name as prefix, the name has {len(name)} characters; some providers accept only "
            f"{_LONGEST}"
        )
        yield make(decoded, NAME, REQUEST, f"{pointer}/name", text)
    equal = [one for one in sources if _plain(one.name) == _plain(name)]
    if len(equal) > 1:
        servers = ", ".join(quote(one.server) for one in equal)
        text = f"{servers} each have a tool {quote(name)}; only one is declared, and its server is unknown"
        yield make(decoded, NAME, REQUEST, f"{pointer}/name", text)
    best = _best_of(tool, sources)
    alike = [
        one for one in sources if _provider_name(one.name) == _provider_name(best.name) and one.server == best.server
    ]
    if len(alike) > 1 and sum(_is_from(each.name or "", best) for each in declared) < len(alike):
        names = ", ".join(quote(one.name) for one in alike)
        text = (
            f"{names} of server {quote(best.server)} have the same name after special characters are replaced; "
            "only one is declared"
        )
        yield make(decoded, NAME, REQUEST, f"{pointer}/name", text)
    yield from _of_description(decoded, tool, best)


def _best_of(tool: ToolDef, sources: Sequence[ListedTool]) -> ListedTool:
    """Of the listed tools that a name may mean, the one with the longest name, of the server that is named."""
    name = _plain(tool.name or "")
    return max(sources, key=lambda one: (len(_plain(one.name)), _plain(one.server) in name))


def _rule_of(change: SchemaChange, client: ClientFacts | None) -> SchemaRule | None:
    """The rule by which a client makes a change."""
    is_root = "/properties" not in change.pointer
    return client.schema_rule_for(change.keyword, is_root=is_root) if client else None


def _of_schema(
    decoded: DecodedExchange, tool: ToolDef, best: ListedTool, client_of: Callable[[str], ClientFacts]
) -> Iterator[Finding]:
    """The first change of a schema that its client does not make by rule; else the first one, as a note."""
    changes = schema_changes(member(best.entry, "inputSchema"), tool.schema)
    client = client_of(best.server) if changes else None
    rules = {change: _rule_of(change, client) for change in changes}
    for first in sorted(changes, key=lambda change: rules[change] is not None)[:1]:
        rule, place = rules[first], next((p for p in _schema_places(decoded, tool.pointer)), tool.pointer)
        more = f" ({len(changes):,} such places)" if len(changes) > 1 else ""
        text = f"{first.text}: server {quote(best.server)} listed {quote(best.name)} differently{more}"
        how = f"known behaviour of {client.name}: {rule.text} ({rule.source})" if rule and client else ""
        yield make(
            decoded, SCHEMA_CHANGED, REQUEST, f"{place}{first.pointer}", text, how, INFO if rule else first.severity
        )


def _of_description(decoded: DecodedExchange, tool: ToolDef, listed: ListedTool) -> Iterator[Finding]:
    """A description whose end the model does not get; marks of the cut may be behind what is left."""
    whole, declared_text = member(listed.entry, "description"), (tool.description or "").rstrip()
    if isinstance(whole, str) and whole.strip() and not declared_text:
        text = f"{quote(listed.name)} is declared to the model without its description"
        yield make(decoded, SCHEMA_CHANGED, REQUEST, tool.pointer, text)
    elif (
        isinstance(whole, str)
        and _LONG < len(declared_text) < len(whole.rstrip())
        and whole.startswith(declared_text[:-_MARK])
    ):
        share = f"{len(declared_text):,} of {len(whole):,} characters"
        text = f"{share} of the description of {quote(listed.name)} are declared"
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


def _of_missing(
    decoded: DecodedExchange,
    declared: Sequence[ToolDef],
    listed: Sequence[ListedTool],
    names_in_use: Mapping[str, object],
) -> Iterator[Finding]:
    """Tools that are not declared, unless the client keeps tools back for a search."""
    names = [tool.name or "" for tool in declared]
    if any(name in search_tools() or any(word.lower() in name.lower() for word in _SEARCH) for name in names):
        return
    declared_keys = _meant_by(declared)
    missing = [one for one in listed if tool_key(one.name) not in declared_keys]
    if missing:
        all_of = sorted(
            {one.server for one in missing} - {one.server for one in listed if tool_key(one.name) in declared_keys}
        )
        names_text = ", ".join(quote(one.name) for one in missing[:5]) + (" …" if len(missing) > 5 else "")
        words = f"{len(missing):,} listed tools are not declared: {names_text}"
        text = f"{words}; no tool of {', '.join(map(quote, all_of))} is declared" if all_of else words
        yield make(decoded, TOOL_MISSING, REQUEST, "", text, severity=WARNING if all_of else INFO)


def _meant_by(declared: Iterable[ToolDef]) -> frozenset[str]:
    """Keys of the tools of servers that are declared."""
    return frozenset(key for tool in declared for key in tools_meant(tool.name, None))


def of_instructions(
    decoded: DecodedExchange, declared: Sequence[ToolDef], servers: Iterable[tuple[str, str, Iterable[str]]]
) -> Iterator[Finding]:
    """Servers whose tools are declared, but whose instructions the model does not get.

    Args:
        servers: name, instructions and names of the tools of each.
    """
    declared_keys = _meant_by(declared)
    for server, instructions, tools in servers:
        head = max(_PLAIN_TEXT.findall(instructions[:_HEAD]), key=len, default="").strip()[:_RUN]
        is_declared = any(tool_key(tool) in declared_keys for tool in tools)
        if len(head) >= _TELLING and is_declared and not _has_words(decoded.request_text, head):
            text = f"the instructions of {quote(server)} ({len(instructions):,} characters) are not in this request"
            yield make(decoded, INSTRUCTIONS, REQUEST, "", text, quote(head))


def _has_words(text: bytes, words: str) -> bool:
    """A text in JSON has these words in a row, whatever whitespace is between them."""
    whole = words.encode()
    return whole in text or bool(re.search(_BETWEEN.join(map(re.escape, whole.split())), text))
