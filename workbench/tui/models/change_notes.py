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
    note_pieces: list[NotePiece] = []
    for piece in note.split("; ") if note else ():
        kind, colon, text = piece.partition(": ")
        if colon and kind in KINDS:
            note_pieces.append(NotePiece(kind, text))
        elif note_pieces and note_pieces[-1].kind:
            note_pieces[-1] = NotePiece(note_pieces[-1].kind, f"{note_pieces[-1].text}; {piece}")
        else:
            note_pieces.append(NotePiece("", piece))
    return note_pieces


def count(note: str) -> int:
    """Number of changes that the note names."""
    return sum(bool(each.kind) for each in read(note))
