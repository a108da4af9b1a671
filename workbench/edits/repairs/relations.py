"""Repairs of values that a relation refuses: set the accepted value, shorten it to the limit, or remove it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.contracts import Relation, dotted_path
from workbench.edits.fault import Fault
from workbench.edits.proposal import Proposal, RepairCost
from workbench.edits.repairs._search import Proposer
from workbench.ir import JsonValue
from workbench.rules import quote
from workbench.wire import Remove, Replace


def propose_at_place(fault: Fault) -> Iterator[Proposal]:
    """Changes at the place of a relation, the smallest first."""
    relation = relation_of(fault)
    if relation is None or relation.test.is_absent:
        return
    at = fault.finding.pointer
    value = fault.value(at)
    milder = [*_milder(relation, at, value)]
    yield from milder
    if not milder:
        whole = at.rpartition("/")[0] if at.endswith("/type") else at
        cost = RepairCost.DROPPED if "/" in whole[1:] else RepairCost.MODE
        yield Proposal(f"remove {dotted_path(whole)}", (Remove(whole),), cost)
    for condition in relation.when.places:
        other = f"/{condition.place.first}"
        if condition.place.up < 0 and len(condition.place.steps) == 1 and fault.value(other) is not None:
            yield Proposal(f"remove {dotted_path(other)}", (Remove(other),), RepairCost.MODE)


def _milder(relation: Relation, at: str, value: JsonValue) -> Iterator[Proposal]:
    """Changes that keep something at the place."""
    path = dotted_path(at)
    if relation.has_instead:
        yield Proposal(f"set {path} to {quote(relation.instead)}", (Replace(at, relation.instead),))
    for word, limit in relation.test.single:
        if word == "longer" and isinstance(value, str):
            yield Proposal(f"shorten {path} to {limit:,} characters", (Replace(at, value[:limit]),), RepairCost.DROPPED)
        if word in ("above", "below"):
            yield Proposal(f"set {path} to {limit}", (Replace(at, limit),), RepairCost.MODE)


def relation_of(fault: Fault) -> Relation | None:
    """The relation of the contract that a finding was made by."""
    check = fault.finding.check
    if check is None or not check.is_exact:
        return None
    return next((relation for relation in fault.contract.relations if relation.name == check.when), None)


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {"": (propose_at_place,)}
