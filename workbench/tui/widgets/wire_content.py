"""Content of the wire pane: the views of the bytes of one side, the lines above them, and the marks in them."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from workbench.lazy_dataclass import dataclass, field
from workbench.tui.models import wire
from workbench.tui.models.rowtable import CONTINUES, RowTable, StyledSpans
from workbench.views import REQUEST, RESPONSE, SEVERITY_GLYPH, Line, Span, byte_range, event_range

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.selection import ExchangeSelection, Spans

SIGNS = (("lit", "▌"), ("block", "▌"), ("related", "┆"))
"""Style of a mark → its sign in the gutter, the more important first; a finding has its own column."""

FOUND = {"error": "broken", "warning": "doubtful", "info": ""}
"""Severity → style of the bytes of a finding; what only explains is not painted."""

OPEN_DIGITS = 4
"""Columns for the numbers of events that may still come: the rows stay as they are meanwhile."""


class WireContent:
    """The bytes of one side of an exchange, in one of several views.

    Attributes:
        opened: the exchange; None if none is shown.
        side: the request or the response.
        top: lines above the bytes.
    """

    def __init__(self) -> None:
        self.opened: ExchangeView | None = None
        self.side = REQUEST
        self.top: list[Line] = []
        self._views: tuple[wire.WireView, ...] = ()
        self._number = 0
        self._with_headers = False
        self._is_whole = False
        self._digits = 1

    def show(self, exchange_view: ExchangeView | None) -> None:
        """Show another exchange, or none; the view stays the same."""
        self.opened, self.top = exchange_view, []
        if exchange_view:
            open_digits = OPEN_DIGITS if exchange_view.row.summary.state == "open" else 0
            self._digits = max(len(str(len(exchange_view.decoded.events))), open_digits)
            self._views = wire.ways(exchange_view.decoded, self.side, is_whole=self._is_whole)
            self.grow(exchange_view)

    def grow(self, exchange_view: ExchangeView) -> None:
        """Show what has arrived of the same exchange."""
        self.opened = exchange_view
        self.top = wire.head_lines(exchange_view.decoded, self.side, with_headers=self._with_headers)

    def toggle_headers(self) -> bool:
        """Show the headers, or their number alone. Returns True if they are shown."""
        self._with_headers = not self._with_headers
        if self.opened:
            self.grow(self.opened)
        return self._with_headers

    def toggle_opaque(self) -> None:
        """Show opaque strings in full, or their beginning and length alone."""
        self._is_whole = not self._is_whole

    @property
    def body(self) -> bytes:
        """The bytes in the current view."""
        if self.opened is None:
            return b""
        received = self.view.received
        return wire.shown_body(self.opened.decoded, self.side) if received is None else received

    @property
    def view(self) -> wire.WireView:
        """Current view of the bytes."""
        return self._views[min(self._number, len(self._views) - 1)]

    def next_view(self) -> None:
        """Switch to the next view."""
        self._number = (self._views.index(self.view) + 1) % len(self._views)

    @property
    def is_first_view(self) -> bool:
        """True if the view is the one that is shown first."""
        return self.view is self._views[0]

    @property
    def is_received(self) -> bool:
        """True if the bytes as received are shown, which selections do not refer to."""
        return bool(self._views) and self.view.received is not None

    @property
    def is_numbered(self) -> bool:
        """True if the view numbers the events of a stream, or there is none."""
        return not self._views or self.view.is_numbered

    @property
    def margin(self) -> int:
        """Columns for the numbers of stream events."""
        is_stream = self.opened is not None and self.side == RESPONSE and self.opened.decoded.events
        return self._digits + 2 if is_stream and self.view.is_numbered else 0

    def event_number(self, rows: RowTable, row: int) -> Line:
        """The number of the event that begins in a row, in the columns of the margin."""
        if not self.margin or self.opened is None:
            return ()
        start, events = rows.starts[row], self.opened.decoded.events
        at = bisect_left(events, start, key=lambda e: e.start)
        is_first = at < len(events) and events[at].start == start and not rows.flags[row] & CONTINUES
        return (Span(str(at) if is_first else "", "muted", 1 - self.margin), Span(" "))

    def arrival(self, byte: int) -> str:
        """Offset of a byte, and the chunk it came in; "" in the first view, which does not show it."""
        if self._number == 0 or self.opened is None:
            return ""
        came = wire.arrival(self.opened.decoded, self.side, byte, is_decoded=not self.is_received)
        return f"byte {byte:,}" + (f", {came}" if came else "")


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
    _rules: dict[int, tuple[str, str]] = field(default_factory=dict)

    def select(self, selection: ExchangeSelection | None) -> None:
        """Mark the bytes and stream events of the selection; None if it is on the other side."""
        self.lit, self.events = (selection.spans, selection.events) if selection else ((), ())

    @property
    def selection_words(self) -> str:
        """The selection in words: its events, or its bytes; empty without one."""
        return event_range(self.events) if self.events else byte_range(self.lit)

    def paint(self, exchange_view: ExchangeView, side: str, related: Spans, *, is_received: bool) -> None:
        """Sort the marks of a side for painting; ``is_received``: matches only, for the bytes as received."""
        self.related = related
        if is_received:
            self._found, self._rules, self.shown = [], {}, (StyledSpans("match", self.match),)
            return
        own = [f for f in reversed(exchange_view.row.findings) if f.side == side and f.span]
        self._rules = {f.span[0]: (f.severity, f.rule) for f in own if f.span}
        self._found = [(s, StyledSpans(FOUND[s], spans)) for s, spans in exchange_view.found[side].items()]
        self.shown = tuple(
            StyledSpans(style, spans)
            for style, spans in (
                ("related", related),
                ("block", exchange_view.decoded.place_events(self.events).spans if self.events else ()),
                *((FOUND[severity], found.spans) for severity, found in reversed(self._found)),
                ("lit", tuple(sorted(self.lit))),
                ("match", self.match),
            )
            if style and spans
        )

    def signs(self, start: int, end: int, own: Span) -> Line:
        """The two signs in front of a row of bytes; ``own``: the list's sign, shown if no finding begins there."""
        touching = {mark.style for mark in self.shown if any(mark.within(start, end))}
        sign = Span(next((glyph for style, glyph in SIGNS if style in touching), " "), "accent")
        worst = next((severity for severity, found in self._found if _begins(found.spans, start, end)), None)
        return (sign, Span(SEVERITY_GLYPH[worst], worst) if worst else own)

    def note(self, start: int, end: int) -> Line:
        """The rule that is broken by what begins in a row of bytes, behind it; empty if none is."""
        rule = next((rule for byte, rule in self._rules.items() if start <= byte < end), None)
        return (Span(f"  {SEVERITY_GLYPH[rule[0]]} {rule[1]}", rule[0]),) if rule else ()


def _begins(spans: Spans, start: int, end: int) -> bool:
    """One of the ranges begins in a row: what follows it has the mark of its style alone."""
    return any(start <= first < end for first, _ in spans)
