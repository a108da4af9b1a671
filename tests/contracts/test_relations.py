"""Every relation of every contract: its broken twin is named at its place, its healthy twin is not."""

from __future__ import annotations

from functools import cache

import pytest

from tests.contracts.relation_twins import BODIES, broken, healthy, named_by
from workbench import contracts
from workbench.contracts import Consequence
from workbench.contracts.relations import rule_of
from workbench.protocols import traits
from workbench.rules import Inspector
from workbench.wire.session import MemorySession


@cache
def rows():
    """(contract, protocol, model, relation) of every relation, on the first protocol and model that it holds for.

    One with named places is there for each protocol that has them.
    """
    found = []
    for name in contracts.names():
        file = contracts.read(name)
        for holds, relation in file.relations:
            spoken = [p for p in holds.protocols or file.protocols if p in BODIES]
            placed = [(p, relation.resolved_for(p, traits(p).places)) for p in spoken]
            globs = holds.models or file.models or ("some-model",)
            model = named_by(globs[0])
            label = f"{name}:{holds.variants[0]}" if holds.variants else name
            here = [(label, p, model, each) for p, each in placed if each]
            assert here, f"{name} {relation.name} holds for no protocol"
            found += here if relation.place.name else here[:1]
    return found


ROWS = rows()


def named(exchange, label, protocol):
    inspector = Inspector(MemorySession("twin", (exchange,)), provider=label, protocol=protocol)
    (row,) = inspector.run().rows
    return [f for f in row.findings if f.side == "request"]


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("label", "protocol", "model", "relation"), ROWS,
                         ids=[f"{row[0]} {row[3].name} {row[1]}" for row in ROWS])  # fmt: skip
def test_the_broken_twin_is_named_and_the_healthy_one_is_not(label, protocol, model, relation):
    contract = contracts.get(label, protocol=protocol)
    slug = rule_of(relation)
    found = [f for f in named(broken(relation, contract, protocol, model), label, protocol) if is_of(f, relation)]
    assert {f.rule for f in found} == ({slug} if relation.then != Consequence.ACCEPTED else set())
    if relation.then == Consequence.REFUSED:
        assert {f.severity.value for f in found} == {"error" if relation.is_enforced else "warning"}
    others = named(healthy(relation, contract, protocol, model), label, protocol)
    assert not [f for f in others if is_of(f, relation)]


def is_of(finding, relation):
    """The finding is made by this relation."""
    if finding.check is not None:
        return finding.check.when == relation.name and finding.check.source == relation.source
    return finding.source.startswith(relation.source) and finding.rule == rule_of(relation)


def test_names_are_unique_in_a_contract():
    for name in contracts.names():
        names = [relation.name for _, relation in contracts.read(name).relations]
        assert len(names) == len(set(names)), name
