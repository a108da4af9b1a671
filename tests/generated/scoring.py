"""What the program says of a drawn fault."""

from __future__ import annotations

from typing import NamedTuple

from tests.generated import Fault
from workbench.contracts import Finding, Severity
from workbench.rules.inspection import Inspector
from workbench.wire.session import MemorySession

_ANY = ("cost.", "closure.pending", "secret.")
"""Rules that say nothing of a fault."""


class Scored(NamedTuple):
    """A fault with its grade: named; a right rule elsewhere; another rule; silent."""

    fault: Fault
    grade: str
    found: tuple[tuple[str, str, str], ...]

    @property
    def is_named(self) -> bool:
        return self.grade == "named"

    def line(self) -> str:
        fault = self.fault
        said = "; ".join(f"{severity} {rule} {pointer}" for rule, pointer, severity in self.found) or "-"
        ways = "session" if fault.before else "lone"
        return f"{fault.row} | {fault.wire.name} {ways} | {fault.note} | at {fault.place} | {said}"


def score(fault: Fault) -> Scored:
    """Judge one fault."""
    wire = fault.wire
    exchanges = [wire.exchange("0", *fault.before)] if fault.before else []
    exchanges.append(wire.exchange("1", fault.request, fault.answer))
    provider = wire.provider if fault.provider is None else fault.provider or None
    session = MemorySession("generated", tuple(exchanges))
    findings = Inspector(session, provider=provider, protocol=wire.name).run().findings
    last = [f for f in findings if f.exchange == len(exchanges) - 1]
    found = tuple((f.rule, f.pointer, f.severity.value) for f in last)
    told = [f for f in last if f.severity is not Severity.INFO and not f.rule.startswith(_ANY)]
    right = [f for f in told if f.rule.startswith(fault.rules)]
    if any(_is_placed(each, fault) for each in right):
        return Scored(fault, "named", found)
    return Scored(fault, "elsewhere" if right else "other" if told else "silent", found)


def _is_placed(finding: Finding, fault: Fault) -> bool:
    """It points at the fault, first or among the other places."""
    return fault.place is None or any(_is_near(at, fault.place) for at in (finding.pointer, *finding.related))


def _is_near(pointer: str, place: str) -> bool:
    """The same node, one above it or one below it."""
    return place.startswith(pointer) or pointer.startswith(place)
