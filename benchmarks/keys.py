"""Key to paint: from a key to the first and to the last byte painted for it, a body of 5 MB on the screen.

The first is the pane with the keys; the last are the other panes, which follow the selection.
Peers in the same run, press by press in turn: an empty Textual app that counts keys (the floor), and a TextArea
with the same text laid out.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks.terminal import Terminal
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import writer

SIZE = 5_000_000
ROUNDS = 5
FLOOR = """
from textual.app import App
from textual.widgets import Static
class Counting(App):
    presses = 0
    def compose(self):
        yield Static("ready-marker")
    def on_key(self):
        self.presses += 1
        self.query_one(Static).update(str(self.presses))
Counting().run()
"""
AREA = """
import sys
from textual.app import App
from textual.widgets import TextArea
class Area(App):
    def compose(self):
        area = TextArea("ready-marker\\n" + open(sys.argv[1]).read(), soft_wrap=False)
        area.cursor_blink = False
        yield area
Area().run()
"""
SHARED = {"down": b"\x1b[B", "page down": b"\x1b[6~"}
OURS = {"last line": b"G", "first line": b"g"}
SEARCH = (b"/", b"l", b"i", b"n", b"e", b" ", b"7", b"\r")


def body(size: int) -> bytes:
    """A request of a coding agent."""
    line = {"role": "user", "content": "".join(f"line {n} of a file that somebody reads\n" for n in range(80))}
    count = size // len(json.dumps(line))
    messages = [line, {"role": "assistant", "content": "read on"}] * count
    return json.dumps({"model": "m-1", "max_tokens": 9, "messages": messages}).encode()


def settled(words: list[str], marker: bytes, before: tuple[bytes, ...]) -> Terminal:
    """A program that has shown what it has to show."""
    terminal = Terminal(words)
    if not terminal.until(marker):
        raise TimeoutError(f"{marker!r} was not painted")
    terminal.quiet(1.0, 10.0)
    for key in before:
        terminal.write(key)
        terminal.quiet(0.5)
    return terminal


def main() -> None:
    """Print medians and worst, and ratios to the floor."""
    python = sys.executable
    times: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        big, text = Path(folder) / "big.wb", Path(folder) / "text.json"
        request = HttpRequest("POST", "https://api.anthropic.com/v1/messages", Headers(), Body(body(SIZE)))
        answer = HttpResponse(200, body=Body(b'{"type": "message", "content": []}'))
        writer.write([Exchange("e0", request, answer)], big)
        text.write_text(json.dumps(json.loads(body(SIZE)), indent=1))

        def run(words: list[str], marker: bytes, *before: bytes) -> Terminal:
            terminal = settled(words, marker, before)
            opened.callback(terminal.close)
            return terminal

        area = run([python, "-c", AREA, str(text)], b"eady-marker")  # the cursor stands on the first letter
        ours = run([python, "-m", "workbench", "open", str(big)], b"laid out", b"2", b"G", b"g")
        floor = run([python, "-c", FLOOR], b"ready-marker")

        def press(name: str, terminal: Terminal, keys: dict[str, bytes]) -> None:
            for kind, key in keys.items():
                times.setdefault((name, kind), []).append(terminal.press(key))

        for _ in range(ROUNDS):
            press("empty Textual app", floor, {"any": b"x"})
            press("TextArea, the same 5 MB", area, SHARED)
            press("workbench, 5 MB", ours, SHARED | OURS)
        for key in SEARCH:
            ours.press(key)
        ours.quiet(1.0)
        for _ in range(ROUNDS):
            press("workbench, 5 MB, searched", ours, {"next match": b"n"} | SHARED)
    print("keys: key to paint, median and worst, and until all of it is painted")
    least = statistics.median(first for first, _ in times["empty Textual app", "any"])
    for (name, kind), taken in times.items():
        firsts, lasts = zip(*taken, strict=True)
        middle, whole = statistics.median(firsts), statistics.median(lasts)
        print(f"  {name:<26} {kind:<11} {middle * 1000:6.1f} ms  worst {max(firsts) * 1000:6.1f}", end="")
        print(f"  all {whole * 1000:6.1f}  worst {max(lasts) * 1000:6.1f}  {middle / least:6.2f} × the empty app")


if __name__ == "__main__":
    main()
