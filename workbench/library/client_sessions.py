"""Sessions in the folders of known clients: name, age and size. The files are never changed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from workbench import regex
from workbench.errors import WireError
from workbench.library.client_folders import KNOWN, ClientFolder

MOST_FILES = 5000
"""Files read per folder: enough for the newest few dozen, without reading a whole history."""

MOST_LISTED = 36
"""Sessions listed one by one."""

HEAD = 32 * 1024
"""Bytes read of a file to find the project it belongs to."""

_INNER = "chats"
"""Folder of the sessions inside a project's folder."""

_CWD = regex.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*+")')


class ClientSession(NamedTuple):
    """A session of a client.

    Attributes:
        project: name of the client's working directory.
        modified: seconds since the epoch.
    """

    path: Path
    client: str
    project: str
    modified: float
    size: int


class ClientSessions(NamedTuple):
    """The sessions found. ``notes`` say, one line each, what is not listed and why."""

    sessions: tuple[ClientSession, ...]
    notes: tuple[str, ...]


class _FileInfo(NamedTuple):
    path: Path
    modified: float
    size: int


def find(places: Iterable[ClientFolder] = KNOWN, most: int = MOST_LISTED) -> ClientSessions:
    """The newest sessions of all folders, newest first. Never raises: an unreadable folder becomes a note."""
    listed: list[tuple[_FileInfo, ClientFolder]] = []
    notes: list[str] = []
    seen: set[Path] = set()
    for place in places:
        files = [f for f in islice(_files(place.root(), place.pattern, notes), MOST_FILES) if f.path not in seen]
        seen.update(file.path for file in files)
        if place.why_unlisted and files:
            notes.append(
                f"{_count(len(files), f'{place.client} {place.noun}')} {place.why_unlisted} ({_home(place.root())})"
            )
        elif not place.why_unlisted:
            listed += ((file, place) for file in files)
    listed.sort(key=lambda entry: entry[0].modified, reverse=True)
    if len(listed) > most:
        notes.insert(0, f"{_count(len(listed) - most, 'older session')} not listed: open one by its path")
    sessions = (ClientSession(f.path, p.client, _project(f.path), f.modified, f.size) for f, p in listed[:most])
    return ClientSessions(tuple(sessions), tuple(dict.fromkeys(notes)))


def _files(folder: Path, pattern: tuple[str, ...], notes: list[str]) -> Iterator[_FileInfo]:
    """Regular files below a folder that match the pattern; each part of it is one level of folders."""
    try:
        with os.scandir(folder) as entries:
            fitting = [entry for entry in islice(entries, MOST_FILES) if fnmatchcase(entry.name, pattern[0])]
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        notes.append(f"{_home(folder)} cannot be read: {error.strerror}")
        return
    for entry in fitting:
        if len(pattern) > 1:
            yield from _files(folder / entry.name, pattern[1:], notes)
        elif file := _file(entry):
            yield file


def _file(entry: os.DirEntry[str]) -> _FileInfo | None:
    try:
        known = entry.stat()
    except OSError:  # gone, or a link to nowhere
        return None
    return _FileInfo(Path(entry.path), known.st_mtime, known.st_size) if stat.S_ISREG(known.st_mode) else None


def _project(path: Path) -> str:
    """Name of the working directory noted in the file, else of the nearest folder that is not hidden."""
    from workbench.wire import loads

    try:
        with path.open("rb") as file:
            found = _CWD.search(file.read(HEAD))
        cwd = loads(found[1]) if found else ""
    except (OSError, WireError):
        cwd = ""
    if isinstance(cwd, str) and re.split(r"[/\\]", cwd.rstrip("/\\"))[-1]:
        return re.split(r"[/\\]", cwd.rstrip("/\\"))[-1]
    parts = reversed(path.parent.parts)
    return next((part for part in parts if not part.startswith(".") and part != _INNER), path.stem)


def _count(number: int, noun: str) -> str:
    many = f"{number:,}+" if number >= MOST_FILES else f"{number:,}"
    return f"{many} {noun}{'' if number == 1 else 's'}"


def _home(path: Path) -> str:
    """A path with ``~`` for the home folder."""
    try:
        return f"~/{path.relative_to(Path.home())}"
    except ValueError:
        return str(path)
