"""Results of parallel calls in another order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from workbench.edits import element_pointer
from workbench.edits.variants import RequestVariant, VariedRequest
from workbench.ir import ToolResultIR
from workbench.wire import Change, Replace, value_at


def reverse_results(subject: VariedRequest) -> Iterable[RequestVariant]:
    """Reverse the order of neighbouring results."""
    changes = [change for group in _groups(subject) for change in _reverse_changes(subject, group)]
    title = "results of parallel calls in reverse order"
    yield subject.variant_by_changes("results=reordered", title, changes, "no two results are adjacent")


VARIANTS = (reverse_results,)


def _groups(subject: VariedRequest) -> Iterator[list[str]]:
    """Pointers of neighbouring results: elements of one message, or separate messages."""
    messages = [(m, [p for p in m.parts if isinstance(p, ToolResultIR)]) for m in subject.request.messages]
    for alone, group in groupby(messages, key=lambda pair: _is_alone(pair[1])):
        if alone:
            yield [message.pointer for message, _ in group]
        else:
            yield from ([m.pointer + element_pointer(p) for p in results] for m, results in group)


def _is_alone(results: list[ToolResultIR]) -> bool:
    """The message is a result."""
    return len(results) == 1 and element_pointer(results[0]) == ""


def _reverse_changes(subject: VariedRequest, pointers: list[str]) -> list[Change]:
    values = [value_at(subject.fault.body, pointer) for pointer in pointers]
    if len(pointers) < 2:
        return []
    return [Replace(at, value) for at, value in zip(pointers, reversed(values), strict=True) if value is not None]
