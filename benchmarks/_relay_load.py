"""What the relay's benchmark plays: the upstream, clients, a tee of bytes, and what processes cost."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

PATH = "/v1/chat/completions"
EVENT = b'data: {"id":"c-1","object":"chat.completion.chunk","created":%020d,"model":"m",'
EVENT += b'"choices":[{"index":0,"delta":{"content":"a few words "}}]}\n\n'
SENT_AT = EVENT.index(b"%020d")
DONE = b"data: [DONE]\n\n"
STREAMED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"

SOCKET_PATH, KEY = "/v1/realtime?model=m", base64.b64encode(b"0123456789abcdef").decode()
ACCEPT = base64.b64encode(hashlib.sha1(f"{KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest())
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
SWITCHED += b"Sec-WebSocket-Accept: " + ACCEPT + b"\r\n\r\n"
TEXT = b'{"type":"response.output_text.delta","delta":"%s"}' % (b"a few words " * 12)
SIZE = len(TEXT).to_bytes(2)
SENT_FRAME, ECHOED_FRAME = b"\x81\xfe" + SIZE + bytes(4) + TEXT, b"\x81\x7e" + SIZE + TEXT
"""A frame of a client, masked with zeros, and of a server."""

ASKED = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "word " * 40}]}
BODY = json.dumps(ASKED).encode()
MESSAGE = {"role": "assistant", "content": "word " * 40}
ANSWER = json.dumps({"id": "c-1", "model": "m", "choices": [{"index": 0, "message": MESSAGE}]}).encode()
QUIET = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)


class Answering(asyncio.Protocol):
    """The upstream: ``?0`` is answered at once, ``?COUNT/SECONDS`` by events that hold the time they were sent.

    On a WebSocket every frame is answered by one.
    """

    is_socket = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.data = b""

    def data_received(self, data: bytes) -> None:
        self.data += data
        if self.data.startswith(b"GET ") and self.data.endswith(b"\r\n\r\n"):
            self.is_socket, self.data = True, b""
            self.transport.write(SWITCHED)
        if self.is_socket:
            count, rest = divmod(len(self.data), len(SENT_FRAME))
            self.data = self.data[len(self.data) - rest :]
            self.transport.write(ECHOED_FRAME * count)
            return
        while (end := self.data.find(b"\r\n\r\n")) >= 0 and len(self.data) >= end + 4 + len(BODY):
            asked = self.data.split(b" ", 2)[1].partition(b"?")[2]
            self.data = self.data[end + 4 + len(BODY) :]
            if asked == b"0":
                self.transport.write(QUIET)
            else:
                count, seconds = asked.split(b"/")
                self.transport.write(STREAMED + _chunk(EVENT % time.monotonic_ns()))
                self.later(int(count) - 1, float(seconds))

    def later(self, count: int, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self.tick, count, seconds)

    def tick(self, count: int, seconds: float) -> None:
        if count:
            self.transport.write(_chunk(EVENT % time.monotonic_ns()))
            self.later(count - 1, seconds)
        else:
            self.transport.write(_chunk(DONE) + LAST)


def _chunk(event: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(event), event)


class Tee(asyncio.Protocol):
    """The floor: bytes from one connection to another, noted by length."""

    def __init__(self, other: Tee | None, port: int) -> None:
        self.other, self.port, self.seen = other, port, 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self.other is None:
            self.transport.pause_reading()
            self.task = asyncio.ensure_future(self.connect())

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        _, self.other = await loop.create_connection(lambda: Tee(self, self.port), "127.0.0.1", self.port)
        self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        assert self.other
        self.seen += len(data)
        self.other.transport.write(data)

    def connection_lost(self, error: Exception | None) -> None:
        if self.other:
            self.other.transport.close()


class Asking(asyncio.Protocol):
    """A client: sends a request, notes how old each event is, and calls back when the answer is whole."""

    def __init__(self, port: int, asked: str, done: Callable[[Asking], None]) -> None:
        head = f"POST {PATH}?{asked} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        self.request = head.encode() + b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
        self.done = done
        self.ages: list[float] = []
        self.first = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        self.data, self.at, self.first, self.asked_at = b"", 0, 0.0, time.monotonic()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        self.first = self.first or now / 1e9 - self.asked_at
        self.data += data
        while (end := self.data.find(b"}]}\n\n", self.at)) >= 0:
            start = self.data.index(b"data: {", self.at) + SENT_AT
            self.ages.append((now - int(self.data[start : start + 20])) / 1e9)
            self.at = end + 5
        if self.data.find(DONE, self.at) >= 0 or self.data.endswith(ANSWER):
            self.done(self)


async def ask_often(port: int, connections: int, seconds: float) -> float:
    """Requests per second over some kept connections."""
    loop, over, answered = asyncio.get_running_loop(), asyncio.Event(), 0
    until = time.perf_counter() + seconds
    left = connections

    def again(client: Asking) -> None:
        nonlocal answered, left
        answered += 1
        if time.perf_counter() < until:
            client.ask()
        else:
            left -= 1
            if not left:
                over.set()

    start = time.perf_counter()
    made = [await loop.create_connection(lambda: Asking(port, "0", again), "127.0.0.1", port) for _ in range(left)]
    await over.wait()
    rate = answered / (time.perf_counter() - start)
    for transport, _ in made:
        transport.close()
    return rate


class Echoing(asyncio.Protocol):
    """A client of a WebSocket: keeps so many frames on their way until a time is over."""

    def __init__(self, port: int, window: int, until: float, done: Callable[[], None]) -> None:
        head = f"GET {SOCKET_PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        self.request = f"{head}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n".encode()
        self.window, self.until, self.done = window, until, done
        self.data, self.is_open, self.count, self.waiting = b"", False, 0, 0
        self.trips: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.data += data
        if not self.is_open:
            head, end, self.data = self.data.partition(b"\r\n\r\n")
            self.is_open = bool(end)
            assert not end or b" 101 " in head
            self.send(self.window if end else 0)
            return
        came, rest = divmod(len(self.data), len(ECHOED_FRAME))
        self.data = self.data[len(self.data) - rest :]
        self.count, self.waiting = self.count + came, self.waiting - came
        if came:
            self.trips.append(time.perf_counter() - self.sent_at)
            self.send(came if time.perf_counter() < self.until else 0)

    def send(self, count: int) -> None:
        self.sent_at, self.waiting = time.perf_counter(), self.waiting + count
        self.transport.write(SENT_FRAME * count)
        if self.is_open and not self.waiting:
            self.done()


async def ask_frames(port: int, connections: int, window: int, seconds: float) -> list[Echoing]:
    """Frames that are answered by frames, over some connections."""
    loop, over, left = asyncio.get_running_loop(), asyncio.Event(), connections
    until = time.perf_counter() + seconds

    def one_less() -> None:
        nonlocal left
        left -= 1
        if not left:
            over.set()

    clients = [
        (await loop.create_connection(lambda: Echoing(port, window, until, one_less), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    await over.wait()
    for client in clients:
        client.transport.close()
    return clients


async def ask_streams(port: int, streams: int, events: int, seconds: float, apart: float) -> list[Asking]:
    """So many streams, each on its own connection, begun so many seconds apart."""
    left, over = streams, asyncio.Event()

    def whole(client: Asking) -> None:
        nonlocal left
        left -= 1
        client.transport.close()
        if not left:
            over.set()

    loop, clients = asyncio.get_running_loop(), list[Asking]()
    for _ in range(streams):
        made = loop.create_connection(lambda: Asking(port, f"{events}/{seconds}", whole), "127.0.0.1", port)
        clients.append((await made)[1])
        await asyncio.sleep(apart)
    await over.wait()
    assert all(len(client.ages) == events for client in clients), "every event came once"
    return clients


@contextmanager
def process(role: str, port: int = 0) -> Iterator[tuple[int, int]]:
    """The upstream or the tee in a process of its own: its port, and its process id."""
    words = [sys.executable, "-m", "benchmarks._relay_load", role, str(port)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin and child.stdout
        yield int(child.stdout.readline()), child.pid
        child.stdin.close()


async def _play(role: str, port: int) -> None:
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    make = Answering if role == "upstream" else lambda: Tee(None, port)
    server = await loop.create_server(make, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)

    def listen() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(over.set)

    threading.Thread(target=listen, daemon=True).start()
    await over.wait()


def family(pid: int) -> list[int]:
    """A process and all that it started, and those they started."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue  # it has ended
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found


def cpu_of(pids: Sequence[int]) -> float:
    """CPU seconds that processes have used."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory_of(pids: Sequence[int]) -> float:
    """The most memory that processes have held at a time, each by itself, in MB."""
    statuses = (Path(f"/proc/{pid}/status").read_text() for pid in pids)
    return sum(int(text.partition("VmHWM:")[2].split()[0]) for text in statuses) / 1024


async def settled(pids: Sequence[int]) -> float:
    """CPU seconds used, once all that was recorded is written too."""
    used, before = cpu_of(pids), -1.0
    while used - before > 0.015:
        before = used
        await asyncio.sleep(1.2)  # the recorder writes at least once a second
        used = cpu_of(pids)
    return used


if __name__ == "__main__":
    asyncio.run(_play(sys.argv[1], int(sys.argv[2])))
