"""The far end of an audit: a loopback server that notes the raw bytes it receives, and responds as the case says."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

from workbench.errors import UsageError
from workbench.recorder.audit.case import CaseResponse, ResponseEnd, ResponseFraming
from workbench.recorder.audit.sighting import CaseStage, Sighting
from workbench.wire.http1 import (
    BadMessage,
    HeadBuffer,
    Request,
    Response,
    read_request,
    read_response,
    render,
    request_body,
)

HOP = "upstream"

_STRAY = CaseResponse((b'{"object":"list","data":[],"models":[]}',))
"""For requests that are of no case: gateways ask for models and health by themselves."""

_READ = 256 * 1024
_KEEPS = 40
"""Signs of life in a response that is left open, before it counts that there was no hang-up."""


class AuditUpstream:
    """The audit's server. It serves one case at a time.

    Args:
        port: 0 takes a free one.
        open_seconds: seconds between two pieces of a response that is left open.

    Attributes:
        stage: the running case; None between cases.
        strays: requests that belong to no case, "METHOD target".
        refused: requests that were not HTTP/1.1, in words.
    """

    def __init__(self, port: int = 0, open_seconds: float = 0.025) -> None:
        self.port = port
        self.stage: CaseStage | None = None
        self.strays: list[str] = []
        self.refused: list[str] = []
        self._open_seconds = open_seconds
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        """The base URL, without a path."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Listen. Raises UsageError if the port is in use."""
        try:
            self._server = await asyncio.start_server(self._on_connection, "127.0.0.1", self.port, limit=2**20)
        except OSError as error:
            raise UsageError(
                f"cannot listen on 127.0.0.1:{self.port}: {os.strerror(error.errno or 0)}",
                hint="choose another --port, and point the gateway to it",
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening, and end every connection."""
        if self._server:
            self._server.close()
            for writer in list(self._open):
                writer.transport.abort()
            await asyncio.sleep(0)
            await self._server.wait_closed()

    async def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            with suppress(ConnectionError):
                await _FarConnection(self, reader, writer, self._open_seconds).serve()
        except BadMessage as bad:
            self.refused.append(str(bad))
        except asyncio.CancelledError:
            pass  # the loop ends
        finally:
            self._open.discard(writer)
            writer.close()


class _FarConnection:
    def __init__(
        self, upstream: AuditUpstream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, open_seconds: float
    ) -> None:
        self._upstream, self._reader, self._writer, self._open_seconds = upstream, reader, writer, open_seconds
        self._loop = asyncio.get_running_loop()
        self._heads = HeadBuffer()

    async def serve(self) -> None:
        """Serve one request after the other."""
        while (head := await self._head()) is not None:
            seen = await self._request(head)
            stage = self._upstream.stage
            if stage and stage.is_of_case(seen):
                stage.sightings.append(seen)
                keeps = await self._answer(stage.case.response, head, seen, stage)
            else:
                self._upstream.strays.append(f"{seen.method} {seen.url.removeprefix(self._upstream.url)}")
                keeps = await self._answer(_STRAY, head, seen, None)
            if not keeps:
                return

    async def _head(self) -> Request | None:
        while (block := self._heads.take()) is None:
            data = await self._reader.read(_READ)
            if not data:
                return None
            self._heads.add(data)
        return read_request(block)

    async def _request(self, head: Request) -> Sighting:
        seen = Sighting.from_head(HOP, self._upstream.url, head, self._loop.time())
        body = request_body(head)
        if b"100-continue" in head.tokens(b"expect"):
            self._writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        data = self._heads.take_rest()
        while True:
            pieces_read = body.feed(data)
            for piece in pieces_read.pieces:
                seen.request_body.add(piece, self._loop.time())
            if body.is_done:
                self._heads.add(pieces_read.rest)
                return seen
            data = await self._reader.read(_READ)
            if not data:
                raise ConnectionResetError("the request was incomplete")

    async def _answer(self, answer: CaseResponse, head: Request, seen: Sighting, stage: CaseStage | None) -> bool:
        """Write the response; True if the connection is kept."""
        framing = answer.framing
        if framing is ResponseFraming.CHUNKED and head.version == b"HTTP/1.0":
            framing = ResponseFraming.CLOSE
        lines = [f"{name}: {value}".encode("latin-1") for name, value in answer.headers]
        lines += self._framing_lines(answer, framing)
        block = render(b"HTTP/1.1 %d %s" % (answer.status, _REASONS.get(answer.status, b"Other")), lines)
        seen.response = _read(block)
        self._writer.write(block)
        if head.method != b"HEAD":
            await self._body(answer, framing, seen, stage)
        if answer.end is ResponseEnd.LEFT:
            return False
        if answer.end is ResponseEnd.CUT:
            seen.is_cut, seen.ended = True, self._loop.time()
            return False
        if framing is ResponseFraming.CHUNKED and head.method != b"HEAD":
            self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()
        seen.ended = self._loop.time()
        return (
            framing is not ResponseFraming.CLOSE
            and head.version == b"HTTP/1.1"
            and b"close" not in head.tokens(b"connection")
        )

    def _framing_lines(self, answer: CaseResponse, framing: ResponseFraming) -> list[bytes]:
        if framing is ResponseFraming.CHUNKED:
            return [b"Transfer-Encoding: chunked"]
        if framing is ResponseFraming.CLOSE:
            return [b"Connection: close"]
        missing = 64 if answer.end is ResponseEnd.CUT else 0
        return [b"Content-Length: %d" % (sum(map(len, answer.pieces)) + missing)]

    async def _body(
        self, answer: CaseResponse, framing: ResponseFraming, seen: Sighting, stage: CaseStage | None
    ) -> None:
        for number, piece in enumerate(answer.pieces):
            if number and answer.end is ResponseEnd.LEFT:
                await self._leave_open(piece, seen, stage)
                return
            before = stage.came if stage else 0
            self._send(piece, framing, seen)
            if stage:
                stage.piece_sent(self._loop.time())
            await self._writer.drain()
            if stage and answer.framing is ResponseFraming.CHUNKED:
                await stage.client_has_more(before)

    def _send(self, piece: bytes, framing: ResponseFraming, seen: Sighting) -> None:
        seen.response_body.add(piece, self._loop.time())
        self._write(piece, framing)

    def _write(self, piece: bytes, framing: ResponseFraming) -> None:
        self._writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if framing is ResponseFraming.CHUNKED else piece)

    async def _leave_open(self, sign: bytes, seen: Sighting, stage: CaseStage | None) -> None:
        """Send pieces until the other side disconnects; after the client's end they are not noted."""
        over = asyncio.ensure_future(self._reader.read(1))
        try:
            for _ in range(_KEEPS):
                if stage and stage.is_over.is_set():
                    self._write(sign, ResponseFraming.CHUNKED)
                else:
                    self._send(sign, ResponseFraming.CHUNKED, seen)
                await asyncio.wait((over,), timeout=self._open_seconds)
                if over.done() or self._writer.transport.is_closing():
                    seen.is_left = True
                    break
        finally:
            over.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await over
            seen.ended = self._loop.time()
            if stage:
                stage.is_settled.set()


def _read(block: bytes) -> Response:
    return read_response(block.removesuffix(b"\r\n\r\n"))


_REASONS = {
    200: b"OK",
    400: b"Bad Request",
    404: b"Not Found",
    413: b"Payload Too Large",
    429: b"Too Many Requests",
    500: b"Internal Server Error",
    503: b"Service Unavailable",
    529: b"Overloaded",
}
