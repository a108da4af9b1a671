"""WebSockets through the recorder at scale: random frames, what is changed of them, and what it costs.

The two ends speak raw bytes, and know what they sent: messages in fragments, with control frames between them,
compressed with the window kept or not, masked or not, and connections that are broken at any byte.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import socket
import struct
import tempfile
import time
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from workbench.recorder.breakpoints.gate import BreakpointGate
from workbench.recorder.capture.keeper import Keeper, redactor_for
from workbench.recorder.capture.queue import Capture
from workbench.recorder.relay.server import Relay
from workbench.wire.exchange import ExchangeKind
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import fsck, open_session
from workbench.wire.session.writer import SessionWriter

_AT_ONCE = 40
_OF_A_FILE = 5_000
"""Connections that are recorded into one file, and judged before the next ones are made: all are held in memory."""
_RESET = struct.pack("ii", 1, 0)
_HEAD = (
    "GET /ws/{seed} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_AGREED = (
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n{extensions}\r\n"
)
LATE = "late"
"""In place of a kind of breakpoint: one that is armed and disarmed while connections are open."""

_LATE_KIND, _LATE_SECONDS = "frame:none", 0.001
_KINDS = {1: "text", 2: "binary", 8: "close", 9: "ping", 10: "pong"}


@dataclass
class Side:
    """One direction of a connection: its bytes, and the messages in them."""

    data: bytes = b""
    messages: list[tuple[str, bytes]] = field(default_factory=list)
    received: bytearray = field(default_factory=bytearray)


def frame(opcode: int, payload: bytes, *, is_last: bool, packed: bool, mask: bytes) -> bytes:
    """One frame of a direction; ``mask`` is empty for those of a server."""
    first = opcode | (0x80 if is_last else 0) | (0x40 if packed else 0)
    size, bit = len(payload), 0x80 if mask else 0
    if size < 126:
        head = bytes((first, bit | size))
    elif size < 65536:
        head = bytes((first, bit | 126)) + size.to_bytes(2)
    else:
        head = bytes((first, bit | 127)) + size.to_bytes(8)
    if mask:
        payload = bytes(byte ^ mask[n % 4] for n, byte in enumerate(payload))
    return head + mask + payload


class Direction:
    """Makes what one side sends, from a seed."""

    def __init__(self, rng: random.Random, *, is_client: bool, compression: str) -> None:
        self._rng = rng
        self._is_client = is_client
        self._keeps = compression == "kept"
        self._packs = bool(compression)
        self._deflate = zlib.compressobj(wbits=-15)
        self.side = Side()

    def fill(self, count: int) -> Side:
        """Messages, the last one a close frame."""
        parts = [part for _ in range(count) for part in self._message()]
        self.side.data = b"".join((*parts, self._control(8, (1000).to_bytes(2) + b"done")))
        return self.side

    def _message(self) -> list[bytes]:
        rng, opcode = self._rng, self._rng.choice((1, 2))
        size = rng.choice((0, 1, 5, 125, 126, 900, 3000, 66000 if rng.random() < 0.05 else 300))
        data = (b'{"n": %d, "text": "a word and a word"}' % rng.randrange(9999) * (size // 30 + 1))[:size]
        is_packed = self._packs and rng.random() < 0.8
        wire = self._pack(data) if is_packed else data
        cuts = sorted(rng.randrange(len(wire) + 1) for _ in range(rng.choice((0, 0, 1, 3))))
        pieces = [wire[a:b] for a, b in zip((0, *cuts), (*cuts, len(wire)), strict=True)]
        made = []
        for n, piece in enumerate(pieces):
            last = n == len(pieces) - 1
            code = 0 if n else opcode
            made.append(frame(code, piece, is_last=last, packed=is_packed and not n, mask=self._mask()))
            if not last and rng.random() < 0.3:
                made.append(self._control(rng.choice((9, 10)), b"beat"))
        self.side.messages.append((_KINDS[opcode], data))
        return made

    def _control(self, opcode: int, payload: bytes) -> bytes:
        self.side.messages.append((_KINDS[opcode], payload))
        return frame(opcode, payload, is_last=True, packed=False, mask=self._mask())

    def _mask(self) -> bytes:
        return self._rng.randbytes(4) if self._is_client else b""

    def _pack(self, data: bytes) -> bytes:
        if not self._keeps:
            self._deflate = zlib.compressobj(wbits=-15)
        return (self._deflate.compress(data) + self._deflate.flush(zlib.Z_SYNC_FLUSH)).removesuffix(b"\0\0\xff\xff")


@dataclass
class Case:
    """One connection: both directions, and after how many bytes a side breaks it (-1: never)."""

    sent: Side
    answered: Side
    extensions: str
    breaks: int
    is_client_first: bool


def case_of(seed: int) -> Case:
    rng = random.Random(seed)
    compression = rng.choice(("", "kept", "fresh"))
    more = "; client_no_context_takeover; server_no_context_takeover" if compression == "fresh" else ""
    extensions = f"Sec-WebSocket-Extensions: permessage-deflate{more}\r\n" if compression else ""
    sent, answered = (
        Direction(rng, is_client=c, compression=compression).fill(rng.randrange(8)) for c in (True, False)
    )
    breaks = rng.randrange(max(len(sent.data), 2)) if rng.random() < 0.2 else -1
    return Case(sent, answered, extensions, breaks, rng.random() < 0.5)


async def _send(writer: asyncio.StreamWriter, data: bytes, rng: random.Random, breaks: int) -> bool:
    """Send bytes in random pieces; break the connection where the case says so."""
    whole = data if breaks < 0 else data[:breaks]
    at = 0
    while at < len(whole):
        step = rng.choice((1, 2, 7, 100, 4096, 1 << 20))
        writer.write(whole[at : at + step])
        at += step
        await writer.drain()
    if breaks >= 0:
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        writer.transport.abort()
    return breaks < 0


async def _receive(reader: asyncio.StreamReader, side: Side, size: int) -> None:
    with suppress(ConnectionError, asyncio.CancelledError):
        while len(side.received) < size and (data := await reader.read(65536)):
            side.received += data


class Ends:
    """An upstream for all cases, and clients for each."""

    def __init__(self) -> None:
        self.cases: dict[int, Case] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        seed = int(head.split(b"/ws/")[1].split(b" ")[0])
        case = self.cases[seed]
        writer.write(_AGREED.format(extensions=case.extensions).encode())
        rng = random.Random(-seed)
        with suppress(ConnectionError):
            receiving = asyncio.ensure_future(_receive(reader, case.sent, len(case.sent.data)))
            await _send(writer, case.answered.data, rng, case.breaks if not case.is_client_first else -1)
            await receiving
        writer.close()

    async def talk(self, seed: int, host: str, port: int) -> None:
        case = self.cases[seed] = case_of(seed)
        reader, writer = await asyncio.open_connection(host, port)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            writer.write(_HEAD.format(seed=seed, host=f"{host}:{port}").encode())
            await reader.readuntil(b"\r\n\r\n")
            receiving = asyncio.ensure_future(_receive(reader, case.answered, len(case.answered.data)))
            await _send(writer, case.sent.data, random.Random(seed), case.breaks if case.is_client_first else -1)
            await receiving
        writer.close()


async def _arm_often(gate: BreakpointGate) -> None:
    """Arm a breakpoint whenever connections are open, and disarm it once it reads them."""
    while True:
        if gate.open_sockets:
            gate.arm(_LATE_KIND)
            await gate.hold_open_sockets()
            gate.disarm(_LATE_KIND)
        await asyncio.sleep(_LATE_SECONDS)


@asynccontextmanager
async def recorder(upstream: int, path: Path, held: str = "") -> AsyncIterator[int]:
    """The port of a recorder in front of an upstream, with a breakpoint armed, or with ``late`` now and then."""
    capture = Capture(Keeper(SessionWriter(path), redactor_for({}, b"salt"), run="run"))
    gate = BreakpointGate("run", path)
    gate.read_socket = capture.read_socket
    arming = asyncio.ensure_future(_arm_often(gate)) if held == LATE else None
    if held and not arming:
        gate.arm(held)
    relay = Relay({"main": f"http://127.0.0.1:{upstream}"}, capture, gate=gate)
    await relay.start()
    try:
        yield int(relay.url("main").rpartition(":")[2].rstrip("/"))
    finally:
        await relay.close()
        if arming:
            arming.cancel()
        gate.close()
        capture.close()


async def run_cases(count: int, path: Path, first: int = 0, held: str = "") -> Ends:
    """So many connections through a recorder that writes to a file, made from the seeds from ``first`` on."""
    ends, slots = Ends(), asyncio.Semaphore(_AT_ONCE)
    server = await asyncio.start_server(ends.serve, "127.0.0.1", 0)
    async with server, recorder(server.sockets[0].getsockname()[1], path, held) as port:

        async def one(seed: int) -> None:
            async with slots:
                await ends.talk(seed, "127.0.0.1", port)

        await asyncio.gather(*map(one, range(first, first + count)))
    return ends


def late_breakpoints(path: Path) -> int:
    """Connections that were open when a breakpoint was armed, and read on from there."""
    return sum("a breakpoint was armed after" in exchange.note for exchange in exchanges_of(open_session(path)))


def judge(ends: Ends, path: Path) -> tuple[int, int, int, list[str]]:
    """(bytes passed, changed bytes, frames in the file, problems)."""
    passed = changed = 0
    problems: list[str] = []
    for case in ends.cases.values():
        for side in (case.sent, case.answered):
            got = bytes(side.received)
            passed += len(got)
            changed += sum(a != b for a, b in zip(got, side.data, strict=False)) if not side.data.startswith(got) else 0
    frames = 0
    for exchange in exchanges_of(open_session(path)):
        if exchange.kind is not ExchangeKind.WEBSOCKET or exchange.request is None:
            continue
        case = ends.cases[int(exchange.request.url.rpartition("/")[2])]
        frames += len(exchange.frames)
        for direction, side in (("sent", case.sent), ("received", case.answered)):
            seen = [(f.opcode, f.data) for f in exchange.frames if f.direction == direction]
            is_right = sorted(seen) == sorted(side.messages) if case.breaks < 0 else len(seen) <= len(side.messages)
            if not is_right:
                problems.append(f"{exchange.request.url}, {direction}: {len(seen)} of {len(side.messages)} messages")
    return passed, changed, frames, [*problems, *fsck(path).problems]


@dataclass
class Totals:
    """What was judged so far."""

    passed: int = 0
    changed: int = 0
    frames: int = 0
    broken: int = 0
    late: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, ends: Ends, path: Path) -> None:
        """Judge the connections of one file."""
        passed, changed, frames, problems = judge(ends, path)
        self.passed += passed
        self.changed += changed
        self.frames += frames
        self.late += late_breakpoints(path)
        self.broken += sum(case.breaks >= 0 for case in ends.cases.values())
        self.problems += problems


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(_AGREED.format(extensions="").encode())
    with suppress(ConnectionError, asyncio.CancelledError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()


async def _time(port: int, count: int) -> tuple[float, float]:
    """(seconds of a round trip of one frame, frames a second if many are under way)."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_HEAD.format(seed=0, host=f"127.0.0.1:{port}").encode())
    await reader.readuntil(b"\r\n\r\n")
    one = frame(1, b"x" * 200, is_last=True, packed=False, mask=b"abcd")
    began = time.perf_counter()
    for _ in range(count):
        writer.write(one)
        await reader.readexactly(len(one))
    trip = (time.perf_counter() - began) / count
    began = time.perf_counter()
    for _ in range(100):
        writer.write(one * (count // 100))
        await reader.readexactly(len(one) * (count // 100))
    rate = count / (time.perf_counter() - began)
    writer.close()
    return trip, rate


async def _times(count: int, path: Path, held: str) -> tuple[tuple[float, float], tuple[float, float]]:
    server = await asyncio.start_server(_echo, "127.0.0.1", 0)
    upstream = server.sockets[0].getsockname()[1]
    async with server:
        direct = await _time(upstream, count)
        async with recorder(upstream, path, held) as port:
            return direct, await _time(port, count)


def main(arguments: Sequence[str]) -> int:
    """``python -m tests.real websocket [--connections N] [--frames N]``, or ``… websocket clients|codex [NAME …]``."""
    if arguments[:1] == ["clients"]:
        from tests.real import websocket_clients

        return websocket_clients.main(arguments[1:])
    if arguments[:1] == ["codex"]:
        from tests.real import websocket_codex

        return websocket_codex.main(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m tests.real websocket", description=__doc__)
    parser.add_argument("--connections", type=int, default=5_000, help="connections with random frames")
    parser.add_argument("--frames", type=int, default=5_000, help="frames whose time is measured")
    parser.add_argument(
        "--held",
        default="",
        metavar="KIND",
        help="a breakpoint that is armed, such as frame:none; late: armed and disarmed all the time",
    )
    given = parser.parse_args(arguments)
    return run(given.connections, given.frames, given.held)


def run(connections: int, frames: int, held: str = "") -> int:
    """Print what was measured; 1 if a byte was changed or a message is missing."""
    began, cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        total = Totals()
        for first in range(0, connections, _OF_A_FILE):
            path = Path(folder) / f"cases-{first}.wb"
            ends = asyncio.run(run_cases(min(_OF_A_FILE, connections - first), path, first, held))
            total.add(ends, path)
            path.unlink()
        took, used = time.perf_counter() - began, time.process_time() - cpu
        print(
            f"{connections:,} connections ({total.broken:,} broken), {total.passed:,} bytes: {total.changed}", end=" "
        )
        print(f"changed; {total.frames:,} messages in the files, {len(total.problems)} connections wrong; ", end="")
        print(f"{total.late:,} were open when a breakpoint was armed; " if held == LATE else "", end="")
        print(f"{took:.1f} s, {used:.1f} CPU s")
        for line in total.problems[:10]:
            print(f"  {line}")
        direct, through = asyncio.run(_times(frames, Path(folder) / "times.wb", held))
        trips = f"round trip {direct[0] * 1000:.3f} -> {through[0] * 1000:.3f} ms"
        print(f"added time of a frame: {(through[0] - direct[0]) * 500:.3f} ms ({trips})")
        print(f"frames a second, 200 bytes, there and back: {direct[1]:,.0f} direct, {through[1]:,.0f} recorded")
        print(f"processors: {os.cpu_count()}, load {os.getloadavg()[0]:.1f}")
    return int(bool(total.changed or total.problems))
