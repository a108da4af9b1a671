"""Converts AWS event stream messages to one text, and back after edits of the same length.

Lengths, checksums and base64 separate the words of a message from its bytes. In the text every value is on a separate
line; a text of the same length is written back with correct checksums.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Final
from zlib import crc32

from workbench import regex
from workbench.named_tuple import NamedTuple
from workbench.wire._aws_frames import PRELUDE, TAIL, is_prelude, lengths, read, string_headers
from workbench.wire.exchange import Redaction
from workbench.wire.sse import SseEvent

__all__ = ["PRELUDE", "AwsTexts", "is_messages"]

_CUT: Final = regex.compile(rb'\{"bytes":"((?:[A-Za-z0-9+/]{4})+)[A-Za-z0-9+/=]{0,3}\Z')
"""Payload of an incomplete message."""


class _TextValue(NamedTuple):
    """A value: its range in the body, its text, its offset in the whole text, and whether the body has base64."""

    start: int
    end: int
    text: bytes
    at: int
    is_sealed: bool


class _MessageEnd(NamedTuple):
    """End of a message in the body and in the text; ``is_whole``: its checksum is correct."""

    start: int
    end: int
    text_end: int
    is_whole: bool


class AwsTexts:
    """Text of a body of messages.

    Attributes:
        text: every value, each followed by a line end.
    """

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._places, self._messages = list[_TextValue](), list[_MessageEnd]()
        size = 0
        for event, fault in read(body):
            for start, end, text, is_sealed in _values(body, event):
                self._places.append(_TextValue(start, end, text, size, is_sealed))
                size += len(text) + 1
            self._messages.append(_MessageEnd(event.start, event.end, size, event.terminated and not fault))
        self.text = b"".join(part for place in self._places for part in (place.text, b"\n"))

    def end(self, size: int) -> tuple[int, int]:
        """End of the last complete message in this much text: (in the text, in the body)."""
        text_end = end = 0
        for message in self._messages:
            if not message.is_whole or message.text_end > size:
                break
            text_end, end = message.text_end, message.end
        return text_end, end

    def rewrite(self, text: bytes) -> bytes:
        """The body with another text of the same length."""
        rewritten = bytearray(self._body)
        for place in self._places:
            new = text[place.at : place.at + len(place.text)]
            if new != place.text:
                rewritten[place.start : place.end] = b64encode(new) if place.is_sealed else new
        for start, end, _, is_whole in self._messages:
            if is_whole and rewritten[start:end] != self._body[start:end]:
                rewritten[end - TAIL : end] = crc32(rewritten[start : end - TAIL]).to_bytes(TAIL, "big")
        return bytes(rewritten)

    def marks(self, found: Iterable[Redaction]) -> list[Redaction]:
        """Body ranges of redactions found in the text."""
        return [placed for mark in found for placed in self._marks(mark)]

    def _marks(self, mark: Redaction) -> Iterator[Redaction]:
        for start, end, text, at, is_sealed in self._places:
            first, last = max(mark.start - at, 0), min(mark.end - at, len(text))
            if first < last:
                first, last = (first * 4 // 3, -(-last * 4 // 3)) if is_sealed else (first, last)
                yield Redaction(mark.where, start + first, min(start + last, end), mark.kind)


def is_messages(body: bytes) -> bool:
    """True if the body starts with a message."""
    return is_prelude(body)


def _values(body: bytes, event: SseEvent) -> Iterator[tuple[int, int, bytes, bool]]:
    """Every value of a message: range, text, and whether it is base64. Other bytes are one value."""
    if not event.data_spans:
        yield event.start, event.end, body[event.start : event.end], False
        return
    ((start, end),) = event.data_spans
    headers = event.start + PRELUDE
    payload = headers + lengths(body, event.start)[1]
    for _, first, last in string_headers(body[headers:payload]):
        yield headers + first, headers + last, body[headers + first : headers + last], False
    if event.terminated and end - start != len(event.data or b""):
        yield payload, start, body[payload:start], False
        yield start, end, event.data or b"", True
        yield end, event.end - TAIL, body[end : event.end - TAIL], False
    elif not event.terminated and (cut := _CUT.match(body, start, end)):
        yield (*cut.span(1), b64decode(cut[1]), True)
    else:
        yield start, end, body[start:end], False
