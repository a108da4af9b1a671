"""A relay between a raw client and a raw upstream, both played by the test, and a listener that notes its events."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from hashlib import sha256

from workbench.recorder.events import (
    Event,
    EventListener,
    ExchangeEnded,
    RequestBytes,
    RequestEnded,
    RequestStarted,
    ResponseBytes,
    ResponseStarted,
)
from workbench.recorder.relay.server import Relay
from workbench.wire.digests import BodyDigest
from workbench.wire.exchange import State

PATIENCE = 60.0
"""Seconds after which a test gives up: it only says that something never came."""


class Peer:
    """One end of a connection, spoken by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def expects(self, data: bytes) -> None:
        """The next bytes are exactly these."""
        async with asyncio.timeout(PATIENCE):
            try:
                got = await self.reader.readexactly(len(data))
            except asyncio.IncompleteReadError as short:
                got = short.partial
        assert got == data

    async def until(self, mark: bytes) -> bytes:
        async with asyncio.timeout(PATIENCE):
            return await self.reader.readuntil(mark)

    async def rest(self) -> bytes:
        """Everything up to the end of the connection. Raises ConnectionError where it was broken off."""
        async with asyncio.timeout(PATIENCE):
            return await self.reader.read()

    async def is_cut(self) -> bool:
        """The other side closes or breaks the connection off; what it sent before is passed over."""
        with suppress(ConnectionError):
            await self.rest()
        return True

    def reset(self) -> None:
        """Break the connection off, as a process that dies does."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def close(self) -> None:
        self.writer.close()


class Server:
    """A listener whose connections the test takes one by one."""

    def __init__(self) -> None:
        self.port = 0
        self.seen = 0
        self._taken: asyncio.Queue[Peer] = asyncio.Queue()
        self._peers: list[Peer] = []

    async def accept(self) -> Peer:
        async with asyncio.timeout(PATIENCE):
            return await self._taken.get()

    def _made(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Peer(reader, writer)
        self.seen += 1
        self._peers.append(peer)
        self._taken.put_nowait(peer)


async def turns() -> None:
    """Let the loop finish what it has begun."""
    for _ in range(10):
        await asyncio.sleep(0)


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """A listener on loopback."""
    server = Server()
    listener = await asyncio.start_server(server._made, "127.0.0.1", 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await turns()  # what was accepted last becomes a peer
        for peer in server._peers:
            peer.writer.transport.abort()
        await turns()


class Notes:
    """Notes every event as ``(name, value)``; joins neighbouring pieces in ``story``."""

    def __init__(self) -> None:
        self.calls: dict[int, list[tuple[str, object]]] = {}
        self.times: list[float] = []
        self.passed: dict[int, Mapping[str, BodyDigest]] = {}
        self.ends = asyncio.Event()

    def on_event(self, event: Event) -> None:
        match event:
            case RequestStarted(key, at, upstream, head):
                assert key not in self.calls
                self.calls[key] = []
                self._note(key, "began", (upstream, head), at)
            case RequestBytes(key, at, data):
                self._note(key, "asks", data, at)
            case RequestEnded(key, at):
                self._note(key, "asked", None, at)
            case ResponseStarted(key, at, response):
                self._note(key, "answered", response, at)
            case ResponseBytes(key, at, data):
                self._note(key, "says", data, at)
            case ExchangeEnded(key, at, state, reason, digests):
                self.passed[key] = digests
                for side, name in (("request", "asks"), ("response", "says")):
                    body, each = self.body(key, name), digests.get(side)
                    assert each is None or (each.digest_in, each.bytes_in) == (sha256(body).hexdigest(), len(body))
                    assert each is None or reason or each.is_equal
                self._note(key, "ended", (state, reason), at)
                self.ends.set()

    def _note(self, key: int, name: str, value: object, at: float) -> None:
        assert not any(n == "ended" for n, _ in self.calls[key]), "an event after the end"
        self.calls[key].append((name, value))
        self.times.append(at)

    async def end(self, key: int) -> tuple[State, str]:
        """How an exchange ended, once it has."""
        async with asyncio.timeout(PATIENCE):
            while not any(n == "ended" for n, _ in self.calls.get(key, [])):
                self.ends.clear()
                await self.ends.wait()
        value = self.calls[key][-1][1]
        assert isinstance(value, tuple)
        return value

    def story(self, key: int) -> list[str]:
        """Names of the calls, each run of pieces once."""
        names = [name for name, _ in self.calls[key]]
        return [n for i, n in enumerate(names) if not i or names[i - 1] != n]

    def body(self, key: int, name: str) -> bytes:
        """The joined pieces of one side: ``asks`` or ``says``."""
        return b"".join(value for n, value in self.calls[key] if n == name and isinstance(value, bytes))

    def pieces(self, key: int, name: str) -> list[object]:
        return [value for n, value in self.calls[key] if n == name]


class Stage:
    """A relay, its tap and its upstream."""

    def __init__(self, relay: Relay, tap: Notes, upstream: Server) -> None:
        self.relay, self.tap, self.upstream = relay, tap, upstream
        self._clients: list[Peer] = []

    @property
    def host(self) -> bytes:
        """What a client says in Host."""
        return b"127.0.0.1:%d" % self.relay.port

    @property
    def there(self) -> bytes:
        """What the upstream reads in Host."""
        return b"127.0.0.1:%d" % self.upstream.port

    async def client(self) -> Peer:
        peer = Peer(*await asyncio.open_connection("127.0.0.1", self.relay.port))
        self._clients.append(peer)
        return peer

    def request(self, text: bytes) -> tuple[bytes, bytes]:
        """A request with HOST in it: as the client sends it, and as it has to reach the upstream."""
        return text.replace(b"HOST", self.host), text.replace(b"HOST", self.there)

    def close(self) -> None:
        for peer in self._clients:
            peer.writer.transport.abort()


@asynccontextmanager
async def staged(
    upstreams: Mapping[str, str] | None = None, *, tap: EventListener | None = None, tls: ssl.SSLContext | None = None,
    serves: ssl.SSLContext | None = None, on_refusal: Callable[[str], None] = lambda line: None,
) -> AsyncIterator[Stage]:  # fmt: skip
    """A relay before one upstream, or before others of your own; ``PORT`` in a base URL is the played one's."""
    async with AsyncExitStack() as stack:
        upstream = await stack.enter_async_context(serving(serves))
        notes = Notes()
        bases = upstreams or {"main": "http://127.0.0.1:PORT"}
        bases = {name: base.replace("PORT", str(upstream.port)) for name, base in bases.items()}
        relay = Relay(bases, tap or notes, tls=tls, on_refusal=on_refusal)
        await relay.start()
        stage = Stage(relay, notes, upstream)
        try:
            yield stage
        finally:
            stage.close()
            await relay.close()
            assert tap or relay.listener_failure is None
