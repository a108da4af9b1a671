"""What the session screen is to show next, as one value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """An exchange, and the place in it to go to: the first of the places given, else its first finding.

    Attributes:
        exchange: its index; None while no exchange is wanted.
        event: a stream event of its response.
        byte: an offset in its request body.
        note: (side, pointer) of a mark or note; both empty for one on the whole exchange.
        finding: a number of the session's findings.
        is_tentative: nobody chose it: the first break replaces it.
        is_failed: it cannot be opened.
    """

    exchange: int | None = None
    event: int | None = None
    byte: int | None = None
    note: tuple[str, str] | None = None
    finding: int | None = None
    is_tentative: bool = False
    is_failed: bool = False
