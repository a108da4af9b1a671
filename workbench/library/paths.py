"""Paths as people type them: expansion and completion."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import NamedTuple

MOST = 2000
"""Names read from one folder."""


class PathEntry(NamedTuple):
    """A file or folder that completes a typed path."""

    name: str
    is_folder: bool


class Completion(NamedTuple):
    """Completions of a typed path.

    Attributes:
        folder: the typed text up to the last slash.
        entries: names in that folder that begin as typed, folders first.
        why_not: why there are no entries; empty if there are some.
    """

    folder: str
    entries: tuple[PathEntry, ...]
    why_not: str = ""

    def common(self) -> str:
        """The typed path extended by what all entries share; a single folder ends in a slash."""
        names = [entry.name + "/" * (entry.is_folder and len(self.entries) == 1) for entry in self.entries]
        return self.folder + os.path.commonprefix(names)  # noqa: RUF071 (of names, letter by letter)


def expand(typed: str) -> Path:
    """The path that was typed: ``~`` is the home folder; quotes and space around a pasted path are removed."""
    if not os.path.lexists(typed):
        typed = typed.strip()
        if len(typed) > 1 and typed[0] == typed[-1] and typed[0] in "'\"":
            typed = typed[1:-1]
    try:
        return Path(typed).expanduser()
    except RuntimeError:  # no such user
        return Path(typed)


def complete(typed: str) -> Completion:
    """Completions of a typed path. Hidden names are left out unless a dot was typed."""
    head, slash, prefix = typed.lstrip().rpartition("/")
    folder = head + slash
    try:
        with os.scandir(expand(folder) if folder else ".") as found:
            entries = [PathEntry(e.name, _is_folder(e)) for e in islice(found, MOST) if _is_offered(e.name, prefix)]
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or "not a valid folder name"
        return Completion(folder, (), f"{folder or '.'}: {reason}")
    entries.sort(key=lambda entry: (not entry.is_folder, entry.name))
    return Completion(folder, tuple(entries), "" if entries else _nothing(prefix, folder))


def why_not(path: Path) -> str:
    """Reason why a path cannot be opened as a file; empty if it can."""
    try:
        if path.is_dir():
            return "this is a folder: choose a file in it"
        if not path.exists():
            return "no such file"
    except (OSError, ValueError):
        return "not a valid file name"
    return "" if os.access(path, os.R_OK) else "permission denied"


def _is_offered(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and (not name.startswith(".") or prefix.startswith("."))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _nothing(prefix: str, folder: str) -> str:
    where = folder or "this folder"
    return f"no entry in {where} begins with {prefix}" if prefix else f"{where} is empty"
