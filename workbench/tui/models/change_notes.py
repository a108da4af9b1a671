"""Changes by a translation or correction, parsed from the note of an exchange (``recorder.translation.changes``)."""

from __future__ import annotations

from typing import NamedTuple

from workbench.recorder.translation import changes

KINDS = (
    changes.CORRECTION,
    changes.REASONING,
    changes.HANDLE,
    changes.ID,
    changes.LOSS,
    changes.CONVERSION,
    changes.MODEL,
    changes.CALL,
    changes.NOTE,
)


class NotePiece(NamedTuple):
    """A piece of a note. ``kind`` is "" for a text that is not a change."""

    kind: str
    text: str


def read(note: str) -> list[NotePiece]:
    """Split a note into pieces; a change may contain the separator itself."""
    made: list[NotePiece] = []
    for piece in note.split("; ") if note else ():
        kind, colon, text = piece.partition(": ")
        if colon and kind in KINDS:
            made.append(NotePiece(kind, text))
        elif made and made[-1].kind:
            made[-1] = NotePiece(made[-1].kind, f"{made[-1].text}; {piece}")
        else:
            made.append(NotePiece("", piece))
    return made


def count(note: str) -> int:
    """Number of changes that the note names."""
    return sum(bool(each.kind) for each in read(note))
