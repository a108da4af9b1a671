"""Importers: one module per file format; each recognises its format by content.

In: a path, or bytes with a name. Out: ``Session``. It may import what ``formats`` may.

An importer module has ``NAME`` ("har"), ``TITLE`` ("HAR archive"), ``sniff`` and ``read``. An importer that reads its
files in place (a database) also has ``open_path(path) -> Session``; one with bodies in separate files has
``read_with(data, name, beside) -> Session``. Modules with a leading underscore are shared code.

Recognises formats that are not supported, so that the error can name them.
Their descriptions are public.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache, partial
from typing import TYPE_CHECKING, BinaryIO, Protocol

from workbench import plugins
from workbench.errors import UnreadableInput, WorkbenchError
from workbench.formats.importers import _files
from workbench.formats.importers._files import files_in, is_pattern, matches
from workbench.formats.importers._sniff_marks import may_claim, that_may_claim
from workbench.fronts import lazy
from workbench.limits import MAX_UNWRAPPED
from workbench.named_tuple import NamedTuple
from workbench.protocols import TEXT
from workbench.toolcalls import formats
from workbench.wire.session import Session

if TYPE_CHECKING:
    from workbench.formats.importers import model_text
    from workbench.formats.importers._unwrapper import Unwrapper
    from workbench.formats.importers.body import TITLE
else:
    __getattr__ = lazy(__name__)


__all__ = [
    "CERTAIN",
    "CONFIDENT",
    "LAST_RESORT",
    "TITLE",
    "Importer",
    "candidates",
    "files_in",
    "inside",
    "is_pattern",
    "load",
    "matches",
    "model_text",
    "open_found",
    "open_input",
    "reads_other_files",
]


_LAST, _OWN = "model_text", "workbench_session"

_TABLES = ("parquet", "store_csv")
"""Importers of tables, which tell the store by the columns."""

_BEGINNING = 4096
"""Bytes in which a session file of this program says that it is one."""

LAST_RESORT = 0.1
"""Highest score of an importer that accepts anything. It must not hide the errors of a better match."""

CONFIDENT = 0.5
"""From this score on an importer knows its format: its error is reported, unless another importer succeeds."""

CERTAIN = 0.9
"""From this score on an importer may read a file that is otherwise rejected as an unsupported format."""


class Importer(Protocol):
    """Interface of an importer module."""

    NAME: str
    TITLE: str

    def sniff(self, head: bytes) -> float:
        """Score from 0 to 1: how likely the first 64 kB (without byte order mark) are this format.

        Cheap, never raises.
        """
        ...

    def read(self, data: bytes, name: str) -> Session:
        """Read a whole file into a session. Raises WorkbenchError with the line or byte of the fault."""
        ...


def open_input(
    path: str, *, stdin: BinaryIO | None = None, protocol: str | None = None, may_unwrap: bool = True
) -> Session:
    """Open a file of any known format, plain or compressed with gzip, zstd or bzip2.

    Args:
        path: a file, or ``-`` for standard input.
        stdin: the stream that ``-`` reads.
        protocol: "text" to read the file as a model's text, whatever it looks like.
        may_unwrap: search text that no importer reads for a recording: a command, a log, Markdown.

    Raises:
        UnreadableInput: no such file, or no importer can read it; one line with the formats tried.
        OSError: the file exists and cannot be read.
    """
    source = _files.open_source(path, stdin)
    is_own = _is_own(source.head)
    ranked = [(1.0, _OWN)] if is_own else candidates(source.head)
    is_certain = bool(ranked) and ranked[0][0] >= CERTAIN
    if protocol == TEXT and not (is_certain and ranked[0][1] == _OWN):
        return load(_LAST).read(source.data(), source.name)
    foreign = None if is_certain else recognise(source.head)
    if foreign:
        if may_unwrap and foreign.is_text and (session := _make_unwrapper(source.name).read(source.data())):
            return session
        raise UnreadableInput(foreign.what, where=source.label, hint=foreign.hint)
    failures: list[tuple[float, str]] = []
    opened = _open_first(ranked, source, failures)
    if opened is None and is_own:
        ranked = candidates(source.head)
        opened = _open_first((each for each in ranked if each[1] != _OWN), source, failures)
    if opened is not None:
        return opened
    if may_unwrap and (not source.path or source.path.stat().st_size <= MAX_UNWRAPPED):
        unwrapper = _make_unwrapper(source.name)
        if session := unwrapper.read(source.data()):
            return session
        if not _is_known(failures):
            _refuse_text(source, unwrapper.unreadable)
    if ranked and ranked[-1][1] == _LAST and not _is_known(failures):
        try:
            return load(_LAST).read(source.data(), source.name)
        except WorkbenchError as error:
            failures.append((ranked[-1][0], f"{load(_LAST).TITLE} ({error})"))
    raise UnreadableInput(_explain(source, failures), where=source.label, hint=_hint(failures))


def open_found(path: str, only: str | None = None) -> Session | None:
    """Open a file that was found in a folder; None if no importer claims it.

    An empty file, an unsupported format and text without a format of its own (a log, Markdown, a model's text) are
    not claimed: ``open_input`` reads such a file if a person names it.

    Args:
        only: name of the one importer that may claim it, also as a table; None for all.

    Raises:
        UnreadableInput: an importer is certain of the format, and cannot read the file.
        OSError: the file cannot be read.
    """
    try:
        source = _files.open_source(path, None)
    except UnreadableInput:
        return None
    if only:
        found = (load(name) for name in (only, *_TABLES) if _score(name, source.head) > LAST_RESORT)
        read = (_open(importer, source) for importer in found)
        return next((each for each in read if getattr(each, "format", "") == load(only).TITLE), None)

    failures: list[tuple[float, str]] = []
    is_own = _is_own(source.head)
    opened = _open_first([(1.0, _OWN)], source, failures) if is_own else None
    if opened is not None:
        return opened
    ranked = [(score, name) for score, name in candidates(source.head) if score > LAST_RESORT]
    if ranked and ranked[0][0] < CERTAIN and recognise(source.head):
        return None
    opened = _open_first((each for each in ranked if not (is_own and each[1] == _OWN)), source, failures)
    if opened is not None:
        return opened
    if any(score >= CERTAIN for score, _ in failures):
        raise UnreadableInput(_explain(source, failures), where=source.label)
    return None


def _is_own(head: bytes) -> bool:
    """A session file of this program: no other importer need be asked before it is read."""
    return may_claim(_OWN, head[:_BEGINNING]) and not plugins.third_party(__name__) and _score(_OWN, head) >= 1


def _open_first(
    ranked: Iterable[tuple[float, str]], source: _files.InputSource, failures: list[tuple[float, str]]
) -> Session | None:
    """The session of the first importer that can read the input; those that fail are appended with their errors."""
    for score, name in ranked:
        if score <= LAST_RESORT:
            break
        importer = load(name)
        try:
            session = plugins.call_part(__name__, name, partial(_open, importer, source), None)
            if session is not None:
                return session
        except WorkbenchError as error:
            failures.append((score, f"{importer.TITLE} ({error})"))
    return None


def reads_other_files(session: Session) -> bool:
    """True if a part of the session may be in files beside the one that was opened."""
    return _may_read_others(getattr(session, "format", ""))


@cache
def _may_read_others(title: str) -> bool:
    """An importer of this title reads other files; what read a session of it is loaded."""
    own = (sys.modules.get(f"{__name__}.{name}") for name in plugins.built_in(__name__))
    importers = [*filter(None, own), *plugins.third_party(__name__).values()]
    return any([title == each.TITLE and hasattr(each, "read_with") for each in importers])


def inside(data: bytes, name: str) -> Session:
    """Read bytes that were found inside another text with an importer that knows their format.

    Raises:
        WorkbenchError: no importer can read them.
    """
    reason: WorkbenchError | None = None
    for score, importer in candidates(data[: _files.HEAD]):
        if score > LAST_RESORT and importer != _OWN:
            try:
                return load(importer).read(data, name)
            except WorkbenchError as error:
                reason = reason or error
    raise reason or UnreadableInput("unknown format")


def _is_known(failures: list[tuple[float, str]]) -> bool:
    """True if an importer that knows the format reported an error."""
    return any(score >= CONFIDENT for score, _ in failures)


def _make_unwrapper(name: str) -> Unwrapper:
    from workbench.formats.importers._unwrapper import Unwrapper  # and all of unwrapping: few files need it

    return Unwrapper(name, inside)


def _refuse_text(source: _files.InputSource, unreadable: list[tuple[int, str]]) -> None:
    """Raise UnreadableInput for text that is something else than a model's text."""
    from workbench.formats import unwrapping

    text = source.data().decode("utf-8", "replace")
    if formats.is_marked(text):
        return
    if unreadable:
        line, why = unreadable[0]
        more = f" (and {len(unreadable) - 1} more)" if len(unreadable) > 1 else ""
        where = f"{source.label}, line {line}"
        raise UnreadableInput(f"the input looks like {why}{more}", where=where, hint=unwrapping.HINT)
    if kind := unwrapping.recognise(text):
        raise UnreadableInput(kind.what, where=source.label, hint=kind.hint)


def load(name: str) -> Importer:
    """Load an importer by name. Raises UsageError."""
    importer: Importer = plugins.load(__name__, name)
    return importer


def candidates(head: bytes) -> list[tuple[float, str]]:
    """(score, importer name) for every importer with a score above zero, best first."""
    foreign = plugins.third_party(__name__)
    names = {*foreign, *that_may_claim(plugins.names(__name__), head)}
    scores = ((plugins.call_part(__name__, name, partial(_score, name, head), 0.0), name) for name in sorted(names))
    return sorted((s for s in scores if s[0] > 0), key=lambda s: (-s[0], s[1]))


def _score(name: str, head: bytes) -> float:
    return float(load(name).sniff(head))


def _open(importer: Importer, source: _files.InputSource) -> Session:
    open_path = getattr(importer, "open_path", None)
    if open_path and source.path:
        session: Session = open_path(source.path)
        return session
    read_with = getattr(importer, "read_with", None)
    if read_with and source.path:
        session = read_with(source.data(), source.name, _files.BodyFiles(source.path))
        return session
    return importer.read(source.data(), source.name)


def _explain(source: _files.InputSource, failures: list[tuple[float, str]]) -> str:
    """Errors of the best-matching importers."""
    best = max((score for score, _ in failures), default=0.0)
    level = next(level for level in (CERTAIN, CONFIDENT, 0.0) if best >= level)
    reasons = [line for score, line in failures if score >= level]
    if reasons:
        return f"cannot be read; tried {', then '.join(reasons)}"
    return "unknown binary format" if b"\0" in source.head else "unknown format"


def _hint(failures: list[tuple[float, str]]) -> str | None:
    if failures:
        return None
    titles = ", ".join(load(name).TITLE for name in plugins.names(__name__))
    return f"known formats: {titles}"


RECORD_INSTEAD = "record the traffic instead, or export HAR"
_STRING = rb'"(?:[^"\\]|\\.)*"'
_SPACE = rb"\s*"


class UnsupportedFormat(NamedTuple):
    """A format that Workbench does not read."""

    what: str
    hint: str
    is_text: bool = False  # in another encoding: it may hold a recording all the same


def _starts(*keys: bytes) -> re.Pattern[bytes]:
    """Pattern of a JSON object with these first keys; each value is a pattern for the key's value."""
    body = (_SPACE + rb"," + _SPACE).join(keys)
    return re.compile(rb"\A" + _SPACE + rb"\{" + _SPACE + body, re.DOTALL)


def _key(name: bytes, value: bytes = _STRING) -> bytes:
    return b'"' + name + b'"' + _SPACE + b":" + _SPACE + value


TRANSCRIPTS: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("a Codex CLI event stream", _starts(_key(b"type", rb'"thread\.started"'))),
    ("a mini-swe-agent trajectory", _starts(_key(b"info", rb"\{[^{]{0,2000}\"(?:exit_status|model_stats)\""))),
)

