"""What people have in place of a recording: a command, a log, an issue report, a printed object.

One layer in front of the importers. ``around`` takes away what lies around a whole text; ``scan`` goes through a text
once and takes out what is a request, an answer, or bytes that an importer reads; ``pieces`` divides Markdown. Nothing
is run or evaluated, every step is linear in the text, and what is found and cannot be read is named with its reason.
An exchange that is made here is *pasted*: its bytes are as good as what was pasted, and no recorder vouches for them.
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
