"""The wire pane: the raw bytes of one side of an exchange.

Rows are laid out for the width of the pane, the first ones at once and the rest of a big body in a thread. The cursor
is a byte; what it stands in is the selection.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from textual import events, work
from textual.message import Message
from textual.worker import get_current_worker

from workbench.tui import keys
from workbench.tui.lines import Line, Span, wrap
from workbench.tui.models import wire
from workbench.tui.models.rows import CONTINUES, Rows
from workbench.tui.models.words import REQUEST, RESPONSE, SEVERITY_GLYPH, byte_range, event_range, size
from workbench.tui.panes.lineview import GUTTER
from workbench.tui.panes.pane import Pane

if TYPE_CHECKING:
    from workbench.tui.opened import Opened
    from workbench.tui.selection import Lights, Selection, Spans

AT_ONCE = 64 * 1024
"""Bytes that are laid out on the screen's thread: under 10 ms; more is left to a worker."""

SLICE = 2000
"""Rows a worker makes before it says so."""


SIGNS = (("lit", "▌"), ("block", "▌"), ("related", "┆"))
"""What the gutter shows for a mark, the more important first; a finding has its own column."""
FOUND = {"error": "broken", "warning": "doubtful", "info": ""}
"""The style of the bytes of a finding; what only explains is not painted."""


