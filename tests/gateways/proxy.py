"""A small forwarding proxy. It is clean by itself; a defect is a subclass that overrides one of its steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

Headers = list[tuple[str, str]]

_OF_A_CONNECTION = {"connection", "keep-alive", "te", "upgrade", "proxy-authorization", "transfer-encoding", "host"}


@dataclass
class Message:
    """A request or an answer: its start line as three words, headers, body; how long it is to be is said anew."""

    start: tuple[str, str, str]
    headers: Headers
    body: bytes = b""
    reader: asyncio.StreamReader | None = None

    def get(self, name: str) -> str:
        return next((v for n, v in self.headers if n.lower() == name.lower()), "")

    def set(self, name: str, value: str) -> None:
        self.drop(name)
        self.headers.append((name, value))

    def drop(self, name: str) -> None:
        self.headers = [(n, v) for n, v in self.headers if n.lower() != name.lower()]

    @property
    def is_stream(self) -> bool:
        return "event-stream" in self.get("content-type")

    @property
    def is_json(self) -> bool:
        return "json" in self.get("content-type") and not self.get("content-encoding") and bool(self.body.strip())

    def head(self) -> bytes:
        lines = [" ".join(self.start), *(f"{n}: {v}" for n, v in self.headers), "", ""]
        return "\r\n".join(lines).encode("latin-1")


@dataclass
class Gateway:
    """The clean one. A body in chunks is passed on chunk by chunk, any other one whole.

    ``request`` and ``answer`` may change a message (of a stream its body is not there), ``chunks`` what a stream gives.
    """

    upstream: int
    port: int = 0
    tries: int = 1
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def request(self, message: Message) -> None:
        """Change a request."""

    def answer(self, message: Message) -> None:
        """Change an answer."""

    async def chunks(self, message: Message, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Pass a stream on."""
        async for chunk in chunks:
            yield chunk

    def is_refused(self, answer: Message) -> bool:
        """Ask again."""
        return False

    ends_cleanly = False
    lets_go = True
    streams_as_body = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        there: asyncio.StreamWriter | None = None
        try:
            asked = await read_message(reader)
            if asked is None:
                return
            self.request(asked)
            for _ in range(self.tries):
                if there:
                    there.close()
                back, there = await asyncio.open_connection("127.0.0.1", self.upstream)
                send(there, asked)
                answer = await read_message(back, to=asked.start[0])
                if not answer or not self.is_refused(answer):
                    break
            if answer:
                await self.pass_back(reader, writer, answer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, Gone):
            writer.transport.abort()
        finally:
            if there:
                there.transport.abort()
            writer.close()
            self._tasks.discard(task)

    async def pass_back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Message) -> None:
        self.answer(answer)
        if answer.reader is None:
            send(writer, answer, head_only=answer.get("x-was-head") == "1")
            with suppress(ConnectionError):
                await writer.drain()
            return
        if self.streams_as_body:
            answer.body = b"".join([chunk async for chunk in self.chunks(answer, read_chunks(answer.reader))])
            send(writer, answer)
            return
        answer.set("Transfer-Encoding", "chunked")
        writer.write(answer.head())
        gone = asyncio.ensure_future(reader.read(1))
        chunks = self.chunks(answer, read_chunks(answer.reader))
        try:
            await self._pump(chunks, writer, gone)
        except (asyncio.IncompleteReadError, ConnectionError):
            if not self.ends_cleanly:
                raise
        finally:
            gone.cancel()
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _pump(
        self, chunks: AsyncIterator[bytes], writer: asyncio.StreamWriter, gone: asyncio.Future[bytes]
    ) -> None:
        while True:
            step = asyncio.ensure_future(_next(chunks))
            step.add_done_callback(lambda done: done.cancelled() or done.exception())
            waited: set[asyncio.Future[Any]] = {step, gone} if self.lets_go else {step}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if not step.done():
                step.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await step
                raise Gone
            chunk = step.result()
            if chunk is None:
                return
            if chunk and not writer.transport.is_closing():
                writer.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                await asyncio.sleep(0)


async def _next(chunks: AsyncIterator[bytes]) -> bytes | None:
    return await anext(chunks, None)


class Gone(Exception):
    """The client went away."""


def send(writer: asyncio.StreamWriter, message: Message, *, head_only: bool = False) -> None:
    """Write a message whose body is there."""
    message.drop("x-was-head")
    if not head_only and (message.body or message.start[0].startswith("HTTP") or message.start[0] == "POST"):
        message.set("Content-Length", str(len(message.body)))
    writer.write(message.head() + message.body)


async def read_message(reader: asyncio.StreamReader, to: str = "") -> Message | None:
    """Read one; of a body in chunks only the head. None where the connection ends before it."""
    try:
        block = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = block[:-4].decode("latin-1").split("\r\n")
    words = [*first.split(" ", 2), ""]
    pairs = [(n, v.strip()) for n, _, v in (line.partition(":") for line in lines)]
    message = Message((words[0], words[1], words[2]), pairs)
    chunked, length = "chunked" in message.get("transfer-encoding"), message.get("content-length")
    message.headers = [(n, v) for n, v in pairs if n.lower() not in _OF_A_CONNECTION]
    if to == "HEAD":
        message.headers.append(("x-was-head", "1"))
        return message
    message.drop("content-length")
    if chunked:
        message.reader = reader
    elif length:
        message.body = await reader.readexactly(int(length))
    elif to:
        message.body = await reader.read()
    return message


async def read_chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The chunks of a body. Raises IncompleteReadError where it breaks off."""
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        yield (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")


@asynccontextmanager
async def running(gateway: Gateway) -> AsyncIterator[str]:
    """The gateway's URL while it listens."""
    server = await asyncio.start_server(gateway.serve, "127.0.0.1", 0, limit=2**22)
    gateway.port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{gateway.port}"
    finally:
        server.close()
        for task in list(gateway._tasks):
            task.cancel()
        await asyncio.gather(*gateway._tasks, return_exceptions=True)
