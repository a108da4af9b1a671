"""Writes any readable file as a session file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.formats import output_files
from workbench.views import words

if TYPE_CHECKING:
    from workbench.wire import Exchange
    from workbench.wire.session import Session


class ImportSummary(NamedTuple):
    """A written session file. ``redactions`` counts the stand-ins; ``damage`` has a line for each damaged place."""

    path: Path
    exchanges: int
    bytes: int
    redactions: int
    damage: tuple[str, ...]

    def summary(self) -> str:
        """One line: file, exchanges, bytes, replaced secrets."""
        redacted = f", {words.count(self.redactions, 'secret')} replaced" if self.redactions else ""
        return f"{self.path}: {words.count(self.exchanges, 'exchange')}, {self.bytes:,} bytes{redacted}"


def check_output(out: Path, source: Path | None, *, may_replace: bool) -> None:
    """Raise UsageError if ``out`` must not be written, above all because it is the source.

    Args:
        out: the session file to write.
        source: the file that is read; None for standard input.
        may_replace: an existing file may be replaced, unless it is the source.
    """
    output_files.refuse_source(out, source)
    if str(out) == "-" or (out.exists() and not out.is_file()) or out.is_symlink():
        raise output_files.irregular(out, "name a file to write")
    output_files.refuse_existing(out, is_forced=may_replace)


def free_name(source: Path) -> Path:
    """An unused name for the session file, in the working directory."""
    names = (f"{source.stem}{more}.wb" for more in chain(("", "-imported"), (f"-imported-{n}" for n in count(2))))
    return next(path for path in map(Path, names) if not os.path.lexists(path))


def save(session: Session, out: Path, step: Callable[[int], None] = lambda done: None) -> ImportSummary:
    """Write a session file, redacted. It appears whole or not at all.

    Args:
        session: the exchanges to write.
        out: a name ending in .jsonl gets the text form, any other a recording.
        step: called with the number of exchanges read so far; an exception from it stops the import and leaves no file.

    Raises:
        WorkbenchError, OSError: the session cannot be read, or ``out`` not written.
    """
    from workbench.wire.session import exchanges_of, store

    def counting() -> Iterator[Exchange]:
        for number, exchange in enumerate(exchanges_of(session)):
            step(number)
            yield exchange

    summary = store.save(counting(), out, about=session.about, id=store.copied_id(session))
    damage = (*session.damage, *summary.damage)
    return ImportSummary(out, summary.exchanges, summary.bytes, summary.redactions, damage)
