"""Trees that were kept under what their session was known by before: found, and moved to where they belong."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import ExitStack, closing, suppress
from itertools import takewhile
from pathlib import Path

from workbench.edits.branches.kept import HERE, META, NAME, beside, digest, locked
from workbench.errors import SessionFormatError
from workbench.wire.exchange import Exchange
from workbench.wire.session import Session, exchanges_of
from workbench.wire.session.sqlite import SqliteSession
from workbench.wire.session.writer import SessionWriter

MOVED = "moved "
"""Beginning of the word by which a file says that a tree is kept elsewhere now; the id of its root follows."""


def take_over(old: Path, new: Path, source: Session) -> None:
    """Move the trees whose recorded request is one of the source's; those of other sessions stay.

    A tree is copied first and then noted as moved, so that an end in between loses nothing, and no second session takes
    it. A file of which everything was moved is removed; one that somebody writes, or cannot be read, is left alone.
    """
    if old == new or not old.exists():
        return
    with suppress(SessionFormatError, OSError, sqlite3.Error), locked(old.with_suffix(".lock")):
        _move(list(takewhile(Path.exists, beside(old))), new, source)


def _move(files: list[Path], new: Path, source: Session) -> None:
    stored: dict[str, Exchange] = {}
    said: dict[str, str] = {}
    for path in files:
        with closing(SqliteSession(path)) as session:
            said |= session.about
            stored |= {exchange.id: exchange for exchange in exchanges_of(session)}
    roots = {id for id, exchange in stored.items() if exchange.parent not in stored and MOVED + id not in said}
    own = {id for id in roots if _is_of(stored[id], source)}
    if own:
        with ExitStack() as stack:
            writers = [stack.enter_context(SessionWriter(path, alone=True)) for path in files]
            _copy([e for e in stored.values() if _root(e, stored) in own], said, new)
            writers[0].say({MOVED + id: new.stem for id in own})
    if own == roots:
        for path in files:
            path.unlink()


def _copy(nodes: Iterable[Exchange], said: dict[str, str], new: Path) -> None:
    with SessionWriter(new, alone=True) as writer:
        new.chmod(0o600)
        for node in nodes:
            with suppress(sqlite3.IntegrityError):  # it was copied before, and that ended too early
                writer.append(node)
            writer.say({word: said[word] for word in (NAME + node.id, HERE + node.id) if word in said})


def _root(node: Exchange, stored: dict[str, Exchange]) -> str:
    """The id of the root of a node's tree."""
    seen = {node.id}
    while node.parent in stored and node.parent not in seen:
        node = stored[node.parent]
        seen.add(node.id)
    return node.id


def _is_of(root: Exchange, source: Session) -> bool:
    """The exchange that a tree begins with is one of the source: its id and its request are the same."""
    told = root.meta.get(META)
    wanted = told.get("digest") if isinstance(told, dict) else None
    names = (root.id, root.id.partition("~")[0])
    return any(digest(source.exchange(row.index)) == wanted for row in source.summaries() if row.id in names)
