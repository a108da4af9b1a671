"""Following: a process appends 200 stream events a second to a session file while the app shows its end.

Printed: processor time of the app as a share of one core, paints per second, how old an event is when it is painted.
The peer is the same app on the same file while nothing is written.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.terminal import Terminal

SECONDS = 8.0
SETTLED = 4.0
STAMP = re.compile(rb"at(\d{9,})at")
WRITER = """
import json, sys, time, pathlib
from workbench.wire.exchange import Chunk, Exchange, Headers, HttpRequest, HttpResponse, Body
from workbench.wire.session.writer import SessionWriter
rate, seconds = float(sys.argv[2]), float(sys.argv[3])
def event(name, **more):
    return f"event: {name}\\ndata: {json.dumps({'type': name, **more})}\\n\\n".encode()
def delta(text):
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
writer = SessionWriter(pathlib.Path(sys.argv[1]))
request = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "count"}] * 3}
seq = writer.begin(Exchange("e0", HttpRequest(url="https://api.anthropic.com/v1/messages",
    body=Body(json.dumps(request).encode()))))
writer.answer(seq, HttpResponse(200, Headers((("content-type", "text/event-stream"),))))
message = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
block = {"type": "text", "text": ""}
size = 0
def write(piece):
    global size
    size += len(piece)
    writer.grow(seq, piece, [Chunk(size, time.monotonic())])
write(event("message_start", message=message) + event("content_block_start", index=0, content_block=block))
for n in range(100):
    write(delta(f"before {n} "))
print("ready", flush=True)
sys.stdin.readline()
begun = time.monotonic()
n = 0
while time.monotonic() - begun < seconds:
    write(delta(f" at{time.monotonic_ns()}at "))
    n += 1
    time.sleep(max(0.0, begun + n / rate - time.monotonic()))
print(n, flush=True)
sys.stdin.readline()
"""


def watch(terminal: Terminal, seconds: float) -> tuple[float, float, list[float]]:
    """Share of a core, paints per second, seconds from writing an event to its paint."""
    begun, cpu, paints, ages, last = time.perf_counter(), terminal.cpu(), 0, list[float](), 0.0
    while time.perf_counter() - begun < seconds:
        came = terminal.read(0.2)
        now = time.perf_counter()
        if came and now - last > 0.01:
            paints += 1
        last = now if came else last
        stamps = [int(s) for s in STAMP.findall(came)]
        if stamps:
            ages.append((time.monotonic_ns() - max(stamps)) / 1e9)
    passed = time.perf_counter() - begun
    return (terminal.cpu() - cpu) / passed, paints / passed, ages


def main() -> None:
    """One run."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "live.wb")
        words = [sys.executable, "-c", WRITER, path, "200", str(SETTLED + SECONDS)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdin and writer.stdout
            writer.stdout.readline()
            terminal = Terminal([sys.executable, "-m", "workbench", "open", path])
            try:
                terminal.until(b"before")
                terminal.quiet(1.0, 20.0)
                for key in (b"2", b"\x1b[F"):
                    terminal.write(key)
                    terminal.quiet(0.5)
                idle = watch(terminal, 3.0)
                writer.stdin.write("go\n")
                writer.stdin.flush()
                terminal.quiet(0.5, SETTLED)
                busy = watch(terminal, SECONDS - 1)
                count = int(writer.stdout.readline())
            finally:
                terminal.close()
                writer.kill()
    print(f"follow: {count / (SECONDS + SETTLED):.0f} events a second appended by another process")
    for name, (share, paints, ages) in (("nothing is written", idle), ("following", busy)):
        middle = f"{statistics.median(ages) * 1000:.0f} ms, worst {max(ages) * 1000:.0f}" if ages else "–"
        print(
            f"  {name:<20} {share * 100:5.1f} % of a core  {paints:5.1f} paints/s  newest event painted after {middle}"
        )


if __name__ == "__main__":
    main()
