"""Tool definitions: names, counts, and what a provider does not accept in their schemas."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from workbench import protocols
from workbench.contracts import Breaks, Contract, Finding, Severity
from workbench.globs import matches_glob
from workbench.ir import JsonValue, Message, ModelRequest, NodeRef, ToolCallIR, ToolDef
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, DecodedExchange, asked_of, fact
from workbench.provenance import escape
from workbench.rules._shared.body_values import base, reads_fields, values_at
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.families import get_rule
from workbench.rules._shared.lasting_findings import of_messages
from workbench.rules._shared.wording import (
    as_unproved,
    by_index,
    by_name,
    by_term,
    context,
    enforced_exactly,
    is_misread,
    quote,
)
from workbench.toolcalls.schemas import (
    PLAIN,
    Dialect,
    DialectFact,
    dialects,
    find_contradictions,
    find_meta_faults,
    lint,
    resolve,
)
from workbench.wire import dumps, loads

ERROR, WARNING = Severity.ERROR, Severity.WARNING

KEYWORD = Rule("schema.unsupported-keyword", ERROR, "This provider refuses a schema keyword.", breaks=Breaks.REQUEST)
ITEMS = Rule("schema.items-missing", ERROR, "An array schema has no items.", breaks=Breaks.REQUEST)
REF = Rule("schema.ref", WARNING, "A reference cannot be resolved or is refused.", breaks=Breaks.REQUEST)
STRICT = Rule("schema.strict", ERROR, "Conditions of strict mode are not met.", breaks=Breaks.REQUEST)
NAME = Rule("schema.name", ERROR, "A tool name violates the provider's naming rule.", breaks=Breaks.REQUEST)
DUPLICATE = Rule("schema.duplicate-name", WARNING, "Two tools have the same name.", breaks=Breaks.REQUEST)
TOO_MANY = Rule("schema.too-many-tools", ERROR, "The request declares too many tools.", breaks=Breaks.REQUEST)
NO_PARAMETERS = Rule(
    "schema.missing-parameters", ERROR, "The required parameters object is missing.", breaks=Breaks.REQUEST
)
NO_TOOLS = Rule(
    "schema.tools-missing", ERROR, "The history uses tools, but the request defines none.", breaks=Breaks.REQUEST
)
MALFORMED = Rule("schema.malformed", WARNING, "The tool definition has the wrong shape.", breaks=Breaks.REQUEST)

RULES = (KEYWORD, ITEMS, REF, STRICT, NAME, DUPLICATE, TOO_MANY, NO_PARAMETERS, NO_TOOLS, MALFORMED)

_RULE_OF = {
    lint.KEYWORD: KEYWORD,
    lint.ITEMS: ITEMS,
    lint.REF: REF,
    lint.STRICT: STRICT,
    lint.SHAPE: MALFORMED,
    lint.SIZE: STRICT,
}

MOST_OF_A_TOOL = 20
"""Findings on the schema of one tool."""

_SCHEMAS = ("/input_schema", "/function/parameters", "/parameters", "/toolSpec/inputSchema/json", "/inputSchema/json")
_JSON_SCHEMA = ("/parametersJsonSchema", "/parameters_json_schema")
_NAMES = ("/name", "/function/name", "/toolSpec/name")


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the tools of the request, as far as its contract knows what is refused."""
    request = case.request
    if request is None or case.decoded.exchange.is_transcript:
        return
    yield from _check_shapes(case, request)
    yield from _without_tools(case, request)
    yield from _check_replayed(case)
    yield from _check_declared(case)


@reads_fields
def _check_declared(case: RuleContext) -> Iterator[Finding]:
    """Types and schemas of the tools, and of the structured output."""
    request = case.request
    if request is None:
        return
    yield from _check_types(case, request)
    yield from _check_outputs(case)
    yield from _strict_totals(case, request)
    if not request.tools:
        return
    yield from _list(case, request)
    known = fact(case.contract, _dialects)
    for tool in request.tools:
        if tool.kind == "client":
            yield from _tool(case, tool, known)


