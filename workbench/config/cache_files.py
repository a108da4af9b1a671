"""Files of the user's cache: what can be derived again, and costs nothing but time where it is gone.

A file is read only if only the user can have written it: the file and its folder belong to the user, are not links, and
are not writable for others.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from workbench.config.resources import cache_folder

MAX_BYTES = 64 * 1024 * 1024
"""Larger files are not read: nothing that is kept is near it."""


def read(name: str) -> bytes | None:
    """Content of a file of the cache; None if there is none, or others could have written it."""
    folder = cache_folder()
    try:
        if not _is_private(folder.lstat(), stat.S_ISDIR):
            return None
        handle = os.open(folder / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with open(handle, "rb") as file:
            status = os.fstat(handle)
            if not _is_private(status, stat.S_ISREG) or status.st_size > MAX_BYTES:
                return None
            return file.read()
    except OSError:
        return None


def write(name: str, data: bytes) -> None:
    """Replace a file of the cache, for its user alone. A failure is ignored."""
    folder = cache_folder()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_private(folder.lstat(), stat.S_ISDIR):
            return
        temporary = folder / f"tmp{os.urandom(8).hex()}"  # tempfile reads every kind of archive
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
            os.replace(temporary, folder / name)
        except OSError:
            temporary.unlink(missing_ok=True)


def keep_newest(pattern: str, most: int) -> None:
    """Remove the files of the cache that match, but for the ``most`` written last. A failure is ignored."""
    with suppress(OSError):
        found = sorted(cache_folder().glob(pattern), key=lambda path: path.lstat().st_mtime_ns)
        for path in found[:-most]:
            path.unlink(missing_ok=True)


def identity(path: Path | str) -> list[int]:
    """Size, time and inode of a file, which change with its content. Raises OSError."""
    return identity_of(os.stat(path))


def identity_of(status: os.stat_result) -> list[int]:
    """The same of a file whose state is known."""
    return [status.st_size, status.st_mtime_ns, status.st_ino]


def _is_private(status: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """The file has the expected type, belongs to the user, and is not writable for others."""
    owner = getattr(os, "geteuid", lambda: status.st_uid)()
    return is_kind(status.st_mode) and status.st_uid == owner and not status.st_mode & 0o022
