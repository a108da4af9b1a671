"""Traffic that is drawn: connections with exchanges of every framing and coding, each of which may be broken off.

Both peers know every byte that is to pass, so neither reads HTTP: they count.
"""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import brotli  # type: ignore[import-untyped]
import zstandard
from hypothesis import strategies as st

from tests.recorder.relaying import PATIENCE, Peer, turns
from workbench.wire.secrets import find

CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}
CHUNKED = b"Transfer-Encoding: chunked"


@dataclass(frozen=True)
class Message:
    """One body: its text, content coding, framing (LENGTH, CHUNKED or CLOSE), chunk sizes, and sizes of the writes."""

    text: bytes
    coding: str
    framing: str
    sizes: Sequence[int]
    writes: Sequence[int]

    @cached_property
    def body(self) -> bytes:
        return CODINGS[self.coding](self.text)

    @cached_property
    def lines(self) -> list[bytes]:
        """Its headers."""
        framing = {"LENGTH": b"content-LENGTH: %d" % len(self.body), "CHUNKED": CHUNKED, "CLOSE": b"X-Open: 1"}
        coding = [b"Content-Encoding: " + self.coding.encode()] * (self.coding != "identity")
        return [b"X-b: 1", *coding, b"x-B:2  ", framing[self.framing]]

    @cached_property
    def wire(self) -> bytes:
        """The body in its framing."""
        if self.framing != "CHUNKED":
            return self.body
        pieces = (b"%X;n=%d\r\n%s\r\n" % (len(piece), n, piece) for n, piece in enumerate(cut(self.body, self.sizes)))
        return b"".join((*pieces, b"00\r\nX-Sum: 1\r\n\r\n"))


class Break(NamedTuple):
    """Who breaks off, in the REQUEST, the SILENCE before the answer or the ANSWER, after which share, and how."""

    by: str
    where: str
    share: float
    resets: bool


@dataclass(frozen=True)
class Plan:
    """One exchange."""

    asked: Message
    answered: Message
    broken: Break | None

    def stops(self, who: str, where: str) -> Break | None:
        """The break, if it is of this peer and there."""
        return self.broken if self.broken and self.broken[:2] == (who, where) else None


def cut(data: bytes, sizes: Sequence[int]) -> list[bytes]:
    """Pieces of these sizes, over and over."""
    pieces, at = list[bytes](), 0
    while at < len(data):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(data[at : at + size])
        at += size
    return pieces


SIZES = st.lists(st.sampled_from([1, 2, 3, 17, 1_000, 70_000]), min_size=1, max_size=4).map(
    lambda sizes: [*sizes, 4_096]
)
TEXTS = st.one_of(
    st.binary(max_size=40),
    st.lists(st.binary(max_size=9), max_size=9).map(lambda events: b"".join(b"data: %s\n\n" % e for e in events)),
    st.tuples(st.binary(min_size=1, max_size=30), st.sampled_from([50, 7_000])).map(lambda pair: pair[0] * pair[1]),
).filter(lambda text: not find(text, ()))  # the recorder replaces a secret: it does not leave the same bytes
MESSAGES = [
    st.builds(Message, TEXTS, st.sampled_from(sorted(CODINGS)), st.sampled_from(framings), SIZES, SIZES)
    for framings in (["LENGTH", "CHUNKED"], ["LENGTH", "CHUNKED", "CLOSE"])
]
BREAKS = st.builds(
    Break,
    st.sampled_from(["client", "upstream"]),
    st.sampled_from(["REQUEST", "SILENCE", "ANSWER"]),
    st.floats(0, 1, exclude_max=True),
    st.booleans(),
)
PLANS = st.builds(Plan, *MESSAGES, st.none() | BREAKS)
CONNECTIONS = st.lists(st.lists(PLANS, min_size=1, max_size=5), min_size=2, max_size=4)


class Got(NamedTuple):
    """What a peer read: a head, and of the body what came."""

    head: bytes
    wire: bytes


