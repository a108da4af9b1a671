"""Unwrapping: what people have instead of a recording: a command, a log, an issue report, a printed object.

In: any text. Out: requests, responses, and bytes that an importer reads; what is found and cannot be read is named with
its reason. ``around`` removes what surrounds a whole text, ``scan`` goes through a text once, ``pieces`` divides
Markdown. Nothing is run or evaluated, and every step is linear in the text. An exchange made here is marked *pasted*:
no recorder vouches for its bytes. It may import what ``formats`` may.
"""

from workbench.formats.unwrapping._fences import Piece, pieces
from workbench.formats.unwrapping._found import PASTED, Found, Torn
from workbench.formats.unwrapping._kinds import Unread, recognise
from workbench.formats.unwrapping._layers import Layer, around, decoded
from workbench.formats.unwrapping._scan import Scan
from workbench.formats.unwrapping._values import NotLiteral, Reader

__all__ = [
    "HINT",
    "PASTED",
    "Found",
    "Layer",
    "NotLiteral",
    "Piece",
    "Reader",
    "Scan",
    "Torn",
    "Unread",
    "around",
    "decoded",
    "pieces",
    "recognise",
    "scan",
]


HINT = "paste the whole of it, or record the traffic (workbench record); --protocol text if a model wrote it"


def scan(text: str) -> Scan:
    """What a text holds."""
    return Scan(text).run()
