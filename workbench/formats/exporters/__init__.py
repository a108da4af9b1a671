"""Exporters: exchanges in a form that other programs read. One module per form.

In: ``Selection``. Out: ``Exported``, its files and what was left out. No form writes a secret: headers, keys and
cookies become variables or stand-ins, whatever the session held. It may import what ``formats`` may.

A module holds ``TITLE`` ("HAR archive"), ``SUFFIX`` of a file in that form (".har", "" for a folder) and
``write(selection) -> Exported``; one of folders that can show that they work also ``prove(folders) -> list[Proof]``.
The value of ``--as`` is the module's name, without the ``as_`` that keeps a name from hiding a library's, and with
``-`` for ``_``. Modules with an underscore are shared. A third party adds a form by an entry point in
``workbench.exporters``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from workbench import plugins
from workbench.errors import UsageError
from workbench.ir import NOTHING

if TYPE_CHECKING:
    from workbench.rules.inspection import Inspector
    from workbench.wire.exchange import Exchange
    from workbench.wire.session import Session

__all__ = ["Exported", "Form", "Proof", "Selection", "Tried", "load", "names", "one_file"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Exchanges of one session that are exported together.

    Attributes:
        inspector: of the whole session; what a form needs of it is inspected when it asks.
        indices: of the exchanges, ascending, at least one.
        broken: the same before it was mended, for forms that show a difference; None where there is no such thing.
        name: of what is written, where that is known: tests of different folders have to be told apart.
        made_of: what a lone exchange was edited from, the nearest first, where the session does not hold it.
    """

    inspector: Inspector
    indices: tuple[int, ...]
    broken: Selection | None = None
    name: str = ""
    made_of: tuple[Exchange, ...] = ()

    @property
    def session(self) -> Session:
        """As it was opened: it may hold secrets."""
        return self.inspector.session

    def exchanges(self) -> Iterator[tuple[int, Exchange]]:
        """(index, exchange) as they were opened. Raises SessionFormatError."""
        return ((index, self.session.exchange(index)) for index in self.indices)


@dataclass(frozen=True, slots=True)
class Exported:
    """What a form made.

    Attributes:
        files: path inside OUT → bytes; of a form with a suffix the one file, by the name "".
        notes: what is not in it as it was sent, one line each ("exchange 2: …").
        left_out: what could not be written in this form at all and why, one line each: not all was exported.
    """

    files: Mapping[str, bytes] = NOTHING
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def data(self) -> bytes:
        """The one file. Raises KeyError where there is a folder."""
        return self.files[""]


@dataclass(frozen=True, slots=True)
class Tried:
    """A run of what was exported.

    Attributes:
        on: what it ran on: "broken", "fixed".
        passed, failed: how many tests did.
        lines: of each that failed its name and why, one line each.
        problem: why there is no result, one line; "" where there is one.
    """

    on: str
    passed: int = 0
    failed: int = 0
    lines: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """What became of a folder when it was tried. ``why_not``: why it proves nothing, one line; "" where it does."""

    tried: tuple[Tried, ...]
    why_not: str = ""


def one_file(data: bytes, notes: tuple[str, ...] = (), left_out: tuple[str, ...] = ()) -> Exported:
    """What a form with a suffix returns."""
    return Exported({"": data}, notes, left_out)


class Form(Protocol):
    """One form."""

    TITLE: str
    SUFFIX: str

    def write(self, selection: Selection) -> Exported:
        """The exchanges in this form. What one exchange lacks is told in ``left_out`` and is no reason to stop.

        Raises:
            LocalProtocolError: nothing of the selection can be written so.
            SessionFormatError: an exchange cannot be read.
        """
        ...


def names() -> tuple[str, ...]:
    """Every form, as ``--as`` takes it, sorted."""
    return tuple(sorted(map(_shown, plugins.names(__name__))))


def load(name: str) -> Form:
    """The form of that name. Raises UsageError."""
    for module in plugins.names(__name__):
        if _shown(module) == name:
            form: Form = plugins.load(__name__, module)
            return form
    raise UsageError(f"no form named {name!r}", hint=f"known: {', '.join(names())}")


def _shown(module: str) -> str:
    return module.removeprefix("as_").replace("_", "-")
