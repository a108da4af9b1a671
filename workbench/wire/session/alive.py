"""Detects whether the process that writes a session is still running.

A process id alone is not enough: ids are reused, and a killed process keeps its id until its parent collects it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path


def mark() -> str:
    """Identity of this process: its id, and its start time if the system reports it."""
    return f"{os.getpid()} {_start_time(os.getpid())}".strip()


def is_alive(mark: str) -> bool:
    """True if the process of a mark is running."""
    pid, _, started = mark.partition(" ")
    if not re.fullmatch("[0-9]{1,9}", pid):
        return False
    return _start_time(int(pid)) == started if started else exists(int(pid))


def _start_time(pid: int) -> str:
    """Start of a running process in clock ticks since boot (proc(5), field 22); empty if unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in "ZX" else fields[18]


def exists(pid: int) -> bool:
    """True if some process has this id, perhaps another one by now."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True
