"""Text that is no well-formed Unicode, and text that stands twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.edits.fault import Fault
from workbench.edits.proposal import Loss, Proposal
from workbench.edits.repairs._search import Propose
from workbench.leaves import scalars
from workbench.wire.patch import Replace


def broken_unicode(fault: Fault) -> Iterator[Proposal]:
    """Half characters become U+FFFD: here, or everywhere in the request."""
    damaged = {p: v for p, v in scalars(fault.body) if isinstance(v, str) and mended(v) != v}
    here = fault.finding.pointer
    text = fault.value(here)
    if isinstance(text, str) and mended(text) != text:
        yield Proposal("replace the broken character by U+FFFD", (Replace(here, mended(text)),), Loss.STAND_IN)
    if damaged:
        changes = tuple(Replace(pointer, mended(value)) for pointer, value in damaged.items())
        yield Proposal("replace every broken character by U+FFFD", changes, Loss.STAND_IN)


def mended(text: str) -> str:
    """The text with U+FFFD for everything that is no character; halves that fit together become one."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


REPAIRS: Mapping[str, tuple[Propose, ...]] = {"args.encoding": (broken_unicode,)}