BINARY: tuple[tuple[bytes, UnsupportedFormat], ...] = (
    (b"%PDF-", UnsupportedFormat("a PDF document", "open the recording itself")),
    (b"\x89PNG", UnsupportedFormat("a PNG image", "open the recording itself")),
    (b"\xff\xd8\xff", UnsupportedFormat("a JPEG image", "open the recording itself")),
    (b"\x7fELF", UnsupportedFormat("a program", "open a recording")),
    (b"\xfd7zXZ\x00", UnsupportedFormat("an xz file", "unpack the file first")),
    (b"\xff\xfe", UnsupportedFormat("UTF-16 text", "save the file as UTF-8", is_text=True)),
    (b"\xfe\xff", UnsupportedFormat("UTF-16 text", "save the file as UTF-8", is_text=True)),
)


def recognise(head: bytes) -> UnsupportedFormat | None:
    """The unsupported format that a file starts like; None if it is none of them."""
    if head.startswith(b"PK\x03\x04"):
        return UnsupportedFormat("a zip archive", "unpack the archive and give a file from it")
    for magic, found in BINARY:
        if head.startswith(magic):
            return found
    title = next((t for t, pattern in TRANSCRIPTS if pattern.match(head)), None)
    return UnsupportedFormat(f"{title}: not supported yet", RECORD_INSTEAD) if title else None
