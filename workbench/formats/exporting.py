"""Runs an export: select, build, write and try it. For the command line and the app."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import UsageError
from workbench.formats import output_files
from workbench.formats.exporters import ExportForm, ExportProof, ExportResult, ExportSelection
from workbench.lazy_dataclass import dataclass, replace
from workbench.rules import Inspector
from workbench.wire import Exchange, Summary
from workbench.wire.session import MemorySession, Session, exchanges_of

if TYPE_CHECKING:
    from workbench.formats.exporters._private_text import ProvenSessions

PASSES = 5
"""Times that redaction reads a session: findings, names, requests, the redacted session, what is written."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """Parameters of an export.

    Attributes:
        session: the source.
        indices: of the exchanges, from zero, ascending; at least one.
        broken: session with the broken request; None without one.
        provider, protocol: as for an inspector.
        is_redacted: replace private text with stand-ins.
        name: of the export.
        made_of: as in ``Selection``.
        step: called for each exchange that is read, with their number so far and about how many there will be; it may
            raise to end the export.
    """

    session: Session
    indices: tuple[int, ...]
    broken: Session | None = None
    provider: str | None = None
    protocol: str | None = None
    is_redacted: bool = False
    name: str = ""
    made_of: tuple[Exchange, ...] = ()
    step: Callable[[int, int], None] | None = None

    def export(self, form: ExportForm) -> ExportResult:
        """Export in a form; return the result, and notes on findings of a redacted session.

        Raises:
            LocalProtocolError: this form cannot write it.
            SessionFormatError: an exchange cannot be read.
        """
        selection, proven = self._select()
        result = form.write(selection)
        if proven is None:
            return result
        return replace(
            result, notes=(*result.notes, *proven.notes), left_out=(*result.left_out, *proven.differences)
        )  # fmt: skip

    def _select(self) -> tuple[ExportSelection, ProvenSessions | None]:
        above = MemorySession("original requests", self.made_of) if self.made_of else None
        sessions = self._count_reads([self.session, *(other for other in (self.broken, above) if other)])
        proven = self._redact(sessions) if self.is_redacted else None
        own, *others = proven.inspectors if proven else map(self._inspector, sessions)
        edited = tuple(exchanges_of(others.pop().session)) if above else ()
        broken = [ExportSelection(other, tuple(range(len(other.session)))) for other in others if len(other.session)]
        return ExportSelection(own, self.indices, broken[0] if broken else None, self.name, edited), proven

    def _count_reads(self, sessions: list[Session]) -> Sequence[Session]:
        if self.step is None:
            return sessions
        step, number = self.step, count(1)
        total = sum(map(len, sessions)) * (PASSES if self.is_redacted else 1)
        return [_CountedSession(session, lambda: step(next(number), total)) for session in sessions]

    def _inspector(self, session: Session) -> Inspector:
        return Inspector(session, self.provider, self.protocol)

    def _redact(self, sessions: Sequence[Session]) -> ProvenSessions:
        from workbench.formats.exporters._private_text import redact_and_prove

        return redact_and_prove(sessions, provider=self.provider, protocol=self.protocol)


def refuse(out: Path, form: ExportForm, sources: Collection[Path], *, is_forced: bool) -> None:
    """Raise UsageError if OUT is an input, exists already, or does not suit the form."""
    if any(output_files.is_same(out, source) for source in sources):
        raise UsageError(f"{out} is an input file", hint="the input file would be overwritten; choose another name")
    output_files.refuse_link(out)
    if not form.SUFFIX and out.exists():
        if not out.is_dir():
            raise UsageError(f"{out} is not a folder", hint="this format is a folder: give a folder name")
        if any(out.iterdir()) and not is_forced:
            raise UsageError(f"{out} exists and is not empty", hint="choose another name, or use --force")
    elif form.SUFFIX and out.is_dir():
        raise UsageError(f"{out} is a folder", hint="this format is a single file: give a file name")
    elif form.SUFFIX:
        output_files.refuse_existing(out, is_forced=is_forced)


def write_export(result: ExportResult, form: ExportForm, out: Path, sources: Collection[Path] = ()) -> tuple[Path, ...]:
    """Write an export: a file, or a folder, from which files of an earlier export are removed.

    If a source is private to its owner, so is the output.

    Raises:
        UsageError: an input file would be replaced.
        OSError: it cannot be written.
    """
    is_private = any(map(_is_private, sources))
    if form.SUFFIX:
        _write(out, result.data, is_private=is_private)
        return (out,)
    paths = {out.joinpath(*name.split("/")): data for name, data in result.files.items()}
    read = {source.resolve() for source in sources}
    if input_path := next((path for path in paths if path.resolve() in read), None):
        raise UsageError(
            f"{input_path} is an input file", hint="the input file would be overwritten; choose another folder"
        )
    for path in getattr(form, "leftovers", lambda folder: ())(out):
        path.unlink()
    for path, data in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, data, is_private=is_private)
    return tuple(paths)


def _is_private(source: Path) -> bool:
    """True if only its owner can read it."""
    try:
        return not source.stat().st_mode & 0o077
    except OSError:
        return False


def _write(path: Path, data: bytes, *, is_private: bool) -> None:
    """Write a file; a private one is created unreadable for others before the first byte."""
    with open(path, "wb", opener=partial(os.open, mode=0o600 if is_private else 0o666)) as file:
        if is_private and stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            os.fchmod(file.fileno(), 0o600)
        file.write(data)


def prove(form: ExportForm, out: Path) -> ExportProof | None:
    """Run an export; None for a form that cannot be run."""
    tries = getattr(form, "prove", None)
    if tries is None:
        return None
    (found,) = tries([out])
    proof: ExportProof = found
    return proof


def proof_lines(proof: ExportProof, files: Mapping[str, str]) -> list[str]:
    """Describe each run. ``files``: transcript → file."""
    lines = list[str]()
    for run in proof.runs:
        colour = "red" if run.failed else "green"
        count = f"{run.failed} of {run.failed + run.passed} tests fail" if run.failed else f"{run.passed} tests pass"
        lines.append(f"{colour:<5} on {files.get(run.on, run.on)}: {run.problem or count}")
        lines += (f"      {line}" for line in run.lines)
    return lines


class _CountedSession:
    """A session that calls a function before each exchange that is read; it may raise to end the work."""

    def __init__(self, inner: Session, advance: Callable[[], None]) -> None:
        self.inner, self._advance = inner, advance
        self.name, self.damage, self.is_live = inner.name, inner.damage, inner.is_live
        self.about: Mapping[str, str] = inner.about

    @property
    def id(self) -> str:
        return self.inner.id

    def __len__(self) -> int:
        return len(self.inner)

    def summaries(self) -> Sequence[Summary]:
        return self.inner.summaries()

    def exchange(self, index: int) -> Exchange:
        self._advance()
        return self.inner.exchange(index)

    def refresh(self) -> frozenset[int]:
        return self.inner.refresh()

    def close(self) -> None:
        """Do nothing: the opener of the inner session closes it."""
