"""Shared by rule families: quoting, related nodes, pointers of messages, places in a schema as providers name them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from workbench import limits
from workbench.contracts import EnforcedCheck, Finding, Severity
from workbench.ir import JsonValue, NodeRef
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, DecodedExchange, fact
from workbench.rules._shared.context import Rule, RuleContext
from workbench.toolcalls.schemas import LISTS, MAPS
from workbench.wire import dumps, type_words
from workbench.wire import quote as quote

MOST_RELATED = 16

LEGACY_ROLE = "function"
"""Role of the results of the deprecated single call, where other results have the role ``tool``."""


def of_role(role: str) -> str:
    """The role of a message in the words of a finding."""
    return f"of role {quote(role)}" if role else "without a valid role"


def quote_json(value: JsonValue) -> str:
    """A JSON value with its type, where it is no string: ``5 (a number)``."""
    return quote(value) if isinstance(value, str) else f"{show_value(value)[: limits.SNIPPET]} ({type_words(value)})"


def show_value(value: JsonValue) -> str:
    """A JSON value as text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else dumps(value).decode("utf-8", "replace")


def with_related(finding: Finding, pointers: Iterable[str]) -> Finding:
    """The finding with the nodes that belong to it, a handful of them."""
    others = dict.fromkeys(p for p in pointers if p != finding.pointer)
    return replace(finding, related=tuple(others)[:MOST_RELATED])


def as_warning(finding: Finding) -> Finding:
    """The finding as a warning, where the provider enforces the rule but not in this position."""
    return replace(finding, severity=Severity.WARNING, check=None)


def enforced_exactly(case: RuleContext, rule: Rule, *whens: str) -> EnforcedCheck | None:
    """The provider's check of exactly this fault, whichever of its names is known; None for one of another fault."""
    checks = case.contract.checks_of(rule.slug)
    for when in whens if checks else ():
        for check in checks:
            if check.when == when:
                return check
    return None


def by_term(
    case: RuleContext, rule: Rule, term: str, pointer: str, message: str, *, when: str = "", **more: Any
) -> Finding:
    """A finding on what a term of the contract refuses: an error, also where the text of the refusal is not known.

    Args:
        when: which fault of the rule; the text that is known of another one is not quoted.
        more: as for ``RuleContext.finding``.
    """
    fact = case.contract.terms.get(term)
    source = f"{fact.source} ({fact.date})" if fact else ""
    finding = case.finding(rule, REQUEST, pointer, message, when=when, **{"source": source, **more})
    if enforced_exactly(case, rule, when, ""):
        return finding
    return replace(
        as_unproved(finding), severity=Severity.ERROR if fact else Severity.WARNING, fact=term if fact else ""
    )


def as_unproved(finding: Finding) -> Finding:
    """The finding as a warning, where the refusal that is known is one of another fault of its rule."""
    return replace(as_warning(finding), refusal="")


def is_misread(case: RuleContext, ref: NodeRef, name: str) -> bool:
    """A member of a part, its ``id`` or ``name``, is there with a value that is no string: a finding says so already.

    The decoder keeps such a value as it is, and the part has none.
    """
    if ref.side != REQUEST:
        return False
    at = f"{case.pointer(ref)}/"
    shapes = (anomaly.pointer for anomaly in case.request_anomalies if anomaly.slug == "content.shape")
    return any(pointer.startswith(at) and pointer.lower().endswith(name) for pointer in shapes)


def weaker(rule: Rule, severity: Severity = Severity.WARNING) -> Rule:
    """The same rule at another severity: for cases that bite less."""
    return replace(rule, severity=severity)


def from_anomalies(case: RuleContext, rule: Rule, when: str = "") -> Iterator[Finding]:
    """Anomalies that decoders noticed, as findings of a rule; ``when`` as for ``RuleContext.at``."""
    for side, anomalies in (("request", case.request_anomalies), ("response", case.response_anomalies)):
        for anomaly in anomalies:
            if anomaly.slug == rule.slug:
                yield case.finding(rule, side, anomaly.pointer, anomaly.message, events=anomaly.events, when=when)


def has_stray_deltas(case: RuleContext) -> bool:
    """Deltas of the stream name no call that began: what a call of it lacks may have gone elsewhere."""
    return case.response is not None and fact(case.decoded, _has_stray_deltas)


def _has_stray_deltas(decoded: DecodedExchange) -> bool:
    return decoded.response is not None and any(a.slug == "stream.index" for a in decoded.response.anomalies)


def context(pointer: str) -> str:
    """``('properties', 'paths')``: a tuple as Python writes it."""
    return repr(tuple(_steps(pointer)))


def by_name(pointer: str) -> str:
    """``.properties[mode].any_of[1]``: members by their names."""
    return "".join(_parts(pointer, None))


def by_index(schema: JsonValue, pointer: str) -> str:
    """``.properties[12].value.any_of[1]``: members of a map by their place in it, as protocol buffers count."""
    return "".join(_parts(pointer, schema))


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _parts(pointer: str, schema: JsonValue) -> Iterator[str]:
    """A piece for each keyword, with what is chosen below it; members are counted where the schema is given."""
    steps = iter(_steps(pointer))
    for keyword in steps:
        schema = schema.get(keyword) if isinstance(schema, dict) else None
        yield "." + re.sub(r"(?<=[a-z0-9])([A-Z])", lambda upper: "_" + upper[1].lower(), keyword)
        if keyword not in MAPS and keyword not in LISTS and not isinstance(schema, list):
            continue
        name = next(steps, None)
        if name is None:
            return
        if isinstance(schema, dict):
            yield f"[{list(schema).index(name) if name in schema else name}].value"
            schema = schema.get(name)
        else:
            yield f"[{name}]"
            schema = schema[int(name)] if isinstance(schema, list) and name.isdecimal() else None
