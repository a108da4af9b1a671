"""Conversion: writes a request or response of one protocol in another, and reports what could not be carried.

In: a decoded exchange and the target's protocol. Out: bytes for the target, the losses, and the map of ids. Any
protocol's IR is first put into normal form (``normal``), then reduced to what the target can carry (``fit``), then
written by the target's adapter (``convert``). Every loss has a line in the report, and nothing is invented; null, empty
lists and switches at their default (``strict: false``, ``is_error: false``, parallel calls on) are no losses.
It may import the core and the rooms up to ``protocols``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.convert._parts import INPUT
from workbench.convert.compare import roundtrip_differences
from workbench.convert.convert import Conversion, convert, convert_request, convert_response, restore_ids
from workbench.convert.losses import FreeTextLoss, Loss
from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.convert.convert import old_names, rename_fields
    from workbench.convert.declared_tools import read_declared_tools
    from workbench.convert.fit import fit_request, fit_response
    from workbench.convert.held_history import WholeRequest, with_held_history
    from workbench.convert.losses import FieldPlaces, LossReport
    from workbench.convert.names import name_check, rewrite_words
    from workbench.convert.normal import ANSWERING, NormalRequest, NormalResponse, normal_response, rebase_parts
    from workbench.convert.reasoning import fit_reasoning
    from workbench.convert.streaming import StreamConversion
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "ANSWERING",
    "INPUT",
    "Conversion",
    "FieldPlaces",
    "FreeTextLoss",
    "Loss",
    "LossReport",
    "NormalRequest",
    "NormalResponse",
    "StreamConversion",
    "WholeRequest",
    "convert",
    "convert_request",
    "convert_response",
    "fit_reasoning",
    "fit_request",
    "fit_response",
    "name_check",
    "normal_response",
    "old_names",
    "read_declared_tools",
    "rebase_parts",
    "rename_fields",
    "restore_ids",
    "rewrite_words",
    "roundtrip_differences",
    "with_held_history",
]
