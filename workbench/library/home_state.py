"""State of Home between two runs: recently opened files, and whether clients' sessions are listed.

Both are files below ``state_folder("home")``: ``recent`` holds paths, each ended by a NUL (any name is kept exactly);
``clients-off`` exists while clients' sessions are hidden. They are read before the first paint, so nothing is parsed
and no remembered path is opened here.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from workbench.config import resources

MOST = 12
"""Paths remembered: more would push the other sections off the screen."""


def recent() -> tuple[Path, ...]:
    """Recently opened files, the last one first. They need not exist any more."""
    try:
        names = _file("recent").read_bytes().split(b"\0")
    except OSError:
        return ()
    return tuple(Path(os.fsdecode(name)) for name in names if name)[:MOST]


def remember(path: Path) -> None:
    """Remember an opened file, unless it ships with the program. A failure to write is ignored."""
    path = Path(os.path.abspath(path))
    if path.is_relative_to(resources.folder("sessions")):
        return
    paths = (path, *(known for known in recent() if known != path))[:MOST]
    with suppress(OSError):
        _write(_file("recent"), b"".join(os.fsencode(known) + b"\0" for known in paths))


def shows_clients() -> bool:
    """True while clients' sessions are listed."""
    return not _file("clients-off").exists()


def show_clients(is_on: bool) -> None:
    """List clients' sessions or hide them, also in later runs. Raises OSError if that cannot be saved."""
    if is_on:
        _file("clients-off").unlink(missing_ok=True)
    else:
        _write(_file("clients-off"), b"")


def _file(name: str) -> Path:
    return resources.state_folder("home") / name


def _write(path: Path, data: bytes) -> None:
    """Replace the file atomically: another window may read it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
