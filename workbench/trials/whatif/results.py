"""Results of parallel calls in another order than their calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from workbench.edits.places import element
from workbench.edits.proposal import value_at
from workbench.ir import ToolResultIR
from workbench.trials.whatif._subject import Subject, Variant
from workbench.wire.patch import Change, Replace


def reordered(subject: Subject) -> Iterable[Variant]:
    """Neighbouring results change places, the last one first."""
    changes = [change for group in _groups(subject) for change in _reversed(subject, group)]
    title = "the results of parallel calls come the other way round"
    yield subject.changed("results=reordered", title, changes, "no two results stand next to each other")


VARIANTS = (reordered,)


def _groups(subject: Subject) -> Iterator[list[str]]:
    """Pointers of results that stand next to each other: elements of one message, or messages of their own."""
    messages = [(m, [p for p in m.parts if isinstance(p, ToolResultIR)]) for m in subject.request.messages]
    for alone, group in groupby(messages, key=lambda held: _is_alone(held[1])):
        if alone:
            yield [message.pointer for message, _ in group]
        else:
            yield from ([m.pointer + element(p) for p in results] for m, results in group)


def _is_alone(results: list[ToolResultIR]) -> bool:
    """A message that is a result."""
    return len(results) == 1 and element(results[0]) == ""


def _reversed(subject: Subject, pointers: list[str]) -> list[Change]:
    values = [value_at(subject.fault.body, pointer) for pointer in pointers]
    if len(pointers) < 2:
        return []
    return [Replace(at, value) for at, value in zip(pointers, reversed(values), strict=True) if value is not None]
