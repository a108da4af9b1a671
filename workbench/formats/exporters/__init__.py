"""Exporters: write exchanges in a form that other programs read; one module per form.

In: ``ExportSelection``. Out: ``ExportResult``: files, and what was left out. No form writes a secret: headers, keys and
cookies become variables or stand-ins, whatever the session contains. It may import what ``formats`` may.

A module has ``TITLE`` ("HAR archive"), ``SUFFIX`` of a file in that form (".har"; empty for a folder) and
``write(selection) -> ExportResult``; a form of folders that can be run has ``prove(folders) -> list[ExportProof]``. The
value of ``--as`` is the module's name, without the prefix ``as_`` that avoids a clash with a library's name, and with
``-`` for ``_``. Modules with a leading underscore are shared code. A third party adds a form by an entry point in
``workbench.exporters``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from workbench import plugins
from workbench.errors import UnknownName
from workbench.fronts import lazy
from workbench.ir import NOTHING
from workbench.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from workbench.formats.exporters.curl import curl_command
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "ExportForm",
    "ExportProof",
    "ExportResult",
    "ExportRun",
    "ExportSelection",
    "curl_command",
    "load",
    "names",
    "one_file",
]


if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.wire import Exchange
    from workbench.wire.session import Session


@dataclass(frozen=True, slots=True)
class ExportSelection:
    """Exchanges of one session that are exported together.

    Attributes:
        inspector: of the whole session; a form inspects what it needs on demand.
        indices: of the exchanges, ascending, at least one.
        broken: the same selection before it was fixed, for forms that show a difference; None if there is none.
        name: of the export, if known: tests of different folders need different names.
        made_of: ancestors of an edited exchange, nearest first, if the session does not contain them.
    """

    inspector: Inspector
    indices: tuple[int, ...]
    broken: ExportSelection | None = None
    name: str = ""
    made_of: tuple[Exchange, ...] = ()

    @property
    def session(self) -> Session:
        """The session as opened; it may contain secrets."""
        return self.inspector.session

    def exchanges(self) -> Iterator[tuple[int, Exchange]]:
        """(index, exchange) as opened. Raises SessionFormatError."""
        return ((index, self.session.exchange(index)) for index in self.indices)


@dataclass(frozen=True, slots=True)
class ExportResult:
    """Result of an export.

    Attributes:
        files: path inside OUT → bytes; a form with a suffix has one file with an empty path.
        notes: differences from what was sent, one line each ("exchange 2: …").
        left_out: what this form could not write and why, one line each.
    """

    files: Mapping[str, bytes] = NOTHING
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def data(self) -> bytes:
        """Bytes of the one file. Raises KeyError if the export is a folder."""
        return self.files[""]


@dataclass(frozen=True, slots=True)
class ExportRun:
    """Result of running an export.

    Attributes:
        on: transcript that it ran on: "broken", "fixed".
        passed, failed: number of tests.
        lines: name and reason of each failed test.
        problem: reason why there is no result, one line; empty if there is one.
    """

    on: str
    passed: int = 0
    failed: int = 0
    lines: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ExportProof:
    """Results of running an exported folder. ``why_not``: reason why they prove nothing, one line; empty if they do."""

    runs: tuple[ExportRun, ...]
    why_not: str = ""


def one_file(data: bytes, notes: tuple[str, ...] = (), left_out: tuple[str, ...] = ()) -> ExportResult:
    """Result of a form with a suffix."""
    return ExportResult({"": data}, notes, left_out)


class ExportForm(Protocol):
    """Interface of an export form."""

    TITLE: str
    SUFFIX: str

    def write(self, selection: ExportSelection) -> ExportResult:
        """Write the exchanges in this form. Exchanges that cannot be written are listed in ``left_out``.

        Raises:
            LocalProtocolError: nothing of the selection can be written.
            SessionFormatError: an exchange cannot be read.
        """
        ...


def names() -> tuple[str, ...]:
    """Names of all forms, as in ``--as``, sorted."""
    return tuple(sorted(map(_form_name, plugins.names(__name__))))


def load(name: str) -> ExportForm:
    """Load a form by name. Raises UsageError."""
    for module in plugins.names(__name__):
        if _form_name(module) == name:
            form: ExportForm = plugins.load(__name__, module)
            return form
    raise UnknownName("export format", name, names())


def _form_name(module: str) -> str:
    return module.removeprefix("as_").replace("_", "-")
