"""A response that is held from its first tool call on, until somebody has decided on it.

What comes before the call is sent as it arrives, event by event; a chunked response is sent in chunks of its own,
without trailers. The head of a response that is no stream is sent with its first byte, so that another body can still
take its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from workbench.errors import UsageError
from workbench.limits import MAX_HELD_ANSWER
from workbench.recorder.breakpoints.edited_heads import OF_THE_BYTES
from workbench.recorder.breakpoints.first_tool_call import FirstToolCall
from workbench.recorder.events import EventListener, ResponseBytes, ResponseHead, ResponseStarted
from workbench.recorder.relay.body_digests import BodyDigests
from workbench.wire import Body, Headers, decode_partial, detect_encoding
from workbench.wire.http1 import ChunkedBody, HeaderField, LengthBody, Response, render, response_body


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
        is_given_up: it became too long to be held, and is sent as it arrives.
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
        """Nothing of it is sent, not even its head."""
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
        sent = Body(body.raw[: self._released], body.encoding)
        return text, len(decode_partial(sent)[0]) if self._released else 0

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
        """End a complete response; what was held although it makes no call is sent."""
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
                "the response is compressed and part of it is already sent", hint="continue it, or drop it"
            )
        sent = self.raw[: self._released]
        if not text.startswith(sent):
            what = f"the first {self._released:,} bytes are already sent: the new body must begin with them"
            raise UsageError(what, hint="edit what comes after them")
        if isinstance(self._body, LengthBody) and len(text) != self._received:
            what = f"the response has a Content-Length of {self._received:,}, but the new body has {len(text):,} bytes"
            raise UsageError(what, hint="pad it with spaces, or shorten it")
        self._send_text(text[self._released :])

    def _replace_head(self, text: bytes) -> None:
        """Send a head for another body: its length, and no content coding."""
        size = b"%d" % len(text)
        kept = [f for f in self._response.fields if f.key not in OF_THE_BYTES]
        fields = (*kept, HeaderField(b"content-length", size, b"Content-Length: " + size))
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

    def _send_head(self, told: ResponseHead | None = None) -> None:
        self._is_head_sent = True
        self._listener.on_event(ResponseStarted(0, self._clock(), told or self.head))
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
