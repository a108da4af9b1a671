"""The recorder, recording for real, against mitmdump in reverse mode, no proxy, and a tee of bytes: the floor.

    python -m benchmarks relay          mitmdump is found on PATH, or named in MITMDUMP

Upstream and load are processes of their own on loopback, and every path is up throughout: each measure is taken on
one path after the other. Every stream takes a connection of its own. Times of events are from the upstream's clock to
the client's, which is the same one. CPU and memory are of all processes of a path: of ours the relay, the process that
writes the session, and, where breakpoints are armed, the judge; what is written after the last byte is counted too.
mitmdump runs as it comes, and with ``stream_large_bodies=1 store_streamed_bodies=true``; both write flows (``-w``).
Linux only: figures of processes are read from /proc.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._relay_load import (
    Asking,
    ask_frames,
    ask_often,
    ask_streams,
    cpu_of,
    family,
    memory_of,
    process,
    settled,
)
from benchmarks.goals import reach
from workbench.recorder import process as recorder
from workbench.wire import digests
from workbench.wire.exchange import State
from workbench.wire.session import exchanges_of
from workbench.wire.session.store import open_session

CONNECTIONS, SECONDS, WINDOW = 16, 2.0, 32
ALONE, EVENTS, AT_ONCE = 60, 200, 200
STREAMS, EVENTS_EACH, PAUSE, APART = (200, 500), 40, 0.05, 0.002

RECORDER, STREAMING = "recorder", "mitmdump streaming"
ARMED = {"request armed": "closure", "answer armed": "arguments"}
"""Breakpoints of the paths that have one: each is asked of every exchange and hit by none."""


@dataclass
class Way:
    """One way to the upstream.

    Attributes:
        pid: of its first process.
        figures: what was measured.
    """

    port: int
    pid: int
    figures: dict[str, float] = field(default_factory=dict)


def main() -> None:
    """Every measure on every path."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        paths = _paths(Path(folder), stack)
        for measure in (_requests, _frames, _alone, *(_streams(count) for count in STREAMS), _at_once):
            for path in paths.values():
                asyncio.run(measure(path))
        for path in paths.values():
            path.figures["memory MB"] = memory_of(family(path.pid))
        _print(paths)
        stack.close()
        _prove(Path(folder))


def _paths(folder: Path, stack: ExitStack) -> dict[str, Way]:
    port, pid = stack.enter_context(process("upstream"))
    paths = {"direct": Way(port, pid), "tee": Way(*stack.enter_context(process("tee", port)))}
    for name, breaks in ({RECORDER: None} | ARMED).items():
        out = folder / f"{name}.wb"
        recording = recorder.start({"up": f"http://127.0.0.1:{port}"}, out, breaks=[breaks] if breaks else [])
        stack.callback(recording.stop)
        paths[name] = Way(recording.port, recording.pid)
    binary = shutil.which(os.environ.get("MITMDUMP", "mitmdump"))
    if binary is None:
        print("  mitmdump is not on PATH, and MITMDUMP names no tool: it is removed")
        return paths
    for name, options in {"mitmdump": (), STREAMING: ("stream_large_bodies=1", "store_streamed_bodies=true")}.items():
        paths[name] = Way(*stack.enter_context(_mitmdump(binary, port, folder / name, options)))
    return paths


