"""Migration of trees that were stored under a former id of their session."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import ExitStack, closing, suppress
from itertools import takewhile
from pathlib import Path

from workbench.edits.branches.files import HERE, META, NAME, file_lock, request_digest, sibling_files
from workbench.errors import SessionFormatError
from workbench.wire import Exchange
from workbench.wire.session import Session, SessionWriter, SqliteSession, exchanges_of

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
    said: dict[str, str] = {}
    for path in files:
        with closing(SqliteSession(path)) as session:
            said |= session.about
            stored |= {exchange.id: exchange for exchange in exchanges_of(session)}
    roots = {id for id, exchange in stored.items() if exchange.parent not in stored and MOVED + id not in said}
    own = {id for id in roots if _belongs_to(stored[id], source)}
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
    """Id of the root of a node's tree."""
    seen = {node.id}
    while node.parent in stored and node.parent not in seen:
        node = stored[node.parent]
        seen.add(node.id)
    return node.id


def _belongs_to(root: Exchange, source: Session) -> bool:
    """The exchange at the root of a tree is one of the source: same id and same request."""
    told = root.meta.get(META)
    wanted = told.get("digest") if isinstance(told, dict) else None
    names = (root.id, root.id.partition("~")[0])
    return any(request_digest(source.exchange(row.index)) == wanted for row in source.summaries() if row.id in names)
