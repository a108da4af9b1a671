"""Start-up: exec to the first painted screen in a pseudo-terminal, against an empty Textual app in the same run.

Whole commands are measured in CPU seconds (user and system), against ``python -c pass``; many small files in files for
each second of CPU, both without and with the verdicts that an earlier check kept, and Home with large recent sessions
at its first start and at later ones.
"""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.goals import reach
from benchmarks.listing import exchanges
from benchmarks.terminal import ENVIRONMENT, Terminal, forget_verdicts

ROUNDS = 7
ROWS = {
    "  … until they are listed": "open 5,000: rows",
    "  … until one is decoded": "open 5,000: all panes",
    "workbench --help": "--help",
    "workbench check, 1 kB": "check of 1 kB",
}
"""Cases with goals."""

MANY = 2000
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


def command(words: list[str], environment: dict[str, str] = ENVIRONMENT) -> float:
    """CPU seconds a command takes, with its own processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=False, capture_output=True, stdin=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def body(number: int, turns: int, words: int) -> str:
    """A request body of an agent: calls of one tool, each with a result of some words."""
    messages: list[dict[str, object]] = [{"role": "user", "content": f"Task {number}: find the fault and correct it."}]
    for turn in range(turns):
        arguments = json.dumps({"path": f"src/{number}/{turn}.py"})
        call = {"id": f"call_{number}_{turn}", "type": "function", "function": {"name": "read", "arguments": arguments}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"{number} {turn} " + "word " * words})
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tool = {"type": "function", "function": {"name": "read", "description": "Reads a file.", "parameters": schema}}
    return json.dumps({"model": "gpt-5", "messages": messages, "tools": [tool]})


def many_files(folder: Path) -> None:
    """Print how many files of 12 kB are checked in a second of CPU, and in one of wall time."""
    folder.mkdir()
    for number in range(MANY):
        (folder / f"{number:04}.json").write_text(body(number, 4, 560), encoding="utf-8")
    words = [sys.executable, "-m", "workbench", "check", str(folder)]
    first, again = [], []
    for _ in range(3):
        forget_verdicts()
        first.append(timed(words))
        again.append(timed(words))
    used, taken = (statistics.median(run[n] for run in first) for n in (0, 1))
    reach("2,000 small files, on two cores", MANY / taken)
    reach("2,000 small files, for each CPU second", MANY / used)
    print(f"  check of {MANY:,} files of 12 kB: {MANY / used:,.0f} a CPU second, {MANY / taken:,.0f} a second (wall)")
    used, taken = (statistics.median(run[n] for run in again) for n in (0, 1))
    print(f"  … again, with kept verdicts: {MANY / used:,.0f} a CPU second, {MANY / taken:,.0f} a second (wall)")


def timed(words: list[str]) -> tuple[float, float]:
    """CPU seconds and wall seconds of a command."""
    start = time.perf_counter()
    used = command(words)
    return used, time.perf_counter() - start


def check_anew(path: Path) -> float:
    """CPU seconds of a check that inspects its file, and keeps the verdict."""
    forget_verdicts()
    return command([sys.executable, "-m", "workbench", "check", str(path)])


def home(folder: Path, large: Path) -> None:
    """Print the CPU seconds of the overview with three large recent sessions, at the first and at later starts."""
    recent = folder / "state" / "workbench" / "home" / "recent"
    recent.parent.mkdir(parents=True)
    copies = [Path(shutil.copy(large, folder / f"recent-{n}.wb")) for n in range(3)]
    recent.write_bytes(b"".join(bytes(copy) + b"\0" for copy in copies))
    places = {
        name: str(folder / name.lower()) for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    }
    environment = {**ENVIRONMENT, **places, "XDG_STATE_HOME": str(folder / "state")}
    words = [sys.executable, "-m", "workbench"]
    first, *later = [command(words, environment) for _ in range(1 + ROUNDS)]
    reach("Home with large recent sessions", statistics.median(later))
    print(f"  Home, three large recent sessions: {first:.2f} s of CPU first, then {statistics.median(later):.2f} s")


def main() -> None:
    """Interleave the runs, so that noise hits everybody, and print medians and ratios."""
    from workbench.wire.session import writer

    python = sys.executable
    opened = [python, "-m", "workbench", "open"]
    with tempfile.TemporaryDirectory() as folder:
        big = Path(folder) / "big.wb"
        writer.write(exchanges(5000), big)
        small = Path(folder) / "small.json"
        small.write_text(body(0, 2, 40), encoding="utf-8")
        cases = {
            "empty Textual app": lambda: paint([python, "-c", EMPTY], MARKER),
            "workbench (Home)": lambda: paint([python, "-m", "workbench"], "Workbench"),
            "workbench open, 5,000 exchanges": lambda: paint([*opened, str(big)], "Workbench"),
            "  … until they are listed": lambda: paint([*opened, str(big)], "of 5,000"),
            "  … until one is decoded": lambda: paint([*opened, str(big)], "tool_0, tool_1"),
            "python -c pass": lambda: command([python, "-c", "pass"]),
            "workbench --version": lambda: command([python, "-m", "workbench", "--version"]),
            "workbench --help": lambda: command([python, "-m", "workbench", "--help"]),
            "workbench check, 1 kB": lambda: check_anew(small),
            "  … again, with a kept verdict": lambda: command([python, "-m", "workbench", "check", str(small)]),
        }
        times: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(ROUNDS + 1):
            for name, run in cases.items():
                taken = run()
                if number:  # the first writes byte code
                    times[name].append(taken)
        print("startup: exec to first paint, and the CPU of whole commands")
        peer = ""
        for name, values in times.items():
            if name in ("empty Textual app", "python -c pass"):
                peer = name
            ratio = statistics.median(values) / statistics.median(times[peer])
            best = min(values) * 1000
            if name in ROWS:
                reach(ROWS[name], ratio)
            print(f"  {name:<34} {statistics.median(values) * 1000:7.0f} ms  best {best:6.0f}  {ratio:5.2f} × {peer}")
        many_files(Path(folder) / "many")
        home(Path(folder), big)
