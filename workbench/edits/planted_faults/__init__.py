"""Faults planted in healthy requests: one change each, with the rules that describe it and its place.

In: a healthy request, decoded. Out: ways to plant each fault in it, and the same request written in other ways. The
self-test counts how many faults are found; an export plants them in the test that it writes.
It may import what ``edits`` may.
"""

from __future__ import annotations

from workbench.edits.planted_faults.faults import FAULTS, FaultKind, PlantedFault, rewrite
from workbench.edits.planted_faults.healthy_request import HealthyRequest, put, remove, value_in

__all__ = [
    "FAULTS",
    "MOST_WAYS",
    "FaultKind",
    "HealthyRequest",
    "PlantedFault",
    "put",
    "remove",
    "rewrite",
    "value_in",
]

MOST_WAYS = 3
"""Most ways in which one fault is planted in one exchange."""
