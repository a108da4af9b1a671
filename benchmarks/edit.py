"""Editing and sending with bodies of 1 and 5 MB: typing, an edit studied, kept, undone, looked at, sent.

Typing is key to paint in the field that edits a message, with an empty Textual app as the peer; the rest is what the
app does beside its screen, with an inspection of the same exchange as the peer, and how long it kept another thread
from the interpreter at the worst: for so long no key is heard.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import TypeVar

from benchmarks.keys import FLOOR, body, settled
from workbench.edits import Splice, apply_changes
from workbench.edits.branches import Workspace
from workbench.rules.inspection import Inspector
from workbench.send.preflight import judge_exchange
from workbench.send.sending import Sender
from workbench.send.target_names import resolve
from workbench.tui.models.edit_study import study
from workbench.tui.preflight import PreparedRequest, preview_request
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.jsontext import loads
from workbench.wire.session import MemorySession, writer

SIZES = (1_000_000, 5_000_000)
TYPED = b"words that are typed"
SWITCH_SECONDS = 0.0005
"""As the app has it."""
TICK = 0.001

Made = TypeVar("Made")


class Listener:
    """Notes how late another thread gets to run, in seconds, at the worst."""

    def __init__(self) -> None:
        self.worst = 0.0
        self._ended = Event()
        self._thread = Thread(target=self._run)

    def _run(self) -> None:
        last = time.perf_counter()
        while not self._ended.wait(TICK):
            now = time.perf_counter()
            self.worst, last = max(self.worst, now - last - TICK), now

    def __enter__(self) -> Listener:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


def measured(name: str, do: Callable[[], Made], peer: float = 0.0) -> tuple[Made, float]:
    """What was done, and the seconds that it took, which are printed."""
    with Listener() as listener:
        begun = time.perf_counter()
        made = do()
        taken = time.perf_counter() - begun
    ratio = f"{taken / peer:6.2f} × an inspection" if peer else " " * 22
    print(
        f"  {name:<34} {taken * 1000:7.0f} ms  {ratio}  another thread waited {listener.worst * 1000:4.0f} ms at most"
    )
    return made, taken


def work(exchange: Exchange, folder: Path) -> None:
    """What the app does beside its screen, step by step."""
    request, session = exchange.request, MemorySession("big", (exchange,))
    assert request
    raw, target = request.body.raw, resolve("sim:anthropic")
    measured("json.loads", lambda: loads(raw))
    inspector = Inspector(session, provider="anthropic")
    _, peer = measured("an inspection", lambda: inspector.detail(0))
    at = raw.rindex(b"line 5 of")
    other = apply_changes(request, raw, [Splice(at, at, b"X")])
    measured("an edit studied", lambda: study(inspector, 0, other), peer)
    workspace = Workspace(session, folder / f"{len(raw)}.session")
    root = workspace.root(0)
    node, _ = measured("the first edit kept", lambda: workspace.commit(root, other, "an edit"), peer)
    more = apply_changes(request, raw, [Splice(at, at, b"Y")])
    node, _ = measured("the next one kept", lambda: workspace.commit(node, more, "another"), peer)
    measured("undone", lambda: workspace.undo(node), peer)
    before, _ = measured("looked at before it is sent", lambda: preview_request(inspector, node, target), peer)
    answer, _ = measured("sent to a simulator", lambda: asyncio.run(_sent(session, before)), peer)
    measured("the answer judged", lambda: judge_exchange(inspector, 0, before.outgoing, answer), peer)
    workspace.close()


async def _sent(session: MemorySession, before: PreparedRequest) -> Exchange:
    async with Sender(known=session) as sender:
        return await sender.send(before.outgoing)


def typing(path: Path, size: int) -> None:
    """Key to paint in the field that edits the message in the middle of a body."""
    python = sys.executable
    floor = settled([python, "-c", FLOOR], b"ready-marker", ())
    ours = settled([python, "-m", "workbench", "open", str(path)], b"laid out", ())
    try:
        for key in (b"e", b"\x1b[6~", b"e"):  # the edit screen, a message in the middle, its text
            ours.write(key)
            ours.quiet(3.0, 30.0)
        pairs = [(ours.press(bytes([key]))[0], floor.press(b"x")[0]) for key in TYPED]
    finally:
        ours.close()
        floor.close()
    taken, least = zip(*pairs, strict=True)
    middle, empty = statistics.median(taken), statistics.median(least)
    print(
        f"  {f'a key typed, {size / 1e6:.0f} MB':<34} {middle * 1000:7.1f} ms  worst {max(taken) * 1000:.1f}  "
        f"{middle / empty:.2f} × the empty app"
    )


def main() -> None:
    """One run."""
    switch = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for size in SIZES:
                print(f"edit: a request of {size / 1e6:.0f} MB")
                request = HttpRequest("POST", "https://api.anthropic.com/v1/messages", Headers(), Body(body(size)))
                exchange = Exchange("e0", request, HttpResponse(200, body=Body(b'{"type": "message", "content": []}')))
                work(exchange, Path(folder))
                path = Path(folder) / f"{size}.wb"
                writer.write([exchange], path)
                typing(path, size)
    finally:
        sys.setswitchinterval(switch)


if __name__ == "__main__":
    main()
