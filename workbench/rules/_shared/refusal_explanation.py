"""A recorded refusal, explained by the rule that its text names, at the place that it names.

If the text names an id, an index or a field, that outranks what a rule has found: a finding at another place is not the
cause of the refusal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from workbench import contracts, regex
from workbench.chain import CallState
from workbench.contracts import (
    Basis,
    Breaks,
    ErrorPlace,
    Finding,
    Match,
    NamedIds,
    Severity,
    Template,
    explain,
    find_place,
    match_by_kind,
    named_ids,
    plain_text,
)
from workbench.errors import WireError
from workbench.ir import ApiError
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import REQUEST, refusals
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.failure_place import error_parameters, is_about_the_request, place_of, refusal_of
from workbench.rules._shared.refused_value import VAGUE, place_by_rule, place_of_key, rule_at, rule_of_place
from workbench.rules._shared.wording import quote
from workbench.wire import loads

if TYPE_CHECKING:
    from workbench.protocols.refusals import KnownRefusal

NEAR = 2
"""Number of messages by which an index may be off, because it is counted differently."""
MOST_NAMED = 2
"""Limit of further places that a text names."""


@dataclass(frozen=True, slots=True)
class ExplainedRefusal:
    """Subject of a recorded refusal.

    Attributes:
        findings: all findings, with the one that the text names marked or added.
        chosen: that finding; None if no rule is known for the text.
        match: the known text that it matches; None if the finding's own check predicted it.
        is_new: no rule had found it.
        is_absent: what the text calls wrong is not in the recorded request.
        is_by_place: only the place that the text names shows the rule.
        refusal: the kind of refusal; None if unknown.
    """

    findings: tuple[Finding, ...]
    chosen: Finding | None = None
    match: Match | None = None
    is_new: bool = False
    is_absent: bool = False
    is_by_place: bool = False
    refusal: KnownRefusal | None = None


def explain_refusal(case: RuleContext, findings: Sequence[Finding]) -> ExplainedRefusal:
    """Reconcile the findings of a request with the provider's own words."""
    error = case.response.error if case.response else None
    refusal = refusal_of(error, case.decoded) if error else None
    if error is None or not error.message or not _is_about_the_body(case, error, refusal):
        return ExplainedRefusal(tuple(findings), refusal=refusal)
    return replace(_reconcile(case, findings, error, refusal), refusal=refusal)


def _reconcile(
    case: RuleContext, findings: Sequence[Finding], error: ApiError, refusal: KnownRefusal | None
) -> ExplainedRefusal:
    of_request = [f for f in findings if f.side == REQUEST]
    ids = named_ids(error, case.decoded)
    own = _predicting(of_request, error)
    matches = _rank(explain(error.message, refusal, is_answer=True), case.contract.name)
    if not any(m.rule == f.rule for m in matches if m.is_guess for f in of_request):  # a guess decides among findings
        matches = [m for m in matches if not m.is_guess] or _by_place(case, error, refusal)
    match = next((m for m in matches if any(f.rule == m.rule for f in own or of_request)), None)
    captured = match.captured if match else {}
    rule = own[0].rule if own else match.rule if match else ""
    place = find_place(error, case.decoded, case.contract, captured, rule)
    likely = [f for f in own or of_request if f.rule == rule and _may_be_meant(f, place, ids)] if rule else []
    if not likely and place and matches and matches[0].kind:  # no contract has the words
        likely = [f for f in of_request if _is_sibling_at(f, matches[0].rule, place)]
    is_vague = refusal is not None and refusal.kind.name in VAGUE and not any(m.template for m in matches)
    if not likely and place and is_vague:  # what a fact suspects there says more
        likely = [f for f in of_request if _is_suspected_at(f, place)]
    if not likely and not matches and place and refusal:
        likely = [f for f in of_request if _is_about_field(f, refusal.values.get("field", ""), place)]
    is_by_place = not likely and not matches
    if is_by_place:
        named_place = place_of(refusal, error, case.decoded, case.contract)
        matches = _by_family(error, refusal, named_place)
        likely = _meant_by_place(of_request, named_place, ids) if matches else []
    if likely:
        nearest = _nearest(likely, place)
        marked = _mark_named(nearest, error, place)
        others = (f for f in findings if f is not nearest)
        rest = _demote_others(others, marked, place, ids)
        return ExplainedRefusal((marked, *rest), marked, match, is_by_place=is_by_place)
    if not matches or _is_passed_on(case):
        demoted = tuple(_demote_others(findings, None, place, ids))
        return _explain_by_guess(case, demoted, error, refusal) or ExplainedRefusal(demoted)
    new_finding, is_absent = _new_finding(case, match or matches[0], error, ids, refusal)
    rest = _demote_others(findings, None, find_place(error, case.decoded, case.contract, matches[0].captured), ids)
    return ExplainedRefusal((*rest, new_finding), new_finding, matches[0], True, is_absent, is_by_place)