def of_contract(contract: Contract) -> Mapping[str, Dialect]:
    """Mode → dialect of a contract, each with the name of the contract."""
    found = fact(contract, _dialects).items()
    return {mode: replace(dialect, name=f"{contract.label} {mode}".strip()) for mode, dialect in found}


def _dialects(contract: Contract) -> Mapping[str, Dialect]:
    """Mode → dialect of a contract: equal ones are one dialect for what is kept about a schema."""
    terms = {k: DialectFact(f.value, f"{f.source} ({f.date})", f.note) for k, f in contract.terms_of("schema").items()}
    return {dialect.mode: dialect for dialect in dialects("", terms)}


def _check_shapes(case: RuleContext, request: ModelRequest) -> Iterator[Finding]:
    """Declarations of another shape."""
    for anomaly in request.anomalies:
        if anomaly.slug == MALFORMED.slug:
            lacks = anomaly.lacks
            when, values = ("missing-field", {"field": lacks, "found": lacks}) if lacks else ("", {})
            values |= _declaration_values(case, anomaly.pointer)
            finding = case.finding(MALFORMED, REQUEST, anomaly.pointer, anomaly.message, when=when, values=values)
            yield finding if enforced_exactly(case, MALFORMED, when, "") else as_unproved(finding)


def _check_types(case: RuleContext, request: ModelRequest) -> Iterator[Finding]:
    """Tools of a type that this provider does not accept."""
    accepted = case.contract.term("schema.tool-types")
    for tool in request.tools if isinstance(accepted, list) else ():
        for pointer, kind in values_at(case.decoded, f"{tool.pointer}/type"):
            if isinstance(kind, str) and not any(matches_glob(kind, glob) for glob in accepted):
                text = f"tools of type {quote(kind)} are not accepted, only {', '.join(accepted)}"
                template_values = {
                    **_tool_values(tool),
                    "found": kind,
                    "names": ", ".join(accepted),
                    **_declaration_values(case, tool.pointer),
                }
                rule = get_rule("schema.tool-type")
                yield by_term(case, rule, "schema.tool-types", pointer, text, when="tool-type", values=template_values)


def _check_outputs(case: RuleContext) -> Iterator[Finding]:
    """Schemas of structured outputs that are no JSON Schema, or that the provider cannot enforce."""
    for place in protocols.traits(case.decoded.protocol).output_schemas:
        for pointer, output_schema in values_at(case.decoded, place):
            schema = _read_output(output_schema)
            if schema is None:
                continue  # the word "json" of Ollama
            for issue in _output_issues(case, pointer, schema)[:MOST_OF_A_TOOL]:
                at = pointer if isinstance(output_schema, str) else f"{pointer}{issue.pointer}"
                text = f"the response schema: {issue.message}"
                finding = case.finding(_RULE_OF[issue.kind], REQUEST, at, text, source=issue.source, when=issue.when)
                yield replace(as_unproved(finding), severity=ERROR if issue.source else WARNING)


def _read_output(value: JsonValue) -> JsonValue:
    """A schema as a value; Converse has it as text. None for text that is no object."""
    if not isinstance(value, str):
        return value
    try:
        return loads(value) if value.lstrip().startswith("{") else None
    except ValueError:
        return None


def _output_issues(case: RuleContext, pointer: str, schema: JsonValue) -> list[lint.Issue]:
    """Faults of the schema of a response, by what the contract says of such schemas, or of strict ones."""
    known = fact(case.contract, _dialects)
    is_strict = any(value is True for _, value in values_at(case.decoded, f"{pointer.rpartition('/')[0]}/strict"))
    mode = "output" if "output" in known else "strict" if is_strict and "strict" in known else PLAIN
    if pointer.endswith("JsonSchema") and "json-schema" in known:
        mode = "json-schema"
    found = []
    if mode != PLAIN:
        found = [i for i in lint.lint_schema(schema, known[mode]) if i.effect == lint.REFUSED and i.when != "optional"]
    return [*found, *_meta_faults(schema, known[mode], {issue.pointer for issue in found}, is_tool=False)]


