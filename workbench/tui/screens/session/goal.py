"""Next place that the session screen shows, as one value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """Exchange to show, and the place in it: the first one given, else its first finding.

    Attributes:
        exchange: index of the exchange; None if none is wanted.
        event: stream event of its response.
        byte: offset in its request body.
        note: (side, pointer) of a mark or note; both empty for one on the whole exchange.
        finding: number of one of the session's findings.
        is_tentative: chosen by default; the first break replaces it.
        is_failed: the exchange cannot be opened.
    """

    exchange: int | None = None
    event: int | None = None
    byte: int | None = None
    note: tuple[str, str] | None = None
    finding: int | None = None
    is_tentative: bool = False
    is_failed: bool = False
