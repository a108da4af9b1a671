"""A session of 5,000 exchanges in the app: list, first break, all inspected, and keys meanwhile.

One request in the middle lost a tool result and was refused. Peer of the keys: the same keys after the inspection.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks import checking
from benchmarks.goals import reach
from benchmarks.terminal import Terminal
from workbench.wire.exchange import Body, Exchange, HttpResponse

COUNT = 5000
REFUSED = 3718
ERROR = {"type": "error", "error": {"type": "invalid_request_error", "message": "tool_use without tool_result"}}
MARKS = {"listed": b"of 5,000", "first break": "✗ error".encode(), "inspected": b"1 Exchanges \xc2\xb7 5,000"}
KEYS = 40
PAUSE = 0.1
"""Seconds between two keys."""
PATIENCE = 300.0


def exchanges(count: int = COUNT, refused: int = REFUSED) -> Iterator[Exchange]:
    """An agent that is compacted again and again, and one refused request of it."""
    for n, exchange in enumerate(checking.exchanges(checking.COMPACTED._replace(exchanges=count))):
        if n != refused or exchange.request is None:
            yield exchange
            continue
        body = json.loads(exchange.request.body.raw)
        body["messages"][-1]["content"] = "go on"
        request = replace(exchange.request, body=Body(json.dumps(body).encode()))
        answer = HttpResponse(400, checking.JSON, Body(json.dumps(ERROR).encode()))
        yield replace(exchange, request=request, response=answer)


def watch(path: Path) -> tuple[dict[str, float], float]:
    """Seconds until each mark is painted, and the processor time of all."""
    begun, tail, found = time.perf_counter(), b"", dict[str, float]()
    terminal = Terminal([sys.executable, "-m", "workbench", "open", str(path)])
    try:
        while len(found) < len(MARKS) and time.perf_counter() - begun < PATIENCE:
            tail = tail[-200:] + terminal.read(0.5)
            for name, mark in MARKS.items():
                if name not in found and mark in tail:
                    found[name] = time.perf_counter() - begun
        return found, terminal.cpu()
    finally:
        terminal.close()


def type_letters(terminal: Terminal) -> list[float]:
    """Seconds from each letter of a search to its paint. The letters are painted by nothing else."""
    taken = []
    terminal.write(b"/")
    terminal.quiet(0.3, 0.6)
    for n in range(KEYS):
        letter = chr(0x180 + n).encode()
        begun = time.perf_counter()
        terminal.write(letter)
        if not terminal.until(letter, 10.0):
            raise TimeoutError("a key was not painted")
        taken.append(time.perf_counter() - begun)
        terminal.quiet(PAUSE, PAUSE)
    terminal.write(b"\x1b")
    return taken


def main() -> None:
    """One run."""
    from workbench.wire.session import writer

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.wb"
        writer.write(exchanges(), path)
        found, cpu = watch(path)
        print(f"large: {COUNT:,} exchanges in the app, {cpu:.1f} s of CPU")
        if len(found) == len(MARKS):
            reach("app, 5,000 exchanges: first break after the list", found["first break"] - found["listed"])
            reach("app, 5,000 exchanges: all inspected", found["inspected"])
        for name in MARKS:
            print(f"  {name:<22} {f'{found[name]:8.2f} s' if name in found else 'not painted'}")
        terminal = Terminal([sys.executable, "-m", "workbench", "open", str(path)])
        try:
            terminal.until(MARKS["first break"])
            keys = {"keys while inspecting": type_letters(terminal)}
            terminal.until(MARKS["inspected"], PATIENCE)
            keys["keys afterwards"] = type_letters(terminal)
        finally:
            terminal.close()
    reach("app, keys meanwhile", statistics.median(keys["keys while inspecting"]) * 1e3)
    for name, taken in keys.items():
        print(f"  {name:<22} {statistics.median(taken) * 1000:8.1f} ms  worst {max(taken) * 1000:.1f}")


if __name__ == "__main__":
    main()