@contextmanager
def _mitmdump(binary: str, upstream: int, folder: Path, options: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Its port and process id, once it listens."""
    folder.mkdir()
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    words = [binary, "-q", "--mode", f"reverse:http://127.0.0.1:{upstream}", "--listen-host", "127.0.0.1"]
    words += ["-p", str(port), "-w", str(folder / "flows"), "--set", f"confdir={folder}"]
    words += [word for option in options for word in ("--set", option)]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as child:
        while child.poll() is None and not _listens(port):
            time.sleep(0.05)
        yield port, child.pid
        child.terminate()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


async def _requests(path: Way) -> None:
    await ask_often(path.port, CONNECTIONS, SECONDS / 4)  # warm
    pids = family(path.pid)
    before = await settled(pids)
    rate = path.figures["requests/s"] = await ask_often(path.port, CONNECTIONS, SECONDS)
    path.figures["JSON: CPU s/1,000"] = (await settled(pids) - before) * 1_000 / (rate * SECONDS)


async def _frames(path: Way) -> None:
    """Frames of WebSockets, one after the other and many on their way."""
    pids = family(path.pid)
    (client,) = await ask_frames(path.port, 1, 1, SECONDS / 4)
    path.figures |= _percentiles("frame and its echo", client.trips)
    before = await settled(pids)
    clients = await ask_frames(path.port, CONNECTIONS, WINDOW, SECONDS / 4)
    frames = sum(2 * each.count for each in clients)
    path.figures["frames/s"] = frames * 4 / SECONDS
    path.figures["frames: CPU s/10,000"] = (await settled(pids) - before) * 10_000 / frames


async def _alone(path: Way) -> None:
    """Streams with nothing beside them."""
    firsts = [client.first for _ in range(ALONE) for client in await ask_streams(path.port, 1, 1, 0.0, 0.0)]
    (client,) = await ask_streams(path.port, 1, EVENTS, 0.005, 0.0)
    path.figures |= _percentiles("first byte", firsts) | _percentiles("event", client.ages)
    await settled(family(path.pid))


def _streams(count: int) -> Callable[[Way], Coroutine[None, None, None]]:
    async def measure(path: Way) -> None:
        pids = family(path.pid)
        before = cpu_of(pids)
        clients: list[Asking] = await ask_streams(path.port, count, EVENTS_EACH, PAUSE, APART)
        used = await settled(pids) - before
        path.figures |= _percentiles(f"{count}: first byte", [client.first for client in clients])
        path.figures |= _percentiles(f"{count}: event", [age for client in clients for age in client.ages])
        path.figures[f"{count}: CPU s/1,000"] = used * 1_000 / count

    return measure


async def _at_once(path: Way) -> None:
    """Short streams that all begin together."""
    clients = await ask_streams(path.port, AT_ONCE, 2, 0.0, 0.0)
    path.figures["at once: first byte worst ms"] = max(client.first for client in clients) * 1e3
    await settled(family(path.pid))


def _percentiles(what: str, seconds: Sequence[float]) -> dict[str, float]:
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return {f"{what} p50 ms": cuts[49] * 1e3, f"{what} p99 ms": cuts[98] * 1e3}


def _print(paths: dict[str, Way]) -> None:
    print(
        f"relay: requests/s on {CONNECTIONS} connections; streams alone; {' and '.join(map(str, STREAMS))} streams at"
        f" once of {EVENTS_EACH} events {PAUSE * 1e3:.0f} ms apart"
    )
    print(f"  {'':22}" + "".join(f"{name:>20}" for name in paths))
    for name in paths["direct"].figures:
        print(f"  {name:22}" + "".join(f"{path.figures[name]:>20,.2f}" for path in paths.values()))
    direct, ours = paths["direct"].figures, paths[RECORDER].figures
    for name in ("first byte p50 ms", "first byte p99 ms", "event p50 ms", "event p99 ms"):
        added = ((other, path.figures[name] - direct[name]) for other, path in paths.items() if other != "direct")
        print(f"  added {name:16}{'':20}" + "".join(f"{value:>20,.2f}" for _, value in added))
    print("  (CPU and memory of 'direct' are the upstream's own)")
    reach("recorder, 1,000 streams", ours[f"{STREAMS[0]}: CPU s/1,000"])
    reach("recorder, 1,000 JSON requests", ours["JSON: CPU s/1,000"])
    reach("recorder, JSON requests", ours["requests/s"])
    trip = "frame and its echo p50 ms"
    reach("recorder, added to a frame of a WebSocket", (ours[trip] - direct[trip]) / 2)
    armed = paths["request armed"].figures["at once: first byte worst ms"]
    reach("200 requests at once, breakpoint armed: longest wait", armed - ours["at once: first byte worst ms"])
    if peer := paths.get(STREAMING):
        print(f"  {RECORDER} : {STREAMING}  {ours['requests/s'] / peer.figures['requests/s']:.1f} times the requests/s")
        reach("recorder, frames of WebSockets beside mitmdump's", ours["frames/s"] / peer.figures["frames/s"])
        for name in (
            *(f"{STREAMS[0]}: first byte p99 ms", f"{STREAMS[0]}: event p50 ms", f"{STREAMS[0]}: CPU s/1,000"),
            "JSON: CPU s/1,000",
        ):
            print(f"  {name:32} 1 : {peer.figures[name] / ours[name]:.1f}")
        added = [path.figures["first byte p50 ms"] - direct["first byte p50 ms"] for path in (peer, paths[RECORDER])]
        reach("recorder, first byte sooner than mitmdump's", added[0] / added[1])
        print(f"  {'added first byte p50 ms':32} 1 : {added[0] / added[1]:.1f}")


def _prove(folder: Path) -> None:
    """Each recording holds every exchange that passed, whole, its digests equal."""
    for file in sorted(folder.glob("*.wb")):
        with closing(open_session(file)) as session:
            count = whole = 0
            for exchange in exchanges_of(session):
                passed = digests.read_digests(exchange).values()
                count += 1
                whole += exchange.state is State.COMPLETE and all(each.is_equal for each in passed)
        print(f"  {file.stem}: {count:,} exchanges in the file, {whole:,} of them whole with equal digests")