def _may_be_meant(finding: Finding, place: ErrorPlace | None, ids: NamedIds) -> bool:
    """The place of a finding does not contradict what the text names.

    An id is exact, and a setting in another setting shows which one it is. An index may be counted in another way, as
    where a gateway adds a message: a neighbour will do.
    """
    places = (finding.pointer, *finding.related)
    if ids.pointers:
        return any(_is_near(p, named_pointer) for p in places for named_pointer in ids.pointers)
    if ids.missing:
        return False
    if place is None or place.pointer.count("/") < 2:
        return True
    item_of_place, found = _item(place.pointer), _item(finding.pointer)
    if item_of_place is None and found is None:
        return any(p.split("/")[1:2] == place.pointer.split("/")[1:2] for p in places)
    if item_of_place is None or found is None or item_of_place[0] != found[0]:
        return True
    return any(
        abs(item[1] - item_of_place[1]) <= NEAR for p in places if (item := _item(p)) and item[0] == item_of_place[0]
    )


def _is_sibling_at(finding: Finding, rule: str, place: ErrorPlace) -> bool:
    """An error of the family of a rule at the very place that the text names: it is the cause in other words."""
    is_there = bool(place.pointer) and finding.pointer == place.pointer
    return is_there and finding.severity is Severity.ERROR and finding.rule.partition(".")[0] == rule.partition(".")[0]


def _is_suspected_at(finding: Finding, place: ErrorPlace) -> bool:
    """A fact about the provider says that it refuses what is at the place that the text names."""
    is_doubt = finding.severity is Severity.WARNING and bool(finding.fact) and finding.breaks is Breaks.REQUEST
    return is_doubt and bool(place.pointer) and _is_within(finding.pointer, place.pointer)


def _is_about_field(finding: Finding, field: str, place: ErrorPlace) -> bool:
    """A suspicion at the place that the text names, about the field that the text names: a tool without a type."""
    is_there = bool(place.pointer) and finding.severity is Severity.WARNING and finding.rule != _UNEXPLAINED
    return is_there and _is_within(finding.pointer, place.pointer) and field in _WORD.findall(finding.message)


_WORD = regex.compile(r"\w+")


def _meant_by_place(findings: Sequence[Finding], place: ErrorPlace | None, ids: NamedIds) -> list[Finding]:
    """What a text means that only names a place: an error that it may be about, else a warning at that very place."""
    errors = [f for f in findings if f.severity is Severity.ERROR and _may_be_meant(f, place, ids)]
    doubts = [f for f in findings if f.severity is Severity.WARNING and f.rule != _UNEXPLAINED]
    there = place.pointer if place else ""
    return errors or [f for f in doubts if there and _is_within(f.pointer, there)]


_UNEXPLAINED = "answer.error"
"""Rule about the response itself, which may be at the place that the text names."""


