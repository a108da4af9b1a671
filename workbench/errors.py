"""Every exception the program raises on purpose.

    WorkbenchError
      WireError               bytes that cannot be read as what they claim to be (JSON, SSE, gzip …)
      ProtocolMismatch        readable, but not a message of this protocol
      LocalProtocolError      what we were asked to write or send is illegal
      SessionFormatError      a session file that is damaged, too new or not ours
      UnreadableInput         a file or pasted text that no importer can read
        NoSuchFile            a file that does not exist
      ProfileError            a contract or profile that is not well-formed
      UsageError              the command line asks for something that does not exist
        UnknownName           a name that nothing of its kind has
        FilterError           a filter expression that cannot be read, and where

A protocol failure inside a session is data, not an exception: decoders record an ``Anomaly`` and continue.
Exceptions are for what the caller asked for and cannot have.
"""

from __future__ import annotations

from collections.abc import Iterable


class WorkbenchError(Exception):
    """Base class of all errors: one line that says what is wrong, where, and what to do.

    Args:
        what: the fault, without a final period.
        where: file, line, exchange, pointer or byte offset.
        hint: what the reader can do about it.
    """

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        self.what = what
        self.where = where
        self.hint = hint
        super().__init__(what)

    def __str__(self) -> str:
        line = f"{self.where}: {self.what}" if self.where else self.what
        return f"{line}; {self.hint}" if self.hint else line


class WireError(WorkbenchError):
    """Bytes that cannot be read as what they claim to be."""


class ProtocolMismatch(WorkbenchError):
    """A readable body that is not a message of the protocol asked for."""


class LocalProtocolError(WorkbenchError):
    """Raised for a request to write or send something illegal."""


class FaultyRequest(LocalProtocolError):
    """A request that must be correct for what is asked, but is refused by its contract or has an error."""


class SessionFormatError(WorkbenchError):
    """A session file that is damaged, written by a newer version, or not a session."""


class UnreadableInput(WorkbenchError):
    """Input that no importer can read; the message says what was tried."""


class NoSuchFile(UnreadableInput):
    """A file that does not exist.

    Args:
        path: as the user typed it.
    """

    def __init__(self, path: str) -> None:
        super().__init__("no such file", where=path, hint="check the name")


class ProfileError(WorkbenchError):
    """A contract or profile file that is not well-formed."""


class UsageError(WorkbenchError):
    """The command line asks for something that does not exist."""


def did_you_mean(name: str, known: Iterable[str], most: int = 1, likeness: float = 0.6) -> str:
    """The question that names what somebody probably meant, or "" where nothing is near.

    Args:
        name: as the user typed it.
        known: all names of its kind.
        most: names that the question may offer.
        likeness: ratio of ``difflib`` that a name must reach, 0 to 1.
    """
    from difflib import get_close_matches  # of rare use

    near = get_close_matches(name[:200], [*known], most, likeness)
    return f"did you mean {' or '.join(near)}?" if near else ""


class UnknownName(UsageError):
    """A name that nothing of its kind has; the hint lists those that there are.

    Args:
        kind: what was looked for: "contract", "export format".
        name: as the user typed it.
        known: all names, in the order to show.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = [*known]
        near, every = did_you_mean(name, names), f"known: {', '.join(names)}"
        super().__init__(f"no {kind} named {name!r:.80}", hint=f"{near} ({every})" if near else every)


class FilterError(UsageError):
    """A filter expression that cannot be parsed.

    Args:
        what: the fault, without a final period.
        start, end: characters of the fault; both the length of the expression if something is missing.
        hint: what was expected, or the probable word.
    """

    def __init__(self, what: str, start: int, end: int, *, hint: str | None = None) -> None:
        super().__init__(what, where=f"filter, character {start + 1}", hint=hint)
        self.start = start
        self.end = end
