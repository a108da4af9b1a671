"""The translation server: HTTP/1.1 between two relays of this process, one connection upstream for each request.

The relays handle everything that comes from outside; this server receives only what they have read. A client that
disconnects ends the request upstream at once, and an upstream that breaks off ends the client's response.
"""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from typing import NamedTuple, ParamSpec, TypeVar
from urllib.parse import urlsplit

from workbench.limits import MAX_BRIDGED_BODY
from workbench.recorder.events import SafeListener
from workbench.recorder.translation.changes import NOTE, TranslationChange
from workbench.recorder.translation.memory import ResponseMemory
from workbench.recorder.translation.records import MARK, TurnRecords
from workbench.recorder.translation.requests import (
    OwnReply,
    TranslatedRequest,
    TranslationRules,
    TranslationUpstream,
    translate_request,
)
from workbench.recorder.translation.responses import TranslatedHead, TranslatedResponse
from workbench.recorder.translation.sockets import (
    SOCKET,
    ClientSocket,
    TranslationBackend,
    UpstreamSocket,
    as_event,
    handshake,
    whole_response,
)
from workbench.simulator import socket_route
from workbench.wire import Body, Frame, Headers, HttpRequest, Translation, dumps, loads
from workbench.wire.http1 import (
    Admission,
    BadMessage,
    HeadBuffer,
    Request,
    Response,
    asks_websocket,
    end_to_end,
    read_request,
    read_response,
    request_body,
    response_body,
)
from workbench.wire.http1 import BodyReader as Framing

_P = ParamSpec("_P")
_T = TypeVar("_T")

HOST = "127.0.0.1"
UNCHANGED = "as received"
"""Branch of a request that nothing was done to."""

_READ = 256 * 1024
_LAST = ("connection", "close")
_GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"
_JSON = ("content-type", "application/json")
_EVENTS = ("content-type", "text/event-stream")
_OF_BODY = ("content-length", "transfer-encoding", "host", "connection", "expect", "trailer", SOCKET)
_NO_SOCKET = b"workbench: no protocol that the recorder translates has a WebSocket at this path\n"


class ConnectionBroken(Exception):
    """The other side ended before its message was complete."""


