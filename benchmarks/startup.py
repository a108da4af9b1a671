"""Start-up: exec to the first painted screen in a pseudo-terminal, against an empty Textual app in the same run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.listing import exchanges
from benchmarks.terminal import ENVIRONMENT, Terminal

ROUNDS = 7
MARKER = "first-paint-marker"
EMPTY = f"""
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("{MARKER}")
Empty().run()
"""


def paint(words: list[str], marker: str) -> float:
    """Seconds from exec until the marker is on the screen."""
    start = time.perf_counter()
    terminal = Terminal(words)
    try:
        if not terminal.until(marker.encode(), 30):
            raise TimeoutError(f"{marker!r} was not painted")
        return time.perf_counter() - start
    finally:
        terminal.close()


def command(words: list[str]) -> float:
    """Seconds a command takes."""
    start = time.perf_counter()
    subprocess.run(words, check=False, capture_output=True, env=ENVIRONMENT)
    return time.perf_counter() - start


def main() -> None:
    """Interleave the runs, so that noise hits everybody, and print medians and ratios."""
    from workbench.wire.session import writer

    python = sys.executable
    opened = [python, "-m", "workbench", "open"]
    with tempfile.TemporaryDirectory() as folder:
        big = Path(folder) / "big.wb"
        writer.write(exchanges(5000), big)
        cases = {
            "empty Textual app": lambda: paint([python, "-c", EMPTY], MARKER),
            "workbench (Home)": lambda: paint([python, "-m", "workbench"], "Workbench"),
            "workbench open, 5,000 exchanges": lambda: paint([*opened, str(big)], "Workbench"),
            "  … until they are listed": lambda: paint([*opened, str(big)], "of 5,000"),
            "python -c pass": lambda: command([python, "-c", "pass"]),
            "workbench --version": lambda: command([python, "-m", "workbench", "--version"]),
            "workbench --help": lambda: command([python, "-m", "workbench", "--help"]),
        }
        times: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(ROUNDS + 1):
            for name, run in cases.items():
                taken = run()
                if number:  # the first writes byte code
                    times[name].append(taken)
    print("startup: exec to first paint, and whole commands")
    peer = ""
    for name, values in times.items():
        if name in ("empty Textual app", "python -c pass"):
            peer = name
        ratio = statistics.median(values) / statistics.median(times[peer])
        best = min(values) * 1000
        print(f"  {name:<34} {statistics.median(values) * 1000:7.0f} ms  best {best:6.0f}  {ratio:5.2f} × {peer}")
