"""Marks and notes that people put on exchanges and on places in them.

They are stored with the program's other state, never in a recorded file. A session is identified by its id, not by its
file's name: a renamed or moved file keeps its notes, and copies share them. Before every write the notes that another
instance wrote meanwhile are merged in, place by place; the newer one wins.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from workbench.config import resources
from workbench.errors import SessionFormatError, WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.wire import dumps, loads
from workbench.wire.session import Session, file_name, former_ids, session_id

VERSION = 1
MAX_NOTE = 4000
"""Characters of one note."""


class NotePlace(NamedTuple):
    """Place of a note: an exchange by its id, or a pointer in one of its sides (``side`` is empty for the exchange)."""

    exchange: str
    side: str = ""
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class UserNote:
    """A mark or note of the user at a place.

    Attributes:
        changed: seconds since the epoch; of two for one place the newer wins. A note without mark and text is a
            removed one: it is kept so that another instance learns of the removal.
    """

    place: NotePlace
    is_marked: bool = False
    text: str = ""
    changed: float = 0.0

    @property
    def has_content(self) -> bool:
        """True if the note has a mark or a text."""
        return self.is_marked or bool(self.text)


Notes = Mapping[NotePlace, UserNote]


class Notebook:
    """The notes of one session, in memory and in their file.

    Args:
        path: of the file; it need not exist.
        session_name: written into the file for readers; empty to use the one in the file.
        notes: known so far.
        trouble: reason why the file could not be read, and what was done with it; empty if it was read.
    """

    def __init__(self, path: Path, session_name: str) -> None:
        self.path = path
        self.session_name = session_name
        self.notes: Notes = {}
        self.trouble = ""
        self._may_write = True
        self._sorted_for: Notes | None = None
        self._sorted: dict[str, list[UserNote]] = {}
        try:
            self.notes = self._read()
        except OSError as error:
            self.trouble = f"notes cannot be read: {error.strerror}: {path}"
            self._may_write = False

    def at(self, place: NotePlace) -> UserNote:
        """The note of a place; an empty one if there is none."""
        return self.notes.get(place) or UserNote(place)

    def of(self, exchange: str) -> list[UserNote]:
        """Notes on an exchange and on places in it."""
        if self._sorted_for is not self.notes:
            self._sorted_for, self._sorted = self.notes, {}
            for note in self.notes.values():
                if note.has_content:
                    self._sorted.setdefault(note.place.exchange, []).append(note)
        return self._sorted.get(exchange, [])

    def put(self, note: UserNote) -> None:
        """Save a note, merged with what other instances wrote.

        Raises:
            OSError: it cannot be written; it is kept in memory.
        """
        self.add([replace(note, text=note.text[:MAX_NOTE])])

    def add(self, notes: Iterable[UserNote]) -> None:
        """Save several notes. Raises as ``put``."""
        self.notes = _merge({note.place: note for note in notes}, self.notes)
        if not self._may_write:
            raise OSError(f"notes are not saved: {self.trouble}")
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _file_lock(self.path.with_suffix(".lock")):
            self.notes = _merge(self.notes, self._read())
            _write(self.path, self._document())

    def remove(self, notes: Iterable[UserNote]) -> None:
        """Remove notes that are stored elsewhere now; an empty notebook has no file. Raises OSError."""
        places = {note.place for note in notes}
        with _file_lock(self.path.with_suffix(".lock")):
            self.notes = {place: note for place, note in self._read().items() if place not in places}
            if self.notes:
                _write(self.path, self._document())
            else:
                self.path.unlink(missing_ok=True)

    def _document(self) -> bytes:
        return dumps(
            {
                "version": VERSION,
                "session": self.session_name,
                "notes": [asdict(note) | {"place": list(note.place)} for note in self.notes.values()],
            }
        )

    def _read(self) -> Notes:
        """Read the file. A broken file is renamed; a newer one is left alone, and nothing is written."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        try:
            document = loads(data)
            notes = _notes(document)
            self.session_name = self.session_name or _text(document["session"])
            return notes
        except SessionFormatError as error:
            self._may_write = False
            self.trouble = str(error)
        except (WireError, KeyError, TypeError, ValueError, AttributeError):
            aside = _free_name(self.path)
            self.path.rename(aside)
            self.trouble = (
                f"the notes of this session could not be read: the file was renamed to {aside}, and the new notes "
                "start empty"
            )
        return {}


def open_notebook(session: Session) -> Notebook:
    """The notes of a session, including those stored under its former ids."""
    folder = resources.state_folder("notes")
    try:
        known_by, former = session_id(session), former_ids(session)
    except SessionFormatError:
        known_by, former = "", ()
    book = Notebook(folder / f"{file_name(known_by) if known_by else 'unreadable'}.json", session.name)
    exchanges = {summary.id for summary in session.summaries()}
    for old in former if known_by else ():
        path = folder / f"{file_name(old.id)}.json"
        if path.exists():
            _take_over(path, book, exchanges, is_certain=old.is_certain)
    return book


def _take_over(path: Path, book: Notebook, exchanges: Collection[str], *, is_certain: bool) -> None:
    """Move notes stored under a former id of a session into its notebook.

    Several sessions may have had that id. If it is uncertain, the file's name decides whose notes they are; notes of
    another name, and on exchanges that the session does not contain, stay where they are.
    """
    old = Notebook(path, "")
    if old.trouble or not (is_certain or old.session_name == book.session_name):
        beside = f"notes from an earlier version are hidden: they belong to {old.session_name!r} ({path})"
        book.trouble = book.trouble or old.trouble or beside
        return
    own = [note for note in old.notes.values() if note.place.exchange in exchanges]
    with suppress(OSError):
        book.add(own)
        old.remove(own)


def _notes(document: JsonValue) -> Notes:
    if document["version"] != VERSION:
        raise SessionFormatError(
            "the notes of this session were written by a newer version of Workbench; the notes are not changed"
        )
    found = {}
    for entry in document["notes"]:
        exchange, side, pointer = map(_text, entry["place"])
        place = NotePlace(exchange, side, pointer)
        text = _text(entry["text"])[:MAX_NOTE]
        found[place] = UserNote(place, entry["is_marked"] is True, text, float(entry["changed"]))
    return found


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _merge(own: Notes, theirs: Notes) -> Notes:
    return {
        place: max((n for n in (own.get(place), theirs.get(place)) if n), key=lambda n: n.changed)
        for place in {**theirs, **own}
    }


def _write(path: Path, data: bytes) -> None:
    """Write the file atomically."""
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        draft.write_bytes(data)
        draft.chmod(0o600)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _free_name(path: Path) -> Path:
    numbers = (path.with_suffix(f".broken-{n}.json") for n in range(1, 10_000))
    return next(name for name in numbers if not name.exists())


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    import fcntl

    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
