"""Sections of Home: live, recent, examples, sessions of clients."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from workbench.config import resources
from workbench.library import home_state

LIVE, RECENT, EXAMPLES, FOUND = "Recording now", "Recent", "Examples", "Sessions of installed clients (read-only)"

MOST_RECORDINGS = 12
"""Recordings listed that were not opened recently."""


class SessionItem(NamedTuple):
    """A session that can be opened.

    Attributes:
        section: title of its section.
        name: display name.
        client: the client that wrote the file; empty if only its requests tell.
        modified: seconds since the epoch; None if unknown or not shown.
    """

    path: Path
    section: str
    name: str
    client: str = ""
    modified: float | None = None


class Section(NamedTuple):
    """Sessions of one kind. ``notes`` say, one line each, what is not listed and why."""

    title: str
    items: tuple[SessionItem, ...]
    notes: tuple[str, ...] = ()


def first_sections() -> list[Section]:
    """Sections that need no session file to be read: shown at the first paint."""
    return [*_unless_empty(Section(RECENT, tuple(_recent(path) for path in home_state.recent()))), examples()]


def all_sections() -> list[Section]:
    """All sections. Reads folders and the heads of files, and may take seconds."""
    known = home_state.recent()
    recordings = _recordings()
    more = [path for path in recordings if path not in known]
    live = [path for path in (*recordings, *known) if path.suffix == ".wb" and path.is_file() and _is_live(path)]
    idle = [path for path in (*known, *more[:MOST_RECORDINGS]) if path not in live]
    return [
        *_unless_empty(
            Section(LIVE, tuple(_with_time(SessionItem(path, LIVE, path.name)) for path in dict.fromkeys(live)))
        ),
        *_unless_empty(Section(RECENT, tuple(_with_time(_recent(path)) for path in idle))),
        examples(),
        client_sessions(),
    ]


def examples() -> Section:
    """The sessions that ship with the program, in the order of ``order.txt``: the sound ones last."""
    folder = resources.folder("sessions")
    listed = folder / "order.txt"
    names = listed.read_text(encoding="utf-8").split() if listed.is_file() else []
    order = {name: n for n, name in enumerate(names)}
    paths = sorted(folder.glob("*.jsonl"), key=lambda path: (order.get(path.stem, len(order)), path.stem))
    items = tuple(SessionItem(path, EXAMPLES, path.stem) for path in paths)
    return Section(EXAMPLES, items, () if items else (f"no example sessions in {folder}",))


def client_sessions() -> Section:
    """Sessions in the folders of clients, unless they are hidden."""
    if not home_state.shows_clients():
        return Section(FOUND, (), (SWITCHED_OFF,))
    from workbench.library.client_sessions import find

    finds = find()
    items = (SessionItem(f.path, FOUND, f.project, f.client, f.modified) for f in finds.sessions)
    return Section(FOUND, tuple(items), finds.notes or (() if finds.sessions else (NOTHING_FOUND,)))


SWITCHED_OFF = "hidden: these folders are not read"
NOTHING_FOUND = "no sessions of Claude Code, claude-trace, Codex, Gemini, Qwen, OpenCode or pi found"


def _recent(path: Path) -> SessionItem:
    return SessionItem(path, RECENT, path.name)


def _unless_empty(section: Section) -> list[Section]:
    return [section] if section.items else []


def _with_time(item: SessionItem) -> SessionItem:
    try:
        return item._replace(modified=item.path.stat().st_mtime)
    except (OSError, ValueError):
        return item


def _recordings() -> list[Path]:
    """Recordings in the default folder, newest first."""
    folder = resources.state_folder("recordings")
    return sorted(folder.glob("*.wb"), key=lambda path: path.name, reverse=True)


def _is_live(path: Path) -> bool:
    """True while a running process writes the file."""
    from workbench.errors import WorkbenchError
    from workbench.wire.session import store

    try:
        session = store.open_session(path)
    except (WorkbenchError, OSError):
        return False
    try:
        return session.is_live
    finally:
        session.close()
