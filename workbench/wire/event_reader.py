"""Reads the events of a stream piece by piece, whatever its framing."""

from __future__ import annotations

from collections.abc import Iterator

from workbench import regex
from workbench.wire.sse import SseEvent, SseReader
from workbench.wire.stream import Framing, read_stream

_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
_TOKEN = regex.compile(rb'["{}\[\]]')
_IN_STRING = regex.compile(rb'["\\]')
_LENGTH, _LEAST, _MOST = 4, 16, 1 << 25
"""Length field of an AWS message in bytes, and the least and greatest length accepted."""


class EventReader:
    """Reads a stream piece by piece in any framing; the events do not depend on where the bytes are cut."""

    def __init__(self) -> None:
        self.framing: Framing | None = None  # known from the first bytes
        self._sse = SseReader()
        self._buffer = bytearray()
        self._number = 0
        self._depth = 0
        self._is_string = False
        self._at = 0  # scan position in the held bytes

    def feed(self, data: bytes) -> list[SseEvent]:
        """Events that are complete now."""
        if self.framing is None:
            self._buffer += data
            data = bytes(self._buffer)
            self.framing = _framing_of(data)
            if self.framing is None:
                return []
            self._buffer.clear()
        if self.framing is Framing.SSE:
            return self._sse.feed(data)
        self._buffer += data
        ends = {Framing.NDJSON: self._lines, Framing.JSON_ARRAY: self._elements, Framing.AWS: self._messages}
        found, begin = list[SseEvent](), 0
        for start, end in ends[self.framing]():
            found += self._events(bytes(self._buffer[start:end]))
            begin = end
        del self._buffer[:begin]
        self._at -= begin
        return found

    def close(self) -> list[SseEvent]:
        """The last event, if the stream ended inside it."""
        if self.framing is Framing.SSE:
            return self._sse.close()
        rest = bytes(self._buffer).lstrip(_SPACE + b"[,]" if self.framing is Framing.JSON_ARRAY else _SPACE)
        self._buffer.clear()
        return self._events(rest) if rest else []

    def _events(self, piece: bytes) -> list[SseEvent]:
        """The numbered events of one piece; byte positions are relative to the piece."""
        framing = self.framing
        if framing is Framing.JSON_ARRAY:
            framing = Framing.NDJSON
            piece = piece.lstrip(_SPACE + b"[,").replace(b"\n", b" ")  # between tokens: no string holds one
        found = enumerate(read_stream(piece, "", framing).events, self._number)
        events = [event._replace(number=number) for number, event in found]
        self._number += len(events)
        return events

    def _lines(self) -> Iterator[tuple[int, int]]:
        begin = 0
        while (end := self._buffer.find(b"\n", max(self._at, begin))) >= 0:
            yield begin, end + 1
            begin = self._at = end + 1
        self._at = len(self._buffer)

    def _messages(self) -> Iterator[tuple[int, int]]:
        begin, buffer = 0, self._buffer
        while len(buffer) - begin >= _LENGTH:
            length = max(int.from_bytes(buffer[begin : begin + _LENGTH], "big"), _LEAST)
            end = begin + length if length < _MOST else len(buffer)  # an implausible length: not a message, take all
            if end > len(buffer):
                break
            yield begin, end
            begin = end
        self._at = begin

    def _elements(self) -> Iterator[tuple[int, int]]:
        """Yield the span of each object in the array, including what precedes it."""
        buffer, begin = self._buffer, 0
        while found := (_IN_STRING if self._is_string else _TOKEN).search(buffer, self._at):
            self._at, token = found.end(), found[0]
            if token == b'"':
                self._is_string = not self._is_string
            elif token == b"\\":
                if self._at == len(buffer):
                    self._at -= 1  # what it escapes is still to come
                    return
                self._at += 1
            else:
                self._depth += 1 if token in b"{[" else -1
                if self._depth == 1 and token == b"}":
                    yield begin, self._at
                    begin = self._at
        self._at = len(buffer)


def _framing_of(data: bytes) -> Framing | None:
    """Framing of a stream by its first bytes; None while it cannot be known."""
    if _BOM.startswith(data[:3]) and len(data) < 3:
        return None
    text = data.removeprefix(_BOM).lstrip(_SPACE)
    if not text:
        return None
    return {b"{": Framing.NDJSON, b"[": Framing.JSON_ARRAY, b"\0": Framing.AWS}.get(text[:1], Framing.SSE)
