"""Another use of reasoning in a request: none at all."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.edits.message_parts import remove_parts
from workbench.edits.variants.varied_request import RequestVariant, VariedRequest
from workbench.ir import Reasoning

NO_REASONING = "the request contains no reasoning"


def drop_reasoning(subject: VariedRequest) -> Iterable[RequestVariant]:
    """Without any reasoning."""
    refs = [ref for ref, _ in subject.fault.parts(Reasoning)]
    yield subject.variant_by_changes(
        "reasoning=dropped", "without reasoning", remove_parts(subject.fault, refs), NO_REASONING
    )
