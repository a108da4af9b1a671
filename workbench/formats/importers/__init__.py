"""Importers: one file per format, each telling by content how much a file looks like its own.

In: a path, or bytes with a name. Out: ``Session``. It may import what ``formats`` may.

An importer module holds ``NAME`` ("har"), ``TITLE`` ("HAR archive"), ``sniff`` and ``read``. One whose files are read
in place (a database) holds ``open_path(path) -> Session`` beside ``read``, one whose recordings have bodies in other
files ``read_with(data, name, beside) -> Session``. Files that begin with an underscore are shared code.
"""

from __future__ import annotations

from functools import partial
from typing import BinaryIO, Protocol

from workbench import plugins
from workbench.errors import UnreadableInput, WorkbenchError
from workbench.formats import unwrapping
from workbench.formats.importers import _files, _foreign
from workbench.formats.importers._unwrapped import Unwrapper
from workbench.limits import MAX_UNWRAPPED
from workbench.protocols.decode import TEXT
from workbench.toolcalls import formats
from workbench.wire.session import Session

__all__ = ["CERTAIN", "CONFIDENT", "LAST_RESORT", "Importer", "candidates", "inside", "load", "open_input"]

_LAST, _OWN = "model_text", "workbench_session"

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


def open_input(
    path: str, *, stdin: BinaryIO | None = None, protocol: str | None = None, may_unwrap: bool = True
) -> Session:
    """The session in a file of any known format, gzip or zstd compressed or not.

    Args:
        path: a file, or ``-`` for standard input.
        stdin: what ``-`` reads.
        protocol: "text" for a file that is what a model wrote, whatever it looks like.
        may_unwrap: what no importer reads as it stands may hold a recording: a command, a log, Markdown.

    Raises:
        UnreadableInput: there is no such file, or no importer can read it; in one line, with what was tried.
        OSError: the file is there and cannot be read.
    """
    source = _files.open_source(path, stdin)
    ranked = candidates(source.head)
    is_certain = bool(ranked) and ranked[0][0] >= CERTAIN
    if protocol == TEXT and not (is_certain and ranked[0][1] == _OWN):
        return load(_LAST).read(source.data(), source.name)
    foreign = None if is_certain else _foreign.recognise(source.head)
    if foreign:
        if may_unwrap and foreign.is_text and (session := Unwrapper(source.name, inside).read(source.data())):
            return session
        raise UnreadableInput(foreign.what, where=source.shown, hint=foreign.hint)
    failures: list[tuple[float, str]] = []
    for score, name in ranked:
        if score <= LAST_RESORT:
            break
        importer = load(name)
        try:
            session = plugins.answered(__name__, name, partial(_open, importer, source), None)
            if session is not None:
                return session
        except WorkbenchError as error:
            failures.append((score, f"{importer.TITLE} ({error})"))
    if may_unwrap and (not source.path or source.path.stat().st_size <= MAX_UNWRAPPED):
        unwrapper = Unwrapper(source.name, inside)
        if session := unwrapper.read(source.data()):
            return session
        if not _is_known(failures):
            _refuse_text(source, unwrapper.torn)
    if ranked and ranked[-1][1] == _LAST and not _is_known(failures):
        try:
            return load(_LAST).read(source.data(), source.name)
        except WorkbenchError as error:
            failures.append((ranked[-1][0], f"{load(_LAST).TITLE} ({error})"))
    raise UnreadableInput(_explain(source, failures), where=source.shown, hint=_hint(failures))


def inside(data: bytes, name: str) -> Session:
    """The session of bytes that were found inside something else, by an importer that knows their form.

    Raises WorkbenchError.
    """
    reason: WorkbenchError | None = None
    for score, importer in candidates(data[: _files.HEAD]):
        if score > LAST_RESORT and importer != _OWN:
            try:
                return load(importer).read(data, name)
            except WorkbenchError as error:
                reason = reason or error
    raise reason or UnreadableInput("content that no importer knows")


def _is_known(failures: list[tuple[float, str]]) -> bool:
    """An importer that knows the format has said what is wrong."""
    return any(score >= CONFIDENT for score, _ in failures)


def _refuse_text(source: _files.Source, torn: list[tuple[int, str]]) -> None:
    """Raises UnreadableInput for a text that looks like something else than what a model wrote."""
    text = source.data().decode("utf-8", "replace")
    if formats.is_marked(text):
        return
    if torn:
        line, why = torn[0]
        more = f" (and {len(torn) - 1} more)" if len(torn) > 1 else ""
        where = f"{source.shown}, line {line}"
        raise UnreadableInput(f"it looks like {why}{more}", where=where, hint=unwrapping.HINT)
    if kind := unwrapping.recognise(text):
        raise UnreadableInput(kind.what, where=source.shown, hint=kind.hint)


def load(name: str) -> Importer:
    """The importer of that name. Raises UsageError."""
    importer: Importer = plugins.load(__name__, name)
    return importer


def candidates(head: bytes) -> list[tuple[float, str]]:
    """(score, importer name) of every importer that makes a claim, best first."""
    names = plugins.names(__name__)
    scores = ((plugins.answered(__name__, name, partial(_score, name, head), 0.0), name) for name in names)
    return sorted((s for s in scores if s[0] > 0), key=lambda s: (-s[0], s[1]))


def _score(name: str, head: bytes) -> float:
    return float(load(name).sniff(head))


def _open(importer: Importer, source: _files.Source) -> Session:
    open_path = getattr(importer, "open_path", None)
    if open_path and source.path:
        session: Session = open_path(source.path)
        return session
    read_with = getattr(importer, "read_with", None)
    if read_with and source.path:
        session = read_with(source.data(), source.name, _files.Beside(source.path))
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
