"""Conversion: a request or a response of one protocol as another's, with a report of what could not be carried.

In: a decoded exchange and the target's protocol. Out: bytes for the target, the losses, and the map of ids. Any
protocol's IR is first put into normal form (``normal``), then reduced to what the target can carry (``fit``), then
written by the target's adapter (``convert``). Nothing is lost without a line, and nothing is invented; null, empty
lists and switches at their default (``strict: false``, ``is_error: false``, parallel calls on) leave no line.
It may import the core and the rooms up to ``chain``.
"""

from __future__ import annotations

from workbench.convert._parts import INPUT
from workbench.convert._request import FREE_TEXT
from workbench.convert.compare import unsaid
from workbench.convert.convert import Converted, convert, request_as, response_as, unmap
from workbench.convert.losses import Loss

__all__ = ["FREE_TEXT", "INPUT", "Converted", "Loss", "convert", "request_as", "response_as", "unmap", "unsaid"]
