"""The program in a real terminal of its own (a pseudo one), and what it writes there."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds until what is waited for counts as never coming."""

RESTORED = (
    "\x1b[?1049l",
    "\x1b[?25h",
    "\x1b[?2004l",
    "\x1b[?1000l",
    "\x1b[?1003l",
    "\x1b[?1006l",
    "\x1b[?7h",
    "\x1b[?1004l",
)


class InTerminal:
    """A running program and the other end of its terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, slave: int) -> None:
        self.process = process
        self.master = master
        self.slave = slave
        self.seen = ""

    def until(self, marker: str) -> str:
        """Read until a marker was written; what was written up to it, which is then forgotten."""
        end = time.monotonic() + PATIENCE
        while marker not in self.seen:
            assert time.monotonic() < end, f"{marker!r} never came; last: {self.seen[-2000:]!r}"
            if not self._read() and self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode} before {marker!r}: {self.seen[-2000:]!r}")
        before, _, self.seen = self.seen.partition(marker)
        return before

    def _read(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], 0.2)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def leave(self) -> None:
        """From the session Home, and from there out of the program."""
        for shown in ("Examples", "again to quit", ""):
            self.press("q")
            if shown:
                self.until(shown)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self.slave)

    def until_stopped(self) -> None:
        """Until the process is suspended."""
        end = time.monotonic() + PATIENCE
        while Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            assert time.monotonic() < end, "never suspended"
            self._read()

    def end(self) -> tuple[int, str]:
        """Wait for the end: the exit status, and what was written since the last marker."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"never ended; last: {self.seen[-2000:]!r}"
            self._read()
        while self._read():
            pass
        return self.process.returncode, self.seen

    def hang_up(self) -> int:
        """Close the terminal; the exit status."""
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = -1
        return self.process.wait(PATIENCE)


@contextmanager
def in_terminal(
    home: Path, *words: str, size: tuple[int, int] = (80, 24), env: dict[str, str] | None = None, code: str = ""
) -> Iterator[InTerminal]:
    """``workbench WORDS`` in a terminal, with a home folder of its own.

    Args:
        home: an empty folder.
        words: the command line.
        size: columns and rows.
        env: further environment variables.
        code: Python that runs before the program, in its process.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    main = f"{code}\nfrom workbench.cli import main\nimport sys\nsys.exit(main(sys.argv[1:]))"
    known = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "TEXTUAL", "LC_", "COLUMNS", "LINES"))}
    own = {"HOME": str(home), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "TEXTUAL_ANIMATIONS": "none"}
    process = subprocess.Popen(
        [sys.executable, "-c", main, *words],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**known, **own, **(env or {})},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    terminal = InTerminal(process, master, slave)
    try:
        yield terminal
    finally:
        process.kill()
        process.wait()
        for number in (terminal.master, terminal.slave):
            if number >= 0:
                os.close(number)
