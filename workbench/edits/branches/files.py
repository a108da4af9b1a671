"""Working sessions on disk: one recording for each source session, written a node at a time.

A node is an exchange: its title is in ``meta``; names and current positions are labels in the file's ``about``. The
root of a tree is written with its first edit, with a digest of its request, so that the file can be read alone and
the tree is found again in the source. Secrets are replaced before writing; if that changes a body, the edit that made
it is stored too, so that the exact bytes can be restored as long as the source has them.

One instance writes a file. A second one that works on the same source writes a file next to it; both are read.

Migration of trees that were stored under a former id of their session.
"""

from __future__ import annotations

import os
import sqlite3
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Final

from workbench.edits import Splice, apply_splices, diff_splices, text_of
from workbench.edits.branches.branch_session import CompactExchange
from workbench.errors import SessionFormatError, WorkbenchError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.wire import Body, Exchange, HttpRequest, Redactor, decode, encode
from workbench.wire.session import Session, SessionWriter, SqliteSession, exchanges_of

META = "work"
"""Key of ``Exchange.meta`` for the tree's own data: title, digest, change."""

NAME, HERE = "name ", "here "
"""Prefixes of the labels for the name of a node and for the current node of a tree; its id follows."""

MOST_BESIDE = 100
"""Most instances at once."""


_NODE_ERRORS: Final[tuple[type[Exception], ...]] = (
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    ArithmeticError,
    TypeError,
    ValueError,
    WorkbenchError,
)
"""Errors that are the node's own fault; a full disk or a file in use is temporary."""


