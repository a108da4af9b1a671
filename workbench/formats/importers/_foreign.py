"""Formats that are recognised and refused by name, so that nobody has to guess why a file does not open.

Their descriptions are public.
"""

from __future__ import annotations

import re
from typing import NamedTuple

RECORD_INSTEAD = "record the wire instead, or export HAR"
_STRING = rb'"(?:[^"\\]|\\.)*"'
_SPACE = rb"\s*"


class Foreign(NamedTuple):
    """A format this program does not read."""

    what: str
    hint: str
    is_text: bool = False  # in another encoding: it may hold a recording all the same


def _starts(*keys: bytes) -> re.Pattern[bytes]:
    """A JSON object whose first keys are these, each pattern with the value that belongs to it."""
    body = (_SPACE + rb"," + _SPACE).join(keys)
    return re.compile(rb"\A" + _SPACE + rb"\{" + _SPACE + body, re.DOTALL)


def _key(name: bytes, value: bytes = _STRING) -> bytes:
    return b'"' + name + b'"' + _SPACE + b":" + _SPACE + value


TRANSCRIPTS: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("a Codex CLI event stream", _starts(_key(b"type", rb'"thread\.started"'))),
    ("a mini-swe-agent trajectory", _starts(_key(b"info", rb"\{[^{]{0,2000}\"(?:exit_status|model_stats)\""))),
)

BINARY: tuple[tuple[bytes, Foreign], ...] = (
    (b"%PDF-", Foreign("a PDF document", "give the recording itself")),
    (b"\x89PNG", Foreign("a PNG image", "give the recording itself")),
    (b"\xff\xd8\xff", Foreign("a JPEG image", "give the recording itself")),
    (b"\x7fELF", Foreign("a program", "give a recording")),
    (b"BZh91AY", Foreign("a bzip2 file", "unpack it first")),
    (b"\xfd7zXZ\x00", Foreign("an xz file", "unpack it first")),
    (b"\xff\xfe", Foreign("UTF-16 text", "save it as UTF-8", is_text=True)),
    (b"\xfe\xff", Foreign("UTF-16 text", "save it as UTF-8", is_text=True)),
)


def recognise(head: bytes) -> Foreign | None:
    """The foreign format that a file begins like, None when it is none of them."""
    if head.startswith(b"PK\x03\x04"):
        return Foreign("a zip archive", "unpack it and give a file in it")
    for magic, found in BINARY:
        if head.startswith(magic):
            return found
    title = next((t for t, pattern in TRANSCRIPTS if pattern.match(head)), None)
    return Foreign(f"{title}: not supported yet", RECORD_INSTEAD) if title else None
