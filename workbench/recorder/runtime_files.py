"""Runtime files of recorders (control sockets, notes): in a folder that only this user can use.

A socket is named for its session and process, so it is found by whoever knows the session file, and nothing is written
into that file. The folder depends on the environment of a shell, so the user's state folder holds a pointer to each
socket. The names are short: a path has 104 bytes on macOS (108 on Linux).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
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
        if _is_ours(folder):
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
    _write(path, text)
    try:
        yield str(path)
    finally:
        path.unlink(missing_ok=True)


def _write(path: Path, text: str) -> None:
    """Make a file that only this user can read."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


@contextmanager
def private_home(kind: str, text: str, replaced: Path, name: str) -> Iterator[str]:
    """Path of a home for one run, in which a file has another text; removed at the end.

    The folder of the file in it has links to everything else that is in the person's. What a program puts there is
    moved to the person's folder at the end, where it would be without this home; the file is not.

    Args:
        replaced: the person's file.
        name: of its folder in the home.

    Raises as ``private_path``.
    """
    home = private_path(f"{kind}-{os.getpid()}-{secrets.token_hex(4)}")
    folder = home / name
    home.mkdir(mode=0o700)
    try:
        folder.mkdir(mode=0o700)
        for other in replaced.parent.iterdir() if replaced.parent.is_dir() else ():
            if other.name != replaced.name:
                (folder / other.name).symlink_to(other.absolute())
        _write(folder / replaced.name, text)
        yield str(home)
    finally:
        _move_back(folder, replaced)
        shutil.rmtree(home, ignore_errors=True)


def _move_back(folder: Path, replaced: Path) -> None:
    """Move what is new in a folder to the person's, but for the file that was replaced."""
    for made in folder.iterdir() if folder.is_dir() else ():
        target = replaced.parent / made.name
        if made.name != replaced.name and not made.is_symlink() and not (made.is_dir() and target.exists()):
            with suppress(OSError):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(made, target)


def sockets_of(session: Path) -> tuple[Path, ...]:
    """Sockets of recorders that write this session, newest first; a recorder that died may have left its own."""
    found = {path for folder in folders() for path in folder.glob(f"{_name(session)}-*.sock")}
    return tuple(sorted(found | set(_pointed_to(session)), key=_modified_at, reverse=True))


def folders() -> tuple[Path, ...]:
    """Existing folders for runtime files that only this user can use."""
    return tuple(folder for folder in _folders() if _is_ours(folder))


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
    if _is_ours(folder):
        pointer = folder / path.name
        pointer.unlink(missing_ok=True)
        with os.fdopen(os.open(pointer, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(str(path.absolute()))


def _pointers(session: Path) -> list[Path]:
    folder = resources.state_folder("sockets")
    return [p for p in folder.glob(f"{_name(session)}-*.sock") if not p.is_symlink()] if _is_ours(folder) else []


def _pointed_to(session: Path) -> Iterator[Path]:
    """Sockets in other folders; accepted only with the pointer's name, in a folder that only this user can use."""
    for pointer in _pointers(session):
        with suppress(OSError, ValueError):
            path = Path(pointer.read_text(encoding="utf-8"))
            if path.is_absolute() and path.name == pointer.name and _is_ours(path.parent) and path.is_socket():
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


def _is_ours(folder: Path) -> bool:
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
