"""The list of the breakpoints screen: paused exchanges, then breakpoints. The cursor stays on its line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.tui.models import pauses
from workbench.tui.models.pauses import PausedSide
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, line


class Point(NamedTuple):
    """A line of the list: a paused side, a breakpoint, or a heading.

    Attributes:
        held: the paused side; None on other lines.
        kind: name of the breakpoint; "" on other lines.
        head: the line.
    """

    held: PausedSide | None
    kind: str
    head: Line

    @property
    def key(self) -> object:
        """Identity of the row: the cursor stays on it when the list changes."""
        return (self.held.recorder, self.held.id) if self.held else self.kind


def heading(words: str) -> Point:
    """A heading, which cannot be selected."""
    return Point(None, "", line(Span(words, "role")))


class PointsPane(LineView):
    """The list; the cursor skips headings."""

    rows: Sequence[Point] = ()

    def show(self, rows: Sequence[Point]) -> None:
        """Show other lines."""
        here = self.here.key if self.here else None
        self.rows = rows
        same = next((n for n, row in enumerate(rows) if here and row.key == here), None)
        self.cursor = self._landing(self.cursor, 1) if same is None else same
        self.reload()

    @property
    def here(self) -> Point | None:
        """The line under the cursor; None for a heading."""
        row = self.rows[self.cursor] if self.cursor < len(self.rows) else None
        return row if row and (row.held or row.kind) else None

    def find(self, paused_side: PausedSide) -> None:
        """Put the cursor on a paused side."""
        for number, row in enumerate(self.rows):
            if row.held and row.key == (paused_side.recorder, paused_side.id):
                self.move_to(number)

    def move_to(self, item: int, *, center: bool = False) -> None:
        super().move_to(self._landing(item, -1 if item < self.cursor else 1), center=center)

    def _landing(self, item: int, step: int) -> int:
        item = max(0, min(item, len(self.rows) - 1))
        onwards, back = range(item, len(self.rows)), range(item, -1, -1)
        order = (*onwards, *back) if step > 0 else (*back, *onwards)
        return next((n for n in order if self.rows[n].held or self.rows[n].kind), 0)

    def count(self) -> int:
        return len(self.rows)

    def head(self, item: int, width: int) -> Line:
        return self.rows[item].head

    def signs(self, item: int, inside: int) -> Line:
        return super().signs(item, inside) if self.rows[item].key else line("  ")


FILTER = "filter …"
"""Name of the line that adds a filter as a breakpoint."""


FOLDED = "breakpoints"
"""Name of the line that stands for all breakpoints."""


def points(
    paused_sides: Sequence[tuple[PausedSide, int | None]],
    kinds: Sequence[tuple[str, str]],
    armed: Sequence[str],
    now: float,
    *,
    is_folded: bool = False,
) -> list[Point]:
    """All lines.

    Args:
        paused_sides: paused sides, each with the number of its exchange.
        kinds: name and description of each breakpoint, including armed filters.
        is_folded: the breakpoints are one line, from which the cursor leads to them.
    """
    rows = [Point(None, "", pauses.row_heading()) if paused_sides else heading("nothing is paused")]
    rows += [Point(each, "", pauses.row(each, number, now)) for each, number in paused_sides]
    if is_folded:
        return [*rows, Point(None, FOLDED, line(Span(f"⊞ breakpoints · {len(armed)} of {len(kinds)} armed", "muted")))]
    rows.append(heading("breakpoints"))
    rows += [Point(None, name, pauses.point_line(name, says, is_armed=name in armed)) for name, says in kinds]
    rows.append(
        Point(
            None,
            FILTER,
            line(
                Span("    filter … ", "", 15),
                Span("exchanges that match a filter; mcp:SERVER/TOOL; frame:TYPE", "muted"),
            ),
        )
    )
    return rows