def _without_tools(case: RuleContext, request: ModelRequest) -> Iterator[Finding]:
    if request.tools or not case.contract.term("schema.tools-with-history") or request.previous_id:
        return
    for message in request.messages:
        for _, call in message.tool_calls():
            text = f"the history calls {quote(call.name)}, but the request defines no tools"
            yield case.finding(NO_TOOLS, REQUEST, message.absolute(call), text, values={"name": call.name or ""})
            return


def _declaration_values(case: RuleContext, pointer: str) -> dict[str, str]:
    """A declaration, and all of them, as written in the request."""
    spans = {
        "definition": case.decoded.place(REQUEST, pointer).span,
        "tools": case.decoded.place(REQUEST, "/tools").span,
    }
    text = case.decoded.request_text
    return {name: text[slice(*span)].decode("utf-8", "replace") for name, span in spans.items() if span}


REPLAYED = "replayed"
"""Checks of providers that validate the calls of a history as they validate the tools."""


@of_messages
def _check_replayed(case: RuleContext) -> Iterator[Finding]:
    """Names and numbers of calls, where the provider holds them to what it asks of tools."""
    pattern, most = case.contract.term("schema.name-pattern"), case.contract.term("schema.max-tools")
    if isinstance(pattern, str) and enforced_exactly(case, NAME, REPLAYED):
        for n, message in case.suspects(_is_misnamed, pattern):
            for k, call in message.tool_calls():
                ref = NodeRef(REQUEST, n, k)
                if not re.fullmatch(pattern, call.name or "") and not is_misread(case, ref, "name"):
                    text = f"the name {quote(call.name)} of a call in the history does not match {pattern}"
                    values = _of_name(call.name or "", pattern)
                    yield case.at(NAME, ref, text, name="name", when=REPLAYED, values=values)
    if isinstance(most, int) and enforced_exactly(case, TOO_MANY, REPLAYED):
        for _, message in case.suspects(_has_many, most):
            count = sum(1 for _ in message.tool_calls())
            values = {"limit": str(most), "length": str(count), "found": str(count)}
            pointer, text = f"{message.pointer}/tool_calls", f"{count} replayed calls in one turn, at most {most}"
            yield case.finding(TOO_MANY, REQUEST, pointer, text, when=REPLAYED, values=values)


@asked_of(ToolCallIR)
def _is_misnamed(message: Message, pattern: str) -> bool:
    return not all([_is_name(call.name or "", pattern) for _, call in message.tool_calls()])


@lru_cache(maxsize=1024)
def _is_name(name: str, pattern: str) -> bool:
    return re.fullmatch(pattern, name) is not None


@asked_of(ToolCallIR)
def _has_many(message: Message, most: int) -> bool:
    return len(message.tool_calls()) > most


def _list(case: RuleContext, request: ModelRequest) -> Iterator[Finding]:
    most = case.contract.term("schema.max-tools")
    if isinstance(most, int) and len(request.tools) > most:
        values = {"limit": str(most), "length": str(len(request.tools)), "found": str(len(request.tools))}
        text = f"{len(request.tools)} tools, at most {most}"
        yield _from(case, "schema.max-tools", TOO_MANY, _tools_at(case), text, values=values)
    yield from _strict_tools(case, [tool for tool in request.tools if tool.strict], request.tools)
    seen: dict[str, ToolDef] = {}
    for tool in request.tools:
        if not tool.name or tool.kind == "custom" or not tool.pointer.startswith("/tools"):
            continue
        if tool.name in seen:
            text = f"a second tool is named {quote(tool.name)}"
            values = {"name": tool.name, "found": tool.name}
            finding = _from(case, "schema.unique-names", DUPLICATE, _name_of(case, tool), text, values=values)
            yield replace(finding, related=(seen[tool.name].pointer,))
        seen.setdefault(tool.name, tool)


