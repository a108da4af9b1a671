"""The request without each place that is suspected of its refusal: a target that takes one of these tells the cause."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.edits.variants import RequestVariant, VariedRequest
from workbench.rules import suspects_of
from workbench.wire import Remove


def leave_out(subject: VariedRequest) -> Iterable[RequestVariant]:
    """A copy without each suspected place; none for a request whose refusal is explained."""
    found = subject.inspector.detail(subject.index).row.findings
    for pointer in (pointer for finding in found for pointer in suspects_of(finding)):
        title = f"without {pointer}, suspected of causing the refusal"
        yield subject.variant_by_changes(f"without={pointer}", title, [Remove(pointer)], "")


VARIANTS = (leave_out,)
