"""Finds the first tool call of a response while its bytes arrive, and how much may be sent before it.

A response is sent in units: the events of a stream, in any framing; a response that is no stream is one unit (without
the blanks before it, which servers send while they think). A unit is sent once it is complete and makes no tool call.
What cannot be read is sent as it arrives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from workbench import protocols, regex
from workbench.errors import WorkbenchError
from workbench.protocols import Adapter
from workbench.recorder.capture.redaction_guard import unpacker
from workbench.wire import Framing, loads, read_stream

_BLANK_LINE = regex.compile(rb"(?>\r\n|\r|\n){2}")
_SPACE = b" \t\r\n"
_BETWEEN = b" \t\r\n,[]"
_FIELD = regex.compile(rb"(?:data|event|id|retry)?:")
_HINT = regex.compile(rb"(?i)tool|function|call")
"""One of these words names a call in every protocol; what has none of them is not decoded."""

_TYPES = {
    "text/event-stream": Framing.SSE,
    "application/x-ndjson": Framing.NDJSON,
    "application/ndjson": Framing.NDJSON,
    "application/jsonl": Framing.NDJSON,
    "application/x-jsonlines": Framing.NDJSON,
    "application/vnd.amazon.eventstream": Framing.AWS,
}


class FirstToolCall:
    """Follows one response until its first tool call.

    Args:
        protocol: of the exchange.
        content_type, encoding: headers of the answer.

    Attributes:
        is_stream: it is a stream of events, according to its content type.
        is_found: a tool call has started: nothing more may be sent.
        releasable: bytes of the body, as received, that may be sent.
    """

    def __init__(self, protocol: str, content_type: str, encoding: str) -> None:
        self._adapter = protocols.get(protocol)
        self._type = content_type
        self._framing = _TYPES.get(content_type.partition(";")[0].strip().lower())
        self.is_stream = self._framing is not None
        self.is_found = False
        self.releasable = 0
        self._unpack: Callable[[bytes], bytes] | None = unpacker(encoding) if encoding else lambda data: data
        self._is_packed = bool(encoding)
        self._received, self._text, self._clear = 0, 0, 0  # bytes of the body, of its text, and of that without a call
        self._unit = bytearray()
        self._pieces: deque[tuple[int, int]] = deque()  # ends of pieces: in the body, and in the text

    def feed(self, piece: bytes) -> None:
        """Add bytes of the body."""
        self._received += len(piece)
        if self._unpack is None:
            self.releasable = self._received
        if self.is_found or self._unpack is None:
            return
        try:
            text = self._unpack(piece)
        except Exception:  # three libraries, each with an error of its own
            self._give_up()
            return
        self._text += len(text)
        self._pieces.append((self._received, self._text))
        self._unit += text
        self._take_units()
        self._update_releasable()

    def close(self) -> None:
        """End the body: what is left of it is a unit."""
        if not self.is_found and self._unpack is not None:
            self._end_unit(len(self._unit))
            self._update_releasable()
            self.releasable = self.releasable if self.is_found else self._received

    def _give_up(self) -> None:
        self._unpack = None
        self.releasable = self._received

    def _update_releasable(self) -> None:
        """Set how much may be sent: of a compressed body complete pieces only."""
        if not self._is_packed:
            self.releasable = self._clear
            return
        while self._pieces and 0 < self._pieces[0][1] <= self._clear:  # a coding's own head says nothing yet
            self.releasable = self._pieces.popleft()[0]

    def _take_units(self) -> None:
        if self._framing is None:
            self._detect_framing()
        while not self.is_found and self._framing and (end := self._unit_end()):
            self._end_unit(end)

    def _detect_framing(self) -> None:
        """Release blanks, and detect a stream that its content type does not announce."""
        blanks = len(self._unit) - len(self._unit.lstrip(_SPACE))
        self._skip(blanks)
        if self._unit[:1] == b"[":
            self._framing = Framing.JSON_ARRAY
        elif _FIELD.match(self._unit):
            self._framing = Framing.SSE

    def _unit_end(self) -> int:
        """End of the first unit; 0 while it is not complete."""
        match self._framing:
            case Framing.SSE:
                self._skip(len(self._unit) - len(self._unit.lstrip(b"\r\n")))  # a blank line more means nothing
                found = _BLANK_LINE.search(self._unit)
                return found.end() if found else 0
            case Framing.NDJSON:
                return self._unit.find(b"\n") + 1
            case Framing.AWS:
                size = int.from_bytes(self._unit[:4], "big")
                return size if 0 < size <= len(self._unit) else 0
        return self._element_end()

    def _element_end(self) -> int:
        """End of the last complete element: servers end a piece with it."""
        start = len(self._unit) - len(self._unit.lstrip(_BETWEEN))
        end = len(self._unit.rstrip(_BETWEEN))
        if start >= end:
            return 0
        try:
            loads(b"[" + bytes(self._unit[start:end]) + b"]")
        except WorkbenchError:
            return 0
        return end

    def _end_unit(self, end: int) -> None:
        unit = bytes(self._unit[:end])
        if _HINT.search(unit) and self._calls(unit):
            self.is_found = True
        else:
            self._skip(end)

    def _skip(self, size: int) -> None:
        del self._unit[:size]
        self._clear += size

    def _calls(self, unit: bytes) -> bool:
        try:
            return _makes_call(self._adapter, unit, self._type, self._framing)
        except Exception:  # what cannot be read is let pass: it is judged by nobody
            return False


def _makes_call(adapter: Adapter, unit: bytes, content_type: str, framing: Framing | None) -> bool:
    if framing is None:
        events = read_stream(unit, content_type).events  # a stream that does not say so
        if not events:
            return any(True for m in adapter.decode_response(unit).messages for _ in m.tool_calls())
    elif framing is Framing.JSON_ARRAY:
        events = read_stream(b"[" + unit.strip(_BETWEEN) + b"]", content_type, framing).events
    else:
        events = read_stream(unit, content_type, framing).events
    decoder = adapter.stream_decoder()
    for event in events:
        decoder.feed(event)
    return any(True for message in decoder.result().messages for _ in message.tool_calls())
