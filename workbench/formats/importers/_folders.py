"""Finds the files of a folder or of a glob pattern."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from pathlib import Path

_MAGIC = "*?["


def is_pattern(path: str) -> bool:
    """True for a glob pattern that is not the name of a file."""
    return any(sign in path for sign in _MAGIC) and not os.path.lexists(path)


def matches(pattern: str) -> list[str]:
    """Names that match a pattern, in order; ``**`` matches folders at any depth.

    Hidden names need their dot, and links to folders are not followed.
    """
    named, _, _ = re.split(r"[*?\[]", pattern, maxsplit=1)[0].rpartition("/")
    fixed = len(Path(named).parts)
    return [found for found in sorted(glob.glob(pattern, recursive=True)) if not _is_behind_link(Path(found), fixed)]


def _is_behind_link(path: Path, fixed: int) -> bool:
    """True if a folder of a path is a link; the first folders, which the pattern names, may be links."""
    return any(Path(*path.parts[:n]).is_symlink() for n in range(fixed + 1, len(path.parts)))


def files_in(folder: Path) -> Iterator[Path]:
    """Regular files in a folder and below, in order of their names.

    Hidden folders and files are left out, and links are not followed. A folder that cannot be listed has no files.
    """
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in inside:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from files_in(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)
