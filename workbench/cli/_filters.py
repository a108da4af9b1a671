"""``--filter EXPR``: the filter language on the command line."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.errors import FilterError, SessionFormatError

if TYPE_CHECKING:
    from workbench.filters import Filter
    from workbench.rules.inspection import Inspection
    from workbench.wire.session import Session


def asked(expression: str) -> Filter:
    """Read an expression. Raises FilterError, after what is wrong is pointed at on two lines."""
    from workbench.filters import Filter, parse

    try:
        return Filter(parse(expression))
    except FilterError as error:
        _output.point_at(expression, error.start, error.end)
        raise


def narrowed(inspection: Inspection, session: Session, passes: Filter) -> Inspection:
    """The inspection with the findings of exchanges that pass; one that cannot be read does not."""
    from workbench.filters import Facts
    from workbench.filters.matching import turns

    kept = set()
    for row, turn in zip(inspection.rows, turns(inspection.rows), strict=True):
        try:
            if passes.passes(Facts(row, turn, partial(session.exchange, row.index))):
                kept.add(row.index)
        except SessionFormatError:
            continue
    return replace(inspection, findings=tuple(f for f in inspection.findings if f.exchange in kept))
