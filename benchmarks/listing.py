"""A session of 5,000 exchanges that repeats its history: list, size, memory, one body.

Peer: the same exchanges as JSON Lines, read with the standard library (what most tools do).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse

COMPACT_AT = 600_000
"""Bytes of history at which the agent starts over, as agents do."""

PEER = 500
"""Exchanges the peer reads; its figures are scaled to the whole."""


def bodies(count: int) -> Iterator[tuple[bytes, bytes]]:
    """(request body, response body) of an agent that works in one long conversation after another."""
    rng = random.Random(1)
    words = [rng.randbytes(3).hex() for _ in range(4000)]
    common = [1 / (n + 2) for n in range(4000)]  # words of real text follow Zipf: it compresses about fourfold
    tools = [{"name": f"tool_{n}", "description": " ".join(rng.choices(words, k=60))} for n in range(14)]
    history: list[dict[str, object]] = []
    size = 0
    for n in range(count):
        if size > COMPACT_AT:
            history, size = [], 0
        call = {"type": "tool_use", "id": f"toolu_{n}", "name": "read_file", "input": {"path": f"src/{n}.py"}}
        result = {
            "type": "tool_result",
            "tool_use_id": f"toolu_{n}",
            "content": " ".join(rng.choices(words, common, k=900)),
        }
        history += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
        request = {"model": "m-1", "max_tokens": 32000, "tools": tools, "messages": history}
        body = json.dumps(request).encode()
        size = len(body)
        answer = {"id": f"msg_{n}", "type": "message", "content": [{"type": "text", "text": words[n % 4000]}]}
        yield body, json.dumps(answer).encode()


def exchanges(count: int) -> Iterator[Exchange]:
    """The same as exchanges."""
    for n, (request, response) in enumerate(bodies(count)):
        yield Exchange(
            f"e{n}",
            HttpRequest("POST", "https://api.example.com/v1/messages", Headers(), Body(request)),
            HttpResponse(200, Headers((("content-type", "application/json"),)), Body(response)),
        )


LIST = """
import sys, time
from pathlib import Path
from workbench.wire.session import store
start = time.perf_counter()
def resident():
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0])
before = resident()
session = store.open_session(Path(sys.argv[1]))
rows = session.summaries()
listed = time.perf_counter() - start
memory = resident() - before
start = time.perf_counter()
session.exchange(len(rows) - 7)
print(len(rows), listed, memory / 1024, time.perf_counter() - start)
"""


def main(count: int = 5000) -> None:
    """Write, list, read one body; print against the peer."""
    from workbench.wire.session import writer

    with tempfile.TemporaryDirectory() as folder:
        path, peer = Path(folder) / "s.wb", Path(folder) / "peer.jsonl"
        raw = 0
        with writer.SessionWriter(path) as session, peer.open("wb") as lines:
            spent = 0.0
            for n, exchange in enumerate(exchanges(count)):
                assert exchange.request and exchange.response
                raw += len(exchange.request.body.raw) + len(exchange.response.body.raw)
                begun = time.process_time()
                session.append(exchange)
                spent += time.process_time() - begun
                if n >= count - PEER:
                    lines.write(b'{"request": %s}\n' % exchange.request.body.raw)
        done = subprocess.run(
            [sys.executable, "-c", LIST, str(path)], capture_output=True, text=True, check=True, env=dict(os.environ)
        )
        rows, listed, memory, one = done.stdout.split()
        theirs = _peer(peer) * count / min(PEER, count)
        share = 100 * path.stat().st_size / raw
        print(f"listing: {rows} exchanges, {raw / 1e9:.2f} GB of bodies")
        print(f"  list        {float(listed) * 1000:8.1f} ms   {theirs / float(listed):,.0f} × faster than JSON Lines")
        print(f"  one body    {float(one) * 1000:8.1f} ms")
        print(f"  memory      {float(memory):8.1f} MB   for the list")
        print(f"  file        {path.stat().st_size / 1e6:8.1f} MB   {share:.2f} % of the bodies")
        print(f"  write       {spent / count * 1000:8.2f} ms   of CPU an exchange")


def _peer(path: Path) -> float:
    start = time.perf_counter()
    with path.open("rb") as lines:
        for line in lines:
            json.loads(line)
    return time.perf_counter() - start
