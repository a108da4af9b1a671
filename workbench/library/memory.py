"""What Home remembers between two runs: files opened lately, and whether clients' sessions are shown.

Both are files below ``state_folder("home")``: ``recent`` holds paths, each ended by a NUL (any name is kept exactly);
``clients-off`` is there while the sessions of clients are not to be listed. They are read before the first paint, so
nothing is parsed and no remembered path is looked at here.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from workbench.config import resources

MOST = 12
"""Paths remembered: more would push everything else out of sight."""


def recent() -> tuple[Path, ...]:
    """Files opened lately, the last one first. They may be gone."""
    try:
        names = _file("recent").read_bytes().split(b"\0")
    except OSError:
        return ()
    return tuple(Path(os.fsdecode(name)) for name in names if name)[:MOST]


def remember(path: Path) -> None:
    """Note that a file was opened. Files that ship with the program are not noted; nor is what cannot be written."""
    path = Path(os.path.abspath(path))
    if path.is_relative_to(resources.folder("sessions")):
        return
    kept = (path, *(known for known in recent() if known != path))[:MOST]
    with suppress(OSError):
        _write(_file("recent"), b"".join(os.fsencode(known) + b"\0" for known in kept))


def shows_clients() -> bool:
    """Whether the sessions in the folders of clients are to be listed."""
    return not _file("clients-off").exists()


def show_clients(is_on: bool) -> None:
    """Switch them on or off, for good. Raises OSError when that cannot be noted."""
    if is_on:
        _file("clients-off").unlink(missing_ok=True)
    else:
        _write(_file("clients-off"), b"")


def _file(name: str) -> Path:
    return resources.state_folder("home") / name


def _write(path: Path, data: bytes) -> None:
    """The file appears whole: another window may read it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
