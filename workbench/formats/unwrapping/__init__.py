"""Unwrapping: extracts recordings from other text: a command, a log, an issue report, a printed object.

In: any text. Out: requests, responses, and bytes for an importer; unreadable finds are named with the reason.
``around`` removes layers around a whole text, ``scan`` searches a text once, ``pieces`` divides Markdown. Nothing is
run or evaluated, and every step is linear in the text. Exchanges made here are marked *pasted*: no recorder vouches for
their bytes. It may import what ``formats`` may.
"""

from workbench.formats.unwrapping._fences import MarkdownPiece, pieces
from workbench.formats.unwrapping._finds import PASTED, Find, UnreadableFind
from workbench.formats.unwrapping._kinds import UnusableText, recognise
from workbench.formats.unwrapping._layers import Layer, around, decode
from workbench.formats.unwrapping._scan import Scan
from workbench.formats.unwrapping._values import UnreadableValue, ValueReader

__all__ = [
    "HINT",
    "PASTED",
    "Find",
    "Layer",
    "MarkdownPiece",
    "Scan",
    "UnreadableFind",
    "UnreadableValue",
    "UnusableText",
    "ValueReader",
    "around",
    "decode",
    "pieces",
    "recognise",
    "scan",
]


HINT = "paste the complete text, or record the traffic (workbench record); --protocol text if a model wrote it"


def scan(text: str) -> Scan:
    """Search a text."""
    return Scan(text).run()
