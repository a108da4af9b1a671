"""Repairs of text that is not well-formed Unicode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.edits.fault import Fault
from workbench.edits.proposal import Proposal, RepairCost
from workbench.edits.repairs._search import Proposer
from workbench.provenance import scalars
from workbench.wire import Replace


def broken_unicode(fault: Fault) -> Iterator[Proposal]:
    """Replace lone surrogates by U+FFFD: here, or everywhere in the request."""
    damaged = {p: v for p, v in scalars(fault.body) if isinstance(v, str) and with_replacement_characters(v) != v}
    here = fault.finding.pointer
    text = fault.value(here)
    if isinstance(text, str) and with_replacement_characters(text) != text:
        yield Proposal(
            "replace the broken character with U+FFFD",
            (Replace(here, with_replacement_characters(text)),),
            RepairCost.STAND_IN,
        )
    if damaged:
        changes = tuple(Replace(pointer, with_replacement_characters(value)) for pointer, value in damaged.items())
        yield Proposal("replace every broken character with U+FFFD", changes, RepairCost.STAND_IN)


def with_replacement_characters(text: str) -> str:
    """The text with U+FFFD for lone surrogates; matching halves become one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


REPAIRS: Mapping[str, tuple[Proposer, ...]] = {"args.encoding": (broken_unicode,)}
