"""Recognises formats that are not supported, so that the error can name them.

Their descriptions are public.
"""

from __future__ import annotations

import re
from typing import NamedTuple

RECORD_INSTEAD = "record the traffic instead, or export HAR"
_STRING = rb'"(?:[^"\\]|\\.)*"'
_SPACE = rb"\s*"


class UnsupportedFormat(NamedTuple):
    """A format that Workbench does not read."""

    what: str
    hint: str
    is_text: bool = False  # in another encoding: it may hold a recording all the same


def _starts(*keys: bytes) -> re.Pattern[bytes]:
    """Pattern of a JSON object with these first keys; each value is a pattern for the key's value."""
    body = (_SPACE + rb"," + _SPACE).join(keys)
    return re.compile(rb"\A" + _SPACE + rb"\{" + _SPACE + body, re.DOTALL)


def _key(name: bytes, value: bytes = _STRING) -> bytes:
    return b'"' + name + b'"' + _SPACE + b":" + _SPACE + value


TRANSCRIPTS: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("a Codex CLI event stream", _starts(_key(b"type", rb'"thread\.started"'))),
    ("a mini-swe-agent trajectory", _starts(_key(b"info", rb"\{[^{]{0,2000}\"(?:exit_status|model_stats)\""))),
)

BINARY: tuple[tuple[bytes, UnsupportedFormat], ...] = (
    (b"%PDF-", UnsupportedFormat("a PDF document", "give the recording itself")),
    (b"\x89PNG", UnsupportedFormat("a PNG image", "give the recording itself")),
    (b"\xff\xd8\xff", UnsupportedFormat("a JPEG image", "give the recording itself")),
    (b"\x7fELF", UnsupportedFormat("a program", "give a recording")),
    (b"BZh91AY", UnsupportedFormat("a bzip2 file", "unpack it first")),
    (b"\xfd7zXZ\x00", UnsupportedFormat("an xz file", "unpack it first")),
    (b"\xff\xfe", UnsupportedFormat("UTF-16 text", "save it as UTF-8", is_text=True)),
    (b"\xfe\xff", UnsupportedFormat("UTF-16 text", "save it as UTF-8", is_text=True)),
)


def recognise(head: bytes) -> UnsupportedFormat | None:
    """The unsupported format that a file starts like; None if it is none of them."""
    if head.startswith(b"PK\x03\x04"):
        return UnsupportedFormat("a zip archive", "unpack it and give a file in it")
    for magic, found in BINARY:
        if head.startswith(magic):
            return found
    title = next((t for t, pattern in TRANSCRIPTS if pattern.match(head)), None)
    return UnsupportedFormat(f"{title}: not supported yet", RECORD_INSTEAD) if title else None
