"""The recorder's relay against no relay at all and against a tee of bytes that reads no HTTP, the floor in Python.

Upstream, relay and load are three processes on loopback; the relay has a tap that counts. Every stream takes a
connection of its own, and they start 2 ms apart. Times of chunks are from the upstream's clock to the client's, which
is the same one.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workbench.recorder.relay import Relay
from workbench.recorder.tap import RequestHead, ResponseHead
from workbench.wire.exchange import State

CONNECTIONS = 16
REQUESTS = 6_000
CHUNKS = 200
STREAMS = 500
STREAM_CHUNKS = 40

BODY = b'{"model": "m", "messages": [{"role": "user", "content": "%s"}]}' % (b"word " * 40)
QUIET = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
STREAMED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"


class Answering(asyncio.Protocol):
    """The upstream: ``/quiet`` is answered at once, ``/COUNT/SECONDS`` by chunks that hold the time they were sent."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.data = b""

    def data_received(self, data: bytes) -> None:
        self.data += data
        while (end := self.data.find(b"\r\n\r\n")) >= 0 and len(self.data) >= end + 4 + len(BODY):
            path = self.data.split(b" ", 2)[1]
            self.data = self.data[end + 4 + len(BODY) :]
            if path == b"/quiet":
                self.transport.write(QUIET)
            else:
                count, seconds = path[1:].split(b"/")
                self.transport.write(STREAMED + self.chunk())
                self.later(int(count) - 1, float(seconds))

    def chunk(self) -> bytes:
        event = b"data: %020d %s\n\n" % (time.monotonic_ns(), b"x" * 80)
        return b"%x\r\n%s\r\n" % (len(event), event)

    def later(self, count: int, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self.tick, count, seconds)

    def tick(self, count: int, seconds: float) -> None:
        self.transport.write(self.chunk() if count else LAST)
        if count:
            self.later(count - 1, seconds)


class Tee(asyncio.Protocol):
    """The floor: bytes from one connection to another, noted by length."""

    def __init__(self, other: Tee | None, port: int) -> None:
        self.other, self.port, self.seen = other, port, 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        if self.other is None:
            self.transport.pause_reading()
            self.task = asyncio.ensure_future(self.connect())

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        _, self.other = await loop.create_connection(lambda: Tee(self, self.port), "127.0.0.1", self.port)
        self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        self.seen += len(data)
        self.other.transport.write(data)

    def connection_lost(self, error: Exception | None) -> None:
        if self.other:
            self.other.transport.close()


class Counting:
    """A tap that does next to nothing."""

    seen = 0

    def began(self, key: int, upstream: str, request: RequestHead, at: float) -> None: ...

    def request_bytes(self, key: int, data: bytes, at: float) -> None:
        self.seen += len(data)

    def request_done(self, key: int, at: float) -> None: ...

    def answered(self, key: int, response: ResponseHead, at: float) -> None: ...

    def response_bytes(self, key: int, data: bytes, at: float) -> None:
        self.seen += len(data)

    def ended(self, key: int, state: State, why: str, at: float, passed: object = None) -> None: ...


class Asking(asyncio.Protocol):
    """A client: sends a request, notes each chunk's age, and calls back when the answer is whole."""

    def __init__(self, port: int, path: str, done: Callable[[Asking], None]) -> None:
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {len(BODY)}\r\n\r\n"
        self.request, self.done = head.encode() + BODY, done
        self.ages: list[float] = []
        self.first = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        self.got, self.asked = 0, time.monotonic()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        self.first = self.first or time.monotonic() - self.asked
        self.got += len(data)
        at = data.find(b"data: ")
        while at >= 0:
            self.ages.append((now - int(data[at + 6 : at + 26])) / 1e9)
            at = data.find(b"data: ", at + 26)
        if self.got == len(QUIET) or data.endswith(b"\r\n" + LAST) or data == LAST:
            self.done(self)


async def ask_often(port: int) -> float:
    """Requests per second over some kept connections."""
    left, over = REQUESTS, asyncio.Event()

    def again(client: Asking) -> None:
        nonlocal left
        left -= 1
        if left > 0:
            client.ask()
        elif left == 1 - CONNECTIONS:
            over.set()

    start = time.perf_counter()
    loop = asyncio.get_running_loop()
    made = [await loop.create_connection(lambda: Asking(port, "/quiet", again), "127.0.0.1", port) for _ in range(16)]
    await over.wait()
    seconds = time.perf_counter() - start
    for transport, _ in made:
        transport.close()
    return (REQUESTS + CONNECTIONS - 1) / seconds


