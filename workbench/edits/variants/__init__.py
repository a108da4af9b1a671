"""Variants of a request: the same request with one difference, or the reason why it has none.

In: a request, alone or in its session. Out: ``RequestVariant`` values. What-if sends them in addition to the request;
the corrections of a profile put them in its place. It may import what ``edits`` may.
"""

from __future__ import annotations

from workbench.edits.variants.varied_request import (
    NO_REASONING,
    RequestVariant,
    VariedRequest,
    at_level,
    drop_reasoning,
    forbid_tools,
    ignores,
    remove_tools,
    switch_off_parallel,
)

__all__ = [
    "NO_REASONING",
    "RequestVariant",
    "VariedRequest",
    "at_level",
    "drop_reasoning",
    "forbid_tools",
    "ignores",
    "remove_tools",
    "switch_off_parallel",
]
