"""A recorded refusal, explained by the rule that its text names, at the place that it names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from workbench.decode import REQUEST
from workbench.ir import ApiError
from workbench.rules import _pages as pages
from workbench.rules._case import Case, Rule
from workbench.rules._error_place import Named, named
from workbench.rules._errortext import TELLING, Match, explain
from workbench.rules._finding import Finding, Severity
from workbench.rules._template import Template, plain
from workbench.rules._words import quote

NOT_THE_BODY = (401, 402, 403, 404, 408, 429)
"""Statuses that say nothing of what is in the body."""


@dataclass(frozen=True, slots=True)
class Explained:
    """What a recorded refusal is about.

    Attributes:
        findings: with the one that the text names marked, or added.
        chosen: that one; None where no rule is known for the text.
        match: the text it is known by, None where the finding's own check predicted it.
        is_new: no rule had found it.
    """

    findings: tuple[Finding, ...]
    chosen: Finding | None = None
    match: Match | None = None
    is_new: bool = False


def explained(case: Case, findings: Sequence[Finding]) -> Explained:
    """Reconcile the findings of a request with the provider's own words."""
    error = case.response.error if case.response else None
    if error is None or not error.message or not _is_about_the_body(case, error):
        return Explained(tuple(findings))
    asked = [f for f in findings if f.side == REQUEST]
    own = _predicted(asked, error)
    matches = _ranked(explain(error.message), case.contract.name)
    match = next((m for m in matches if any(f.rule == m.rule for f in own or asked)), None)
    if own or match:
        rule = (own[0] if own else next(f for f in asked if match and f.rule == match.rule)).rule
        place = named(error, case.decoded, case.contract, match.captured if match else {}, rule)
        chosen = _nearest([f for f in own or asked if f.rule == rule], place)
        marked = _marked(chosen, error, place)
        return Explained((marked, *(f for f in findings if f is not chosen)), marked, match)
    if not matches or _is_passed_on(case):
        return Explained(tuple(findings))
    made = _made(case, matches[0], error)
    return Explained((*findings, made), made, matches[0], is_new=True)


def is_accounted_for(case: Case, findings: Iterable[Finding]) -> bool:
    """Whether these say why the request was refused: one shows the answer, or the answer says nothing of its own."""
    errors = [f for f in findings if f.side == REQUEST and f.severity is Severity.ERROR]
    text = case.response.error.message if case.response and case.response.error else ""
    said = plain(text).plain.strip()
    is_known = any(f.check is not None and said in plain(f.check.template).plain for f in errors)
    return is_known or any(quote(text.strip()) in f.evidence for f in errors) or (bool(errors) and len(said) < TELLING)


def _is_about_the_body(case: Case, error: ApiError) -> bool:
    """The request is at fault, and not what the model made of it, a limit, or a server."""
    if "failed_generation" in error.details or case.request is None:
        return False
    return 400 <= case.status < 500 and case.status not in NOT_THE_BODY


def _is_passed_on(case: Case) -> bool:
    """A gateway sent this request on, and what it sent was refused: that is the one to look at."""
    inner = case.hops.inner
    answer = inner.exchange.response if inner else None
    return answer is not None and answer.status >= 400


def _predicted(asked: Iterable[Finding], error: ApiError) -> list[Finding]:
    """Findings whose check says just this."""
    text = plain(error.message)
    found = []
    for finding in asked:
        hit = Template(finding.check.template).find(text) if finding.check and finding.check.template else None
        if hit and hit.weight == hit.whole:
            found.append(finding)
    return found


def _ranked(matches: Sequence[Match], provider: str) -> list[Match]:
    """Rules that have a page, texts of the provider itself first."""
    known = [m for m in matches if m.rule in pages.slugs()]
    return sorted(known, key=lambda m: m.provider.partition(":")[0] != provider)


def _nearest(findings: Sequence[Finding], place: Named | None) -> Finding:
    """The finding at the place that the text names, or next to it."""
    if place is None:
        return findings[0]
    return max(findings, key=lambda f: max(_shared(p, place.pointer) for p in (f.pointer, *f.related)))


def _shared(a: str, b: str) -> int:
    """Steps that two pointers share; more where one lies within the other."""
    one, other = a.split("/")[1:], b.split("/")[1:]
    common = next((n for n, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    return 2 * common + (common == min(len(one), len(other)))


def _marked(finding: Finding, error: ApiError, place: Named | None) -> Finding:
    """The finding with the provider's words, and how these name the place. What is refused is an error."""
    said = f"the provider says so: {quote(error.message.strip())}"
    if place and place.how:
        said += f" ({quote(place.how, 80)} is {_here(place, finding)})"
    return replace(finding, severity=Severity.ERROR, evidence="; ".join(filter(None, (finding.evidence, said))))


def _here(place: Named, finding: Finding) -> str:
    a, b = f"{place.pointer}/", f"{finding.pointer}/"
    is_same = a.startswith(b) or b.startswith(a)
    return f"{place.pointer or 'the body'}" + ("" if is_same else f", the fault is at {finding.pointer}")


def _made(case: Case, match: Match, error: ApiError) -> Finding:
    """A finding that rests on the provider's words alone."""
    place = named(error, case.decoded, case.contract, match.captured, match.rule)
    rule = Rule(match.rule, Severity.ERROR, pages.page(match.rule).summary)
    how = f", it names {quote(place.how, 80)}" if place and place.how else ""
    message = f"the provider refused this with status {case.status}{how}: {rule.summary[:1].lower()}{rule.summary[1:]}"
    made = case.finding(
        rule,
        REQUEST,
        place.pointer if place else "",
        message,
        evidence=f"the provider says so: {quote(error.message.strip())}",
        source=f"recorded in exchange {case.decoded.index + 1}; {match.source}",
        values=match.captured,
    )
    return replace(made, severity=Severity.ERROR, span=place.span if place else made.span)