async def stream(port: int, streams: int, chunks: int, seconds: float) -> list[Asking]:
    """So many streams at once, each on its own connection."""
    left, over = streams, asyncio.Event()

    def whole(client: Asking) -> None:
        nonlocal left
        left -= 1
        client.transport.close()
        if not left:
            over.set()

    loop = asyncio.get_running_loop()
    clients = []
    for _ in range(streams):
        _, client = await loop.create_connection(lambda: Asking(port, f"/{chunks}/{seconds}", whole), "127.0.0.1", port)
        clients.append(client)
        await asyncio.sleep(0.002)
    await over.wait()
    assert all(len(client.ages) == chunks for client in clients)
    return clients


def percent(values: list[float], share: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1]


@contextmanager
def process(role: str, port: int = 0) -> Iterator[tuple[int, Callable[[], float]]]:
    """A role in a process of its own: its port, and how much CPU it has used."""
    words = [sys.executable, "-m", "benchmarks.relay", role, str(port)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin and child.stdout

        def used() -> float:
            print(file=child.stdin, flush=True)
            return float(child.stdout.readline())

        yield int(child.stdout.readline()), used
        child.stdin.close()


async def play(role: str, port: int) -> None:
    """Be the upstream, the tee or the relay until stdin ends; each line there is answered with the CPU seconds used."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    if role == "relay":
        relay = Relay({"upstream": f"http://127.0.0.1:{port}"}, Counting())
        await relay.start()
        print(relay.port, flush=True)
    else:
        make = Answering if role == "upstream" else lambda: Tee(None, port)
        server = await loop.create_server(make, "127.0.0.1", 0, backlog=1024)
        print(server.sockets[0].getsockname()[1], flush=True)

    def listen() -> None:
        for _ in sys.stdin:
            print(time.process_time(), flush=True)
        loop.call_soon_threadsafe(over.set)

    threading.Thread(target=listen, daemon=True).start()
    await over.wait()


def measure(port: int, used: Callable[[], float]) -> dict[str, float]:
    """All figures of one path."""
    asyncio.run(ask_often(port))  # warm
    start = used()
    rate = asyncio.run(ask_often(port))
    cpu_requests = used() - start
    ages = asyncio.run(stream(port, 1, CHUNKS, 0.005))[0].ages
    start = used()
    clients = asyncio.run(stream(port, STREAMS, STREAM_CHUNKS, 0.05))
    return {
        "requests/s": rate,
        "chunk p50 ms": percent(ages, 50) * 1e3,
        "chunk p99 ms": percent(ages, 99) * 1e3,
        "first byte p50 ms": percent([c.first for c in clients], 50) * 1e3,
        "first byte p99 ms": percent([c.first for c in clients], 99) * 1e3,
        "CPU s/1,000 streams": (used() - start) * 1000 / STREAMS,
        "CPU ms/1,000 requests": cpu_requests * 1e6 / REQUESTS,
    }


def main() -> None:
    """Three paths to one upstream."""
    with process("upstream") as (port, used), process("tee", port) as tee, process("relay", port) as relay:
        figures = {"direct": measure(port, used), "tee": measure(*tee), "relay": measure(*relay)}
    print(f"relay: {REQUESTS:,} requests on {CONNECTIONS} connections; {STREAMS} streams of {STREAM_CHUNKS} chunks")
    print("".join(f"{name:>23}" for name in ("", *figures, "relay / tee")))
    for name, floor in figures["tee"].items():
        row = "".join(f"{path[name]:>23,.2f}" for path in figures.values())
        print(f"  {name:>21}{row}{figures['relay'][name] / floor:>22.2f}×")
    for name in ("chunk p50 ms", "chunk p99 ms", "first byte p50 ms"):
        added = {path: figures[path][name] - figures["direct"][name] for path in ("tee", "relay")}
        print(f"  added to {name:<18} tee {added['tee']:6.3f}   relay {added['relay']:6.3f}")
    print("  (CPU of 'direct' is the upstream's own)")


if __name__ == "__main__":
    asyncio.run(play(sys.argv[1], int(sys.argv[2])))
