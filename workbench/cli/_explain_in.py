"""The place in a request that a pasted error message speaks of."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.cli import _files
from workbench.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from workbench.contracts import ErrorPlace
    from workbench.rules import Inspector
    from workbench.wire.session import Session

LONGEST = 200
"""Characters of the value that are shown as text."""


@dataclass(frozen=True, slots=True)
class PointedPlace:
    """Place of an error message in a request.

    Attributes:
        path: the file, as it was given.
        exchange: index in the session, from zero.
        place: pointer, bytes, and how the message writes it; None if it names no place in this request.
        value: the bytes there, as text.
        suspected: pointers to what most likely caused the refusal, where the message names no place.
    """

    path: str
    exchange: int
    place: ErrorPlace | None
    value: str
    suspected: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """The place as ``--format json`` prints it."""
        place = self.place
        return {
            "path": self.path,
            "exchange": self.exchange,
            "pointer": place.pointer if place else None,
            "bytes": list(place.span) if place and place.span else None,
            "how": place.how if place else None,
            "value": self.value if place else None,
            "suspected": list(self.suspected),
        }

    def lines(self) -> Iterator[str]:
        """The place in words."""
        where = f"In {self.path}, exchange {self.exchange + 1}"
        yield ""
        if self.place is None:
            yield f"{where}: the error message does not name a place in this request"
            if self.suspected:
                yield (
                    f"  suspected: {', '.join(self.suspected)}; workbench check gives the reasons, workbench "
                    "minimize finds the cause"
                )
            return
        span = self.place.span
        here = f", bytes {span[0]}–{span[1]}" if span else ""
        how = f" (in the message: {self.place.how})" if self.place.how else ""
        yield f"{where}: {self.place.pointer or 'the body'}{here}{how}"
        if self.value:
            yield f"  {self.value if len(self.value) <= LONGEST else self.value[: LONGEST - 1] + '…'}"


def point_at(text: str, args: argparse.Namespace) -> PointedPlace:
    """Find the node of a request that an error message speaks of. Raises UsageError, UnreadableInput, OSError."""
    _files.validate(args)
    session = _files.open_file(args.inside, args)
    try:
        inspector = _files.inspector(session, args)
        index = _files.exchange_index(session, args.exchange, default=_last_refused(session, inspector))
        return _find_in(text, args.inside, inspector, index)
    finally:
        session.close()


def _last_refused(session: Session, inspector: Inspector) -> int:
    """The last exchange that was refused; the last one with a request if none was."""
    rows = [inspector.detail(n).row for n in range(len(session))]
    refused = [row.index for row in rows if (row.summary.status or 0) >= 400]
    return (refused or [row.index for row in rows] or [0])[-1]


def _find_in(text: str, path: str, inspector: Inspector, index: int) -> PointedPlace:
    from workbench.rules import place_of_text

    detail = inspector.detail(index)
    place = place_of_text(text, detail.decoded, detail.contract)
    body = detail.decoded.request_text
    value = body[place.span[0] : place.span[1]].decode("utf-8", "replace") if place and place.span else ""
    return PointedPlace(path, index, place, value, () if place else _find_suspects(inspector, index))


def _find_suspects(inspector: Inspector, index: int) -> tuple[str, ...]:
    """Suspected places of a refusal that no rule explains, the most likely first."""
    from workbench.rules import suspects_of

    return next(filter(None, map(suspects_of, inspector.detail(index).row.findings)), ())