def _tools_at(case: RuleContext) -> str:
    """Pointer of the list of tools in this protocol."""
    return base(case.decoded) + protocols.traits(case.decoded.protocol).places.get("request.tools", "/tools")


def _strict_tools(case: RuleContext, strict: Sequence[ToolDef], tools: Sequence[ToolDef]) -> Iterator[Finding]:
    """Keywords that strict tools must have together."""
    most = case.contract.term("schema.strict.max-tools")
    if isinstance(most, int) and len(strict) > most:
        values = {"limit": str(most), "length": str(len(strict)), "found": str(len(strict))}
        text = f"{len(strict)} strict tools, at most {most}"
        yield by_term(case, STRICT, "schema.strict.max-tools", _tools_at(case), text, when="too-complex", values=values)
    if strict and case.contract.term("schema.strict.all-tools"):
        for tool in tools:
            if not tool.strict and tool.schema is not None:
                text = f"the tool {quote(tool.name)} is not strict but other tools are: all must be strict"
                yield as_unproved(case.finding(STRICT, REQUEST, tool.pointer, text, values=_tool_values(tool)))


_TOTALS = {"optional": "optional properties", "unions": "properties of several types"}
"""Counts over all strict schemas of a request."""


def _strict_totals(case: RuleContext, request: ModelRequest) -> Iterator[Finding]:
    """Limits on all strict tools and the schema of the response together."""
    limits = {what: case.contract.term(f"schema.strict.max-{what}") for what in _TOTALS}
    if not any(limits.values()):
        return
    places = protocols.traits(case.decoded.protocol).output_schemas
    outputs = [found for place in places for found in values_at(case.decoded, place)]
    strict = [tool.schema for tool in request.tools if tool.strict]
    schemas = [dumps(schema) for schema in (*strict, *(_read_output(source_schema) for _, source_schema in outputs))]
    for what, most in limits.items():
        count = sum(_sizes(schema)[what] for schema in schemas) if isinstance(most, int) else 0
        if isinstance(most, int) and count > most:
            facts = {"limit": str(most), "length": str(count), "found": str(count)}
            text = f"{count} {_TOTALS[what]} in total in the strict tools and the response schema; the limit is {most}"
            at = _tools_at(case) if strict else outputs[0][0]
            yield by_term(case, STRICT, f"schema.strict.max-{what}", at, text, when="too-complex", values=facts)


@lru_cache(maxsize=4096)
def _sizes(schema: bytes) -> dict[str, int]:
    return lint.measure(loads(schema))


def _tool(case: RuleContext, tool: ToolDef, known: Mapping[str, Dialect]) -> Iterator[Finding]:
    yield from _name(case, tool)
    if not tool.description and case.contract.term("schema.description-required"):
        message, term = f"the tool {quote(tool.name)} has no description", "schema.description-required"
        yield by_term(
            case, MALFORMED, term, _holder(case, tool), message, when="no-description", values=_tool_values(tool)
        )
    if tool.schema is None:
        if case.contract.term("schema.parameters-required") and not _is_defined_there(case, tool):
            message = f"the tool {quote(tool.name)} has no parameters"
            holder, values = _holder(case, tool), _tool_values(tool)
            yield _from(case, "schema.parameters-required", NO_PARAMETERS, holder, message, values=values)
        return
    pointer, mode = None, "strict" if tool.strict and "strict" in known else PLAIN
    if "json-schema" in known:
        pointer = _first(case, tool, _JSON_SCHEMA)
        mode = "json-schema" if pointer else mode
    schema = schema_as_sent(case.decoded, tool) if known[mode].nullable else tool.schema
    text = dumps(schema)
    issues = _issues(text, known[mode])
    if issues and pointer is None:
        pointer = _first(case, tool, _SCHEMAS) or tool.pointer
    for issue in issues[:MOST_OF_A_TOOL]:
        values = {**_tool_values(tool), **_words_of(issue, schema)}
        yield _finding(case, tool, issue, f"{pointer}{issue.pointer}", values)


