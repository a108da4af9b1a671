"""Every rule finds its fault on every wire that can have it; what is left is a hole, with its reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.asked_families import ask_all_families
from tests.siblings.faults import ANSWERS, REQUESTS
from tests.siblings.further_wires import ALL
from tests.siblings.holes import BEYOND, HOLES
from tests.siblings.wires import Wire
from workbench.contracts import Severity
from workbench.rules import every_rule
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Exchange
from workbench.wire.session import MemorySession

LONE, SESSION, UNNAMED, WHOLE, STREAMED = "lone", "session", "unnamed", "whole", "streamed"


@pytest.fixture(autouse=True)
def _every_family_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule of a family that is not asked about its fault is told to change ``_NEEDS``, not to declare a hole."""
    ask_all_families(monkeypatch)


def slug(name: str) -> str:
    return name.partition(" ")[0]


def rules_found(exchanges: list[Exchange], wire: Wire, provider: str | None) -> set[str]:
    session = MemorySession("siblings", tuple(exchanges))
    found = Inspector(session, provider=provider, protocol=wire.name).run().findings
    return {f.rule for f in found if f.severity is not Severity.INFO and f.exchange == len(exchanges) - 1}


def ways_of_request(name: str, wire: Wire) -> Iterator[tuple[str, set[str]]]:
    """(way, rules found) of a request, by itself and behind a healthy exchange."""
    body = REQUESTS[name](wire)
    if body is None:
        return
    asked = wire.exchange("1", body)
    healthy = wire.exchange("0", wire.request([wire.user()]), wire.answer())
    yield LONE, rules_found([asked], wire, wire.provider)
    yield SESSION, rules_found([healthy, asked], wire, wire.provider)
    yield UNNAMED, rules_found([asked], wire, None)


def ways_of_answer(name: str, wire: Wire) -> Iterator[tuple[str, set[str]]]:
    """(way, rules found) of an answer, whole and streamed."""
    said = ANSWERS[name](wire)
    if said is None:
        return
    asked = wire.request([wire.user()])
    whole, stream = wire.answer(*said), wire.stream(wire.events(*said))
    yield STREAMED, rules_found([wire.exchange("1", asked, stream)], wire, wire.provider)
    if wire.container == "object" and any(isinstance(call.arguments, str) for call in said.calls):
        return  # what is text in a stream is an object in a whole answer
    yield WHOLE, rules_found([wire.exchange("1", asked, whole)], wire, wire.provider)
    yield UNNAMED, rules_found([wire.exchange("1", asked, whole)], wire, None)


def holes(name: str, ways) -> set[tuple[str, str]]:  # type: ignore[no-untyped-def]
    """(wire, way) in which the fault is not found; the way is "" where the wire cannot have it."""
    missed: set[tuple[str, str]] = set()
    for wire in ALL:
        results = dict(ways(name, wire))
        missed |= {(wire.name, way) for way, rules in results.items() if slug(name) not in rules}
        if not results:
            missed.add((wire.name, ""))
    return missed


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", REQUESTS)
def test_a_fault_of_a_request_is_found_on_every_wire(name):
    assert holes(name, ways_of_request) == set(HOLES.get(name, {}))


@pytest.mark.parametrize("name", ANSWERS)
def test_a_fault_of_an_answer_is_found_on_every_wire(name):
    assert holes(name, ways_of_answer) == set(HOLES.get(f"{name} of an answer", {}))


def test_each_rule_has_a_fault_or_a_reason():
    written = {slug(name) for name in (*REQUESTS, *ANSWERS)}
    assert set(every_rule()) - written == set(BEYOND)
    assert not written & set(BEYOND)
    assert all(BEYOND.values())


def test_each_hole_has_a_reason():
    assert all(reason for holes_of_rule in HOLES.values() for reason in holes_of_rule.values())
    assert {name.removesuffix(" of an answer") for name in HOLES} <= {*REQUESTS, *ANSWERS}


@pytest.mark.parametrize("wire", ALL, ids=lambda wire: wire.name)
def test_what_is_healthy_has_no_fault(wire):
    asked = wire.request([wire.user()])
    whole = wire.exchange("1", asked, wire.answer(text="I look."))
    stream = wire.exchange("1", asked, wire.stream(wire.events(text="I look.")))
    assert rules_found([wire.exchange("1", wire.whole())], wire, wire.provider) == set()
    assert rules_found([whole], wire, wire.provider) <= {"closure.pending"}
    assert rules_found([stream], wire, wire.provider) <= {"closure.pending"}
