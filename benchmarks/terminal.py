"""A program in a pseudo-terminal: write keys, see what it paints and when."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "TEXTUAL_ANIMATIONS": "none",
}
"""What is measured runs from byte code, as its peers from site-packages do."""

OPEN = 'exec 0<>"$0" 1>&0 2>&0; exec "$@"'
"""For a shell: who opens a terminal as the leader of a session owns it, and is hung up on when the other end is closed.

What does the same in Python between fork and exec would copy the tables of this process, and be measured with it.
"""


def forget_verdicts() -> None:
    """Remove the verdicts that ``check`` has kept: the next one inspects its files."""
    from workbench.config import resources

    for file in resources.cache_folder().glob("verdicts-*"):
        file.unlink()


class Terminal:
    """120 columns, 40 lines."""

    def __init__(self, words: list[str]) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.child = subprocess.Popen(
            ["sh", "-c", OPEN, os.ttyname(slave), *words], env=ENVIRONMENT, start_new_session=True
        )
        os.close(slave)

    def write(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def read(self, seconds: float) -> bytes:
        """What comes next, nothing if that takes longer."""
        try:
            return os.read(self.master, 1 << 20) if select.select([self.master], [], [], seconds)[0] else b""
        except OSError:  # it has ended
            return b""

    def until(self, marker: bytes, seconds: float = 60) -> bool:
        """Read until something was painted."""
        seen, end = b"", time.perf_counter() + seconds
        while marker not in seen and time.perf_counter() < end:
            seen = seen[-200:] + self.read(0.5)
        return marker in seen

    def press(self, key: bytes, seconds: float = 0.15, patience: float = 10.0) -> tuple[float, float]:
        """Seconds from a key to the first and to the last byte painted for it.

        Raises:
            TimeoutError: nothing was painted.
        """
        begun = time.perf_counter()
        self.write(key)
        if not self.read(patience):
            raise TimeoutError(f"nothing was painted for {key!r}")
        first = time.perf_counter()
        return first - begun, self.quiet(seconds) - begun

    def quiet(self, seconds: float, patience: float = 5.0) -> float:
        """Read until nothing came for so long (a cursor that blinks never ends: then for as long as patience lasts).

        Returns when the last came.
        """
        begun = last = time.perf_counter()
        while self.read(seconds) and last - begun < patience:
            last = time.perf_counter()
        return last

    def cpu(self) -> float:
        """Seconds of processor time that the program has taken."""
        with open(f"/proc/{self.child.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.child.kill()
        self.child.wait()
        os.close(self.master)