def _is_defined_there(case: RuleContext, tool: ToolDef) -> bool:
    """The provider knows the schema by the type: ``computer_20251124``."""
    return any(kind not in ("custom", "function") for _, kind in values_at(case.decoded, f"{tool.pointer}/type"))


@lru_cache(maxsize=4096)
def _issues(schema: bytes, dialect: Dialect) -> tuple[lint.Issue, ...]:
    """Most requests of a conversation declare the same tools."""
    value = loads(schema)
    found = [i for i in lint.lint_schema(value, dialect) if i.effect == lint.REFUSED and i.when != "optional"]
    return (*found, *_meta_faults(value, dialect, {issue.pointer for issue in found}, is_tool=True))


def _meta_faults(schema: JsonValue, dialect: Dialect, known: Collection[str], *, is_tool: bool) -> Iterator[lint.Issue]:
    """Parts that are no JSON Schema, where nothing else is wrong; arguments are objects, and so is a tool's schema."""
    faults = find_meta_faults(schema, is_mapped=dialect.nullable)
    root = schema.get("type") if isinstance(schema, Mapping) else None
    if is_tool and not faults and root is not None and not _describes_object(root):
        message = f"the root has type {quote(root)}: arguments must be an object"
        faults = (lint.Issue("/type", "type", lint.REFUSED, message, lint.SHAPE, "root-type"),)
    for fault in faults:
        if fault.pointer not in known and not ("" in known and fault.pointer == "/type"):
            yield replace(fault, source=dialect.source("valid") if dialect.valid else "")
    yield from (each for each in find_contradictions(schema) if not known and not faults)


def _describes_object(root: JsonValue) -> bool:
    names = root if isinstance(root, list) else [root]
    return any(isinstance(name, str) and name.lower() == "object" for name in names)


def _finding(
    case: RuleContext, tool: ToolDef, issue: lint.Issue, pointer: str, template_values: Mapping[str, str]
) -> Finding:
    rule = _RULE_OF[issue.kind]
    message = f"tool {quote(tool.name)}: {issue.message}"
    finding = case.finding(
        rule, REQUEST, pointer, message, source=issue.source, when=issue.when, values=template_values
    )
    enforced = next((e for e in case.contract.checks_of(rule.slug) if e.when in ("", issue.when)), None)
    severity = ERROR if issue.source else WARNING  # a fact of the contract, or a fault nobody is known to refuse
    if enforced is None:  # the text that is known belongs to another fault of this rule
        return replace(finding, refusal="", check=None, severity=severity)
    return replace(finding, severity=severity)


def _tool_values(tool: ToolDef) -> dict[str, str]:
    """Name and number of a tool; of one in a group of functions the number in it, and the group's."""
    found = {"name": tool.name or ""}
    numbers = re.findall(r"/(\d+)", tool.pointer)
    if len(numbers) == 2:
        found |= {"group": numbers[0], "tool": numbers[1]}
    return found


def _words_of(issue: lint.Issue, schema: JsonValue) -> dict[str, str]:
    """Subject of an issue, in all words that providers use for it."""
    at = issue.pointer.removesuffix(f"/{escape(issue.keyword)}")
    is_parsed = issue.kind == lint.KEYWORD
    words = {"keyword": issue.keyword, "found": issue.keyword, "key": issue.property, "context": context(at)}
    words["place"] = f"#{at}"
    words["path"] = by_index(schema, at) if is_parsed else by_name(at)
    if issue.keyword == "$ref":
        node = resolve(schema, f"#{at}")
        words["ref"] = str(node.get("$ref", "")) if isinstance(node, dict) else ""
    if issue.size:
        words |= {"length": str(issue.size[0]), "found": str(issue.size[0]), "limit": str(issue.size[1])}
    return words


