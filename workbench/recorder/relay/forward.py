"""One exchange on its way: request bytes up, response bytes down, each as it arrives, and an event for each.

No byte waits to be inspected. Everything that can end an exchange, and how each end looks to the client, is in this
file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import monotonic
from typing import Protocol

from workbench.limits import MAX_REPLAY
from workbench.recorder.events import (
    ExchangeEnded,
    RequestBytes,
    RequestEnded,
    RequestHead,
    RequestStarted,
    ResponseBytes,
    ResponseHead,
    ResponseStarted,
    SafeListener,
)
from workbench.recorder.relay.body_digests import BodyDigests
from workbench.recorder.relay.client_side import ClientSide, reply
from workbench.recorder.relay.connector import Connector, Unreachable
from workbench.recorder.relay.routes import Upstream
from workbench.recorder.relay.socket_tunnel import Handshake, SocketTunnel
from workbench.recorder.relay.upstream_connection import ConnectionPool, UpstreamConnection
from workbench.wire import State
from workbench.wire.http1 import (
    BadMessage,
    BodyReader,
    ChunkedBody,
    HeadBuffer,
    HeaderField,
    Request,
    Response,
    asks_websocket,
    end_to_end,
    is_persistent,
    other_upgrade,
    read_response,
    render,
    response_body,
)

_IDEMPOTENT = frozenset({b"GET", b"HEAD", b"OPTIONS", b"TRACE", b"PUT", b"DELETE"})
_EXTENSIONS = b"sec-websocket-extensions"
IGNORED_UPGRADE = "the client asks to switch to {}; only WebSockets are forwarded, so this was sent as HTTP/1.1"
"""Note on a request; a server may ignore the wish, too, and clients have to expect that (RFC 9110 7.8)."""

_HUNG_UP = "the upstream closed the connection before its response was complete"


class OpenTunnel(Protocol):
    """Joins the client with a connection to an upstream."""

    def __call__(self, handshake: Handshake, connection: UpstreamConnection, *, is_full: bool) -> SocketTunnel:
        """Take over the connection of an exchange; ``is_full`` if it takes no more at present."""
        ...


class Forward:
    """Forwards one exchange between a client's connection and an upstream.

    Args:
        target: path and query at the upstream.
        body: reads the framing of the request body.
        hop: name of the hop.
        open_tunnel: called for a WebSocket, once the upstream has agreed to it; None if none may pass.
        declines: extensions of a WebSocket (compression) that the client offers are not passed on.
    """

    def __init__(
        self, client: ClientSide, listener: SafeListener, pool: ConnectionPool, connector: Connector,
        upstream: Upstream, request: Request, target: bytes, body: BodyReader, hop: str = "",
        open_tunnel: OpenTunnel | None = None, *, declines: bool = False,
    ) -> None:  # fmt: skip
        self._loop = asyncio.get_running_loop()
        self._client = client
        self._listener, self._key = listener, listener.new_key()
        self._pool, self._connector, self._upstream = pool, connector, upstream
        self._request, self._target, self._request_body, self._hop = request, target, body, hop
        self._is_request_whole = body.is_done
        self._open_tunnel = open_tunnel if request.method == b"GET" and asks_websocket(request) else None
        self._note = IGNORED_UPGRADE.format(upgrade[:80]) if (upgrade := other_upgrade(request)) else ""
        self._declines = declines and bool(request.values(_EXTENSIONS))
        self._request_digests, self._response_digests = BodyDigests(), BodyDigests()
        self._head_size = 0
        self._connecting: asyncio.Task[None] | None = None
        self._connection: UpstreamConnection | None = None
        self._unsent: bytearray | None = None  # what was not sent yet, for lack of a connection
        self._replay: bytearray | None = None  # what was sent on a reused connection, while it can be sent again
        self._is_upstream_full = False
        self._heads = HeadBuffer()
        self._response: Response | None = None
        self._response_body: BodyReader | None = None
        self._keeps = is_persistent(request)
        self._dechunks = False
        self._is_clean = True  # the upstream sent nothing behind its answer
        self._failure: Unreachable | None = None
        self._has_ended = False

    def start(self, data: bytes) -> bytes:
        """Start, with the bytes that came after the head; returns those after the end of the request."""
        now = self._started_at = monotonic()
        request = self._request
        head = self._head = RequestHead(
            method=request.method.decode("latin-1"),
            target=request.target.decode("latin-1"),
            url=self._upstream.url(self._target),
            headers=request.headers,
            http_version=request.version.decode(),
            hop=self._hop,
        )
        self._listener.on_event(RequestStarted(self._key, now, self._upstream.name, head))
        self._unsent = bytearray(self._head_to_send())
        self._head_size = len(self._unsent)
        if self._is_request_whole:
            self._listener.on_event(RequestEnded(self._key, now))
        elif data:
            data = self.request_data(data)
        if self._has_ended:
            return data
        if connection := self._pool.take(self._upstream, now):
            self._attach(connection)
        else:
            self._start_connecting()
        return data

    # From the client

    @property
    def is_blocked(self) -> bool:
        """The upstream has to catch up before more of the request is read."""
        return self._is_upstream_full

    @property
    def waiting_bytes(self) -> int:
        """Bytes held until there is a connection."""
        return len(self._unsent or b"")

    def request_data(self, data: bytes) -> bytes:
        """Forward bytes of the client; returns those after the end of the request."""
        if self._is_request_whole:
            return data
        now = monotonic()
        try:
            read_data = self._request_body.feed(data)
        except BadMessage as bad:
            self._refuse(bad)
            return b""
        if read_data.wire:
            self._send(read_data.wire)
        for piece in read_data.pieces:
            self._request_digests.add_received(piece)
            self._listener.on_event(RequestBytes(self._key, now, piece))
        if self._request_body.is_done:
            self._is_request_whole = True
            self._listener.on_event(RequestEnded(self._key, now))
            if self._failure:
                self._answer_failure(self._failure)
            elif self._response_body and self._response_body.is_done:
                self._complete()
        return read_data.rest

    def set_client_full(self, is_full: bool) -> None:
        """Pause or resume reading from the upstream, as the client's write buffer is full or not."""
        if self._connection:
            transport = self._connection.transport
            transport.pause_reading() if is_full else transport.resume_reading()

    def stop(self, why: str) -> None:
        """End the exchange: the client's connection is closed."""
        self._drop_upstream()
        is_answered = self._response_body is not None and self._response_body.is_done
        self._end(State.COMPLETE if is_answered else State.ABORTED, why)

    # From the upstream

    def end_of_upstream(self) -> bool:
        return False

    def set_upstream_full(self, is_full: bool) -> None:
        self._is_upstream_full = is_full
        self._client.update_reading()

    def response_data(self, data: bytes) -> None:
        self._replay = None
        try:
            if self._response_body is not None:
                self._forward_body(self._response_body, b"", data, monotonic())
            else:
                self._forward_heads(data)
        except BadMessage as bad:
            self._drop_upstream()
            what = f"the response from {self._upstream.host}:{self._upstream.port} is not HTTP/1.1: {bad.what}"
            hint = "; ".join(filter(None, (bad.hint, "no part of the response was forwarded")))
            self._abort_or_fail(Unreachable(what, hint), what, resets=True)

    def upstream_closed(self, error: Exception | None) -> None:
        self._connection = None
        body = self._response_body
        if body and (body.is_done or (body.ends_with_connection and not error)):
            self._end(
                State.COMPLETE, "" if self._is_request_whole else "the response arrived before the request was complete"
            )
            self._client.finish(keeps=False)
        elif self._replay is not None:
            self._unsent, self._replay = self._replay, None
            self._is_upstream_full = False
            self._start_connecting()
        else:
            what = f"{self._upstream.host}:{self._upstream.port} closed the connection before it responded"
            failure = Unreachable(f"{what} ({error})" if error else what, "check the upstream's log, then try again")
            self._abort_or_fail(failure, f"{_HUNG_UP} ({error})" if error else _HUNG_UP, resets=error is not None)

    # How the request gets there

    def _head_to_send(self) -> bytes:
        """The head as received, except for the base of its target, Host and hop-by-hop headers."""
        request, authority = self._request, self._upstream.authority
        fields = self._socket_fields() if self._open_tunnel else end_to_end(request)
        lines = [f.line if f.key != b"host" else f.with_value(authority).line for f in fields]
        if not request.values(b"host"):
            lines.insert(0, b"Host: " + authority)
        return render(b"%s %s %s" % (request.method, self._target, request.version), lines)

    def _start_connecting(self) -> None:
        self._connecting = self._loop.create_task(self._connect(), name=f"dial {self._upstream.host}")

    async def _connect(self) -> None:
        try:
            connection = await self._connector.connect(self._upstream)
        except Unreachable as failure:
            self._fail(failure)
        else:
            self._attach(connection)
            self._client.update_reading()

    def _attach(self, connection: UpstreamConnection) -> None:
        self._connection = connection
        connection.user = self
        self._request_digests.start_sending(
            head_size=self._head_size, is_chunked=isinstance(self._request_body, ChunkedBody)
        )
        self.set_client_full(self._client.is_full)
        if connection.is_reused and (self._request.method in _IDEMPOTENT or self._request.values(b"idempotency-key")):
            self._replay = bytearray()
        data, self._unsent = bytes(self._unsent or b""), None
        self._send(data)
        connection.replay_to_user()

    def _socket_fields(self) -> Sequence[HeaderField]:
        """Headers of a handshake: all but those that ``Connection`` names for this hop, and what is declined."""
        request = self._request
        connection_fields = set(request.tokens(b"connection")) - {b"upgrade", b"keep-alive"}
        dropped = {*connection_fields, _EXTENSIONS} if self._declines else connection_fields
        return tuple(field for field in request.fields if field.key not in dropped)

    def _send(self, data: bytes) -> None:
        if self._connection:
            if self._replay is not None:
                self._replay += data
                if len(self._replay) > MAX_REPLAY:
                    self._replay = None
            self._connection.transport.write(data)
            self._request_digests.add_sent(data)
        elif self._unsent is not None:
            self._unsent += data

    # How the answer gets back

    def _forward_heads(self, data: bytes) -> None:
        now = monotonic()
        self._heads.add(data)
        head = self._read_heads(now)
        if self._has_ended:
            return
        if self._response_body is not None:
            self._forward_body(self._response_body, head, self._heads.take_rest(), now)
        elif head:
            self._client.write(head)

    def _forward_body(self, body: BodyReader, head: bytes, data: bytes, now: float) -> None:
        """Pass on what came of the body, behind its head where that came with it; of a damaged one what is good."""
        damage: BadMessage | None = None
        try:
            wire, pieces, rest = body.feed(data)
        except BadMessage as bad:
            damage, (wire, pieces, rest) = bad, body.good
        sent = b"".join(pieces) if self._dechunks else wire
        self._client.write(head + sent if head else sent)
        digests, key, tell = self._response_digests, self._key, self._listener.on_event
        digests.add_sent(sent)
        for piece in pieces:
            digests.add_received(piece)
            tell(ResponseBytes(key, now, piece))
        if damage:
            raise damage
        if rest:
            self._is_clean = False
        if body.is_done and self._is_request_whole:
            self._complete()

    def _read_heads(self, now: float) -> bytes:
        """Read complete heads up to the final one; returns what to send of them."""
        heads = b""
        while self._response_body is None and (block := self._heads.take()) is not None:
            response = read_response(block)
            if response.status == 101 and self._open_tunnel:
                self._switch(response, heads, self._open_tunnel, now)
                return b""
            if response.status == 101:
                raise BadMessage("the upstream switches protocols (101), but the client did not request it")
            if response.status >= 200:
                heads += self._final_head(response, now)
            elif self._request.version == b"HTTP/1.1":
                heads += render(response.start, [f.line for f in end_to_end(response)])
        return heads

    def _final_head(self, response: Response, now: float) -> bytes:
        body = response_body(response, self._request.method)
        self._response, self._response_body = response, body
        self._keeps = self._keeps and not body.ends_with_connection
        self._dechunks = isinstance(body, ChunkedBody) and self._request.version == b"HTTP/1.0"
        head = ResponseHead(
            response.status, response.reason.decode("latin-1"), response.headers, response.version.decode()
        )
        self._response_digests.start_sending(
            head_size=0, is_chunked=isinstance(body, ChunkedBody) and not self._dechunks
        )
        self._listener.on_event(ResponseStarted(self._key, now, head))
        dropped: Sequence[bytes] = ()
        if self._dechunks:
            dropped = (b"transfer-encoding", b"trailer", b"content-length")
        elif isinstance(body, ChunkedBody):
            dropped = (b"content-length",)  # RFC 9112 6.3: chunked is what counts, and what is passed on says so
        lines = [f.line for f in end_to_end(response) if f.key not in dropped]
        if not self._keeps and self._request.version == b"HTTP/1.1":
            lines.append(b"Connection: close")
        return render(response.start, lines)

    def _switch(self, response: Response, heads: bytes, open_tunnel: OpenTunnel, now: float) -> None:
        """Pass a 101 response on as it is; a tunnel takes what follows it, and says how it ends."""
        connection, self._connection = self._connection, None
        assert connection
        head = ResponseHead(101, response.reason.decode("latin-1"), response.headers, response.version.decode())
        self._listener.on_event(ResponseStarted(self._key, now, head))
        self._has_ended = True
        self._client.write(heads + render(response.start, [f.line for f in response.fields]))
        request_head, name = self._head, self._upstream.name
        handshake = Handshake(self._key, self._started_at, name, request_head, head, self._declines)
        open_tunnel(handshake, connection, is_full=self._is_upstream_full).response_data(self._heads.take_rest())

    # How it ends

    def _complete(self) -> None:
        """End an exchange of which request and response are complete."""
        connection, self._connection = self._connection, None
        self._end(State.COMPLETE, "")
        if connection and self._response:
            if self._is_clean and is_persistent(self._response) and self._request.version == b"HTTP/1.1":
                connection.release(self._response, monotonic())
            else:
                connection.drop()
        self._client.finish(keeps=self._keeps)

    def _abort_or_fail(self, failure: Unreachable, why: str, *, resets: bool) -> None:
        """End an incomplete response: by a response of our own if none has started, else by an abort."""
        if self._response is None:
            self._fail(failure)
        else:
            self._end(State.ABORTED, why)
            self._client.abort(resets=resets or self._dechunks)

    def _fail(self, failure: Unreachable) -> None:
        """Keep a failure for the client, who gets it as a response once its request is complete and recorded."""
        self._unsent = None
        self._failure = failure
        self._is_upstream_full = False
        if self._is_request_whole or self._request.values(b"expect"):
            self._answer_failure(failure)
        else:
            self._client.update_reading()

    def _answer_failure(self, failure: Unreachable) -> None:
        keeps = self._keeps and self._is_request_whole
        self._end(State.ABORTED, failure.what)
        self._client.write(reply(failure.status, str(failure), closes=not keeps).render(to=self._request.method))
        self._client.finish(keeps=keeps)

    def _refuse(self, bad: BadMessage) -> None:
        """End an exchange of which the request body is not valid HTTP."""
        self._drop_upstream()
        self._end(State.ABORTED, f"the client's request is not HTTP/1.1: {bad.what}")
        if self._response is None:
            self._client.write(reply(bad.status, str(bad), closes=True).render(to=self._request.method))
            self._client.finish(keeps=False)
        else:
            self._client.abort(resets=True)

    def _drop_upstream(self) -> None:
        """Close the connection to the upstream, or stop opening one."""
        connection, self._connection = self._connection, None
        if connection:
            connection.drop()
        if self._connecting:
            self._connecting.cancel()

    def _end(self, state: State, why: str) -> None:
        if not self._has_ended:
            self._has_ended = True
            passed = {"request": self._request_digests.result()}
            if self._response:
                passed["response"] = self._response_digests.result()
            notes = "; ".join(filter(None, (why, self._note)))
            self._listener.on_event(ExchangeEnded(self._key, monotonic(), state, notes, passed))