class TranslationServer:
    """Serves requests of clients for its upstreams: of several, ``/NAME/x`` is ``/x`` of a client of NAME.

    Bodies are converted in a separate thread, one after the other, so that other streams continue.

    Args:
        upstreams: by name.
        way: name → base URL at which the upstream's relay takes what goes there, once that listens.
        rules: how requests are changed.
        filing: receives each turn, through ``listener``.
    """

    def __init__(
        self,
        upstreams: Mapping[str, TranslationUpstream],
        way: Callable[[str], str],
        rules: TranslationRules,
        filing: TurnRecords,
        listener: SafeListener,
    ) -> None:
        self._upstreams, self._way, self._rules = upstreams, way, rules
        self._records, self._listener = filing, listener
        self._memories = {name: ResponseMemory() for name in upstreams}
        self._numbers = itertools.count(1)
        self._run = secrets.token_hex(4)
        self._worker = ThreadPoolExecutor(1, "translation")
        self._server: asyncio.Server | None = None
        self._tasks = set[asyncio.Task[None]]()
        self.port = 0

    def url(self, name: str) -> str:
        """The base URL for the client's relay."""
        return f"http://{HOST}:{self.port}" + (f"/{name}" if len(self._upstreams) > 1 else "")

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._on_connection, HOST, 0, backlog=1024, limit=_READ)
        self.port = self._server.sockets[0].getsockname()[1]
        self._admission = Admission(self.port, passes_websockets=True)

    async def close(self) -> None:
        """Stop listening, and end what is in progress."""
        if self._server:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await self._serve(reader, writer)
        except (OSError, ConnectionBroken, asyncio.CancelledError):  # of the last, nobody waits for this task
            writer.transport.abort()
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the one request of a connection, and stop when the client's relay disconnects."""
        heads = HeadBuffer()
        try:
            block = await _head(reader, heads)
            if block is None:
                return
            head = read_request(block)
            target = self._admission.target(head).decode("latin-1")
            if asks_websocket(head):
                await self._talk(head, target, reader, writer, heads.take_rest())
                return
            if b"100-continue" in head.tokens(b"expect"):
                writer.write(_GO_ON)
            body = b"".join([piece async for piece in _body(reader, request_body(head), heads, MAX_BRIDGED_BODY)])
        except BadMessage as bad:
            await _send_whole(writer, TranslatedHead(bad.status, ()), f"workbench: {bad}\n".encode())
            return
        loop = asyncio.get_running_loop()
        serving = loop.create_task(self._answer(head, target, body, writer), name=f"turn {target}")
        leaving = loop.create_task(reader.read(1), name=f"end of {target}")
        try:
            await asyncio.wait((serving, leaving), return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
        finally:
            serving.cancel()
            leaving.cancel()
            await asyncio.gather(serving, leaving, return_exceptions=True)

    async def _talk(
        self, head: Request, target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ahead: bytes
    ) -> None:
        """Serve a client that speaks a WebSocket: its turns come back as requests."""
        name, path = _split(target, self._upstreams)
        way = socket_route(path, ())
        key = self._records.key_of(target, b"")
        upstream = self._upstreams[name]
        if way is None:
            await _send_whole(writer, TranslatedHead(HTTPStatus.UPGRADE_REQUIRED, ()), _NO_SOCKET)
        elif upstream.is_socket and way.protocol == self._rules.spoken:
            await self._join(head, path, name, key, (reader, writer), ahead)
        else:
            backend = TranslationBackend((HOST, self.port), target, key)
            await ClientSocket(backend, way, path, head, writer).serve(reader, ahead)

    async def _join(
        self,
        head: Request,
        path: str,
        name: str,
        key: int,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        ahead: bytes,
    ) -> None:
        """Pass a WebSocket on unchanged: client and upstream speak the same."""
        number = f"{self._run}{next(self._numbers)}"
        way = urlsplit(self._way(name))
        lines = [f.line for f in head.fields if f.key != b"host"]
        start = f"GET {way.path}{path} HTTP/1.1".encode("latin-1", "replace")
        lines += [f"Host: {way.hostname}:{way.port}".encode(), f"Connection: {MARK}".encode()]
        lines.append(f"{MARK}: {number}".encode())
        self._listener.call(self._records.start_turn, number, path, b"", UNCHANGED, key)
        up_reader, up = await asyncio.open_connection(way.hostname, way.port, limit=_READ)
        try:
            up.write(b"\r\n".join((start, *lines, b"", b"")) + ahead)
            await asyncio.gather(_pump(client[0], up), _pump(up_reader, client[1]))
        finally:
            up.transport.abort()
            self._listener.call(self._records.end_turn, number, [])

    async def _answer(self, head: Request, target: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        name, path = _split(target, self._upstreams)
        http = _http(head, path, body)
        try:
            found = await self._work(translate_request, http, self._upstreams[name], self._rules, self._memories[name])
        except Exception as fault:  # of this program: it ends the request, and not the recording
            found = OwnReply(500, b"{}", (TranslationChange(NOTE, f"an internal error ({type(fault).__name__})"),))
        if isinstance(found, OwnReply):
            self._listener.call(self._records.record_own_reply, target, body, found.changes)
            await _send_whole(writer, TranslatedHead(found.status, (_JSON,)), found.body, head.method)
            return
        number = f"{self._run}{next(self._numbers)}"
        translation = Translation(found.client, found.spoken, found.contract)
        branch = UNCHANGED if found.is_passed else translation.branch
        key = head.headers.get(SOCKET) or ""
        parent = int(key) if key.isdecimal() else 0
        self._listener.call(self._records.start_turn, number, target, body, branch, parent)
        changes = list(found.changes)
        try:
            await self._send_upstream(found, name, number, head.method, writer, changes)
        finally:
            self._listener.call(self._records.end_turn, number, changes)

    async def _work(self, work: Callable[_P, _T], *args: _P.args, **words: _P.kwargs) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, partial(work, *args, **words))

    async def _send_upstream(
        self,
        turn: TranslatedRequest,
        name: str,
        number: str,
        method: bytes,
        writer: asyncio.StreamWriter,
        changes: list[TranslationChange],
    ) -> None:
        way = urlsplit(self._way(name))
        reader, up = await asyncio.open_connection(way.hostname, way.port, limit=_READ)
        try:
            authority = f"{way.hostname}:{way.port}"
            sending = _ResponseWriter(writer, method)
            if self._upstreams[name].is_socket and turn.request.method == "POST":
                exchanged = (await self._ask_socket(turn, way.path, authority, number, (reader, up)), sending)
            else:
                up.write(_request(turn.request, way.path, authority, number))
                await up.drain()
                exchanged = (await _read_response(reader, turn), sending)
            await self._pass_back(turn, name, number, *exchanged, changes)
        finally:
            up.transport.abort()

    async def _ask_socket(
        self,
        turn: TranslatedRequest,
        base: str,
        authority: str,
        number: str,
        upstream: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> _UpstreamResponse:
        """Make a request over a WebSocket; its events come as a stream, a refusal as over HTTP."""
        reader, up = upstream
        parts = urlsplit(turn.request.url)
        target = base + parts.path + (f"?{parts.query}" if parts.query else "")
        up.write(handshake(turn.request, target, authority, (("connection", f"upgrade, {MARK}"), (MARK, number))))
        heads = HeadBuffer()
        response = await _response(reader, heads)
        if response.status != HTTPStatus.SWITCHING_PROTOCOLS:
            framing = response_body(response, b"GET")
            fields = (f.pair for f in end_to_end(response))
            return _UpstreamResponse(
                response.status, Headers(tuple(fields)), _body(reader, framing, heads, MAX_BRIDGED_BODY)
            )
        asking = UpstreamSocket(turn.spoken, turn.request, reader, up)
        events = asking.ask(heads.take_rest())
        first = await anext(events, None)
        if first is None:
            error_body = dumps({"error": {"message": f"workbench: {asking.closed}", "type": "upstream_error"}})
            return _UpstreamResponse(HTTPStatus.BAD_GATEWAY, Headers((_JSON,)), _pieces(error_body))
        if refused := asking.error():
            return _UpstreamResponse(refused.status, refused.headers, _pieces(refused.body.raw))
        if turn.is_plain and not _is_stream(turn.request.body.raw):
            last = first
            async for event in events:
                last = event
            return _UpstreamResponse(HTTPStatus.OK, Headers((_JSON,)), _pieces(whole_response(last)))
        return _UpstreamResponse(HTTPStatus.OK, Headers((_EVENTS,)), _stream_of(first, events, asking))

    async def _pass_back(
        self,
        turn: TranslatedRequest,
        name: str,
        number: str,
        response: _UpstreamResponse,
        sending: _ResponseWriter,
        changes: list[TranslationChange],
    ) -> None:
        answer = TranslatedResponse(turn, response.status, response.headers, self._memories[name], number)
        is_whole = True
        try:
            async for piece in response.pieces:
                await sending.more(answer.head, answer.feed(piece))
        except (OSError, ConnectionBroken, BadMessage):
            is_whole = False
        except asyncio.CancelledError:  # some clients hang up at the last event
            answer.end(is_whole=False)
            raise
        ending = asyncio.ensure_future(self._work(answer.end, is_whole))  # before the next request of this client
        rest = b"" if turn.is_plain else await ending
        changes += answer.changes
        if not is_whole:
            changes.append(TranslationChange(NOTE, "the upstream ended its response early"))
        try:
            await sending.end(answer.head, rest, is_whole=is_whole or not (turn.is_stream or turn.is_plain))
        finally:
            await ending


class _UpstreamResponse(NamedTuple):
    """A response of the upstream: its head, and its body piece by piece."""

    status: int
    headers: Headers
    pieces: AsyncIterator[bytes]


class _ResponseWriter:
    """Writes one response: in chunks as it arrives, or with its length if all of it is there at once."""

    def __init__(self, writer: asyncio.StreamWriter, method: bytes) -> None:
        self._writer, self._method = writer, method
        self._has_begun = False

    async def more(self, head: TranslatedHead | None, data: bytes) -> None:
        """Write the next piece, once there is a head."""
        if head is None:
            return
        if not self._has_begun:
            self._has_begun = True
            self._writer.write(_start(head, (("transfer-encoding", "chunked"),)))
        if data:
            self._writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await self._writer.drain()

    async def end(self, head: TranslatedHead | None, data: bytes, *, is_whole: bool) -> None:
        """Write the rest. An incomplete response ends with the connection. Raises ConnectionBroken."""
        assert head
        if not self._has_begun and is_whole:
            await _send_whole(self._writer, head, data, self._method)
            return
        await self.more(head, data)
        if not is_whole:
            self._writer.close()
            raise ConnectionBroken
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()


async def _read_response(reader: asyncio.StreamReader, turn: TranslatedRequest) -> _UpstreamResponse:
    heads = HeadBuffer()
    response = await _response(reader, heads)
    framing = response_body(response, turn.request.method.encode())
    headers = Headers(tuple(f.pair for f in end_to_end(response)))
    most = 0 if turn.is_plain else MAX_BRIDGED_BODY
    return _UpstreamResponse(response.status, headers, _body(reader, framing, heads, most))


async def _stream_of(first: Frame, events: AsyncIterator[Frame], asking: UpstreamSocket) -> AsyncIterator[bytes]:
    """The events of a response as a stream. Raises ConnectionBroken where they end before it."""
    yield as_event(first)
    async for event in events:
        yield as_event(event)
    if asking.closed:
        raise ConnectionBroken


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    yield data


def _is_stream(body: bytes) -> bool:
    value = loads(body)
    return isinstance(value, dict) and value.get("stream") is True


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass bytes on until they end."""
    while data := await reader.read(_READ):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof() and not writer.is_closing():
        writer.write_eof()


def _split(target: str, known: Mapping[str, object]) -> tuple[str, str]:
    """Name of the upstream, and the path as the client sent it."""
    if len(known) == 1:
        return next(iter(known)), target
    front, mark, query = target[1:].partition("?")
    name, _, rest = front.partition("/")
    if name not in known:
        raise ConnectionBroken  # the client's relay knows its names
    return name, f"/{rest}{mark}{query}"


def _http(head: Request, path: str, body: bytes) -> HttpRequest:
    fields = tuple(f.pair for f in end_to_end(head))
    headers = Headers(tuple(item for item in fields if item[0].lower() not in _OF_BODY))
    raw = Body(body, headers.get("content-encoding") or "")
    return HttpRequest(head.method.decode("latin-1"), path, headers, raw)


def _request(request: HttpRequest, base: str, authority: str, number: str) -> bytes:
    """A request to the upstream's relay, with the mark for the recording."""
    parts = urlsplit(request.url)
    target = base + parts.path + (f"?{parts.query}" if parts.query else "")
    items = [
        ("host", authority),
        *((n, v) for n, v in request.headers if n.lower() not in _OF_BODY),
        ("content-length", str(len(request.body.raw))),
        ("connection", MARK),
        (MARK, number),
    ]
    lines = [f"{name}: {value}".encode("latin-1", "replace") for name, value in items]
    start = f"{request.method} {target} HTTP/1.1".encode("latin-1", "replace")
    return b"\r\n".join((start, *lines, b"", b"")) + request.body.raw


def _start(head: TranslatedHead, more: Sequence[tuple[str, str]]) -> bytes:
    try:
        phrase = HTTPStatus(head.status).phrase
    except ValueError:
        phrase = ""
    headers = [item for item in head.headers if item[0].lower() not in _OF_BODY]
    lines = [f"{name}: {value}".encode("latin-1", "replace") for name, value in (*headers, *more, _LAST)]
    return b"\r\n".join((f"HTTP/1.1 {head.status} {phrase}".encode(), *lines, b"", b""))


async def _send_whole(writer: asyncio.StreamWriter, head: TranslatedHead, body: bytes, method: bytes = b"") -> None:
    writer.write(_start(head, (("content-length", str(len(body))),)) + (b"" if method == b"HEAD" else body))
    await writer.drain()


async def _head(reader: asyncio.StreamReader, heads: HeadBuffer) -> bytes | None:
    """The next head; None if the connection ends before one."""
    while (block := heads.take()) is None:
        data = await reader.read(_READ)
        if not data:
            return None
        heads.add(data)
    return block


async def _response(reader: asyncio.StreamReader, heads: HeadBuffer) -> Response:
    """Head of the final response. Raises ConnectionBroken."""
    while True:
        block = await _head(reader, heads)
        if block is None:
            raise ConnectionBroken
        response = read_response(block)
        if response.status >= 200 or response.status == HTTPStatus.SWITCHING_PROTOCOLS:
            return response


async def _body(reader: asyncio.StreamReader, framing: Framing, heads: HeadBuffer, most: int) -> AsyncIterator[bytes]:
    """Pieces of a body without their framing. ``most``: bytes of it; 0 for any. Raises ConnectionBroken, BadMessage."""
    data, size = heads.take_rest(), 0
    while True:
        read_data = framing.feed(data)
        for piece in read_data.pieces:
            size += len(piece)
            if most and size > most:
                raise BadMessage(f"the body is longer than {most:,} bytes", 413)
            yield piece
        if framing.is_done:
            return
        data = await reader.read(_READ)
        if not data:
            if framing.ends_with_connection:
                return
            raise ConnectionBroken
