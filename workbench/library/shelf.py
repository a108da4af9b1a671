"""What Home shows, in sections: live, recent, examples, found."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from workbench.config import resources
from workbench.library import memory

LIVE, RECENT, EXAMPLES, FOUND = "Being recorded now", "Recent", "Examples", "In the folders of known clients"

MOST_RECORDINGS = 12
"""Recordings listed that were not opened lately."""


class Item(NamedTuple):
    """A session that can be opened.

    Attributes:
        section: the section it stands in.
        name: what people know it by.
        client: whose file it is, "" where only its requests say so.
        modified: seconds since the epoch, None where it is not known or of no interest.
    """

    path: Path
    section: str
    name: str
    client: str = ""
    modified: float | None = None


class Section(NamedTuple):
    """Sessions of one kind. ``notes`` say, one line each, what is not listed and why."""

    title: str
    items: tuple[Item, ...]
    notes: tuple[str, ...] = ()


def at_once() -> list[Section]:
    """What is known without looking at any session's file: before the first paint."""
    return [*_unless_empty(Section(RECENT, tuple(_recent(path) for path in memory.recent()))), examples()]


def look() -> list[Section]:
    """Everything. Reads folders and the heads of files, and may take a while."""
    known = memory.recent()
    recordings = _recordings()
    more = [path for path in recordings if path not in known]
    live = [path for path in (*recordings, *known) if path.suffix == ".wb" and path.is_file() and _is_live(path)]
    idle = [path for path in (*known, *more[:MOST_RECORDINGS]) if path not in live]
    return [
        *_unless_empty(Section(LIVE, tuple(_dated(Item(path, LIVE, path.name)) for path in dict.fromkeys(live)))),
        *_unless_empty(Section(RECENT, tuple(_dated(_recent(path)) for path in idle))),
        examples(),
        found(),
    ]


def examples() -> Section:
    """The sessions that ship with the program."""
    folder = resources.folder("sessions")
    items = tuple(Item(path, EXAMPLES, path.stem) for path in sorted(folder.glob("*.jsonl")))
    return Section(EXAMPLES, items, () if items else (f"there are no example sessions in {folder}",))


def found() -> Section:
    """Sessions in the folders of clients, unless they are switched off."""
    if not memory.shows_clients():
        return Section(FOUND, (), (SWITCHED_OFF,))
    from workbench.library.found import find

    finds = find()
    items = (Item(f.path, FOUND, f.project, f.client, f.modified) for f in finds.sessions)
    return Section(FOUND, tuple(items), finds.notes or (() if finds.sessions else (NOTHING_FOUND,)))


SWITCHED_OFF = "switched off: nobody looks there"
NOTHING_FOUND = "nothing found in the folders of Claude Code, claude-trace, Codex, Gemini, Qwen, OpenCode and pi"


def _recent(path: Path) -> Item:
    return Item(path, RECENT, path.name)


def _unless_empty(section: Section) -> list[Section]:
    return [section] if section.items else []


def _dated(item: Item) -> Item:
    try:
        return item._replace(modified=item.path.stat().st_mtime)
    except (OSError, ValueError):
        return item


def _recordings() -> list[Path]:
    """Recordings in the place they are made by default, the newest first."""
    folder = resources.state_folder("recordings")
    return sorted(folder.glob("*.wb"), key=lambda path: path.name, reverse=True)


def _is_live(path: Path) -> bool:
    """A living process is writing it."""
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