class Traffic:
    """Plays every connection at once: its clients, and the upstream that all of them ask.

    Attributes:
        asked, answered: what the upstream and the clients read, by number of the exchange.
    """

    def __init__(self, connections: Sequence[Sequence[Plan]]) -> None:
        self.plans: dict[int, Plan] = {}
        self.connections: list[list[int]] = []
        for plans in connections:
            numbers = list(range(len(self.plans), len(self.plans) + len(plans)))
            self.connections.append(numbers)
            self.plans |= zip(numbers, plans, strict=True)
        self.asked: dict[int, Got] = {}
        self.answered: dict[int, Got] = {}
        self.began = {number: asyncio.Event() for number in self.plans}
        self._peers: list[Peer] = []

    # The upstream

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection at the upstream."""
        peer = Peer(reader, writer)
        self._peers.append(peer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self._answer(peer):
                pass
        writer.close()

    async def _answer(self, peer: Peer) -> bool:
        """Whether the connection is kept."""
        head = await peer.reader.readuntil(b"\r\n\r\n")
        number = int(head.split(b" ", 2)[1].strip(b"/"))
        plan = self.plans[number]
        stop = plan.stops("upstream", "REQUEST")
        size = len(plan.asked.wire)
        self.asked[number] = Got(head, await _read(peer, int(size * stop.share) if stop else size))
        if stop := stop or plan.stops("upstream", "SILENCE"):
            _break(peer, stop)
            return False
        if plan.stops("client", "SILENCE"):
            await peer.is_cut()
            return False
        answer = plan.answered
        sent = b"\r\n".join((b"HTTP/1.1 200 Fine", *answer.lines, b"", b""))
        if stop := plan.stops("upstream", "ANSWER"):
            sent += answer.wire
            await _write(peer, sent[: int(len(sent) * stop.share)], answer.writes)
            _break(peer, stop)
            return False
        await _write(peer, sent + answer.wire, answer.writes)
        return answer.framing != "CLOSE"

    # The clients

    async def ask(self, port: int) -> None:
        """Every connection at once."""
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(self._connection(port, numbers) for numbers in self.connections))

    async def _connection(self, port: int, numbers: Sequence[int]) -> None:
        peer = None
        for number in numbers:
            if peer is None:
                peer = Peer(*await asyncio.open_connection("127.0.0.1", port))
                self._peers.append(peer)
            try:
                is_kept = await self._ask(peer, port, number)
            except (ConnectionError, asyncio.IncompleteReadError):
                is_kept = False
            if not is_kept:
                peer.writer.close()
                peer = None

    async def leave(self) -> None:
        """Close what is still open."""
        for peer in self._peers:
            peer.writer.transport.abort()
        await turns()

    async def _ask(self, peer: Peer, port: int, number: int) -> bool:
        """Whether the connection is kept."""
        plan = self.plans[number]
        head = b"\r\n".join((b"POST /%d HTTP/1.1" % number, b"HOST: 127.0.0.1:%d" % port, *plan.asked.lines, b"", b""))
        wire, stop = plan.asked.wire, plan.stops("client", "REQUEST")
        await _write(peer, head + (wire[: int(len(wire) * stop.share)] if stop else wire), plan.asked.writes)
        if stop := stop or plan.stops("client", "SILENCE"):
            await self.began[number].wait()
            _break(peer, stop)
            return False
        got = await peer.reader.readuntil(b"\r\n\r\n")
        if b"X-Workbench-Relay" in got:
            self.answered[number] = Got(got, b"")
            length = int(got.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            await peer.reader.readexactly(length)
            return b"Connection: close" not in got
        stop, size = plan.stops("client", "ANSWER"), len(plan.answered.wire)
        wire = await _read(peer, int(size * stop.share) if stop else size)
        self.answered[number] = Got(got, wire)
        if stop:
            _break(peer, stop)
        return len(wire) == size and not stop and plan.answered.framing != "CLOSE"


async def _read(peer: Peer, size: int) -> bytes:
    """As many bytes, or what came of them."""
    try:
        return await peer.reader.readexactly(size)
    except asyncio.IncompleteReadError as short:
        return short.partial
    except ConnectionError:
        return b""


async def _write(peer: Peer, data: bytes, sizes: Sequence[int]) -> None:
    with suppress(ConnectionError):
        for piece in cut(data, sizes):
            peer.send(piece)
            await peer.writer.drain()
            await asyncio.sleep(0)


def _break(peer: Peer, stop: Break) -> None:
    peer.reset() if stop.resets else peer.writer.close()
