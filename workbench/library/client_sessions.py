"""Sessions in the folders of known clients: name, age and size. The files are never changed.

The folders are those of the clients' public documentation.
"""

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

EXPORT = "not listed: export a session with 'opencode export' and open that file"


class ClientFolder(NamedTuple):
    """A folder of one client's sessions, and the files in it.

    Attributes:
        client: display name of the client.
        noun: word for one of the files.
        folder: below the home folder; or below the working directory when it begins with ``./``.
        pattern: file names below the folder, a pattern for each level.
        moved_by: environment variable that names another folder in place of ``folder``'s first ``moved`` parts.
        moved: number of parts of ``folder`` that the variable replaces.
        why_unlisted: why the files are not listed one by one; empty if they are.
    """

    client: str
    noun: str
    folder: str
    pattern: tuple[str, ...]
    moved_by: str = ""
    moved: int = 1
    why_unlisted: str = ""

    def root(self) -> Path:
        """The folder on this machine. It need not exist."""
        if self.folder.startswith("./"):
            return Path.cwd() / self.folder[2:]
        moved_to = os.environ.get(self.moved_by) if self.moved_by else None
        parts = self.folder.split("/")
        return Path(moved_to, *parts[self.moved :]) if moved_to else Path.home().joinpath(*parts)


KNOWN: tuple[ClientFolder, ...] = (  # a file belongs to the first place it fits
    ClientFolder(
        "Claude Code",
        "sub-agent session",
        ".claude/projects",
        ("*", "agent-*.jsonl"),
        "CLAUDE_CONFIG_DIR",
        why_unlisted="not listed: open it by its path",
    ),
    ClientFolder("Claude Code", "session", ".claude/projects", ("*", "*.jsonl"), "CLAUDE_CONFIG_DIR"),
    ClientFolder("claude-trace", "log", "./.claude-trace", ("log-*.jsonl",)),
    ClientFolder("claude-trace", "log", ".claude-trace", ("log-*.jsonl",)),
    ClientFolder("Codex CLI", "rollout", ".codex/sessions", ("*", "*", "*", "rollout-*.jsonl"), "CODEX_HOME"),
    ClientFolder("Codex CLI", "archived rollout", ".codex/archived_sessions", ("*.jsonl",), "CODEX_HOME"),
    ClientFolder(
        "OpenCode",
        "database",
        ".local/share/opencode",
        ("opencode.db",),
        "XDG_DATA_HOME",
        moved=2,
        why_unlisted=EXPORT,
    ),
    ClientFolder(
        "OpenCode",
        "session",
        ".local/share/opencode/storage/session",
        ("*", "ses_*.json"),
        "XDG_DATA_HOME",
        moved=2,
        why_unlisted=EXPORT,
    ),
    ClientFolder("Gemini CLI", "chat", ".gemini/tmp", ("*", "chats", "session-*.json*")),
    ClientFolder("Qwen Code", "chat", ".qwen/projects", ("*", "chats", "*.jsonl")),
    ClientFolder("pi", "session", ".pi/agent/sessions", ("*", "*.jsonl")),
)


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
    file_infos: list[tuple[_FileInfo, ClientFolder]] = []
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
            file_infos += ((file, place) for file in files)
    file_infos.sort(key=lambda entry: entry[0].modified, reverse=True)
    if len(file_infos) > most:
        notes.insert(0, f"{_count(len(file_infos) - most, 'older session')} not listed: open it by its path")
    sessions = (ClientSession(f.path, p.client, _project(f.path), f.modified, f.size) for f, p in file_infos[:most])
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
