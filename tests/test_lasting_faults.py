"""A fault that lasts costs what it costs once: time and findings grow with the session, and not with its square."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.growth import MOST, steps
from tests.lasting_faults import FAULTS, SHAPES, Fault, conversation
from workbench.contracts import Finding
from workbench.rules import FAILED, by_cause
from workbench.rules.inspection import Inspection, Inspector
from workbench.wire.session import MemorySession

TURNS = 10
MANY = 4
SHAPED = ("signatures lost", "ids of results differ", "unknown fields", "contents: signatures lost")


@pytest.mark.sampled(24)
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_lasts_is_found_in_linear_time(name: str) -> None:
    wire, fault = FAULTS[name]
    _check_growth(lambda turns: conversation(wire, fault, turns))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", SHAPED)
def test_so_it_is_in_conversations_of_any_shape(name: str, shape: str) -> None:
    wire, fault = FAULTS[name]
    _check_growth(lambda turns: SHAPES[shape](wire, fault, turns))


def _check_growth(make: Callable[[int], MemorySession]) -> None:
    few, many = make(TURNS), make(MANY * TURNS)
    found_in(few)  # what is imported and read once is not counted
    seen: list[tuple[Finding, ...]] = []
    costs = [steps(lambda session=session: seen.append(found_in(session))) for session in (few, many)]  # type: ignore[misc]
    assert costs[1] <= MOST * costs[0]
    assert len(seen[1]) <= (MANY + 1) * len(seen[0])
    assert not [finding for finding in seen[1] if finding.rule == FAILED]


def found_in(session: MemorySession) -> tuple[Finding, ...]:
    return by_cause(Inspector(session).run().findings)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", FAULTS)
def test_what_is_carried_is_what_each_request_has(name: str) -> None:
    wire, fault = FAULTS[name]
    _check_carried(conversation(wire, fault, 9))


@pytest.mark.sampled(9)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", SHAPED)
def test_what_is_carried_is_what_each_request_has_in_any_shape(name: str, shape: str) -> None:
    wire, fault = FAULTS[name]
    _check_carried(SHAPES[shape](wire, fault, 14))


def _check_carried(session: MemorySession) -> None:
    kept, alone = Inspector(session).run(), Inspector(session, known=None).run()
    assert [tuple(row.findings) for row in kept.rows] == [tuple(row.findings) for row in alone.rows]
    assert by_cause(kept.findings) == by_cause(alone.findings)
    assert _hidden(kept) == _hidden(alone)


def _hidden(inspection: Inspection) -> list[object]:
    return [(f.last, f.places, f.cause) for f in by_cause(inspection.findings)]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", sorted(set(FAULTS) - {"none"}))
def test_each_fault_is_one(name: str) -> None:
    wire, fault = FAULTS[name]
    healthy: Fault = FAULTS["none"][1]
    assert _rules(conversation(wire, fault, 6)) != _rules(conversation(wire, healthy, 6)) or name in UNSEEN


def _rules(session: MemorySession) -> list[tuple[str, str]]:
    return sorted((f.rule, f.message) for f in found_in(session))


UNSEEN = frozenset(
    {"unknown fields", "unknown tools", "arguments against the schema", "special tokens", "calls as text"}
)
"""Faults that a provider takes when they are repeated: they are told where they are made, or nowhere."""
