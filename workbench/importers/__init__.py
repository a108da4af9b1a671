"""Importers: one file per format, each telling by content how much a file looks like its own.

An importer module holds ``NAME`` ("har"), ``TITLE`` ("HAR archive"), ``sniff`` and ``read``. One whose files are read
in place (a database) holds ``open_path(path) -> Session`` beside ``read``. Files that begin with an underscore are
shared code.
"""

from __future__ import annotations

from typing import BinaryIO, Protocol

from workbench import plugins
from workbench.errors import UnreadableInput, WorkbenchError
from workbench.importers import _files, _foreign
from workbench.wire.session import Session

LAST_RESORT = 0.1
"""An importer that claims no more than this takes anything; it must not hide what is wrong with a better claim."""

CONFIDENT = 0.5
"""From here on an importer knows its format: its failure is the answer, unless another one succeeds."""

CERTAIN = 0.9
"""From here on an importer may take what is otherwise refused by name as a format that is not supported."""


class Importer(Protocol):
    """One format."""

    NAME: str
    TITLE: str

    def sniff(self, head: bytes) -> float:
        """0 … 1: how much the first 64 kB (without byte order mark) look like this format. Cheap, never raises."""
        ...

    def read(self, data: bytes, name: str) -> Session:
        """The session in a whole file. Raises WorkbenchError with the line or byte it failed at."""
        ...


def open_input(path: str, *, stdin: BinaryIO | None = None) -> Session:
    """The session in a file of any known format, gzip or zstd compressed or not.

    Args:
        path: a file, or ``-`` for standard input.
        stdin: what ``-`` reads.

    Raises:
        UnreadableInput: there is no such file, or no importer can read it; in one line, with what was tried.
        OSError: the file is there and cannot be read.
    """
    source = _files.open_source(path, stdin)
    ranked = candidates(source.head)
    is_certain = bool(ranked) and ranked[0][0] >= CERTAIN
    foreign = None if is_certain else _foreign.recognise(source.head)
    if foreign:
        raise UnreadableInput(foreign.what, where=source.shown, hint=foreign.hint)
    failures: list[tuple[float, str]] = []
    for score, name in ranked:
        if score <= LAST_RESORT and any(tried >= CONFIDENT for tried, _ in failures):
            break
        importer = load(name)
        try:
            return _open(importer, source)
        except WorkbenchError as error:
            failures.append((score, f"{importer.TITLE} ({error})"))
    raise UnreadableInput(_explain(source, failures), where=source.shown, hint=_hint(failures))


def load(name: str) -> Importer:
    """The importer of that name. Raises UsageError."""
    importer: Importer = plugins.load(__name__, name)
    return importer


def candidates(head: bytes) -> list[tuple[float, str]]:
    """(score, importer name) of every importer that makes a claim, best first."""
    scores = ((load(name).sniff(head), name) for name in plugins.names(__name__))
    return sorted((s for s in scores if s[0] > 0), key=lambda s: (-s[0], s[1]))


def _open(importer: Importer, source: _files.Source) -> Session:
    open_path = getattr(importer, "open_path", None)
    if open_path and source.path:
        session: Session = open_path(source.path)
        return session
    return importer.read(source.data(), source.name)


def _explain(source: _files.Source, failures: list[tuple[float, str]]) -> str:
    """What the importers said that had the best reason to try."""
    best = max((score for score, _ in failures), default=0.0)
    level = next(level for level in (CERTAIN, CONFIDENT, 0.0) if best >= level)
    tried = [line for score, line in failures if score >= level]
    if tried:
        return f"cannot be read; tried {', then '.join(tried)}"
    return "binary data that no importer knows" if b"\0" in source.head else "content that no importer knows"


def _hint(failures: list[tuple[float, str]]) -> str | None:
    if failures:
        return None
    titles = ", ".join(load(name).TITLE for name in plugins.names(__name__))
    return f"known: {titles}"
