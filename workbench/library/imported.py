"""Any readable file as a session file of ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.wire.exchange import Exchange
    from workbench.wire.session import Session


class Imported(NamedTuple):
    """What was written. ``redactions`` counts the stand-ins, ``damage`` names what was not whole, one line each."""

    path: Path
    exchanges: int
    bytes: int
    redactions: int
    damage: tuple[str, ...]

    def told(self) -> str:
        """In one line, without the damage."""
        redacted = f", {_number(self.redactions, 'secret')} replaced" if self.redactions else ""
        return f"{self.path}: {_number(self.exchanges, 'exchange')}, {self.bytes:,} bytes{redacted}"


def refuse(out: Path, source: Path | None, *, may_replace: bool) -> None:
    """Raises UsageError for a place where no session file may be written, above all that of the source itself.

    Args:
        out: where it shall be written.
        source: what is read, None for standard input.
        may_replace: a file that is there may go, if it is not the source.
    """
    if source and _is_same(source, out):
        raise UsageError(f"{out} is the file that is imported", hint="a source is never replaced: choose another name")
    if str(out) == "-" or (out.exists() and not out.is_file()) or out.is_symlink():
        raise UsageError(f"{out} is no regular file", hint="name a file to write")
    if out.exists() and not may_replace:
        raise UsageError(f"{out} exists", hint="choose another name or say --force")


def _is_same(source: Path, out: Path) -> bool:
    """Also through symbolic and hard links."""
    with suppress(OSError, ValueError):
        return out.samefile(source)
    return False


def free_name(source: Path) -> Path:
    """A name for the session file, in the working directory, that nothing has yet."""
    names = (f"{source.stem}{more}.wb" for more in chain(("", "-imported"), (f"-imported-{n}" for n in count(2))))
    return next(path for path in map(Path, names) if not os.path.lexists(path))


def save(session: Session, out: Path, step: Callable[[int], None] = lambda done: None) -> Imported:
    """Write a session file, redacted. It appears whole or not at all.

    Args:
        session: what to write.
        out: the text form for names ending in .jsonl, else a recording.
        step: called with the number of exchanges read so far; what it raises ends the work and leaves no file.

    Raises:
        WorkbenchError, OSError: it cannot be read or written.
    """
    from workbench.wire.session import exchanges_of, store

    def counted() -> Iterator[Exchange]:
        for number, exchange in enumerate(exchanges_of(session)):
            step(number)
            yield exchange

    written = store.save(counted(), out, about=session.about, id=store.copied_id(session))
    damage = (*session.damage, *written.damage)
    return Imported(out, written.exchanges, written.bytes, written.redactions, damage)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
