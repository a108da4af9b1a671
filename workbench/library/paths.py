"""Paths as people type them: what they mean, and how they may go on."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import NamedTuple

MOST = 2000
"""Names looked at in one folder."""


class Entry(NamedTuple):
    """A file or folder that a typed path may go on to."""

    name: str
    is_folder: bool


class Completion(NamedTuple):
    """How a typed path may go on.

    Attributes:
        folder: what was typed up to the last slash, as it was typed.
        entries: names in it that begin as typed, folders first.
        why_not: why there are none, "" where there are some.
    """

    folder: str
    entries: tuple[Entry, ...]
    why_not: str = ""

    def common(self) -> str:
        """The typed path with as much more as all entries share; a folder that is the only one ends in a slash."""
        names = [entry.name + "/" * (entry.is_folder and len(self.entries) == 1) for entry in self.entries]
        return self.folder + os.path.commonprefix(names)  # noqa: RUF071 (of names, letter by letter)


def meant(typed: str) -> Path:
    """The path: ``~`` is the home folder, quotes and space around a pasted path are no part of it."""
    if not os.path.lexists(typed):
        typed = typed.strip()
        if len(typed) > 1 and typed[0] == typed[-1] and typed[0] in "'\"":
            typed = typed[1:-1]
    try:
        return Path(typed).expanduser()
    except RuntimeError:  # no such user
        return Path(typed)


def complete(typed: str) -> Completion:
    """How a path may go on. Hidden names are left out unless one is begun."""
    head, slash, begun = typed.lstrip().rpartition("/")
    folder = head + slash
    try:
        with os.scandir(meant(folder) if folder else ".") as found:
            entries = [Entry(e.name, _is_folder(e)) for e in islice(found, MOST) if _fits(e.name, begun)]
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or "this is no folder name"
        return Completion(folder, (), f"{folder or '.'}: {reason}")
    entries.sort(key=lambda entry: (not entry.is_folder, entry.name))
    return Completion(folder, tuple(entries), "" if entries else _nothing(begun, folder))


def why_not(path: Path) -> str:
    """Why a path cannot be opened as a file, in words; "" where it can."""
    try:
        if path.is_dir():
            return "this is a folder: choose a file in it"
        if not path.exists():
            return "there is no such file"
    except (OSError, ValueError):
        return "this is no file name"
    return "" if os.access(path, os.R_OK) else "it may not be read: permission denied"


def _fits(name: str, begun: str) -> bool:
    return name.startswith(begun) and (not name.startswith(".") or begun.startswith("."))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _nothing(begun: str, folder: str) -> str:
    where = folder or "this folder"
    return f"nothing in {where} begins with {begun}" if begun else f"{where} is empty"
