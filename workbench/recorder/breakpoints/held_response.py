"""A response that is held from its first tool call on, until a person has decided on it.

Everything before the call is sent as it arrives, event by event; a chunked response is sent in new chunks, without
trailers. The head of a response that is no stream is sent with its first byte, so that another body can still take its
place.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from workbench import protocols, regex
from workbench.errors import UsageError, WorkbenchError
from workbench.limits import MAX_HELD_ANSWER
from workbench.protocols import Adapter
from workbench.recorder.breakpoints.replacements import OF_THE_BYTES
from workbench.recorder.capture.redaction_guard import unpacker
from workbench.recorder.events import EventListener, ResponseBytes, ResponseHead, ResponseStarted
from workbench.recorder.relay.body_digests import BodyDigests
from workbench.wire import Body, Framing, Headers, decode_partial, detect_encoding, loads, read_stream
from workbench.wire.http1 import ChunkedBody, LengthBody, Response, header_field, render, response_body

_BLANK_LINE = regex.compile(rb"(?>\r\n|\r|\n){2}")
_SPACE = b" \t\r\n"
_BETWEEN = b" \t\r\n,[]"
_FIELD = regex.compile(rb"(?:data|event|id|retry)?:")
_TOOL_HINT = regex.compile(rb'"(?:result|error)"')
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
        protocol: of the exchange; empty for that of a tool server, whose first result or error is looked for.
        content_type, encoding: headers of the answer.

    Attributes:
        is_stream: it is a stream of events, according to its content type.
        is_found: a tool call has started: nothing more may be sent.
        releasable: bytes of the body, as received, that may be sent.
    """

    def __init__(self, protocol: str, content_type: str, encoding: str) -> None:
        self._adapter = protocols.get(protocol) if protocol else None
        self._hint = _HINT if protocol else _TOOL_HINT
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
        """End the body: the rest of it is one unit."""
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
        if self._hint.search(unit) and self._calls(unit):
            self.is_found = True
        else:
            self._skip(end)

    def _skip(self, size: int) -> None:
        del self._unit[:size]
        self._clear += size

    def _calls(self, unit: bytes) -> bool:
        try:
            if self._adapter is None:
                return _answers_tool_call(unit, self._type, self._framing)
            return _makes_call(self._adapter, unit, self._type, self._framing)
        except Exception:  # what cannot be read is let pass: it is judged by nobody
            return False


def _answers_tool_call(unit: bytes, content_type: str, framing: Framing | None) -> bool:
    """A JSON-RPC response; notifications and requests of the server pass."""
    events = read_stream(unit, content_type, framing).events if framing else ()
    texts = [event.data for event in events if event.data] if events else [unit]
    values = (loads(text) for text in texts if text.strip())
    messages = (each for value in values for each in (value if isinstance(value, list) else [value]))
    return any(isinstance(each, dict) and "method" not in each and "id" in each for each in messages)


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


