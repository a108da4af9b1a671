"""Notes on a request that is prepared for sending: lines for people that also say what they are about."""

from __future__ import annotations

from enum import StrEnum


class NoteKind(StrEnum):
    """What a note is about."""

    CONVERSION = "conversion"
    CORRECTION = "correction"
    HEADERS = "headers"
    """Headers with keys, or of an account, were removed."""
    MODEL = "model"
    """Another model is requested."""
    OTHER = "other"


class SendNote(str):
    """One line about a request, which is its text.

    Attributes:
        kind: what it is about.
        subject: the name of the correction or the headers; else empty.
    """

    __slots__ = ("kind", "subject")
    kind: NoteKind
    subject: tuple[str, ...]

    def __new__(cls, text: str, kind: NoteKind = NoteKind.OTHER, *subject: str) -> SendNote:
        note = super().__new__(cls, text)
        note.kind, note.subject = kind, subject
        return note
