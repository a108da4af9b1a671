"""An export from beginning to end: what is chosen, made, written and tried. For the command line and the app."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from workbench.errors import LocalProtocolError, UsageError
from workbench.exporters import Exported, Form, Proof, Selection
from workbench.inspection import Inspector
from workbench.wire.exchange import Exchange
from workbench.wire.session import MemorySession, Session, exchanges_of


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be exported.

    Attributes:
        session: that holds it.
        indices: of the exchanges, from zero, ascending; at least one.
        broken: the session that holds what was broken; None for none.
        provider, protocol: as for an inspector.
        is_redacted: private text is replaced by stand-ins.
        name: of what is written.
        made_of: as in a selection.
    """

    session: Session
    indices: tuple[int, ...]
    broken: Session | None = None
    provider: str | None = None
    protocol: str | None = None
    is_redacted: bool = False
    name: str = ""
    made_of: tuple[Exchange, ...] = ()

    def selection(self) -> Selection:
        """What a form is given.

        Raises:
            LocalProtocolError: without private text the findings would be others.
            SessionFormatError: an exchange cannot be read.
        """
        above = MemorySession("made of", self.made_of) if self.made_of else None
        sessions = [self.session, *(other for other in (self.broken, above) if other)]
        own, *others = self._redacted(sessions) if self.is_redacted else map(self._inspector, sessions)
        edited = tuple(exchanges_of(others.pop().session)) if above else ()
        broken = [Selection(other, tuple(range(len(other.session)))) for other in others if len(other.session)]
        return Selection(own, self.indices, broken[0] if broken else None, self.name, edited)

    def _inspector(self, session: Session) -> Inspector:
        return Inspector(session, self.provider, self.protocol)

    def _redacted(self, sessions: Sequence[Session]) -> Sequence[Inspector]:
        """What inspects them, with the same stand-in for the same word, and found in them what was found before."""
        from workbench.exporters._private import proven

        if len(sessions) == 1:
            return [proven(sessions[0], provider=self.provider, protocol=self.protocol)]
        return _redacted_together(sessions, self.provider, self.protocol)


def _redacted_together(sessions: Sequence[Session], provider: str | None, protocol: str | None) -> Sequence[Inspector]:
    from workbench.exporters._private import proof, redacted

    joined = MemorySession("", tuple(exchange for session in sessions for exchange in exchanges_of(session)))
    for keeps_numbers in (False, True):
        rest = exchanges_of(redacted(joined, keeps_numbers=keeps_numbers))
        made = [MemorySession("redacted", tuple(islice(rest, len(session)))) for session in sessions]
        try:
            return [
                proof(before, after, provider=provider, protocol=protocol)
                for before, after in zip(sessions, made, strict=True)
            ]
        except LocalProtocolError:
            if keeps_numbers:
                raise
    raise AssertionError("unreachable")


def refuse(out: Path, form: Form, sources: Collection[Path], *, is_forced: bool) -> None:
    """Raises UsageError where OUT is what is read, is there already, or is no place for this form."""
    for source in sources:
        with suppress(OSError):
            if out.samefile(source):
                raise UsageError(f"{out} is a file that is read", hint="it stays as it is: choose another name")
    if not form.SUFFIX and out.exists():
        if not out.is_dir():
            raise UsageError(f"{out} is no folder", hint="this form is a folder: choose another name")
        if any(out.iterdir()) and not is_forced:
            raise UsageError(f"{out} is there and not empty", hint="choose another name or say --force")
    elif form.SUFFIX and out.is_dir():
        raise UsageError(f"{out} is a folder", hint="this form is one file: name it")
    elif form.SUFFIX and out.exists() and not is_forced:
        raise UsageError(f"{out} exists", hint="choose another name or say --force")


def put(made: Exported, form: Form, out: Path, sources: Collection[Path] = ()) -> tuple[Path, ...]:
    """Write what was made: a file, or a folder with files, from which what an earlier export left is taken.

    Raises:
        UsageError: a file that is read would be replaced.
        OSError: it cannot be written.
    """
    if form.SUFFIX:
        out.write_bytes(made.data)
        return (out,)
    paths = {out.joinpath(*name.split("/")): data for name, data in made.files.items()}
    read = {source.resolve() for source in sources}
    if taken := next((path for path in paths if path.resolve() in read), None):
        raise UsageError(f"{taken} is a file that is read", hint="it stays as it is: choose another folder")
    for path in getattr(form, "leftovers", lambda folder: ())(out):
        path.unlink()
    for path, data in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tuple(paths)


def prove(form: Form, out: Path) -> Proof | None:
    """What became of it when it was tried; None for a form that cannot be."""
    tries = getattr(form, "prove", None)
    if tries is None:
        return None
    (found,) = tries([out])
    proof: Proof = found
    return proof


def told(proof: Proof, files: Mapping[str, str]) -> list[str]:
    """What became of each run, for people. ``files``: what it ran on → file."""
    lines = list[str]()
    for run in proof.tried:
        colour = "red" if run.failed else "green"
        count = f"{run.failed} of {run.failed + run.passed} tests fail" if run.failed else f"{run.passed} tests pass"
        lines.append(f"{colour:<5} on {files.get(run.on, run.on)}: {run.problem or count}")
        lines += (f"      {line}" for line in run.lines)
    return lines