class HeldResponse:
    """Holds back the tail of one response.

    Args:
        write: sends bytes to the client.
        listener: receives what is sent, as events of exchange 0.
        head: as the upstream sent it.
        response: as the client is to get it.
        method: of the request.
        first: looks for a call in it.

    Attributes:
        pieces: everything received.
        digests: digests of what was sent.
        is_given_up: it is too long to be held, and is sent as it arrives.
    """

    def __init__(
        self, write: Callable[[bytes], None], listener: EventListener, head: ResponseHead, response: Response,
        method: bytes, first: FirstToolCall,
    ) -> None:  # fmt: skip
        self.pieces: list[ResponseBytes] = []
        self.digests = BodyDigests()
        self.is_given_up = False
        self.head = head
        self._write, self._listener = write, listener
        self._response, self._first = response, first
        self._body = response_body(response, method)
        self._is_chunked = isinstance(self._body, ChunkedBody)
        self._clock = asyncio.get_running_loop().time
        self._received, self._released = 0, 0
        self._next, self._within = 0, 0  # the piece that leaves next, and how much of it has left
        self._is_head_sent = False
        if first.is_stream:
            self._send_head()

    @property
    def is_holding(self) -> bool:
        """A tool call has started and is held."""
        return self._first.is_found and not self.is_given_up

    @property
    def is_untouched(self) -> bool:
        """True if no byte of the response was sent, not even its head."""
        return not self._is_head_sent

    @property
    def is_head_alone_sent(self) -> bool:
        """Only its head is sent, and that does not say how long the body is."""
        return self._is_head_sent and not self._released and self._is_chunked

    @property
    def raw(self) -> bytes:
        """The body as received."""
        return b"".join(piece.data for piece in self.pieces)

    @property
    def body(self) -> Body:
        """The body as received, with its content coding."""
        raw = self.raw
        return Body(raw, detect_encoding(raw, self.head.headers.get("content-encoding") or "") if raw else "")

    def plain(self) -> tuple[bytes, int]:
        """The body without content coding, and how many bytes of that are sent."""
        body = self.body
        if not body.encoding:
            return body.raw, self._released
        text = decode_partial(body)[0]
        sent_body = Body(body.raw[: self._released], body.encoding)
        return text, len(decode_partial(sent_body)[0]) if self._released else 0

    def feed(self, data: bytes) -> None:
        """Receive bytes, with their framing, and send what may be sent."""
        now = self._clock()
        for piece in self._body.feed(data).pieces:
            self.pieces.append(ResponseBytes(0, now, piece))
            self._received += len(piece)
            if not self.is_given_up:
                self._first.feed(piece)
        if self._received > MAX_HELD_ANSWER and not self.is_given_up:
            self.is_given_up = True
        self._release_to(self._received if self.is_given_up else self._first.releasable)

    def close(self) -> None:
        """End a complete response; a held tail without a tool call is sent."""
        if not self.is_given_up:
            self._first.close()
            self._release_to(self._first.releasable)

    def release(self) -> None:
        """Send everything that was received."""
        if not self._is_head_sent:
            self._send_head()
        self._release_to(self._received)

    def abandon(self) -> None:
        """Stop sending; record everything that was received."""
        self._write = lambda data: None
        self.release()

    def finish(self) -> None:
        """Send the end of the response."""
        if not self._is_head_sent:
            self._send_head()
        if self._is_chunked:
            self._send(b"0\r\n\r\n")

    def edit(self, text: bytes) -> None:
        """Send another body, uncompressed; it has to begin with what is already sent. Raises UsageError."""
        if self.is_untouched:
            self._replace_head(text)
            self._send_text(text)
            return
        is_packed = bool(self.body.encoding)
        if is_packed:
            raise UsageError(
                "the response is compressed and part of it has already been sent", hint="continue or drop the response"
            )
        sent = self.raw[: self._released]
        if not text.startswith(sent):
            what = (
                f"the first {self._released:,} bytes have already been sent: the new body must begin with the same "
                "bytes"
            )
            raise UsageError(what, hint="edit only the bytes after them")
        if isinstance(self._body, LengthBody) and len(text) != self._received:
            what = f"the response has a Content-Length of {self._received:,}, but the new body has {len(text):,} bytes"
            raise UsageError(what, hint="pad the body with spaces, or shorten it")
        self._send_text(text[self._released :])

    def _replace_head(self, text: bytes) -> None:
        """Send a head for another body: its length, and no content coding."""
        size = b"%d" % len(text)
        other_fields = [f for f in self._response.fields if f.key not in OF_THE_BYTES]
        fields = (*other_fields, header_field(b"Content-Length", size))
        start, version = self._response.start, self._response.version
        self._response = Response(start, version, fields, self._response.status, self._response.reason)
        items = [(n, v) for n, v in self.head.headers if n.lower().encode("latin-1") not in OF_THE_BYTES]
        headers = Headers((*items, ("Content-Length", size.decode())))
        self._is_chunked = False
        self._send_head(ResponseHead(self.head.status, self.head.reason, headers, self.head.http_version))

    def _send_text(self, text: bytes) -> None:
        if text:
            self._send(b"%x\r\n%s\r\n" % (len(text), text) if self._is_chunked else text)
            self._listener.on_event(ResponseBytes(0, self._clock(), text))

    def _send_head(self, head: ResponseHead | None = None) -> None:
        self._is_head_sent = True
        self._listener.on_event(ResponseStarted(0, self._clock(), head or self.head))
        self._write(render(self._response.start, [f.line for f in self._response.fields]))
        self.digests.start_sending(head_size=0, is_chunked=self._is_chunked)

    def _release_to(self, upto: int) -> None:
        """Send the body up to this byte, in one write."""
        parts: list[bytes] = []
        while self._released < upto:
            _, at, piece = self.pieces[self._next]
            part = piece[self._within : self._within + upto - self._released]
            parts.append(part)
            self._released += len(part)
            self._within += len(part)
            if self._within == len(piece):
                self._next, self._within = self._next + 1, 0
            self._emit_part(part, at)
        if parts:
            whole = b"".join(parts)
            self._send(b"%x\r\n%s\r\n" % (len(whole), whole) if self._is_chunked else whole)

    def _emit_part(self, part: bytes, at: float) -> None:
        if not self._is_head_sent:
            self._send_head()
        self._listener.on_event(ResponseBytes(0, at, part))

    def _send(self, data: bytes) -> None:
        self._write(data)
        self.digests.add_sent(data)
