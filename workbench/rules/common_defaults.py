"""Soft defaults: what most providers of a protocol refuse is a warning under a contract that says nothing of it.

The families judge by a contract that borrows what others say. A finding that rests on something borrowed is put to the
vote here: each contract that says anything of it judges the same request, and enough of them have to refuse it. What a
list of models says is dropped where the contract says the same of the provider itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.contracts import (
    COMMON_SOURCE,
    Basis,
    Contract,
    Finding,
    Severity,
    is_listed,
    is_most,
    states,
)
from workbench.contracts import loading as contracts
from workbench.hashing import blake2b
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, fact
from workbench.rules._shared.acceptance import accepted_by
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.families import family, family_of
from workbench.wire import loads

RULES: tuple[Rule, ...] = ()

VOTES_KEPT = 512


class _Vote(NamedTuple):
    """Opinions of providers: rule and text of the first refusal, names of all that refuse, number asked."""

    rule: str
    message: str
    refusing: tuple[str, ...]
    saying: int


def soft_contract(contract: Contract) -> Contract:
    """The contract, with what most providers refuse and it says nothing of."""
    return contracts.with_common_practice(contract)


def review(case: RuleContext, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings; those that rest on common practice as warnings, if most providers refuse it."""
    found = list(findings)
    places: set[tuple[str, str]] = set()
    stated_places: set[tuple[str, str]] | None = None
    for finding in found:
        place = (_subject(finding), finding.pointer)
        if not _is_borrowed(finding):
            is_told_better = _is_of_a_list(finding) and any(_says_the_same(other, finding) for other in found)
            yield from () if is_told_better else (finding,)
        elif place not in places and not accepted_by(case.decoded):
            stated_places = _told_places(found) if stated_places is None else stated_places
            suspicions = list(_by_vote(case, finding)) if (finding.side, finding.pointer) not in stated_places else []
            places.update(place for _ in suspicions)
            yield from suspicions


def _is_borrowed(finding: Finding) -> bool:
    return finding.source.startswith(COMMON_SOURCE)


def _subject(finding: Finding) -> str:
    """The term or the place that a suspicion is about."""
    return finding.source.removeprefix(COMMON_SOURCE).rpartition(" (")[0]


def _told_places(found: Iterable[Finding]) -> set[tuple[str, str]]:
    """(side, pointer) of the findings that are no suspicions."""
    more_than_remarks = [each for each in found if each.severity is not Severity.INFO]
    return {(each.side, each.pointer) for each in more_than_remarks if not each.source.startswith(COMMON_SOURCE)}


def _is_of_a_list(finding: Finding) -> bool:
    """A suspicion that rests on a third party's list of models."""
    return finding.severity is Severity.WARNING and is_listed(finding.source)


def _says_the_same(other: Finding, finding: Finding) -> bool:
    """Another finding, which rests on what is known of the provider itself, has the rule at the same place."""
    one, two = f"{finding.pointer}/", f"{other.pointer}/"
    is_nested = one.startswith(two) or two.startswith(one)
    is_of_rule = (other.rule, other.side) == (finding.rule, finding.side)
    return is_of_rule and is_nested and not _is_borrowed(other) and not is_listed(other.source)


def _by_vote(case: RuleContext, finding: Finding) -> Iterator[Finding]:
    votes = fact(case.contract, _votes)
    request = case.request
    flags = (request.thinking, request.stream) if request else ()
    value = blake2b(_value_text(case, finding.pointer), digest_size=16).digest()
    key = (finding.source, finding.rule, finding.message, value, flags)
    if key not in votes:
        if len(votes) >= VOTES_KEPT:
            votes.clear()
        votes[key] = _vote(case, finding)
    vote = votes[key]
    if vote is None:
        return
    vote_text = f"{len(vote.refusing)} of {vote.saying} providers refuse this ({', '.join(vote.refusing)})"
    yield replace(
        finding,
        severity=Severity.WARNING,
        message=f"{vote.message if vote.rule == finding.rule else finding.message}; {vote_text}",
        source=f"the contracts of other providers: {_subject(finding)}",
        check=None,
        refusal="",
        fact="",
        basis=Basis.COMMON,
        unenforced=None,
    )


def _votes(_: Contract) -> dict[object, _Vote | None]:
    return {}


def _vote(case: RuleContext, finding: Finding) -> _Vote | None:
    """The vote on what a finding says; None if it is no common practice."""
    key = _subject(finding)
    practice = contracts.common_practice(case.contract.protocol)
    value = _value(case, finding.pointer)
    if practice is None:
        return None
    refusals: dict[str, Finding] = {}
    saying = 0
    for name in practice.says.get(key, ()):
        other = _voter(name, case.contract.protocol)
        refused = _refusal(replace(case, contract=other), finding)
        saying += refused is not None or states(other, key, value)
        if refused is not None:
            refusals[name] = refused
    if not is_most(len(refusals), saying):
        return None
    first = next(iter(refusals.values()))
    return _Vote(first.rule, first.message, tuple(refusals), saying)


def _voter(name: str, protocol: str | None) -> Contract:
    """The contract of a provider; for one of its own protocols if it does not speak this one."""
    contract = contracts.get(name, protocol=protocol)
    return contract if contract.covers else contracts.get(name, protocol=contracts.read(name).protocols[0])


def _refusal(case: RuleContext, finding: Finding) -> Finding | None:
    """The error at the place of a finding under the contract of another provider."""
    for rule_family in dict.fromkeys((family_of(finding.rule), family("relations"))):
        for each in rule_family.check(case) if rule_family else ():
            if (each.side, each.pointer, each.severity) == (REQUEST, finding.pointer, Severity.ERROR):
                return each if isinstance(each, Finding) else None
    return None


def _value(case: RuleContext, pointer: str) -> JsonValue:
    text = _value_text(case, pointer)
    return loads(text) if text else None


def _value_text(case: RuleContext, pointer: str) -> bytes:
    span = case.decoded.place(REQUEST, pointer).span
    return case.decoded.request_text[slice(*span)] if span else b""
