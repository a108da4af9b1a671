"""Sessions in files and folders, each inspected and counted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.formats.importers import candidates, open_input
from workbench.lazy_dataclass import dataclass
from workbench.rules import Costs, CountKey, Counts, Inspector, Prices, costs_of, count_exchanges

HEAD = 64 * 1024
LEAST_CLAIM = 0.5
"""Least claim of an importer on a file in a folder for it to count as a session."""


@dataclass(frozen=True, slots=True)
class SessionMetrics:
    """Costs and counts of one session.

    Attributes:
        counts: of each exchange with a model.
        trouble: why the file could not be read; empty if it was.
    """

    path: Path
    costs: Costs
    counts: tuple[tuple[CountKey, Counts], ...] = ()
    trouble: str = ""


def gather(paths: Iterable[Path], prices: Prices) -> Iterator[SessionMetrics]:
    """Read one session after the other: the named files, and all sessions below the named folders."""
    for path in files(paths):
        try:
            session = open_input(str(path))
            try:
                inspector = Inspector(session)
                costs = costs_of(inspector, prices)
                yield SessionMetrics(path, costs, tuple(count_exchanges(inspector, costs)))
            finally:
                session.close()
        except (WorkbenchError, OSError) as error:
            yield SessionMetrics(path, Costs(()), trouble=str(error))


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """The named files, and in folders every file that an importer recognises."""
    for path in paths:
        if path.is_dir():
            yield from (found for found in _below(path) if _is_session(found))
        else:
            yield path


def _below(folder: Path) -> Iterator[Path]:
    for place, names, found in os.walk(folder):
        names[:] = sorted(name for name in names if not name.startswith("."))
        yield from (Path(place) / name for name in sorted(found) if not name.startswith("."))


def _is_session(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    ranked = candidates(head)
    return bool(ranked) and ranked[0][0] >= LEAST_CLAIM
