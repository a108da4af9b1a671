"""Working sessions on disk: a recording for each source session, written a node at a time.

A node is an exchange: its title stands in ``meta``, names and where people stand in what the file says of itself. The
root of a tree is written with its first edit, with a digest of its request, so that the file can be read by itself and
the tree is found again in the source. Secrets are replaced before they are written; where that touched a body, the
change that made it is kept as well, so that the bytes come back exactly as long as the source holds them.

One instance writes a file. Another one that is at work on the same source writes a file beside it; both are read.
"""

from __future__ import annotations

import os
import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from workbench.edits import Splice, between, spliced, text_of
from workbench.edits.branches.held import Held
from workbench.errors import SessionFormatError, WorkbenchError
from workbench.ir import JsonValue
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.json_strings import decode, encode
from workbench.wire.redaction import Redactor
from workbench.wire.session.sqlite import SqliteSession
from workbench.wire.session.writer import SessionWriter

META = "work"
"""Key of ``Exchange.meta`` for what belongs to the tree: title, digest, change."""

NAME, HERE = "name ", "here "
"""Beginnings of the words that say the name of a node, and where somebody stands in a tree; its id follows."""

MOST_BESIDE = 100
"""Instances at once."""


_NEVER: Final[tuple[type[Exception], ...]] = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    ArithmeticError,
    TypeError,
    ValueError,
    WorkbenchError,
)
"""What is wrong with a node itself; a disk that is full or a file in use is for now."""


class Kept:
    """The files of one source session.

    Args:
        path: of the first; it need not exist. None to keep nothing.

    Attributes:
        damage: what could not be read, and what can never be written, one line each.
        trouble: why nothing is written now, "" where all is well. What was not written is written with what comes next
            where that can be written again.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.trouble = ""
        self.damage: list[str] = []
        self.said: dict[str, str] = {}
        self._writer: SessionWriter | None = None
        self._redactor = Redactor()
        self._owed: list[Callable[[SessionWriter], object]] = []
        self._torn: set[Path] = set()

    def read(self) -> Iterator[Exchange]:
        """Every node of every file, in order; what cannot be read is told in ``damage``."""
        for path in beside(self.path) if self.path else ():
            if not path.exists() or not path.stat().st_size:
                continue
            try:
                session = SqliteSession(path)
            except (SessionFormatError, OSError, sqlite3.Error) as error:
                self.damage.append(f"earlier edits cannot be read: {error}")
                continue
            try:
                self.said |= session.about
                self.damage += (f"{path}: {line}" for line in session.damage)
                self._torn |= {path} if session.damage else set()
                yield from map(session.exchange, range(len(session)))
            finally:
                session.close()

    def write(
        self, names: tuple[str, str | None], held: Held, about: Mapping[str, JsonValue], base: Held | None
    ) -> None:
        """Keep a node.

        Args:
            names: ids of it and of what it was made of.
            about: what belongs to the tree.
            base: what its request was made of; None for a root.
        """

        def write(writer: SessionWriter) -> None:
            with suppress(*(() if base else (sqlite3.IntegrityError,))):  # another instance wrote this root meanwhile
                writer.append(self._told(names, held, about, base))

        self._do(write)

    def say(self, word: str, value: str) -> None:
        """Keep a name, or where somebody stands."""
        self.said[word] = value = self._safe(value)
        self._do(lambda writer: writer.say({word: value}))

    def close(self) -> None:
        """Leave one single file."""
        if self._writer:
            with suppress(sqlite3.Error):
                self._writer.close()
            self._writer = None

    def _told(
        self, names: tuple[str, str | None], held: Held, about: Mapping[str, JsonValue], base: Held | None
    ) -> Exchange:
        """A node as it is written: without secrets, with what belongs to the tree."""
        exchange = replace(held.exchange, id=names[0], parent=names[1])
        safe, made = self._redactor.exchange(exchange), base.exchange.request if base else None
        told = {word: self._safe(value) if isinstance(value, str) else value for word, value in about.items()}
        if made and exchange.request and safe.request and safe.request.body.raw != exchange.request.body.raw:
            told["change"] = self._change(made, exchange.request)
        return replace(safe, meta={**safe.meta, META: told})

    def _safe(self, text: str) -> str:
        """A line without secrets."""
        return decode(self._redactor.text(encode(text))[0])

    def _change(self, base: HttpRequest, made: HttpRequest) -> JsonValue:
        """How a body was made of another, without the secrets of both."""
        text = text_of(made)
        changes = between(text_of(base), text)
        new = [(s, e, b64encode(self._redactor.text(b)[0]).decode("ascii")) for s, e, b in changes]
        return {"splices": new, "digest": sha256(text).hexdigest()}

    def _do(self, write: Callable[[SessionWriter], object]) -> None:
        """Write it, behind what could not be written before."""
        if self.path is None:
            return
        self._owed.append(write)
        try:
            self._writer = self._writer or _open(self.path, self._torn)
            while self._owed:
                self._try(self._owed[0], self._writer)
                del self._owed[0]
            self.trouble = ""
        except (OSError, sqlite3.Error, WorkbenchError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.trouble = f"edits are kept in memory only: {self.path.parent} cannot be written ({why})"

    def _try(self, write: Callable[[SessionWriter], object], writer: SessionWriter) -> None:
        """Write it; what no file can hold is told and left out, so that it holds back nothing that comes after it."""
        try:
            write(writer)
        except _NEVER as error:
            self.damage.append(f"an edit is kept in memory only: it cannot be written ({error})")


def remade(stored: Exchange, base: HttpRequest | None) -> Exchange:
    """A node as it was before its secrets were replaced, where its change and the request it was made of tell."""
    told = stored.meta.get(META)
    change = told.get("change") if isinstance(told, dict) else None
    if not isinstance(change, dict) or base is None or stored.request is None:
        return stored
    try:
        splices = [Splice(start, end, b64decode(new)) for start, end, new in change["splices"]]
        text = spliced(text_of(base), splices)
        is_same = sha256(text).hexdigest() == change["digest"]
    except (KeyError, TypeError, ValueError, WorkbenchError):
        return stored
    kept = tuple(r for r in stored.request.redactions if r.where != "body")
    request = replace(stored.request, body=Body(text), redactions=kept)
    return replace(stored, request=request) if is_same else stored


def digest(exchange: Exchange) -> str:
    """What a recorded request is known by."""
    asked = exchange.request
    told = f"{asked.method}\0{asked.url}\0{asked.body.encoding}\0" if asked else ""
    return sha256(told.encode("utf-8", "surrogatepass") + (asked.body.raw if asked else b"")).hexdigest()


def beside(path: Path) -> Iterator[Path]:
    """The file, and those of instances that found it in use, as far as there are some."""
    yield path
    for number in range(2, MOST_BESIDE):
        other = path.with_stem(f"{path.stem}-{number}")
        yield other
        if not other.exists():
            return


def _open(path: Path, torn: Collection[Path]) -> SessionWriter:
    """Write the first file that is whole and that nobody else writes.

    Raises:
        OSError, sqlite3.Error, SessionFormatError: there is none that can be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    error: SessionFormatError | None = None
    with locked(path.with_suffix(".lock")):
        for one in (one for one in beside(path) if one not in torn):
            os.close(os.open(one, os.O_CREAT | os.O_RDWR, 0o600))
            try:
                return SessionWriter(one, alone=True)
            except SessionFormatError as refused:  # in use, of a newer version, or not ours
                error = refused
    assert error
    raise error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other instances out of what is done meanwhile. Raises OSError."""
    import fcntl

    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
