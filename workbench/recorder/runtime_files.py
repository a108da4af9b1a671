"""Runtime files of recorders (control sockets, notes): in a folder that only this user can use.

A socket is named for its session and process, so it is found by whoever knows the session file, and nothing is written
into that file. The folder depends on the environment of a shell, so the user's state folder holds a pointer to each
socket. The names are short: a path has 104 bytes on macOS (108 on Linux).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.config import resources
from workbench.errors import UsageError
from workbench.wire.session import exists

LONGEST = 103
"""Bytes of a socket's path, without its final NUL (``sun_path`` of macOS)."""


def socket_path(session: Path, pid: int) -> Path:
    """Path of a recorder's control socket; its folder is created. Raises as ``private_path``."""
    path = private_path(f"{_name(session)}-{pid}.sock")
    with suppress(OSError):  # without it the socket is found from a shell with the same environment
        _point_to(path)
    return path


def private_path(name: str) -> Path:
    """Path of a file of that name in a folder that only this user can use; the folder is created.

    Raises:
        UsageError: there is no folder that belongs to this user alone.
        OSError: it cannot be made.
    """
    refused = ""
    for folder in _folders():
        path = folder / name
        if len(os.fsencode(path)) > LONGEST:
            continue
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700, parents=True)
        if is_private(folder):
            return path
        refused = str(folder)
    raise UsageError("the folder belongs to another user, or other users can write to it", where=refused or None)


@contextmanager
def private_file(kind: str, text: str) -> Iterator[str]:
    """Path of a file with a text, which only this user can read; removed at the end. Empty without a text.

    Raises as ``private_path``.
    """
    if not text:
        yield ""
        return
    path = private_path(f"{kind}-{os.getpid()}-{secrets.token_hex(4)}.json")
    write_private(path, text)
    try:
        yield str(path)
    finally:
        path.unlink(missing_ok=True)


def write_private(path: Path, text: str) -> None:
    """Make a file that only this user can read."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def sockets_of(session: Path) -> tuple[Path, ...]:
    """Sockets of recorders that write this session, newest first; a recorder that died may have left its own."""
    found = {path for folder in folders() for path in folder.glob(f"{_name(session)}-*.sock")}
    return tuple(sorted(found | set(_pointed_to(session)), key=_modified_at, reverse=True))


def folders() -> tuple[Path, ...]:
    """Existing folders for runtime files that only this user can use."""
    return tuple(folder for folder in _folders() if is_private(folder))


def remove_stale_sockets(session: Path) -> None:
    """Remove sockets of this session whose recorder no longer runs."""
    for path in sockets_of(session):
        pid = path.stem.rpartition("-")[2]
        if pid.isdecimal() and not exists(int(pid)):
            path.unlink(missing_ok=True)
    for pointer in _pointers(session):
        pid = pointer.stem.rpartition("-")[2]
        if pid.isdecimal() and not exists(int(pid)):
            pointer.unlink(missing_ok=True)


def _point_to(path: Path) -> None:
    folder = resources.state_folder("sockets")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if is_private(folder):
        pointer = folder / path.name
        pointer.unlink(missing_ok=True)
        with os.fdopen(os.open(pointer, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(str(path.absolute()))


def _pointers(session: Path) -> list[Path]:
    folder = resources.state_folder("sockets")
    return [p for p in folder.glob(f"{_name(session)}-*.sock") if not p.is_symlink()] if is_private(folder) else []


def _pointed_to(session: Path) -> Iterator[Path]:
    """Sockets in other folders; accepted only with the pointer's name, in a folder that only this user can use."""
    for pointer in _pointers(session):
        with suppress(OSError, ValueError):
            path = Path(pointer.read_text(encoding="utf-8"))
            if path.is_absolute() and path.name == pointer.name and is_private(path.parent) and path.is_socket():
                yield path


def _folders() -> Iterator[Path]:
    """The user's runtime folder, else one below the folder for temporary files."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and Path(runtime).is_dir():
        yield Path(runtime) / "workbench"
    for folder in dict.fromkeys((tempfile.gettempdir(), "/tmp")):
        yield Path(folder) / f"workbench-{os.getuid()}"


def _name(session: Path) -> str:
    return hashlib.sha256(os.fsencode(session.resolve())).hexdigest()[:16]


def is_private(folder: Path) -> bool:
    """Only this user can use a folder; False if it does not exist."""
    try:
        state = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & 0o077


def _modified_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
