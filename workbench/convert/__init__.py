"""Conversion: a request or an answer of one protocol as another's, with a report of what could not be carried.

Three steps, each a function of its own: any protocol's IR is brought into normal form (``normal``), the normal form is
cut down to what the target can carry, which gives the losses and the map of ids (``fit``), and the target's adapter
writes what is left (``convert``). Nothing is lost without a line, and nothing is invented.

What says nothing leaves no line: null, empty lists, and switches set to what they are without being said (``strict:
false``, ``is_error: false``, parallel calls on).
"""

from __future__ import annotations

from workbench.convert._parts import INPUT
from workbench.convert._request import FREE_TEXT
from workbench.convert.compare import unsaid
from workbench.convert.convert import Converted, convert, request_as, response_as, unmap
from workbench.convert.losses import Loss

__all__ = ["FREE_TEXT", "INPUT", "Converted", "Loss", "convert", "request_as", "response_as", "unmap", "unsaid"]
