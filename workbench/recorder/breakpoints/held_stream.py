"""Holds responses to tool calls on the event stream that a client has opened with a GET to a tool server.

In the older HTTP+SSE transport every response comes on that stream; over streamable HTTP one may, where its own stream
broke. Looks like a ``Forward`` to the client's connection and wraps the real one. Events pass as they come; while a
breakpoint is armed, whole ones, and one that answers a ``tools/call`` waits until it is judged and decided on, while
others pass.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterator, Mapping

from workbench import regex
from workbench.errors import WireError
from workbench.ir import NOTHING, JsonValue
from workbench.limits import MAX_HELD_ANSWER
from workbench.protocols import RESPONSE
from workbench.recorder.breakpoints.gate import ANSWER, CONTINUE, DROP, EDIT, BreakpointGate, PauseTracker
from workbench.recorder.breakpoints.intercepted_events import UNEDITED, ChildExchange, ClientExchange, InterceptedEvents
from workbench.recorder.breakpoints.open_tool_calls import PostedCall, path_of, session_of
from workbench.recorder.events import (
    ExchangeEnded,
    RequestHead,
    ResponseBytes,
    ResponseHead,
    ResponseStarted,
    SafeListener,
)
from workbench.recorder.relay.body_digests import BodyDigests
from workbench.recorder.relay.client_side import ClientSide
from workbench.recorder.relay.forward import Forward
from workbench.wire import BodyDigest, Framing, Headers, State, loads, read_stream
from workbench.wire.http1 import BodyReader, ChunkedBody, HeadBuffer, Request, read_response, render, response_body

_STREAM = "text/event-stream"
_EVENT_END = regex.compile(rb"(?>\r\n|\r|\n){2}")
_DATA_LINE = regex.compile(rb"(?m)^data:[^\r\n]*(?:\r\n|\r|\n)")
_JSON = ResponseHead(200, "OK", Headers((("Content-Type", "application/json"),)), "HTTP/1.1")
"""Head of a response that came as an event."""


class HeldEvent:
    """An event with the response to a tool call, as an exchange that may be paused."""

    limit = note = ""

    def __init__(
        self, stream: HeldStream, gate: BreakpointGate, call: PostedCall, event: bytes, message: bytes
    ) -> None:
        self._stream, self._call, self._event, self._message = stream, call, event, message
        self.tracker = PauseTracker(gate, self, call.exchange_id, call.exchange.head)
        self.judging = asyncio.get_running_loop().create_task(self._judge(), name="check a response")

    async def _judge(self) -> None:
        reasons, why = await self.tracker.evaluate(
            RESPONSE, status=_JSON.status, reason=_JSON.reason, headers=_JSON.headers.items,
            version=_JSON.http_version, body=base64.b64encode(self._message).decode(),
        )  # fmt: skip
        if reasons:
            self.tracker.begin(RESPONSE, reasons, has_head=True)
            return
        if why:
            self.tracker.report_unjudged(why)
        self._stream.release(self, self._event)

    def actions(self) -> tuple[str, ...]:
        """Actions that can end the pause."""
        return CONTINUE, EDIT, ANSWER, DROP

    def held_body(self) -> tuple[bytes, int]:
        """The message, and how many bytes of it are already sent: none."""
        return self._message, 0

    def resume(self) -> None:
        """Send the event unchanged."""
        self._end("continued", self._event)

    def edit(self, body: bytes) -> None:
        """Send this message instead."""
        self._end("the response was edited", self._with_message(body), is_replaced=True)

    def answer(self, reply: Mapping[str, JsonValue], who: str) -> None:
        """Send a recorded response instead."""
        message = b"".join(base64.b64decode(piece) for piece in reply["pieces"])
        self._end(f"answered by {who}", self._with_message(message), is_replaced=True)

    def drop(self) -> None:
        """Send nothing: to the client, the server never answered."""
        self._end("dropped", b"", is_replaced=True)

    def leave(self, why: str) -> None:
        """The stream is over."""
        self.judging.cancel()
        self.tracker.end(why)

    def release(self) -> None:
        """Send the event without waiting any longer."""
        self.leave("the upstream closed the connection")
        self._stream.release(self, self._event)

    def _with_message(self, message: bytes) -> bytes:
        """The event with another message; its other lines stay."""
        data = b"data: " + b" ".join(message.split(b"\n")).replace(b"\r", b" ").strip() + b"\n"
        found = [*_DATA_LINE.finditer(self._event)]
        return self._event[: found[0].start()] + data + self._event[found[-1].end() :]

    def _end(self, how: str, event: bytes, *, is_replaced: bool = False) -> None:
        self.tracker.end(how)
        if is_replaced:
            at = asyncio.get_running_loop().time()
            pieces = [ResponseBytes(0, at, self._message)]
            self._stream.note_change()
            ChildExchange(self._call.exchange, UNEDITED).replay(_JSON, pieces, ExchangeEnded(0, at, State.COMPLETE, ""))
        self._stream.release(self, event)

    def notes(self) -> Iterator[str]:
        """What happened to the response, in sentences."""
        return (f"response to exchange {self._call.exchange_id}: {note}" for note in self.tracker.notes)


class HeldStream:
    """The stream of a tool server, between the client's connection and a ``Forward``.

    Args:
        client: the client's connection.
        listener: records the exchange.
        make_forward: makes the ``Forward`` inside.
        upstream: name of the upstream.
        head: as it is recorded.

    Attributes:
        upstream: the same.
    """

    def __init__(
        self, client: ClientSide, gate: BreakpointGate, listener: SafeListener,
        make_forward: Callable[[ClientSide, SafeListener, Request, BodyReader], Forward],
        upstream: str, head: RequestHead, request: Request, body: BodyReader,
    ) -> None:  # fmt: skip
        self.upstream = upstream
        self._client, self._gate, self._method = client, gate, request.method
        self._clock = asyncio.get_running_loop().time
        self._own = ClientExchange(listener, upstream, head, self._clock())
        self._events = InterceptedEvents(self._own, self._decide_by_head)
        self._forward = make_forward(self, SafeListener(self._events), request, body)
        self._heads = HeadBuffer()
        self._body: BodyReader | None = None
        self._digests = BodyDigests()
        self._part = bytearray()  # an event that is not complete
        self._tail = b""  # the last bytes that were sent
        self._is_new = True  # no event has come
        self._is_changed = False  # the client got another event, or none, in the place of one
        self._is_at_start = True  # the last byte that was sent ended an event
        self._late: list[bytes] = []  # events that wait for the end of the one that is passing
        self._held_events: list[HeldEvent] = []
        self._notes: list[str] = []
        self._addresses = frozenset((session_of(head),))
        self._keeps: bool | None = None  # the upstream has ended the stream, and what becomes of the connection
        self._has_ended = False

    # To the client's connection

    @property
    def is_full(self) -> bool:
        """The write buffer to the client is full."""
        return self._client.is_full

    @property
    def is_blocked(self) -> bool:
        """True while the upstream is slower than the client: no more of the request is read."""
        return self._forward.is_blocked

    @property
    def waiting_bytes(self) -> int:
        """Bytes held until there is a connection."""
        return self._forward.waiting_bytes

    def start(self, data: bytes) -> bytes:
        """Start, with the bytes that came after the head; returns those after the end of the request."""
        return self._forward.start(data)

    def request_data(self, data: bytes) -> bytes:
        """Receive bytes of the client; returns those after the end of the request."""
        return self._forward.request_data(data)

    def set_client_full(self, is_full: bool) -> None:
        """Pause or resume reading from the upstream, as the client's write buffer is full or not."""
        self._forward.set_client_full(is_full)

    def stop(self, why: str) -> None:
        """End the exchange: the client's connection is closed."""
        if self._keeps is None:
            self._forward.stop(why)
        for held_event in tuple(self._held_events):
            held_event.leave(why)
        self._end(State.ABORTED, why)

    # From the exchange inside, which takes this for the client

    def write(self, data: bytes) -> None:
        """Receive bytes for the client: heads, and the stream as the upstream sent it."""
        if self._events.passes:
            self._client.write(data)
        elif self._body is None:
            self._heads.add(data)
            self._read_heads()
        else:
            self._feed(data, self._body)

    def update_reading(self) -> None:
        """Read on, or stop reading: the amount that can be passed on has changed."""
        self._client.update_reading()

    def finish(self, *, keeps: bool) -> None:
        """The stream is complete; what is held of it still has to leave."""
        self._keeps = keeps
        self._flush()
        self._finish_if_empty()

    def abort(self, *, resets: bool) -> None:
        """The stream will never be complete: what was held of it is sent without being judged."""
        self._flush()
        for held_event in tuple(self._held_events):
            held_event.release()
        self._end_as_upstream()
        self._client.abort(resets=resets)

    # The stream

    def _decide_by_head(self, head: ResponseHead) -> None:
        kind = (head.headers.get("content-type") or "").partition(";")[0].strip().lower()
        is_plain = (head.headers.get("content-encoding") or "identity").lower() == "identity"
        self._events.passes = not (head.status == 200 and kind == _STREAM and is_plain)

    def _read_heads(self) -> None:
        while self._body is None and (block := self._heads.take()) is not None:
            response = read_response(block)
            self._client.write(render(response.start, [f.line for f in response.fields]))
            if response.status >= 200:
                assert self._events.response
                self._own.on_event(ResponseStarted(0, self._clock(), self._events.response))
                self._body = response_body(response, self._method)
                self._digests.start_sending(head_size=0, is_chunked=isinstance(self._body, ChunkedBody))
                self._feed(self._heads.take_rest(), self._body)

    def _feed(self, data: bytes, body: BodyReader) -> None:
        for piece in body.feed(data).pieces:
            if self._is_new or RESPONSE in self._gate.armed_sides:
                self._take_events(piece)
            else:
                self._flush()
                self._send(piece)

    def _take_events(self, piece: bytes) -> None:
        self._part += piece
        while found := _EVENT_END.search(self._part):
            event = bytes(self._part[: found.end()])
            del self._part[: found.end()]
            if not (self._is_at_start and self._holds(event)):
                self._send(event)
        if len(self._part) > MAX_HELD_ANSWER:
            self._flush()

    def _flush(self) -> None:
        if self._part:
            data = bytes(self._part)
            self._part.clear()
            self._send(data)

    def _holds(self, event: bytes) -> bool:
        """Hold an event if it answers a tool call; the first one of the older transport names the client's address."""
        found = read_stream(event, _STREAM, Framing.SSE).events
        if self._is_new and found:
            self._is_new = False
            if found[0].name == "endpoint":
                address = path_of((found[0].data or b"").decode("utf-8", "replace"))
                self._addresses |= {address}
                self._gate.tool_calls.open(address, self)
        call = next((call for each in found if each.data and (call := self._call_of(each.data))), None)
        if call is None or RESPONSE not in self._gate.armed_sides:
            return False
        self._held_events.append(
            HeldEvent(self, self._gate, call, event, b"\n".join(each.data or b"" for each in found))
        )
        return True

    def _call_of(self, data: bytes) -> PostedCall | None:
        try:
            message = loads(data) if b'"id"' in data else None
        except WireError:
            return None
        if not isinstance(message, dict) or "method" in message:
            return None
        return self._gate.tool_calls.take(self._addresses, message.get("id"))

    def note_change(self) -> None:
        """The client gets something else than the upstream sent."""
        self._is_changed = True

    def put(self, event: bytes) -> None:
        """Send a whole event, between two others."""
        if self._is_at_start:
            self._send(event)
        else:
            self._late.append(event)

    def put_message(self, message: bytes) -> None:
        """Send a message that the upstream did not."""
        self.note_change()
        self.put(b"event: message\ndata: " + message + b"\n\n")

    def release(self, held_event: HeldEvent, event: bytes) -> None:
        """Send what a held event has become; empty for nothing."""
        if held_event not in self._held_events:
            return
        self._held_events.remove(held_event)
        self._notes += held_event.notes()
        if event:
            self.put(event)
        self._finish_if_empty()

    def _send(self, data: bytes) -> None:
        while data:
            self._tail = (self._tail + data)[-4:]
            self._is_at_start = self._tail.endswith((b"\n\n", b"\r\r", b"\n\r\n"))
            framed = b"%x\r\n%s\r\n" % (len(data), data) if isinstance(self._body, ChunkedBody) else data
            self._client.write(framed)
            self._digests.add_sent(framed)
            self._own.on_event(ResponseBytes(0, self._clock(), data))
            data = self._late.pop(0) if self._late and self._is_at_start else b""

    # How it ends

    def _finish_if_empty(self) -> None:
        if self._keeps is None or self._held_events or self._has_ended:
            return
        if isinstance(self._body, ChunkedBody):
            self._client.write(b"0\r\n\r\n")
        self._end_as_upstream()
        self._client.finish(keeps=self._keeps)

    def _end_as_upstream(self) -> None:
        end = self._events.end or ExchangeEnded(0, self._clock(), State.ABORTED, "")
        self._end(end.state, end.reason)

    def _end(self, state: State, why: str) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        self._gate.tool_calls.close(self)
        words = "; ".join(filter(None, (why, *self._notes)))
        self._own.on_event(ExchangeEnded(0, self._clock(), state, words, self._body_digests()))

    def _body_digests(self) -> Mapping[str, BodyDigest]:
        """Digests of what came from the upstream and what the client got; not of a stream that was changed."""
        found = dict(self._events.end.digests if self._events.end else NOTHING)
        came = found.pop("response", None)
        if came and self._events.passes:
            found["response"] = came
        elif came and not self._is_changed:
            sent = self._digests.result()
            found["response"] = BodyDigest(came.digest_in, sent.digest_out, came.bytes_in, sent.bytes_out)
        return found
