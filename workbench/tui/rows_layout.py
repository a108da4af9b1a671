"""The layout ``rows`` of the style sheets: panes one below the other give rows to each other by need.

A pane takes the rows of its lines. What it leaves goes to the panes that are cut; where none is, the panes close ranks
at the top. Only where not all fit, the heights of the style sheet decide: a pane of automatic height takes at most its
``max-height``, and the ``fr`` of the others are their shares. A pane of ``0fr`` is shown only in rows that no other
pane needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from textual.geometry import Size
from textual.layout import ArrangeResult, Layout
from textual.layouts import factory
from textual.layouts.horizontal import HorizontalLayout
from textual.layouts.vertical import VerticalLayout
from textual.widget import Widget

from workbench.tui.widgets.lineview import LineView, rows_within

NAME: Final = "rows"
_ALL: Final = 10_000
"""Need of what has no number of lines, such as a text that is written."""

LEAST_SPARE: Final = 4
"""Rows in which a pane of ``0fr`` is of use, if it needs as many."""


class RowNeed(NamedTuple):
    """What a pane would take.

    Attributes:
        rows: that show all its lines, with its border.
        spare: further rows that it takes if nothing else needs them.
        share: its ``fr``; None for an automatic height.
        most: rows that an automatic height takes where not all panes fit.
    """

    rows: int
    share: float | None = None
    most: int = _ALL
    spare: int = 0


def rows_by_need(space: int, needs: Sequence[RowNeed]) -> list[int]:
    """Rows of each pane; together ``space``, unless there is no pane."""
    rows = _firm_rows(space, needs)
    for n, need in enumerate(needs):
        left = space - sum(rows)
        if left >= min(need.spare, LEAST_SPARE):
            rows[n] += min(need.spare, left)
    last = max((n for n, height in enumerate(rows) if height), default=None)
    if last is not None:
        rows[last] += max(0, space - sum(rows))
    return rows


def _firm_rows(space: int, needs: Sequence[RowNeed]) -> list[int]:
    """Rows of the panes that are always shown."""
    is_enough = sum(need.rows for need in needs) <= space
    rows = [min(need.rows if need.share or is_enough else min(need.rows, need.most), max(0, space)) for need in needs]
    left = space - sum(height for height, need in zip(rows, needs, strict=True) if not need.share)
    rows = _rows_by_share(left, rows, needs)
    for n, need in enumerate(needs):  # what no share needs
        rows[n] += max(0, min(need.rows - rows[n], space - sum(rows)))
    while sum(rows) > max(0, space):
        rows[rows.index(max(rows))] -= 1
    return rows


def _rows_by_share(space: int, most: list[int], needs: Sequence[RowNeed]) -> list[int]:
    """The rows of the panes with a share: what one does not need is for the others."""
    rows, open_shares = [*most], {n: need.share for n, need in enumerate(needs) if need.share}
    while open_shares:
        unit = max(0, space) / sum(open_shares.values())
        easy = [n for n, share in open_shares.items() if most[n] <= share * unit] or [*open_shares][:1]
        for n in easy:
            rows[n] = min(most[n], round(open_shares.pop(n) * unit))
            space -= rows[n]
    return rows


class RowsLayout(VerticalLayout):
    """Lays out panes as ``rows_by_need`` says; everything else as ``vertical`` does."""

    name = NAME

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        """Arrange children from top to bottom."""
        placements = super().arrange(parent, children, size, greedy)
        if not greedy or not size.height:
            return placements  # how many rows would do is asked
        panes = [n for n, each in enumerate(placements) if _is_pane(each.widget)]
        other_rows = sum(each.region.height for n, each in enumerate(placements) if n not in panes)
        space = size.height - other_rows
        needs = [_need(placements[n].widget, space, size) for n in panes]
        heights = dict(zip(panes, rows_by_need(space, needs), strict=True))
        y = 0
        for n, each in enumerate(placements):
            region = each.region
            moved_region = region._replace(y=y, height=max(0, heights.get(n, region.height)))
            placements[n] = each._replace(region=moved_region)
            y += moved_region.height
        return [each for each in placements if each.region.height]  # what is in a pane without a row would get one


def _is_pane(widget: Widget) -> bool:
    height = widget.styles.height
    if height is None or height.is_fraction:
        return height is not None
    return widget.styles.max_height is not None and (isinstance(widget, LineView) or bool(widget.children))


def _need(widget: Widget, space: int, size: Size) -> RowNeed:
    height, most, least = widget.styles.height, widget.styles.max_height, widget.styles.min_height
    share = height.value if height is not None and height.is_fraction else None
    rows, spare = _rows(widget, space)
    if share == 0:
        return RowNeed(0, share, spare=rows)
    limit = int(most.resolve(size, size)) if most is not None else _ALL
    rows = max(rows, int(least.resolve(size, size)) if least is not None else 0)
    return RowNeed(rows, share, limit, spare)


def _rows(widget: Widget, space: int) -> tuple[int, int]:
    """Rows in which all lines of a pane, or of the panes in a container, are visible; and its spare rows."""
    height = widget.styles.height
    if height is not None and height.is_cells:
        return int(height.value), 0
    if isinstance(widget, LineView):
        return _lines(widget, space) + widget.gutter.height, 0
    child_needs = [_need(child, space, Size(0, space)) for child in widget.children if child.display]
    if not child_needs:
        return _least(widget), 0
    if isinstance(widget.layout, HorizontalLayout):
        return max(need.rows for need in child_needs) + widget.gutter.height, 0
    return sum(need.rows for need in child_needs) + widget.gutter.height, sum(need.spare for need in child_needs)


def _least(widget: Widget) -> int:
    height = widget.styles.height
    return _ALL if height is None or height.is_fraction else widget.outer_size.height


def _lines(view: LineView, space: int) -> int:
    if not view.size.width:
        return _ALL  # not measured yet
    rows = rows_within(view, view.text_width, space, space)
    return space if view.is_accordion and view.fills and rows < view.virtual_size.height else rows


def register() -> None:
    """Make the layout known to style sheets."""
    layouts: dict[str, type[Layout]] = factory.LAYOUT_MAP
    layouts[NAME] = RowsLayout
