"""Variants of tools: no parallel calls, and schemas of another level."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.edits.variants import RequestVariant, VariedRequest, at_level, switch_off_parallel
from workbench.toolcalls.schemas import LEVELS


def levels(subject: VariedRequest) -> Iterable[RequestVariant]:
    """Tool schemas as strict ones, as simple objects, and with strings only."""
    for name in LEVELS:
        yield at_level(subject, name)


VARIANTS = (switch_off_parallel, levels)
