"""Conversion: writes a request or response of one protocol in another, and reports what could not be carried.

In: a decoded exchange and the target's protocol. Out: bytes for the target, the losses, and the map of ids. Any
protocol's IR is first put into normal form (``normal``), then reduced to what the target can carry (``fit``), then
written by the target's adapter (``convert``). Every loss has a line in the report, and nothing is invented; null, empty
lists and switches at their default (``strict: false``, ``is_error: false``, parallel calls on) are no losses.
It may import the core and the rooms up to ``chain``.
"""

from __future__ import annotations

from workbench.convert._parts import INPUT
from workbench.convert._request import FREE_TEXT
from workbench.convert.compare import roundtrip_differences
from workbench.convert.convert import Conversion, convert, convert_request, convert_response, restore_ids
from workbench.convert.losses import Loss

__all__ = [
    "FREE_TEXT",
    "INPUT",
    "Conversion",
    "Loss",
    "convert",
    "convert_request",
    "convert_response",
    "restore_ids",
    "roundtrip_differences",
]