class WirePane(Pane):
    """Request or response as it was sent."""

    BINDINGS = keys.bindings(keys.WIRE)

    class Grew(Message):
        """More rows of a big body are laid out."""

        def __init__(self, rows: Rows) -> None:
            super().__init__()
            self.rows = rows

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, WirePane.Grew)

    side = REQUEST
    byte = 0
    """The byte the cursor stands on."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._rows: Rows | None = None
        self._top: list[Line] = []
        self._with_headers = False
        self._json = False
        self._lit: Spans = ()
        self._events: tuple[int, ...] = ()
        self._marks: tuple[wire.Marked, ...] = ()
        self._found: list[tuple[str, wire.Marked]] = []
        self._match: Spans = ()
        self._awaited: int | None = None

    # The body and its rows.

    def open(self, opened: Opened | None, why_not: str = "") -> None:
        self._lit, self._match, self._marks, self._events = (), (), (), ()
        self._found = []
        self.byte = 0
        self._lay_out(opened)
        super().open(opened, why_not)
        if opened:
            self._mark(())

    def show_side(self, side: str) -> None:
        """Show the request or the response."""
        if side != self.side:
            self.side = side
            self.open(self.opened)

    def _lay_out(self, opened: Opened | None) -> None:
        self._top, self._rows = [], None
        self._awaited = None
        if opened is None:
            return
        decoded = opened.decoded
        body = wire.body_of(decoded, self.side)
        self._json = wire.is_json(body)
        self._top = wire.head_lines(decoded, self.side, with_headers=self._with_headers)
        self._rows = Rows(body, self.text_width - self._margin(opened), is_json=self._json)
        if len(body) <= AT_ONCE:
            while not self._rows.extend(SLICE):
                pass
        else:
            self._rows.extend(self.size.height or 40)
            self._lay_out_rest(self._rows)

    @work(thread=True, exclusive=True, group="layout", exit_on_error=False)
    def _lay_out_rest(self, rows: Rows) -> None:
        worker = get_current_worker()
        while not worker.is_cancelled and not rows.extend(SLICE):
            self.post_message(self.Grew(rows))
        self.post_message(self.Grew(rows))

    def on_wire_pane_grew(self, message: Grew) -> None:
        message.stop()
        rows = self._rows
        if rows is not message.rows or rows is None:
            return
        self.reload()
        self.entitle()
        if self._awaited is not None and (rows.is_done or rows.reached > self._awaited):
            self._reveal(self._awaited)

    def on_resize(self, event: events.Resize) -> None:
        if self._rows and self._rows.width != max(16, self.text_width - self._margin(self.opened)):
            self._lay_out(self.opened)
            self.reload()
        self._reveal(self.byte)

    def _margin(self, opened: Opened | None) -> int:
        """Columns for the numbers of stream events."""
        is_stream = opened is not None and self.side == RESPONSE and opened.decoded.events
        return len(str(len(opened.decoded.events))) + 2 if opened and is_stream else 0

    # Lines.

    def count(self) -> int:
        return len(self._top) + (len(self._rows) if self._rows else 0)

    def head(self, item: int, width: int) -> Line:
        if item < len(self._top):
            return self._top[item]
        assert self._rows
        row = item - len(self._top)
        marks = self._marks
        if self.has_focus and item == self.cursor:
            marks = (*marks, wire.Marked("here", (self._token(),)))
        return (*self._event_number(row), *wire.row_line(self._rows, row, marks, json=self._json))

    def _event_number(self, row: int) -> Line:
        margin = self._margin(self.opened)
        if not margin or not self._rows or not self.opened:
            return ()
        start = self._rows.starts[row]
        events = self.opened.decoded.events
        at = bisect_left(events, start, key=lambda e: e.start)
        is_first = at < len(events) and events[at].start == start and not self._rows.flags[row] & CONTINUES
        return (Span(str(at) if is_first else "", "muted", 1 - margin), Span(" "))

    def signs(self, item: int, inside: int) -> Line:
        row = item - len(self._top)
        if row < 0 or self._rows is None:
            return super().signs(item, inside)
        start, end = self._rows.bounds(row)
        touching = {m.style for m in self._marks if any(m.within(start, end))}
        sign = Span(next((g for name, g in SIGNS if name in touching), " "), "accent")
        worst = next((s for s, found in self._found if any(found.within(start, end))), None)
        return (sign, Span(SEVERITY_GLYPH[worst], worst) if worst else super().signs(item, inside)[1])

    def nothing(self, width: int) -> list[Line]:
        why = wire.nothing(self.opened.decoded, self.side) if self.opened else self.why_not
        return wrap(why, width, "muted")

    def entitle(self, *facts: str) -> None:
        if self.opened is None:
            super().entitle()
            return
        rows = self._rows
        length = len(rows.body) if rows else 0
        progress = f"laying out {rows.reached * 100 // max(1, length)} %" if rows and not rows.is_done else ""
        selected = event_range(self._events) if self._events else byte_range(self._lit)
        super().entitle(f"{self.side} {self.opened.index + 1}", selected, progress, size(length))

    # The selection.

    def selection(self) -> Selection | None:
        if self.opened is None or self._rows is None or self.cursor < len(self._top):
            return None
        return self.opened.at_byte(self.side, self.byte)

    def light(self, selection: Selection, lights: Lights, *, is_source: bool) -> None:
        if not is_source and selection.spans:
            self.show_side(selection.side)
        is_here = selection.side == self.side
        self._lit = selection.spans if is_here else ()
        self._events = selection.events if is_here else ()
        self._mark(lights.spans.get(self.side, ()))
        if self._lit and not is_source:
            self._reveal(self._lit[0][0])
        self.entitle()
        self.refresh()

    def _mark(self, related: Spans) -> None:
        assert self.opened
        self._found = [(s, wire.Marked(FOUND[s], spans)) for s, spans in self.opened.found[self.side].items()]
        self._marks = tuple(
            wire.Marked(style, spans)
            for style, spans in (
                ("related", related),
                ("block", self.opened.decoded.place_events(self._events).spans if self._events else ()),
                *((FOUND[severity], found.spans) for severity, found in reversed(self._found)),
                ("lit", tuple(sorted(self._lit))),
                ("match", self._match),
            )
            if style and spans
        )

    def _reveal(self, offset: int) -> None:
        """Put the cursor on a byte, now or when its row is laid out."""
        rows = self._rows
        if rows is None or not len(rows):
            return
        self.byte = offset
        if not rows.is_done and rows.reached <= offset:
            self._awaited = offset
            return
        self._awaited = None
        first = len(self._top) + rows.row_at(offset)
        self.move_to(first, center=True)
        end = next((end - 1 for start, end in self._lit if start == offset), offset)
        last = len(self._top) + rows.row_at(end)
        self.show_lines(first, min(last, first + self.content_region.height - 2), center=True)

    # The cursor.

    def move_to(self, item: int, *, center: bool = False) -> None:
        super().move_to(item, center=center)
        row = self.cursor - len(self._top)
        if self._rows and row >= 0:
            start, end = self._rows.bounds(row)
            if not start <= self.byte < end:
                blank = re.match(rb"\s*", self._rows.body[start:end])
                self.byte = min(start + (blank.end() if blank else 0), max(start, end - 1))

    def _tokens(self) -> list[tuple[int, int]]:
        """Values of the row under the cursor."""
        row = self.cursor - len(self._top)
        if self._rows is None or row < 0:
            return []
        start, end = self._rows.bounds(row)
        found = wire.tokens(self._rows.body[start:end], self._rows.flags[row], json=self._json)
        return [(start + a, start + b) for a, b, _ in found]

    def _token(self) -> tuple[int, int]:
        around = [(a, b) for a, b in self._tokens() if a <= self.byte < b]
        return around[0] if around else (self.byte, self.byte + 1)

    def action_token(self, step: int) -> None:
        starts = [a for a, _ in self._tokens()]
        beyond = [a for a in starts if (a > self.byte if step > 0 else a < self.byte)]
        if beyond:
            self.byte = beyond[0] if step > 0 else beyond[-1]
            self.refresh()
            self.post_message(self.Moved(self))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the byte under the pointer."""
        place = event.get_content_offset(self)
        item = place.y + self.scroll_offset.y if place else self.count()
        row = item - len(self._top)
        if place and self._rows and 0 <= row < len(self._rows):
            event.prevent_default()
            self.byte = wire.byte_at(self._rows, row, place.x - GUTTER - self._margin(self.opened))
            self.move_to(item)
            self.post_message(self.Moved(self))

    def action_headers(self) -> None:
        self._with_headers = not self._with_headers
        if self.opened:
            before = len(self._top)
            self._top = wire.head_lines(self.opened.decoded, self.side, with_headers=self._with_headers)
            self.cursor = max(0, self.cursor + len(self._top) - before)
            self.reload()
            if self._with_headers:
                self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def find(self, wanted: str, start: int, step: int) -> int | None:
        """The row of the next match in the bytes, which is lit."""
        rows = self._rows
        if rows is None or not wanted:
            return None
        pattern = re.compile(re.escape(wanted.encode("utf-8", "surrogateescape")), re.IGNORECASE)
        spans = [m.span() for m in pattern.finditer(rows.body, 0, max(rows.reached, 1))]
        if not spans:
            self._match = ()
            return None
        here = self._match[0][0] if self._match else self.byte - (step > 0)
        beyond = [s for s in spans if (s[0] > here if step > 0 else s[0] < here)]
        span = (beyond or spans)[0 if step > 0 else -1]
        self._match = (span,)
        self.byte = span[0]
        self._marks = (*(m for m in self._marks if m.style != "match"), wire.Marked("match", self._match))
        return len(self._top) + rows.row_at(span[0])
