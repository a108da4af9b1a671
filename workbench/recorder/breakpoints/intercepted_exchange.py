"""Intercepts one exchange. Looks like a ``Forward`` to the client's connection and wraps the real one.

A request that may be paused waits until it is complete and judged; then it is passed on unchanged, or paused. Of a
response that may be paused everything is sent up to its first tool call; the rest waits until the response is complete
and judged. What is too long to be held, or cannot be judged in time, is passed on and reported.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping

from workbench.errors import UsageError
from workbench.ir import NOTHING, JsonValue
from workbench.limits import MAX_HELD_REQUEST
from workbench.protocols import REQUEST, RESPONSE
from workbench.protocols.mcp import is_tool_call
from workbench.recorder.breakpoints.gate import ANSWER, CONTINUE, DROP, EDIT, BreakpointGate, PauseTracker
from workbench.recorder.breakpoints.held_response import FirstToolCall, HeldResponse
from workbench.recorder.breakpoints.held_stream import HeldStream
from workbench.recorder.breakpoints.intercepted_events import (
    EDITED,
    INSTEAD,
    UNEDITED,
    ChildExchange,
    ClientExchange,
    InterceptedEvents,
)
from workbench.recorder.breakpoints.open_tool_calls import PostedCall
from workbench.recorder.breakpoints.replacements import ACCEPTED, SimulatedResponse, with_body, without_headers
from workbench.recorder.events import (
    ExchangeEnded,
    RequestBytes,
    RequestEnded,
    RequestHead,
    ResponseBytes,
    ResponseHead,
    ResponseStarted,
    SafeListener,
)
from workbench.recorder.relay.body_digests import BodyDigests
from workbench.recorder.relay.client_side import ClientSide, reply
from workbench.recorder.relay.forward import Forward
from workbench.wire import Body as Bytes
from workbench.wire import BodyDigest, State, decode_partial, detect_encoding
from workbench.wire.http1 import (
    BadMessage,
    BodyReader,
    HeadBuffer,
    Request,
    is_persistent,
    read_response,
    render,
    request_body,
)

MakeForward = Callable[[ClientSide, SafeListener, Request, BodyReader], Forward]
"""Makes the exchange with the upstream, for a request in which nothing or the body alone has changed."""


def intercept(
    client: ClientSide, gate: BreakpointGate, sides: frozenset[str] | None, listener: SafeListener,
    make_forward: MakeForward, upstream: str, head: RequestHead, request: Request, body: BodyReader,
) -> InterceptedExchange | HeldStream:  # fmt: skip
    """What takes the place of a plain ``Forward``; ``sides`` is None for the stream of a tool server."""
    if sides is None:
        return HeldStream(client, gate, listener, make_forward, upstream, head, request, body)
    return InterceptedExchange(client, gate, sides, listener, make_forward, upstream, head, request, body)


class InterceptedExchange:
    """An exchange that breakpoints may pause, between the client's connection and a ``Forward``.

    Args:
        client: the client's connection.
        sides: sides that may be held.
        listener: records it.
        make_forward: makes the ``Forward`` inside.
        upstream: name of the upstream.
        head: as it is recorded.
        body: reads the framing of the request body.
    """

    note = ""

    def __init__(
        self, client: ClientSide, gate: BreakpointGate, sides: frozenset[str], listener: SafeListener,
        make_forward: MakeForward, upstream: str, head: RequestHead, request: Request, body: BodyReader,
    ) -> None:  # fmt: skip
        self._loop = asyncio.get_running_loop()
        self._client, self._gate, self._sides = client, gate, sides
        self._make_forward, self._request, self._request_body = make_forward, request, body
        self._head = head
        self._client_exchange = ClientExchange(listener, upstream, head, self._loop.time())
        self._events = InterceptedEvents(self._client_exchange, self._decide_by_head)
        self._request_digests = BodyDigests()  # the request as the client sent it
        self._pauses = PauseTracker(gate, self, gate.exchange_id(self._client_exchange.key), head)
        self._held_request = bytearray() if REQUEST in sides else None  # as on the wire; None once it is passed on
        self._is_request_whole = False
        self._forward: Forward | None = None
        self._heads = HeadBuffer()
        self._response: HeldResponse | None = None
        self._keeps: bool | None = None  # the answer is whole, and what becomes of the connection
        self._judging: asyncio.Task[None] | None = None
        self._has_child = False  # what went upstream, or came from it, is recorded in an exchange of its own
        self._has_ended = False

    # To the client's connection

    @property
    def is_full(self) -> bool:
        """The write buffer to the client is full."""
        return self._client.is_full

    def start(self, data: bytes) -> bytes:
        """Start, with the bytes that came after the head; returns those after the end of the request."""
        if self._held_request is None:
            self._forward = self._make_forward(self, SafeListener(self._events), self._request, self._request_body)
            return self._forward.start(data)
        if b"100-continue" in self._request.tokens(b"expect") and not data:
            self._client.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return self.request_data(data)

    @property
    def is_blocked(self) -> bool:
        """True while the upstream is slower than the client: no more of the request is read."""
        return self._forward is not None and self._forward.is_blocked

    @property
    def waiting_bytes(self) -> int:
        """Bytes held until there is a connection; what a breakpoint holds has a separate limit."""
        return self._forward.waiting_bytes if self._forward else 0

    def request_data(self, data: bytes) -> bytes:
        """Receive bytes of the client; returns those after the end of the request."""
        if self._forward:
            return self._forward.request_data(data)
        if self._is_request_whole or self._held_request is None:
            return data
        self._pauses.note_activity()
        now = self._loop.time()
        try:
            read_data = self._request_body.feed(data)
        except BadMessage as bad:
            why = f"the client's request is not HTTP/1.1: {bad.what}"
            self._client_exchange.on_event(ExchangeEnded(0, now, State.ABORTED, why))
            self._has_ended = True
            self._client.write(reply(bad.status, str(bad), closes=True).render(to=self._request.method))
            self._client.finish(keeps=False)
            return b""
        self._held_request += read_data.wire
        for piece in read_data.pieces:
            self._request_digests.add_received(piece)
            self._client_exchange.on_event(RequestBytes(0, now, piece))
        if self._request_body.is_done:
            self._is_request_whole = True
            self._client_exchange.on_event(RequestEnded(0, now))
            self._judging = self._loop.create_task(self._judge_request(), name="check a request")
        elif len(self._held_request) > MAX_HELD_REQUEST:
            self._pauses.report_unjudged(f"the request has more than {MAX_HELD_REQUEST:,} bytes")
            self._send()
        return read_data.rest

    def set_client_full(self, is_full: bool) -> None:
        """Pause or resume reading from the upstream, as the client's write buffer is full or not."""
        if self._forward:
            self._forward.set_client_full(is_full)

    def stop(self, why: str) -> None:
        """End the exchange: the client's connection is closed."""
        if self._has_ended:
            return
        if self._forward and self._keeps is None:
            self._forward.stop(why)
        if self._response:
            self._response.abandon()
        end = self._events.end
        is_answered = (
            end is not None and end.state is State.COMPLETE and not (self._response and self._response.is_holding)
        )
        self._pauses.end(why)
        self._end(State.COMPLETE if is_answered else State.ABORTED, why)

    # From the exchange inside, which takes this for the client

    def write(self, data: bytes) -> None:
        """Receive bytes for the client: heads, and the response as the upstream sent it."""
        if self._response:
            self._feed_response(data)
        elif self._events.passes:
            self._pauses.note_activity()
            self._client.write(data)
        else:
            self._heads.add(data)
            self._read_heads()

    def update_reading(self) -> None:
        """Read on, or stop reading: the amount that can be passed on has changed."""
        self._client.update_reading()

    def finish(self, *, keeps: bool) -> None:
        """The exchange with the upstream is over, and the response complete."""
        self._keeps = keeps
        answer = self._response
        if answer:
            answer.close()
            if answer.is_holding:
                self._judging = self._loop.create_task(self._judge_response(answer), name="check a response")
                return
            answer.finish()
        self._finish()

    def abort(self, *, resets: bool) -> None:
        """The response will never be complete: what was held of it is sent without being judged."""
        if self._response:
            self._response.release()
        self._end_as_upstream()
        self._client.abort(resets=resets)

    # The request

    async def _judge_request(self) -> None:
        if self._gate.is_tool_hop and not is_tool_call(self.held_body()[0]):
            self._sides = frozenset()
            self._send()
            return
        reasons, why = await self._pauses.evaluate(REQUEST, **self._words_of_request())
        if self._has_ended:
            return
        if reasons:
            self._pauses.begin(REQUEST, reasons, has_head=False)
            return
        if why:
            self._pauses.report_unjudged(why)
        self._send()

    def _words_of_request(self) -> Mapping[str, JsonValue]:
        """The request for the judge, which need not wait for the file then; nothing if only the file has all of it."""
        own = self._client_exchange
        if self._gate.is_tool_hop or self._head.parent or not own.pieces:
            return NOTHING
        body = b"".join(piece.data for piece in own.pieces)
        return {"request": self._gate.words_of_request(self._head, body, own.started_at)}

    def _send(self, body: bytes | None = None) -> None:
        """Pass the request on unchanged, or with another body."""
        wire, self._held_request = bytes(self._held_request or b""), None
        own = self._client_exchange
        if body is None:
            request = without_headers(self._request, b"expect")
            self._events.skips = own.request_size
            self._events.is_request_recorded = self._is_request_whole
        else:
            self._events = InterceptedEvents(own, self._decide_by_head, ChildExchange(own, EDITED))
            self._has_child = True
            request, wire = with_body(self._request, body), body
        message = body or self.held_body()[0]
        if self._gate.is_tool_hop and is_tool_call(message):
            self._gate.tool_calls.add(message, PostedCall(own, self._gate.exchange_id(own.key)))
        self._forward = self._make_forward(self, SafeListener(self._events), request, request_body(request))
        self._forward.start(wire)
        self._client.update_reading()

    # The answer

    def _decide_by_head(self, head: ResponseHead) -> None:
        """Decide by its head whether a response may be held."""
        self._events.passes = not (RESPONSE in self._sides and head.status == 200)

    def _read_heads(self) -> None:
        """Pass informational responses on; start to hold with the head of the final one."""
        while self._response is None and (block := self._heads.take()) is not None:
            response = read_response(block)
            if response.status < 200:
                self._client.write(render(response.start, [f.line for f in response.fields]))
                continue
            head = self._events.response
            assert head
            encoding = (head.headers.get("content-encoding") or "").strip().lower()
            kind = head.headers.get("content-type") or ""
            protocol = "" if self._gate.is_tool_hop else self._gate.protocol_of(self._head.url) or ""
            first = FirstToolCall(protocol, kind, "" if encoding == "identity" else encoding)
            self._response = HeldResponse(
                self._write_to_client, self._client_exchange, head, response, self._request.method, first
            )
            self._feed_response(self._heads.take_rest())

    def _write_to_client(self, data: bytes) -> None:
        self._pauses.note_activity()
        self._client.write(data)

    def _feed_response(self, data: bytes) -> None:
        assert self._response
        was_given_up = self._response.is_given_up
        self._response.feed(data)
        if self._response.is_given_up and not was_given_up:
            self._pauses.report_unjudged(f"the response has more than {len(self._response.raw):,} bytes")

    async def _judge_response(self, answer: HeldResponse) -> None:
        head = answer.head
        reasons, why = await self._pauses.evaluate(
            RESPONSE, status=head.status, reason=head.reason, headers=head.headers.items, version=head.http_version,
            body=base64.b64encode(answer.raw).decode(), **self._words_of_request(),
        )  # fmt: skip
        if self._has_ended:
            return
        if reasons:
            self._pauses.begin(RESPONSE, reasons, has_head=not answer.is_untouched)
            return
        if why:
            self._pauses.report_unjudged(why)
        self._release(answer)

    def _release(self, answer: HeldResponse) -> None:
        answer.release()
        answer.finish()
        self._finish()

    # Paused

    def actions(self) -> tuple[str, ...]:
        """Actions that can end the pause."""
        answer = self._response
        if answer is None or answer.is_untouched:
            return (CONTINUE, EDIT, ANSWER, DROP)
        if answer.body.encoding:
            return (CONTINUE, DROP)
        return (CONTINUE, EDIT, ANSWER, DROP) if answer.is_head_alone_sent else (CONTINUE, EDIT, DROP)

    @property
    def limit(self) -> str:
        """Why not every action can end the pause; empty if each can."""
        return "" if len(self.actions()) == 4 else "part of the response has already been sent"

    def held_body(self) -> tuple[bytes, int]:
        """The held body without content coding, and how many bytes of it are already sent."""
        if self._response:
            return self._response.plain()
        raw = b"".join(piece.data for piece in self._client_exchange.pieces)
        label = self._head.headers.get("content-encoding") or ""
        return decode_partial(Bytes(raw, detect_encoding(raw, label)))[0], 0

    def resume(self) -> None:
        """Pass the message on unchanged."""
        self._pauses.end("continued")
        if self._response:
            self._release(self._response)
        else:
            self._send()

    def edit(self, body: bytes) -> None:
        """Pass this body on instead. Raises UsageError if that is impossible."""
        answer = self._response
        if answer is None:
            self._pauses.end("edited")
            self._send(body)
            return
        answer.edit(body)
        self._pauses.end("the response was edited")
        self._record_child(answer, UNEDITED)
        answer.finish()
        self._finish()

    def answer(self, command: Mapping[str, JsonValue], who: str) -> None:
        """Send a simulator's response. Raises UsageError if it does not fit what is already sent."""
        if self._response and not self._response.is_untouched:
            self._continue_with(self._response, command, who)
            return
        self._pauses.end(f"answered by {who}")
        if self._response:
            self._record_child(self._response, INSTEAD)
        if stream := self._gate.tool_calls.stream_of(self._head):
            stream.put_message(b"".join(base64.b64decode(piece) for piece in command["pieces"]))
            command = ACCEPTED
        response = SimulatedResponse(command, who, version=self._request.version, keeps=is_persistent(self._request))
        now = self._loop.time()
        self._client_exchange.on_event(ResponseStarted(0, now, response.head))
        self._client.write(response.data)
        for piece in response.pieces:
            self._client_exchange.on_event(ResponseBytes(0, now, piece))
        if response.is_cut:
            self._end(State.ABORTED, "the simulator ended its response early")
            self._client.abort(resets=True)
        else:
            self._end(State.COMPLETE, "")
            self._client.finish(keeps=response.keeps)

    def _continue_with(self, answer: HeldResponse, command: Mapping[str, JsonValue], who: str) -> None:
        """Send the simulator's body after the upstream's head, which is already sent."""
        response = SimulatedResponse(command, who, version=self._request.version, keeps=True)
        kinds = [(head.headers.get("content-type") or "").partition(";")[0] for head in (response.head, answer.head)]
        if (
            not answer.is_head_alone_sent
            or response.head.status != answer.head.status
            or kinds[0] != kinds[1]
            or response.is_cut
        ):
            status = f"{response.head.status} {kinds[0]}"
            what = f"the upstream's response head has already been sent, but {who} responds with {status}"
            raise UsageError(what, hint="continue the response, edit the rest of it, or drop it")
        answer.edit(b"".join(response.pieces))
        self._pauses.end(f"answered by {who}")
        self._record_child(answer, INSTEAD)
        answer.finish()
        self._finish()

    def drop(self) -> None:
        """Abort the client's connection; everything received of a held response is recorded."""
        self._pauses.end("dropped")
        if self._response:
            self._response.abandon()
        self._end(State.ABORTED, "")
        self._client.abort(resets=True)

    def _record_child(self, answer: HeldResponse, branch: str) -> None:
        """Record the upstream's response in a child, if the client gets another one and there is no child yet."""
        end = self._events.end
        if end and not self._has_child:
            self._has_child = True
            ChildExchange(self._client_exchange, branch).replay(answer.head, answer.pieces, end)

    # How it ends

    def _finish(self) -> None:
        """End an exchange of which request and response are complete."""
        self._end_as_upstream()
        self._client.finish(keeps=bool(self._keeps))

    def _end_as_upstream(self) -> None:
        end = self._events.end or ExchangeEnded(0, self._loop.time(), State.ABORTED, "")
        self._end(end.state, end.reason)

    def _end(self, state: State, why: str) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        words = "; ".join(filter(None, (why, *self._pauses.notes)))
        self._client_exchange.on_event(ExchangeEnded(0, self._loop.time(), state, words, self._digests()))

    def _digests(self) -> Mapping[str, BodyDigest]:
        """Digests at the client's side, combined with those that the exchange inside took at the upstream's side.

        None where something else went to the upstream or came from it: its own exchange has those.
        """
        inside = self._events.end.digests if self._events.end and not self._has_child else NOTHING
        passed = dict(inside)
        request_digests, there = self._request_digests.result(), inside.get("request")
        if there and self._is_request_whole:
            passed["request"] = BodyDigest(
                request_digests.digest_in, there.digest_out, request_digests.bytes_in, there.bytes_out
            )
        answered = inside.get("response")
        if answered and self._response:
            response_digests = self._response.digests.result()
            passed["response"] = BodyDigest(
                answered.digest_in, response_digests.digest_out, answered.bytes_in, response_digests.bytes_out
            )
        return passed