class BranchFiles:
    """The files of one source session.

    Args:
        path: of the first file; it need not exist. None to store nothing.

    Attributes:
        damage: nodes and files that could not be read, or can never be written, one line each.
        trouble: reason why nothing can be written now; empty if it can. Unwritten nodes are retried with the next one.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.trouble = ""
        self.damage: list[str] = []
        self.labels: dict[str, str] = {}
        self._writer: SessionWriter | None = None
        self._redactor = Redactor()
        self._pending: list[Callable[[SessionWriter], object]] = []
        self._damaged_files: set[Path] = set()

    def read(self) -> Iterator[Exchange]:
        """Every node of every file, in order; unreadable ones are reported in ``damage``."""
        for path in sibling_files(self.path) if self.path else ():
            if not path.exists() or not path.stat().st_size:
                continue
            try:
                session = SqliteSession(path)
            except (SessionFormatError, OSError, sqlite3.Error) as error:
                self.damage.append(f"earlier edits cannot be read: {error}")
                continue
            try:
                self.labels |= session.about
                self.damage += (f"{path}: {line}" for line in session.damage)
                self._damaged_files |= {path} if session.damage else set()
                yield from map(session.exchange, range(len(session)))
            finally:
                session.close()

    def write(
        self,
        names: tuple[str, str | None],
        compact_exchange: CompactExchange,
        about: Mapping[str, JsonValue],
        base: CompactExchange | None,
    ) -> None:
        """Store a node.

        Args:
            names: its id and that of its parent.
            about: data of the tree.
            base: the exchange that its request was edited from; None for a root.
        """

        def write(writer: SessionWriter) -> None:
            with suppress(*(() if base else (sqlite3.IntegrityError,))):  # another instance wrote this root meanwhile
                writer.append(self._encode_node(names, compact_exchange, about, base))

        self._do(write)

    def set_label(self, word: str, value: str) -> None:
        """Store a name, or the current node of a tree."""
        self.labels[word] = value = self._redact(value)
        self._do(lambda writer: writer.say({word: value}))

    def close(self) -> None:
        """Close the file, leaving no journal files."""
        if self._writer:
            with suppress(sqlite3.Error):
                self._writer.close()
            self._writer = None

    def _encode_node(
        self,
        names: tuple[str, str | None],
        compact_exchange: CompactExchange,
        about: Mapping[str, JsonValue],
        base: CompactExchange | None,
    ) -> Exchange:
        """A node as it is written: without secrets, with the tree's data."""
        exchange = replace(compact_exchange.exchange, id=names[0], parent=names[1])
        safe, base_request = self._redactor.exchange(exchange), base.exchange.request if base else None
        node_data = {word: self._redact(value) if isinstance(value, str) else value for word, value in about.items()}
        if base_request and exchange.request and safe.request and safe.request.body.raw != exchange.request.body.raw:
            node_data["change"] = self._change(base_request, exchange.request)
        return replace(safe, meta={**safe.meta, META: node_data})

    def _redact(self, text: str) -> str:
        """Replace secrets in a line."""
        return decode(self._redactor.text(encode(text))[0])

    def _change(self, base: HttpRequest, request: HttpRequest) -> JsonValue:
        """The edit that made one body from another, without the secrets of both."""
        text = text_of(request)
        changes = diff_splices(text_of(base), text)
        new = [(s, e, b64encode(self._redactor.text(b)[0]).decode("ascii")) for s, e, b in changes]
        return {"splices": new, "digest": sha256(text).hexdigest()}

    def _do(self, write: Callable[[SessionWriter], object]) -> None:
        """Write it, after everything that could not be written before."""
        if self.path is None:
            return
        self._pending.append(write)
        try:
            self._writer = self._writer or _open(self.path, self._damaged_files)
            while self._pending:
                self._try(self._pending[0], self._writer)
                del self._pending[0]
            self.trouble = ""
        except (OSError, sqlite3.Error, WorkbenchError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self.trouble = f"edits are only kept in memory: {self.path.parent} cannot be written ({why})"

    def _try(self, write: Callable[[SessionWriter], object], writer: SessionWriter) -> None:
        """Write it; a node that no file can hold is reported and skipped, so that it does not block later ones."""
        try:
            write(writer)
        except _NODE_ERRORS as error:
            self.damage.append(f"an edit is only kept in memory: it cannot be written ({error})")


def restore_secrets(stored: Exchange, base: HttpRequest | None) -> Exchange:
    """A node with its secrets, if its stored edit and its parent's request give them; else as it is stored."""
    node_data = stored.meta.get(META)
    change = node_data.get("change") if isinstance(node_data, dict) else None
    if not isinstance(change, dict) or base is None or stored.request is None:
        return stored
    try:
        splices = [Splice(start, end, b64decode(new)) for start, end, new in change["splices"]]
        text = apply_splices(text_of(base), splices)
        is_same = sha256(text).hexdigest() == change["digest"]
    except (KeyError, TypeError, ValueError, WorkbenchError):
        return stored
    redactions = tuple(r for r in stored.request.redactions if r.where != "body")
    request = replace(stored.request, body=Body(text), redactions=redactions)
    return replace(stored, request=request) if is_same else stored


def request_digest(exchange: Exchange) -> str:
    """Digest that identifies a recorded request."""
    request = exchange.request
    head = f"{request.method}\0{request.url}\0{request.body.encoding}\0" if request else ""
    return sha256(head.encode("utf-8", "surrogatepass") + (request.body.raw if request else b"")).hexdigest()


def sibling_files(path: Path) -> Iterator[Path]:
    """The file, and the existing ones of other instances, followed by the next free name."""
    yield path
    for number in range(2, MOST_BESIDE):
        other = path.with_stem(f"{path.stem}-{number}")
        yield other
        if not other.exists():
            return


def _open(path: Path, damaged: Collection[Path]) -> SessionWriter:
    """Open the first undamaged file that no other instance writes.

    Raises:
        OSError, sqlite3.Error, SessionFormatError: no file can be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    error: SessionFormatError | None = None
    with file_lock(path.with_suffix(".lock")):
        for one in (one for one in sibling_files(path) if one not in damaged):
            os.close(os.open(one, os.O_CREAT | os.O_RDWR, 0o600))
            try:
                return SessionWriter(one, alone=True)
            except SessionFormatError as refused:  # in use, of a newer version, or not ours
                error = refused
    assert error
    raise error


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Exclude other instances while the context is active. Raises OSError."""
    import fcntl

    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


MOVED = "moved "
"""Prefix of the label that marks a tree as moved; the id of its root follows."""


def migrate_trees(old: Path, new: Path, source: Session) -> None:
    """Move trees whose recorded request is one of the source's; those of other sessions stay.

    A tree is copied first and then marked as moved, so that a crash in between loses nothing and no second session
    moves it. A file is deleted once everything is moved; one that is in use or unreadable is left alone.
    """
    if old == new or not old.exists():
        return
    with suppress(SessionFormatError, OSError, sqlite3.Error), file_lock(old.with_suffix(".lock")):
        _move(list(takewhile(Path.exists, sibling_files(old))), new, source)


def _move(files: list[Path], new: Path, source: Session) -> None:
    stored: dict[str, Exchange] = {}
    labels: dict[str, str] = {}
    for path in files:
        with closing(SqliteSession(path)) as session:
            labels |= session.about
            stored |= {exchange.id: exchange for exchange in exchanges_of(session)}
    roots = {id for id, exchange in stored.items() if exchange.parent not in stored and MOVED + id not in labels}
    own = {id for id in roots if _belongs_to(stored[id], source)}
    if own:
        with ExitStack() as stack:
            writers = [stack.enter_context(SessionWriter(path, alone=True)) for path in files]
            _copy([e for e in stored.values() if _root(e, stored) in own], labels, new)
            writers[0].say({MOVED + id: new.stem for id in own})
    if own == roots:
        for path in files:
            path.unlink()


def _copy(nodes: Iterable[Exchange], labels: dict[str, str], new: Path) -> None:
    with SessionWriter(new, alone=True) as writer:
        new.chmod(0o600)
        for node in nodes:
            with suppress(sqlite3.IntegrityError):  # it was copied before, and that ended too early
                writer.append(node)
            writer.say({word: labels[word] for word in (NAME + node.id, HERE + node.id) if word in labels})


def _root(node: Exchange, stored: dict[str, Exchange]) -> str:
    """Id of the root of a node's tree."""
    seen = {node.id}
    while node.parent in stored and node.parent not in seen:
        node = stored[node.parent]
        seen.add(node.id)
    return node.id


def _belongs_to(root: Exchange, source: Session) -> bool:
    """The exchange at the root of a tree is one of the source: same id and same request."""
    node_data = root.meta.get(META)
    digest = node_data.get("digest") if isinstance(node_data, dict) else None
    names = (root.id, root.id.partition("~")[0])
    return any(request_digest(source.exchange(row.index)) == digest for row in source.summaries() if row.id in names)
