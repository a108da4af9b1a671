"""What passes a tap, at sizes and in accidents that the suite leaves out: 0 changed bytes, the same exit status.

    python -m tests.real mcp bytes [--messages N] [--kills N]

A server of this module answers lines by rule, so that both sides know what has to arrive without keeping it: a stream
of N short messages, a message of 100 MB, logs on standard output, a flood, an end in the middle of a line, a death by
signal, and N runs in which the tap's writer is killed at a random moment. Each run is done with and without the tap,
and what differs is printed; then, how many messages the file of the first run has.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from workbench.errors import WorkbenchError
from workbench.wire.exchange import State
from workbench.wire.session.store import open_session

SERVER = r"""
import os, sys
kind, amount = sys.argv[1], int(sys.argv[2])
out = sys.stdout.buffer
if kind == "flood":
    for n in range(amount):
        out.write(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"n":%d}}\n' % n)
    out.flush()
for line in sys.stdin.buffer:
    if kind == "logs":
        out.write(b"a log line \xff without JSON\n")
        sys.stderr.write("to the log\n")
    if kind == "large":
        out.write(b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * amount + b'"}\n')
    elif kind == "cut":
        out.write(line[: len(line) // 2])
        out.flush()
        os._exit(3)
    elif kind == "dies":
        out.flush()
        os.kill(os.getpid(), 9)
    else:
        out.write(line)
    if kind in ("logs", "dies"):
        out.flush()
out.flush()
sys.exit(7 if kind == "status" else 0)
"""
LINE = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{"n":%d}}}\n'


class Passed(NamedTuple):
    """What a client saw of a server: digests of its output, exit status and seconds."""

    out: str
    errors: str
    status: int
    seconds: float


def exchange(words: list[str], given: list[bytes], dice: random.Random | None = None) -> Passed:
    """Run a command with this input, and read its output while it runs.

    Args:
        dice: kills the writer of the tap, or the tap, at a random moment.
    """
    began = time.monotonic()
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdin and process.stdout and process.stderr
    digests = [hashlib.sha256(), hashlib.sha256()]

    def read(stream: object, digest: object) -> None:
        while data := stream.read1(1 << 16):  # type: ignore[attr-defined]
            digest.update(data)  # type: ignore[attr-defined]

    readers = [
        threading.Thread(target=read, args=(stream, digest))
        for stream, digest in zip((process.stdout, process.stderr), digests, strict=True)
    ]
    for reader in readers:
        reader.start()
    killer = threading.Timer(dice.random() * 0.6, kill_writer, (process.pid,)) if dice else None
    if killer:
        killer.start()
    with suppress(BrokenPipeError):
        for data in given:
            process.stdin.write(data)
    with suppress(BrokenPipeError):
        process.stdin.close()
    status = process.wait()
    for reader in readers:
        reader.join()
    if killer:
        killer.cancel()
    return Passed(digests[0].hexdigest(), digests[1].hexdigest(), status, time.monotonic() - began)


def kill_writer(tap: int) -> None:
    """Kill the process of a tap that writes the file."""
    for entry in Path("/proc").iterdir():
        with suppress(OSError, IndexError, ValueError):
            words = (entry / "cmdline").read_bytes()
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == tap and b"mcp_tap.writing" in words:
                os.kill(int(entry.name), signal.SIGKILL)


def main(words: list[str]) -> int:
    """Compare every run with and without a tap; the exit status is 1 if one differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.real mcp bytes")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=10)
    args = parser.parse_args(words)
    many = [LINE % (n, n) for n in range(args.messages)]
    runs: list[tuple[str, int, list[bytes], int | None]] = [
        ("echo", 0, many, None),
        ("large", 100_000_000, [b"{}\n"], None),
        ("flood", args.messages, [], None),
        ("logs", 0, many[:2000], None),
        ("status", 0, many[:10], None),
        ("cut", 0, many[:1], None),
        ("dies", 0, many[:1], None),
        *(("echo", 0, many[: args.messages // 4], seed) for seed in range(args.kills)),
    ]
    wrong = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for number, (kind, amount, given, seed) in enumerate(runs):
            server = [sys.executable, "-S", "-c", SERVER, kind, str(amount)]
            out = str(Path(folder) / f"{number}.wb")
            tap = [sys.executable, "-m", "workbench", "mcp-tap", "w", "-o", out, "--", *server]
            alone = exchange(server, given)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            through = exchange(tap, given, None if seed is None else random.Random(seed))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            is_same = alone[:3] == through[:3]
            if seed is not None:  # that the writer died is told on standard error
                is_same = (alone.out, alone.status) == (through.out, through.status)
            wrong += not is_same
            times = f"{through.seconds:.2f} s with the tap, {alone.seconds:.2f} s without, {took:.2f} CPU s"
            killed = "" if seed is None else f", writer killed (seed {seed})"
            print(f"{'ok ' if is_same else 'NOT'} {kind}{killed}: {times}; exit {through.status}")
        wrong += not _is_recorded(Path(folder) / "0.wb", 2 * args.messages)
    return 1 if wrong else 0


def _is_recorded(out: Path, most: int) -> bool:
    """The file of a run has each message, once its writer has ended."""
    until = time.monotonic() + 900  # a slow machine writes some hundred messages a second
    while time.monotonic() < until:
        with suppress(WorkbenchError, OSError), closing(open_session(out)) as session:
            connection = session.exchange(0)
            if connection.state is not State.OPEN:
                print(f"{len(connection.frames):,} of {most:,} messages are in the file")
                return len(connection.frames) == most
        time.sleep(1)
    print("the writer has not ended")
    return False
