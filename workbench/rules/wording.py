"""Shared by the rule families: quoting, related nodes, and the pointers of messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from workbench import limits
from workbench.contracts import EnforcedCheck, Finding, Severity
from workbench.ir import JsonValue
from workbench.protocols import REQUEST, DecodedExchange, fact
from workbench.rules.context import Rule, RuleContext
from workbench.wire import dumps

MOST_RELATED = 16

LEGACY_ROLE = "function"
"""Role of the results of the deprecated single call, where other results have the role ``tool``."""


def quote(value: object, most: int = limits.SNIPPET) -> str:
    """Untrusted text as ``repr`` gives it, cut: no control character and no line break comes through."""
    text = value if isinstance(value, str) else str(value)
    return repr(text if len(text) <= most else text[:most] + "…")


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
    return next((check for when in whens for check in checks if check.when == when), None)


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


def weaker(rule: Rule, severity: Severity = Severity.WARNING) -> Rule:
    """The same rule at another severity: for cases that bite less."""
    return replace(rule, severity=severity)


def from_anomalies(case: RuleContext, rule: Rule, when: str = "") -> Iterator[Finding]:
    """Anomalies that decoders noticed, as findings of a rule; ``when`` as for ``RuleContext.at``."""
    for side, message in (("request", case.request), ("response", case.response)):
        for noticed in message.anomalies if message else ():
            if noticed.slug == rule.slug:
                yield case.finding(rule, side, noticed.pointer, noticed.message, events=noticed.events, when=when)


def has_stray_deltas(case: RuleContext) -> bool:
    """Deltas of the stream name no call that began: what a call of it lacks may have gone elsewhere."""
    return case.response is not None and fact(case.decoded, _has_stray_deltas)


def _has_stray_deltas(decoded: DecodedExchange) -> bool:
    return decoded.response is not None and any(a.slug == "stream.index" for a in decoded.response.anomalies)