def _name(case: RuleContext, tool: ToolDef) -> Iterator[Finding]:
    pattern = case.contract.term("schema.name-pattern")
    if not isinstance(pattern, str) or tool.name is None or _is_built_in(tool) or re.fullmatch(pattern, tool.name):
        return
    shorter = any(re.fullmatch(pattern, tool.name[:n]) for n in (128, 64))
    if shorter:
        message = f"the tool name has {len(tool.name)} characters: {quote(tool.name)}"
    else:
        message = f"the tool name {quote(tool.name)} does not match {pattern}"
    when = "too-long" if shorter else "pattern"
    values = {**_tool_values(tool), **_of_name(tool.name, pattern)}
    yield _from(case, "schema.name-pattern", NAME, _name_of(case, tool), message, when=when, values=values)


def _is_built_in(tool: ToolDef) -> bool:
    """The provider's own tool: its name is the provider's too (Kimi's ``builtin_function`` has ``$web_search``)."""
    return tool.kind == "server" or str(tool.extra.get("type", "function")).startswith("builtin")


def _of_name(name: str, pattern: str) -> dict[str, str]:
    sizes = {"length": str(len(name)), "limit": str(_longest(pattern))}
    return {"name": name, "found": name, "pattern": f"^{pattern}$", **sizes}


@cache
def _longest(pattern: str) -> int:
    """Characters that a name of this pattern may have, as far as anybody sets a limit."""
    return max((n for n in range(1, 513) if re.fullmatch(pattern, "a" * n)), default=0)


def _from(case: RuleContext, term: str, rule: Rule, pointer: str, message: str, **more: Any) -> Finding:
    """A finding that is on a term; that the provider's refusal was never captured does not weaken it."""
    fact = case.contract.terms.get(term)
    source = f"{fact.source} ({fact.date})" if fact else ""
    finding = case.finding(rule, REQUEST, pointer, message, source=source, **more)
    return replace(finding, severity=ERROR) if fact and fact.value else finding


def schema_as_sent(decoded: DecodedExchange, tool: ToolDef) -> JsonValue:
    """The schema of a declared tool as it is in the request: a provider checks the bytes, not our decoded form.

    Names of types and counts are those of JSON Schema; ``nullable`` and every other word are the request's own.
    """
    pointer = schema_at(decoded, tool)
    span = decoded.place(REQUEST, pointer).span if pointer else None
    return _as_written(tool.schema, loads(decoded.request_index.text[slice(*span)])) if span else tool.schema


def _as_written(read: JsonValue, source: JsonValue) -> JsonValue:
    if read == source:
        return read
    if isinstance(read, dict) and isinstance(source, dict):
        return {key: _as_written(read.get(key, inner), inner) for key, inner in source.items()}
    if isinstance(read, list) and isinstance(source, list):
        return [_as_written(*both) for both in zip(read, source, strict=False)]
    is_nullable = isinstance(read, list) and isinstance(source, str)  # "type", beside nullable
    return read[0] if is_nullable and read else read


def schema_at(decoded: DecodedExchange, tool: ToolDef) -> str | None:
    """The pointer of a declared tool's schema in the request."""
    return _find_field(decoded, tool, (*_JSON_SCHEMA, *_SCHEMAS))


def _first(case: RuleContext, tool: ToolDef, below: tuple[str, ...]) -> str | None:
    return _find_field(case.decoded, tool, below)


def _find_field(decoded: DecodedExchange, tool: ToolDef, below: tuple[str, ...]) -> str | None:
    """The pointer of the first of these fields that the declaration has."""
    found = (tool.pointer + path for path in below)
    return next((pointer for pointer in found if decoded.place(REQUEST, pointer).span), None)


def _name_of(case: RuleContext, tool: ToolDef) -> str:
    return _first(case, tool, _NAMES) or tool.pointer


def _holder(case: RuleContext, tool: ToolDef) -> str:
    return _first(case, tool, ("/function", "/toolSpec")) or tool.pointer
