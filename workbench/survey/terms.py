"""Rows of the table of terms: how many requests could break a fact of their contract, and how many did.

The table of facts counts what was broken; this is what it is a share of. It is counted for a share of the objects,
which a keyed hash chooses, since every place of a request is searched for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench import regex
from workbench.contracts import GENERIC, model_family
from workbench.protocols import REQUEST
from workbench.rules import Detail, Finding, Inspector, applicable_facts
from workbench.survey.keys import is_in_share
from workbench.survey.rows import ACCEPTED, PROOF, REFUSED, ExchangePlace, Row, plain_name
from workbench.survey.schema import TERMS
from workbench.wire import fidelity_of


class TermKey(NamedTuple):
    """What exchanges are counted by."""

    object: str
    contract: str
    family: str | None
    fact: str
    outcome: str


def term_rows(inspector: Inspector, places: Sequence[ExchangePlace], key: bytes, share: float) -> Iterator[Row]:
    """The counts of an inspected session, for a share of its objects (0 to 1). Raises SessionFormatError."""
    exchanges: Counter[TermKey] = Counter()
    broken: Counter[TermKey] = Counter()
    for row in inspector.rows:
        outcome = _outcome(row.summary.status)
        if outcome and is_in_share(key, "terms", places[row.index].object, share):
            of_row = _of_exchange(inspector.detail(row.index), places[row.index].object, outcome)
            exchanges.update(of_row.keys())
            broken.update(term for term, is_broken in of_row.items() if is_broken)
    for term in sorted(exchanges, key=str):  # the same bytes in every run
        yield {"t": TERMS, **term._asdict(), "rule": term.fact.partition(":")[0], "exchanges": exchanges[term],
               "broken": broken[term]}  # fmt: skip


def _of_exchange(detail: Detail, object: str, outcome: str) -> dict[TermKey, bool]:
    """Fact that the request could break → whether it is broken; none if the store is no proof of what was sent."""
    contract = detail.contract
    if contract.name == GENERIC or fidelity_of(detail.decoded.exchange).value not in PROOF:
        return {}
    faults = frozenset(map(_fact_of, (each for each in detail.row.findings if each.side == REQUEST)))
    names = applicable_facts(detail.decoded, contract) | (faults & {"", *contract.terms})
    family = plain_name(_family(detail.row.model)) if detail.row.model else None
    keys = {name: TermKey(object, contract.label, family, plain_name(name) or "", outcome) for name in names if name}
    return {term: name in faults for name, term in keys.items() if term.fact}


_VENDOR = regex.compile(r"^(?:[a-z-]{2,6}\.)?[a-z0-9]+\.(?=[a-z])")
_REVISION = regex.compile(r"-(?:v\d+(?::\d+)?|\d+:\d+)$")


def _family(model: str) -> str:
    """The family of a model, also of one that Bedrock names: ``us.anthropic.claude-sonnet-4-5-20250929-v1:0``."""
    return model_family(_REVISION.sub("", _VENDOR.sub("", model.lower().rpartition("/")[2])))


def _fact_of(finding: Finding) -> str:
    return finding.contradicts.fact if finding.contradicts else finding.fact


def _outcome(status: int | None) -> str:
    if status is not None and 200 <= status < 300:
        return ACCEPTED
    return REFUSED if status in (400, 422) else ""