def _is_within(one: str, other: str) -> bool:
    """Two pointers of which one lies within the other."""
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def _is_near(pointer: str, name: str) -> bool:
    """One lies within the other, or both are in one message."""
    return _is_within(pointer, name) or (_item(pointer) is not None and _item(pointer) == _item(name))


def _item(pointer: str) -> tuple[str, int] | None:
    """The list at the top of a request that a pointer leads into, and the index there."""
    steps = pointer.split("/")
    return (steps[1], int(steps[2])) if len(steps) > 2 and steps[2].isdecimal() else None


def _demote_others(
    findings: Iterable[Finding], main_finding: Finding | None, place: ErrorPlace | None, ids: NamedIds
) -> Iterator[Finding]:
    """The other findings: an error at a place that the text does not name is not what was refused here."""
    how = f"the provider names {quote(place.how, 80)}, not this place" if place and place.how else ""
    if ids.missing and not ids.pointers:
        how = f"the provider names {quote(ids.missing[0], 80)}, which is not in this request"
    for finding in findings:
        is_error = finding.side == REQUEST and finding.severity is Severity.ERROR
        if not how or not is_error or _is_named(finding, main_finding, place, ids):
            yield finding
        else:
            evidence = "; ".join(filter(None, (finding.evidence, how)))
            yield replace(finding, severity=Severity.WARNING, evidence=evidence)


def _is_named(finding: Finding, main_finding: Finding | None, place: ErrorPlace | None, ids: NamedIds) -> bool:
    """The finding is at a place that the text names, or in the message where the cause is."""
    places = [*ids.pointers, *([place.pointer] if place and not (ids.missing and not ids.pointers) else ())]
    if main_finding:
        places += [main_finding.pointer, *main_finding.related]
    return any(
        _is_near(p, named_pointer)
        for p in (finding.pointer, *finding.related)
        for named_pointer in places
        if named_pointer
    )


def is_accounted_for(case: RuleContext, findings: Iterable[Finding]) -> bool:
    """True if these findings explain the refusal: one has the text of the response, or the response gives no reason."""
    errors = [f for f in findings if f.side == REQUEST and f.severity is Severity.ERROR]
    text = case.response.error.message if case.response and case.response.error else ""
    error_text = plain_text(text).plain.strip()
    is_known = any(f.check is not None and error_text in plain_text(f.check.template).plain for f in errors)
    return (
        is_known
        or any(quote(text.strip()) in f.evidence for f in errors)
        or (bool(errors) and len(error_text) < contracts.TELLING)
    )


def _is_about_the_body(case: RuleContext, error: ApiError, refusal: KnownRefusal | None) -> bool:
    """The request is at fault, and not what the model made of it, a limit, or a server."""
    if "failed_generation" in error.details or case.request is None:
        return False
    return is_about_the_request(refusal, case.status)


def _is_passed_on(case: RuleContext) -> bool:
    """A gateway sent this request on, and what it sent was refused: that is the one to look at."""
    inner = case.hops.inner
    answer = inner.exchange.response if inner else None
    return answer is not None and answer.status >= 400


def _predicting(findings: Iterable[Finding], error: ApiError) -> list[Finding]:
    """Findings whose check says just this."""
    text = plain_text(error.message)
    found = []
    for finding in findings:
        hit = Template(finding.check.template).find(text) if finding.check and finding.check.template else None
        if hit and hit.weight == hit.whole:
            found.append(finding)
    return found


def _rank(matches: Sequence[Match], provider: str) -> list[Match]:
    """Rules that have a page, texts of the provider itself first."""
    known = [m for m in matches if m.rule in contracts.pages.slugs()]
    return sorted(known, key=lambda m: m.provider.partition(":")[0] != provider)


def _nearest(findings: Sequence[Finding], place: ErrorPlace | None) -> Finding:
    """The finding at the place that the text names, or next to it."""
    if place is None:
        return findings[0]
    return max(findings, key=lambda f: max(_shared_steps(p, place.pointer) for p in (f.pointer, *f.related)))


