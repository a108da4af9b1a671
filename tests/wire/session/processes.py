"""Other processes that write a session."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Start = Callable[[Path], "Process"]


class Process:
    """A second process that writes: it runs a line of Python at a time, and is killed without a word."""

    SCRIPT = (
        "import sys, pathlib\n"
        "from workbench.wire.exchange import *\n"
        "from workbench.wire.session.writer import SessionWriter\n"
        "w = SessionWriter(pathlib.Path(sys.argv[1]))\n"
        "print('ready', flush=True)\n"
        "for line in sys.stdin:\n"
        "    exec(line)\n"
        "    print('done', flush=True)\n"
    )

    def __init__(self, path: Path) -> None:
        self.run = subprocess.Popen(
            [sys.executable, "-c", self.SCRIPT, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def heard(self, word: str) -> None:
        assert self.run.stdout
        assert self.run.stdout.readline() == f"{word}\n"

    def do(self, line: str) -> None:
        self.say(line)
        self.heard("done")

    def say(self, line: str) -> None:
        assert self.run.stdin
        self.run.stdin.write(line + "\n")
        self.run.stdin.flush()

    def kill(self) -> None:
        self.run.kill()
        self.run.wait()
        for pipe in (self.run.stdin, self.run.stdout):
            if pipe:
                pipe.close()


@contextmanager
def writing(path: Path, count: int) -> Iterator[list[Process]]:
    """As many that write one file, started at once."""
    started = [Process(path) for _ in range(count)]
    try:
        for process in started:
            process.heard("ready")
        yield started
    finally:
        for process in started:
            process.kill()
