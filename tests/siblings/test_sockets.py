"""Every rule on events finds its fault on every protocol that goes over a WebSocket; a hole has its reason."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.siblings.sockets import (
    ALL,
    FAULTS,
    HEALTHY,
    HOLES,
    LIVE,
    SAID_TO_ANOTHER,
    WITHOUT_TOOLS,
    XAI,
    Said,
    connections,
)
from workbench import protocols
from workbench.contracts import Finding, Severity
from workbench.protocols import with_turns
from workbench.rules.inspection import Inspector
from workbench.wire.session import MemorySession


def findings(wire: str, messages: Iterable[Said]) -> Sequence[Finding]:
    return Inspector(MemorySession("s", tuple(with_turns(connections(wire, messages))))).run().findings


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_events_is_found_on_every_wire(name: str) -> None:
    rule = name.partition(" ")[0]
    written = FAULTS[name]
    missed = {wire for wire in ALL if all(found.rule != rule for found in findings(wire, written.get(wire, ())))}
    assert missed == set(HOLES.get(name, {}))


@pytest.mark.parametrize("wire", ALL)
def test_what_is_healthy_has_no_fault(wire: str) -> None:
    assert [found for found in findings(wire, HEALTHY[wire]) if found.severity is not Severity.INFO] == []


def test_a_proactive_model_may_be_silent() -> None:
    assert [found for found in findings(LIVE, SAID_TO_ANOTHER) if found.severity is not Severity.INFO] == []


def test_a_session_of_xai_may_have_no_tools() -> None:
    assert [found for found in findings(XAI, WITHOUT_TOOLS) if found.severity is not Severity.INFO] == []


def test_each_hole_has_a_fault_and_a_reason() -> None:
    assert HOLES.keys() <= FAULTS.keys()
    assert all(reason for holes in HOLES.values() for reason in holes.values())


def test_every_rule_that_a_splitter_states_has_a_fault_here() -> None:
    folder = Path(protocols.__file__).parent
    stated = {
        node.args[0].value
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("SocketFact", "MessageFault") and node.args
        if isinstance(node.args[0], ast.Constant)
    }
    assert stated - {name.partition(" ")[0] for name in FAULTS} == set()