def _shared_steps(a: str, b: str) -> int:
    """Steps that two pointers share; more where one lies within the other."""
    one, other = a.split("/")[1:], b.split("/")[1:]
    common = next((n for n, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    return 2 * common + (common == min(len(one), len(other)))


def _mark_named(finding: Finding, error: ApiError, place: ErrorPlace | None) -> Finding:
    """The finding with the provider's words, and how these name the place. What is refused is an error."""
    quotation = f"provider error: {quote(error.message.strip())}"
    if place and place.how:
        quotation += f" (provider's {quote(place.how, 80)} = {_here(place, finding)})"
    evidence = "; ".join(filter(None, (finding.evidence, quotation)))
    return replace(finding, severity=Severity.ERROR, evidence=evidence, basis=Basis.RECORDING)


def _here(place: ErrorPlace, finding: Finding) -> str:
    a, b = f"{place.pointer}/", f"{finding.pointer}/"
    is_same = a.startswith(b) or b.startswith(a)
    return f"{place.pointer or 'the body'}" + ("" if is_same else f", the fault is at {finding.pointer}")


def _by_place(case: RuleContext, error: ApiError, refusal: KnownRefusal | None) -> list[Match]:
    """A match by the place that the text names and its kind, where no words of a rule are in it."""
    place = place_of(refusal, error, case.decoded, case.contract) if refusal else None
    rule = rule_at(place.pointer, refusal) if place and refusal else ""
    return [match_by_kind(error.message, refusal, rule)] if refusal and rule in contracts.pages.slugs() else []


def _by_family(error: ApiError, refusal: KnownRefusal | None, place: ErrorPlace | None) -> list[Match]:
    """A match by the place alone, where the text says nothing else that is known."""
    rule = rule_of_place(place.pointer, refusal) if place and refusal else ""
    return [match_by_kind(error.message, refusal, rule)] if refusal and rule in contracts.pages.slugs() else []


def _new_finding(
    case: RuleContext, match: Match, error: ApiError, ids: NamedIds, refusal: KnownRefusal | None
) -> tuple[Finding, bool]:
    """A finding that rests on the provider's words alone, and whether the request is without that fault."""
    place = place_of(refusal, error, case.decoded, case.contract, match.captured, match.rule)
    complaint = refusals.complaint_of(error.message)
    is_told = complaint is not None and bool(complaint.rule)
    is_elsewhere = bool(place and match.rule.startswith("args.") and place.pointer.startswith("/tools/"))
    is_open = is_elsewhere or (match.kind and not is_told)
    if is_open and refusal and place and (rule_here := rule_at(place.pointer, refusal)):
        match = replace(match, rule=rule_here)
    place = _better_place(case, match.rule, error, place)
    absent = _absent(case, match.rule, ids, place)
    rule = Rule(match.rule, Severity.ERROR, contracts.pages.page(match.rule).summary)
    how = f" and names {quote(place.how, 80)}" if place and place.how else ""
    what = _in_words(refusal) if refusal and match.kind else f"{rule.summary[:1].lower()}{rule.summary[1:]}"
    message = f"the provider refused this with status {case.status}{how}: {what}"
    if absent:
        message = f"{message.rstrip('.')}; {absent}: {_BEHIND}"
    new_finding = case.finding(
        rule,
        REQUEST,
        place.pointer if place else "",
        message,
        evidence=f"provider error: {quote(error.message.strip())}",
        source=f"recorded in exchange {case.decoded.index + 1}; {match.source}",
        values=match.captured,
    )
    new_finding = replace(
        new_finding, severity=Severity.ERROR, span=place.span if place else new_finding.span, basis=Basis.RECORDING
    )
    is_by_place = refusal is not None and match.kind == refusal.kind.name and not refusal.is_telling
    new_finding = replace(
        new_finding, kind=refusal.kind.name if refusal and (refusal.is_telling or is_by_place) else ""
    )
    if is_by_place:
        new_finding = replace(new_finding, related=_named_too(case, error, new_finding.pointer))
    return new_finding, bool(absent)


def _explain_by_guess(
    case: RuleContext, findings: tuple[Finding, ...], error: ApiError, refusal: KnownRefusal | None
) -> ExplainedRefusal | None:
    """The rule that the words of a text speak of, at a value of the request that is there; None where none is.

    No text of that rule is known, so it is no error, and takes the place of the finding that names no rule.
    """
    if _is_passed_on(case) or not any(f.rule == _UNEXPLAINED for f in findings):
        return None
    guesses = [m for m in _rank(explain(error.message, refusal, is_answer=True), case.contract.name) if m.is_guess]
    for match in guesses[:1]:
        found, is_absent = _new_finding(case, match, error, named_ids(error, case.decoded), refusal)
        if found.pointer and not is_absent and not any(_is_about(f, found.pointer) for f in findings):
            probable = replace(
                found, severity=Severity.WARNING, message=f"{found.message.rstrip('.')}, according to its wording"
            )
            rest = (f for f in findings if f.rule != _UNEXPLAINED)
            return ExplainedRefusal((*rest, probable))
    return None


def _is_about(finding: Finding, pointer: str) -> bool:
    """A rule has found something at the place, or around it."""
    return finding.side == REQUEST and finding.rule != _UNEXPLAINED and _is_within(finding.pointer, pointer)


def _named_too(case: RuleContext, error: ApiError, pointer: str) -> tuple[str, ...]:
    """Other parameters that a text names which does not say what is wrong."""
    try:
        body = loads(case.decoded.request_text)
    except WireError:
        return ()
    pointers = (each.pointer for each in error_parameters(body, error.message, error.param or "", case.decoded))
    return tuple(each for each in dict.fromkeys(pointers) if each not in ("/model", pointer))[:MOST_NAMED]


def _in_words(refusal: KnownRefusal) -> str:
    """What is wrong, as far as the kind of a refusal tells it."""
    return refusal.says() if refusal.is_telling else "the error text gives no reason"


def _better_place(case: RuleContext, rule: str, error: ApiError, place: ErrorPlace | None) -> ErrorPlace | None:
    """The value that the rule is about, where the text names no place, or the list of messages alone."""
    if place and place.pointer.count("/") > 1:
        return place
    if rule == "gateway.unknown-field" and not (place and place.pointer):
        return place_of_key(error.message, case.decoded) or place
    found = place_by_rule(rule, case.decoded)
    is_within = found and (not place or found.pointer.startswith(place.pointer))
    return found if is_within else place


_BEHIND = "compare with the request that the next hop sent upstream (a gateway may have changed it)"

_WHOLE = {
    "closure.missing-result": "every tool call in this request has its tool result",
    "closure.orphan-result": "every tool result in this request has its tool call",
    "closure.id-mismatch": "every tool result in this request names its tool call",
    "closure.duplicate-id": "no two tool calls in this request share an id",
    "closure.duplicate-result": "no tool call in this request has two tool results",
}
"""Statements about a request in which a rule finds nothing."""


def _absent(case: RuleContext, rule: str, ids: NamedIds, place: ErrorPlace | None) -> str:
    """Why the fault that the text names is not in the request; an empty string if it may be."""
    if ids.missing and not ids.pointers:
        return f"{quote(ids.missing[0], 80)} does not occur in this request"
    if place and place.pointer and not place.span and not place.how.endswith(place.pointer[1:]):  # something inside it
        return f"this request has no {quote(place.pointer[1:], 80)}"
    if rule not in _WHOLE or not any(line.call or line.results for line in case.closure.lines):
        return ""
    return _WHOLE[rule] if all(line.state in _SOUND for line in case.closure.lines) else ""


_SOUND = (CallState.CLOSED,)
