"""One exchange that breakpoints are armed for: to the client's connection what a ``Forward`` is, which goes on inside.

A request that may be paused waits until its last byte is there and it was judged; then it goes on as it came, or is
paused. Of an answer that may be paused everything leaves up to its first tool call; the rest waits until the answer is
whole and was judged. What is too long to be held, or cannot be judged in time, goes on, and that is said.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Mapping

from workbench.errors import UsageError
from workbench.ir import NOTHING, JsonValue
from workbench.limits import MAX_HELD_REQUEST
from workbench.protocols.decode import REQUEST, RESPONSE
from workbench.recorder.breakpoints.edited_heads import with_body, without
from workbench.recorder.breakpoints.first_tool_call import FirstCall
from workbench.recorder.breakpoints.gate import ANSWER, CONTINUE, DROP, EDIT, Gate
from workbench.recorder.breakpoints.held_response import HeldAnswer
from workbench.recorder.breakpoints.intercepted_events import ChildExchange, ClientExchange, InterceptedEvents
from workbench.recorder.breakpoints.pause_tracker import Pausing
from workbench.recorder.breakpoints.simulated_response import MadeUp
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
from workbench.recorder.relay.body_digests import Passing
from workbench.recorder.relay.forward import Client, Forward
from workbench.recorder.relay.own_responses import reply
from workbench.wire.digests import Passed
from workbench.wire.encoding import decode_partial, detect_encoding
from workbench.wire.exchange import Body as Bytes
from workbench.wire.exchange import State
from workbench.wire.http1.body import Body, request_body
from workbench.wire.http1.head import BadMessage, HeadBuffer, Request, read_response, render
from workbench.wire.http1.hops import is_persistent

EDITED, UNEDITED = "edited at a breakpoint", "before it was edited at a breakpoint"
INSTEAD = "not passed on: answered at a breakpoint"

Onward = Callable[[Client, SafeListener, Request, Body], Forward]
"""Makes the exchange with the upstream, for a request in which nothing or the body alone has changed."""


class Held:
    """One exchange.

    Args:
        sides: those that may be held.
        upstream: its name.
        head: what the tap is told of the request.
        body: follows the request's body.
    """

    def __init__(
        self, client: Client, gate: Gate, sides: frozenset[str], listener: SafeListener, onward: Onward, upstream: str,
        head: RequestHead, request: Request, body: Body,
    ) -> None:  # fmt: skip
        self._loop = asyncio.get_running_loop()
        self._client, self._gate, self._sides = client, gate, sides
        self._onward, self._request, self._request_body = onward, request, body
        self._head = head
        self._own = ClientExchange(listener, upstream, head, self._loop.time())
        self._inside = InterceptedEvents(self._own, self._look_at)
        self._asked = Passing()  # the request as the client sent it
        self._pausing = Pausing(gate, self, self._own.key, head)
        self._wire: bytearray | None = bytearray() if REQUEST in sides else None  # the request, while it is held
        self._is_request_whole = False
        self._forward: Forward | None = None
        self._heads = HeadBuffer()
        self._answer: HeldAnswer | None = None
        self._keeps: bool | None = None  # the answer is whole, and what becomes of the connection
        self._judging: asyncio.Task[None] | None = None
        self._is_another = False  # what went upstream, or came from it, is recorded in an exchange of its own
        self._is_over = False

    # To the client's connection

    @property
    def is_full(self) -> bool:
        """The client takes no more for now."""
        return self._client.is_full

    def start(self, data: bytes) -> bytes:
        """Begin, with the bytes that came behind the head; gives those behind the request's end."""
        if self._wire is None:
            self._forward = self._onward(self, SafeListener(self._inside), self._request, self._request_body)
            return self._forward.start(data)
        if b"100-continue" in self._request.tokens(b"expect") and not data:
            self._client.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        return self.request_data(data)

    @property
    def takes_no_more(self) -> bool:
        """Whether the upstream has to catch up before more of the request is read."""
        return self._forward is not None and self._forward.takes_no_more

    @property
    def waiting_bytes(self) -> int:
        """Bytes held until there is a connection; what a breakpoint holds has a limit of its own."""
        return self._forward.waiting_bytes if self._forward else 0

    def request_data(self, data: bytes) -> bytes:
        """Bytes came from the client; gives those behind the request's end."""
        if self._forward:
            return self._forward.request_data(data)
        if self._is_request_whole or self._wire is None:
            return data
        self._pausing.heard()
        now = self._loop.time()
        try:
            fed = self._request_body.feed(data)
        except BadMessage as bad:
            why = f"the client's request is not HTTP/1.1: {bad.what}"
            self._own.on_event(ExchangeEnded(0, now, State.ABORTED, why))
            self._is_over = True
            self._client.write(reply(bad.status, str(bad), to=self._request.method, closes=True))
            self._client.over(keeps=False)
            return b""
        self._wire += fed.wire
        for piece in fed.pieces:
            self._asked.came(piece)
            self._own.on_event(RequestBytes(0, now, piece))
        if self._request_body.is_done:
            self._is_request_whole = True
            self._own.on_event(RequestEnded(0, now))
            self._judging = self._loop.create_task(self._judge_request(), name="judge a request")
        elif len(self._wire) > MAX_HELD_REQUEST:
            self._pausing.unjudged(f"the request has more than {MAX_HELD_REQUEST:,} bytes")
            self._send()
        return fed.rest

    def client_full(self, is_full: bool) -> None:
        """Whether the client takes no more for now."""
        if self._forward:
            self._forward.client_full(is_full)

    def stop(self, why: str) -> None:
        """The client's connection is no more."""
        if self._is_over:
            return
        if self._forward and self._keeps is None:
            self._forward.stop(why)
        if self._answer:
            self._answer.abandon()
        end = self._inside.end
        is_answered = end is not None and end.state is State.COMPLETE and not (self._answer and self._answer.holds)
        self._pausing.end(why)
        self._end(State.COMPLETE if is_answered else State.ABORTED, why)

    # From the exchange inside, which takes this for the client

    def write(self, data: bytes) -> None:
        """Bytes for the client: heads, and the answer as it came."""
        if self._answer:
            self._take(data)
        elif self._inside.passes:
            self._pausing.heard()
            self._client.write(data)
        else:
            self._heads.add(data)
            self._read_heads()

    def balance(self) -> None:
        """How much can be passed on has changed."""
        self._client.balance()

    def over(self, *, keeps: bool) -> None:
        """The exchange with the upstream is over, and the answer whole."""
        self._keeps = keeps
        answer = self._answer
        if answer:
            answer.close()
            if answer.holds:
                self._judging = self._loop.create_task(self._judge_answer(answer), name="judge an answer")
                return
            answer.finish()
        self._finish()

    def cut(self, *, resets: bool) -> None:
        """The answer is not whole and never will be: what was held of it leaves, and nobody judges it."""
        if self._answer:
            self._answer.release()
        self._end_as_upstream()
        self._client.cut(resets=resets)

    # The request

    async def _judge_request(self) -> None:
        reasons, why = await self._pausing.judged(REQUEST)
        if self._is_over:
            return
        if reasons:
            self._pausing.begin(REQUEST, reasons, has_head=False)
            return
        if why:
            self._pausing.unjudged(why)
        self._send()

    def _send(self, body: bytes | None = None) -> None:
        """Go on with the request as it came, or with another body."""
        wire, self._wire = bytes(self._wire or b""), None
        own = self._own
        if body is None:
            request = without(self._request, b"expect")
            self._inside.skips = own.request_size
            self._inside.is_request_recorded = self._is_request_whole
        else:
            self._inside = InterceptedEvents(own, self._look_at, ChildExchange(own, EDITED))
            self._is_another = True
            request, wire = with_body(self._request, body), body
        self._forward = self._onward(self, SafeListener(self._inside), request, request_body(request))
        self._forward.start(wire)
        self._client.balance()

    # The answer

    def _look_at(self, head: ResponseHead) -> None:
        """Decide by its head whether an answer may be held."""
        self._inside.passes = not (RESPONSE in self._sides and head.status == 200)

    def _read_heads(self) -> None:
        """Interim answers pass; with the head of the answer begins what may be held."""
        while self._answer is None and (block := self._heads.take()) is not None:
            response = read_response(block)
            if response.status < 200:
                self._client.write(render(response.start, [f.line for f in response.fields]))
                continue
            head = self._inside.response
            assert head
            encoding = (head.headers.get("content-encoding") or "").strip().lower()
            kind = head.headers.get("content-type") or ""
            protocol = self._gate.protocol(self._head.url) or ""
            first = FirstCall(protocol, kind, "" if encoding == "identity" else encoding)
            self._answer = HeldAnswer(self._out, self._own, head, response, self._request.method, first)
            self._take(self._heads.take_rest())

    def _out(self, data: bytes) -> None:
        self._pausing.heard()
        self._client.write(data)

    def _take(self, data: bytes) -> None:
        assert self._answer
        was_given_up = self._answer.is_given_up
        self._answer.take(data)
        if self._answer.is_given_up and not was_given_up:
            self._pausing.unjudged(f"the answer has more than {len(self._answer.raw):,} bytes")

    async def _judge_answer(self, answer: HeldAnswer) -> None:
        head = answer.head
        reasons, why = await self._pausing.judged(
            RESPONSE, status=head.status, reason=head.reason, headers=head.headers.items, version=head.http_version,
            body=base64.b64encode(answer.raw).decode(),
        )  # fmt: skip
        if self._is_over:
            return
        if reasons:
            self._pausing.begin(RESPONSE, reasons, has_head=not answer.is_untouched)
            return
        if why:
            self._pausing.unjudged(why)
        self._release(answer)

    def _release(self, answer: HeldAnswer) -> None:
        answer.release()
        answer.finish()
        self._finish()

    # Paused

    def deeds(self) -> tuple[str, ...]:
        """What can be done with the pause."""
        answer = self._answer
        if answer is None or answer.is_untouched:
            return (CONTINUE, EDIT, ANSWER, DROP)
        if answer.body.encoding:
            return (CONTINUE, DROP)
        return (CONTINUE, EDIT, ANSWER, DROP) if answer.has_begun_alone else (CONTINUE, EDIT, DROP)

    def held(self) -> tuple[bytes, int]:
        """The body that is held, without content coding, and how much of it has left already."""
        if self._answer:
            return self._answer.plain()
        raw = b"".join(piece.data for piece in self._own.pieces)
        label = self._head.headers.get("content-encoding") or ""
        return decode_partial(Bytes(raw, detect_encoding(raw, label)))[0], 0

    def go_on(self) -> None:
        """Pass it on as it came."""
        self._pausing.end("continued")
        if self._answer:
            self._release(self._answer)
        else:
            self._send()

    def edit(self, body: bytes) -> None:
        """Pass this body on instead. Raises UsageError where that cannot be."""
        answer = self._answer
        if answer is None:
            self._pausing.end("edited")
            self._send(body)
            return
        answer.edit(body)
        self._pausing.end("the answer was edited")
        self._keep_apart(answer, UNEDITED)
        answer.finish()
        self._finish()

    def answer(self, told: Mapping[str, JsonValue], who: str) -> None:
        """Answer the client with what a simulator said. Raises UsageError where the upstream's answer has begun."""
        if self._answer and not self._answer.is_untouched:
            self._go_on_with(self._answer, told, who)
            return
        self._pausing.end(f"answered by {who}")
        if self._answer:
            self._keep_apart(self._answer, INSTEAD)
        made = MadeUp(told, who, version=self._request.version, keeps=is_persistent(self._request))
        now = self._loop.time()
        self._own.on_event(ResponseStarted(0, now, made.head))
        self._client.write(made.sent)
        for piece in made.pieces:
            self._own.on_event(ResponseBytes(0, now, piece))
        if made.is_cut:
            self._end(State.ABORTED, "the simulator broke its answer off")
            self._client.cut(resets=True)
        else:
            self._end(State.COMPLETE, "")
            self._client.over(keeps=made.keeps)

    def _go_on_with(self, answer: HeldAnswer, told: Mapping[str, JsonValue], who: str) -> None:
        """The simulator's body behind the upstream's head."""
        made = MadeUp(told, who, version=self._request.version, keeps=True)
        kinds = [(head.headers.get("content-type") or "").partition(";")[0] for head in (made.head, answer.head)]
        if not answer.has_begun_alone or made.head.status != answer.head.status or kinds[0] != kinds[1] or made.is_cut:
            what = f"the head of the upstream's answer has left, and {who} answers {made.head.status} {kinds[0]}"
            raise UsageError(what, hint="continue it, edit what follows, or drop it")
        answer.edit(b"".join(made.pieces))
        self._pausing.end(f"answered by {who}")
        self._keep_apart(answer, INSTEAD)
        answer.finish()
        self._finish()

    def drop(self) -> None:
        """Break the client's connection off; of an answer that was held all that came is recorded."""
        self._pausing.end("dropped")
        if self._answer:
            self._answer.abandon()
        self._end(State.ABORTED, "")
        self._client.cut(resets=True)

    def _keep_apart(self, answer: HeldAnswer, branch: str) -> None:
        """What the upstream answered, where the client gets another answer, unless it has an exchange already."""
        end = self._inside.end
        if end and not self._is_another:
            self._is_another = True
            ChildExchange(self._own, branch).replay(answer.head, answer.pieces, end)

    # How it ends

    def _finish(self) -> None:
        """Request and answer are whole."""
        self._end_as_upstream()
        self._client.over(keeps=bool(self._keeps))

    def _end_as_upstream(self) -> None:
        end = self._inside.end or ExchangeEnded(0, self._loop.time(), State.ABORTED, "")
        self._end(end.state, end.reason)

    def _end(self, state: State, why: str) -> None:
        if self._is_over:
            return
        self._is_over = True
        words = "; ".join(filter(None, (why, *self._pausing.notes)))
        self._own.on_event(ExchangeEnded(0, self._loop.time(), state, words, self._passed()))

    def _passed(self) -> Mapping[str, Passed]:
        """Digests of what came from the client and went to it, with the other side's of the exchange inside.

        None where something else went to the upstream or came from it: its own exchange has those.
        """
        inside = self._inside.end.digests if self._inside.end and not self._is_another else NOTHING
        passed = dict(inside)
        asked, there = self._asked.passed(), inside.get("request")
        if there and self._is_request_whole:
            passed["request"] = Passed(asked.came, there.left, asked.bytes_in, there.bytes_out)
        answered = inside.get("response")
        if answered and self._answer:
            left = self._answer.passing.passed()
            passed["response"] = Passed(answered.came, left.left, answered.bytes_in, left.bytes_out)
        return passed
