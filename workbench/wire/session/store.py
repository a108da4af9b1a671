"""Opens, saves and verifies session files of either form."""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from workbench.errors import SessionFormatError
from workbench.ir import NOTHING
from workbench.lazy_dataclass import dataclass, replace
from workbench.wire import digests
from workbench.wire.exchange import Exchange, State
from workbench.wire.redaction import Redactor
from workbench.wire.session import Session, exchanges_of, opening, sqlite, text, writer
from workbench.wire.session.identity import session_id
from workbench.wire.session.recognition import MAGIC


@dataclass(frozen=True, slots=True)
class SaveResult:
    """Result of ``save``. ``redactions`` counts the stand-ins in the file; ``damage`` lists incomplete parts."""

    exchanges: int
    bytes: int
    redactions: int
    damage: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FsckReport:
    """Result of ``fsck``. ``problems`` has one line each; ``writers``: number of running writers."""

    format: str
    version: int
    exchanges: int
    bytes: int
    problems: tuple[str, ...]
    writers: int = 0

    @property
    def is_live(self) -> bool:
        """True if the file has a running writer."""
        return self.writers > 0


TEXT, RECORDING = "text", "recording"
"""Forms of session files."""


def form_of(session: Session) -> str:
    """File format of the session ("sqlite" or "text"); empty if not opened from a session file."""
    if isinstance(session, sqlite.SqliteSession):
        return RECORDING
    return TEXT if getattr(session, "format", "") == TEXT else ""


def is_session(head: bytes) -> bool:
    """True if a file starts like a session file."""
    return head.startswith(MAGIC) or text.is_text_session(head)


def open_session(path: Path) -> Session:
    """Open a session file of either form, read-only.

    Raises:
        SessionFormatError: not a session, or of a newer version.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(4096)
    if head.startswith(MAGIC):
        return sqlite.SqliteSession(path)
    if text.is_text_session(head):
        return text.read(path.read_bytes(), path.name)
    raise SessionFormatError("not a session file", where=str(path), hint="workbench import FILE -o OUT creates one")


def save(
    exchanges: Iterable[Exchange],
    path: Path,
    redactor: Redactor | None = None,
    about: Mapping[str, str] = NOTHING,
    form: str = "",
    id: str = "",
) -> SaveResult:
    """Write a redacted session file; the text form for names ending in .jsonl.

    Args:
        form: ``TEXT`` or ``RECORDING``, independent of the file name.
        id: of the session that this is a copy of; empty string for a new one.

    The file appears complete or not at all: it is written next to its destination and moved there.

    Raises:
        OSError: it cannot be written; names the requested file.
    """
    count = _Counter(redactor or Redactor())
    is_text = form == TEXT if form else path.suffix == ".jsonl"
    if path.exists() and not (path.is_file() or path.is_dir()):  # it would be moved over a device
        raise OSError(errno.EINVAL, "not a file; choose a file name", str(path))
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error
    os.close(handle)
    try:
        form_written = text if is_text else writer
        exchange_count = form_written.write(map(count.prepare, exchanges), Path(name), about, id or uuid.uuid4().hex)
        os.chmod(name, 0o600 if not path.exists() else path.stat().st_mode & 0o777)
        os.replace(name, path)
    except BaseException as error:
        for leftover in (name, f"{name}-wal", f"{name}-shm"):
            Path(leftover).unlink(missing_ok=True)
        if isinstance(error, sqlite3.Error):
            raise OSError(errno.EIO, f"cannot be written ({error})", str(path)) from error
        raise
    return SaveResult(exchange_count, path.stat().st_size, count.redactions, tuple(count.damage))


def copied_id(session: Session) -> str:
    """Id for a copy of a session; empty string for a new one, if a derived id would be a digest of secrets.

    Raises:
        SessionFormatError: the first exchange cannot be read.
    """
    if session.id or not len(session):
        return session.id
    first = session.exchange(0)
    return session_id(session) if _id_source(Redactor().exchange(first)) == _id_source(first) else ""


def _id_source(exchange: Exchange) -> list[tuple[str, bytes]]:
    """Parts of an exchange that an id is derived from and that could contain a secret."""
    request, response = exchange.request, exchange.response
    asked = [(request.url, request.body.raw)] if request else []
    return asked + ([("", response.body.raw)] if response else [])


class _Counter:
    """Prepares exchanges for a file one by one: redacted, with unique ids."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self.redactions = 0
        self.damage: list[str] = []
        self.ids: set[str] = set()

    def prepare(self, exchange: Exchange) -> Exchange:
        safe = self.redactor.exchange(exchange)
        self.redactions += sum(len(side.redactions) for side in (safe.request, safe.response) if side)
        self.damage += (f"exchange {len(self.ids) + 1}: {line}" for line in exchange.damage)
        state = State.INCOMPLETE if safe.state is State.OPEN else safe.state  # a copy does not go on
        return replace(safe, id=self._unique(safe.id), state=state, damage=())

    def _unique(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self.ids:
            number += 1
            name = f"{wanted}~{number}"
        self.ids.add(name)
        return name


def fsck(path: Path) -> FsckReport:
    """Verify a session file: every piece, body and exchange. Raises as ``open_session``."""
    session = open_session(path)
    try:
        recorded = isinstance(session, sqlite.SqliteSession)
        problems = tuple(session.problems()) if isinstance(session, sqlite.SqliteSession) else session.damage
        problems += tuple(_not_what_passed(session))
        writers = len(session.writers) if isinstance(session, sqlite.SqliteSession) else 0
        form = ("sqlite", opening.VERSION) if recorded else ("text", text.VERSION)
        return FsckReport(*form, len(session), path.stat().st_size, tuple(_distinct(problems)), writers)
    finally:
        session.close()


def _not_what_passed(session: Session) -> Iterator[str]:
    for index, exchange in enumerate(exchanges_of(session)):
        yield from (f"exchange {index + 1}: {line}" for line in digests.problems(exchange))


def _distinct(lines: Iterable[str]) -> Iterator[str]:
    return iter(dict.fromkeys(lines))
