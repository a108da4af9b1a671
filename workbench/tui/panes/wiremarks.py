"""Marks in the bytes of the wire pane: the selection, related values, findings, matches of a search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.tui.models.rowtable import StyledSpans
from workbench.views import SEVERITY_GLYPH, Line, Span

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.selection import Spans

SIGNS = (("lit", "▌"), ("block", "▌"), ("related", "┆"))
"""Style of a mark → its sign in the gutter, the more important first; a finding has its own column."""

FOUND = {"error": "broken", "warning": "doubtful", "info": ""}
"""Severity → style of the bytes of a finding; what only explains is not painted."""


@dataclass
class WireMarks:
    """Byte ranges of one side.

    Attributes:
        lit: the selection; ``events``: the stream events it is in.
        related: ranges related to the selection.
        match: matches of the search.
        shown: all marks in the order of painting.
    """

    lit: Spans = ()
    events: tuple[int, ...] = ()
    related: Spans = ()
    match: Spans = ()
    shown: tuple[StyledSpans, ...] = ()
    _found: list[tuple[str, StyledSpans]] = field(default_factory=list)

    def paint(self, opened: ExchangeView, side: str, related: Spans, *, is_received: bool) -> None:
        """Sort the marks of a side for painting; ``is_received``: matches only, for the bytes as received."""
        self.related = related
        if is_received:
            self._found, self.shown = [], (StyledSpans("match", self.match),)
            return
        self._found = [(s, StyledSpans(FOUND[s], spans)) for s, spans in opened.found[side].items()]
        self.shown = tuple(
            StyledSpans(style, spans)
            for style, spans in (
                ("related", related),
                ("block", opened.decoded.place_events(self.events).spans if self.events else ()),
                *((FOUND[severity], found.spans) for severity, found in reversed(self._found)),
                ("lit", tuple(sorted(self.lit))),
                ("match", self.match),
            )
            if style and spans
        )

    def signs(self, start: int, end: int, own: Span) -> Line:
        """The two signs in front of a row of bytes; ``own``: the list's sign, shown if there is no finding."""
        touching = {mark.style for mark in self.shown if any(mark.within(start, end))}
        sign = Span(next((glyph for style, glyph in SIGNS if style in touching), " "), "accent")
        worst = next((severity for severity, found in self._found if any(found.within(start, end))), None)
        return (sign, Span(SEVERITY_GLYPH[worst], worst) if worst else own)
