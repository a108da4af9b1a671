"""Whether the process that writes a session is still there.

A process id alone is not enough: ids are used again, and one that was killed keeps its id until its parent asks.
"""

from __future__ import annotations

import os
import re
from pathlib import Path


def mark() -> str:
    """What this process is known by: its id, and when it started where the system tells."""
    return f"{os.getpid()} {_started(os.getpid())}".strip()


def is_alive(mark: str) -> bool:
    """The process of a mark is running."""
    pid, _, started = mark.partition(" ")
    if not re.fullmatch("[0-9]{1,9}", pid):
        return False
    return _started(int(pid)) == started if started else exists(int(pid))


def _started(pid: int) -> str:
    """Start of a running process in clock ticks since boot (proc(5), field 22); "" where there is none to be known."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in "ZX" else fields[18]


def exists(pid: int) -> bool:
    """Some process has this id, perhaps another one by now."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True
