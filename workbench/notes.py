"""Marks and notes that people put on exchanges and on places in them.

They are kept beside the program's other state, never in a recorded file. A session is known by what its first exchange
is, not by its file's name: a renamed or moved file keeps its notes. What another instance wrote meanwhile is taken in
before every write, place by place, the newer one first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from workbench import resources
from workbench.errors import SessionFormatError, WireError
from workbench.ir import JsonValue
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import Session

VERSION = 1
MAX_NOTE = 4000
"""Characters of one note."""


class Place(NamedTuple):
    """What is marked: an exchange by its id, or a pointer of one of its sides (``side`` "" for the exchange)."""

    exchange: str
    side: str = ""
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody left at a place.

    Attributes:
        changed: seconds since the epoch; of two for one place the newer counts. One that is neither marked nor says
            anything was removed: it is kept, so that another instance learns of it.
    """

    place: Place
    is_marked: bool = False
    text: str = ""
    changed: float = 0.0

    @property
    def is_there(self) -> bool:
        """It marks or says something."""
        return self.is_marked or bool(self.text)


Notes = Mapping[Place, Note]


def identity(session: Session) -> str:
    """What a session is known by; "" for one without exchanges. Reads a body where its exchanges have no times.

    Raises:
        SessionFormatError: the first exchange cannot be read.
    """
    if not len(session):
        return ""
    first = session.summaries()[0]
    told = [first.id, first.method, first.url, first.hop, repr(first.started_at)]
    digest = sha256("\0".join(told).encode("utf-8", "surrogatepass"))
    if first.started_at is None:
        request = session.exchange(0).request
        digest.update(request.body.raw if request else b"")
    return digest.hexdigest()[:32]


class Notebook:
    """The notes of one session, in memory and in their file.

    Args:
        path: of the file; it need not exist.
        notes: what is known so far.
        trouble: why the file could not be read, and what became of it; "" where all is well.
    """

    def __init__(self, path: Path, session_name: str) -> None:
        self.path = path
        self.session_name = session_name
        self.notes: Notes = {}
        self.trouble = ""
        self._may_write = True
        self._sorted_for: Notes | None = None
        self._sorted: dict[str, list[Note]] = {}
        try:
            self.notes = self._read()
        except OSError as error:
            self.trouble = f"notes cannot be read: {error.strerror}: {path}"
            self._may_write = False

    def at(self, place: Place) -> Note:
        """The note of a place; an empty one where there is none."""
        return self.notes.get(place) or Note(place)

    def of(self, exchange: str) -> list[Note]:
        """What there is on an exchange and on places in it."""
        if self._sorted_for is not self.notes:
            self._sorted_for, self._sorted = self.notes, {}
            for note in self.notes.values():
                if note.is_there:
                    self._sorted.setdefault(note.place.exchange, []).append(note)
        return self._sorted.get(exchange, [])

    def put(self, note: Note) -> None:
        """Keep a note, with what others wrote meanwhile.

        Raises:
            OSError: it cannot be written; in memory it is kept.
        """
        self.notes = {**self.notes, note.place: replace(note, text=note.text[:MAX_NOTE])}
        if not self._may_write:
            raise OSError(f"the notes are not written: {self.trouble}")
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _locked(self.path.with_suffix(".lock")):
            self.notes = _merged(self.notes, self._read())
            _write(self.path, self._document())

    def _document(self) -> bytes:
        return dumps(
            {
                "version": VERSION,
                "session": self.session_name,
                "notes": [asdict(note) | {"place": list(note.place)} for note in self.notes.values()],
            }
        )

    def _read(self) -> Notes:
        """What the file holds. A broken file is put aside; a newer one is left alone, and nothing is written."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        try:
            return _notes(loads(data))
        except SessionFormatError as error:
            self._may_write = False
            self.trouble = str(error)
        except (WireError, KeyError, TypeError, ValueError, AttributeError):
            aside = _free_name(self.path)
            self.path.rename(aside)
            self.trouble = f"the notes of this session could not be read: kept as {aside}, new ones are begun"
        return {}


def open_notebook(known_by: str, session_name: str) -> Notebook:
    """The notes of a session.

    Args:
        known_by: its ``identity``.
        session_name: written into the file for whoever looks at it.
    """
    return Notebook(resources.state_folder("notes") / f"{known_by}.json", session_name)


def _notes(document: JsonValue) -> Notes:
    if document["version"] != VERSION:
        raise SessionFormatError("the notes of this session are of a newer version; they are left alone")
    found = {}
    for entry in document["notes"]:
        exchange, side, pointer = map(_text, entry["place"])
        place = Place(exchange, side, pointer)
        text = _text(entry["text"])[:MAX_NOTE]
        found[place] = Note(place, entry["is_marked"] is True, text, float(entry["changed"]))
    return found


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _merged(own: Notes, theirs: Notes) -> Notes:
    return {
        place: max((n for n in (own.get(place), theirs.get(place)) if n), key=lambda n: n.changed)
        for place in {**theirs, **own}
    }


def _write(path: Path, data: bytes) -> None:
    """All of it or nothing."""
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
def _locked(path: Path) -> Iterator[None]:
    import fcntl

    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
