"""Panes of the edit screen: their contents, their arrangement and the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.safetext import clip
from workbench.tui.bars import TabBar
from workbench.tui.models import edit
from workbench.tui.models.diff import RequestComparison
from workbench.tui.widgets.lineview import LineView
from workbench.views import line

if TYPE_CHECKING:
    from workbench.tui.models.edit_study import EditStudy
    from workbench.tui.screens.edit.screen import EditScreen

MOST_HINT = 60
"""Cells of what may be at a place, in the title of its value."""

NAMES = tuple(name for name, _ in edit.PANES)
VERDICT_PANES = NAMES[2:]
"""Panes that share one slot if there is no room for all; where there is for two, the verdict is always shown."""


def text_bytes(text: str | None) -> bytes | None:
    """Text as bytes, with undecodable bytes restored; None if absent or not encodable."""
    try:
        return None if text is None else text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None


class EditContents:
    """Fills the panes with a judged request."""

    def __init__(self, screen: EditScreen) -> None:
        self.screen = screen

    def show(self, study: EditStudy) -> None:
        """Show a judged request."""
        screen = self.screen
        compared = RequestComparison(screen.index, screen.index, study.difference)
        screen.verdict.show(edit.study_notes(study), f"no findings under {study.contract}")
        screen.chain.show(study)
        screen.meaning.show(compared, study.places)
        screen.hunks.show(compared, study.places)
        found = study.difference
        self.entitle("verdict", "Verdict", study.told.verdict.value)
        self.entitle("chain", "Chain", *screen.chain.facts)
        self.entitle("meaning", "Meaning", f"{len(screen.meaning.changes):,}")
        self.entitle("bytes", "Bytes", f"{len(found.hunks):,}")
        if screen.study.is_settled:
            screen.outline.show(study, screen.pointer)
            screen.pointer = None
            self.show_value()
        screen.show_headline()

    def show_value(self) -> None:
        """Show the value of the row under the cursor."""
        row, judged_request = self.screen.outline.here, self.screen.judged_request
        if row is None or judged_request is None:
            return
        body = text_bytes(judged_request.text_of(row.element))
        value = self.screen.value
        value.show(judged_request.value(row.pointer) if body is None else body, why="empty")
        if not row.pointer and judged_request.broken_at is not None:
            value.mark_range(((judged_request.broken_at, judged_request.broken_at + 1),))
        self.entitle("value", "Value", row.name, clip(judged_request.hint(row.pointer), MOST_HINT))

    def entitle(self, name: str, *facts: str) -> None:
        """Put the digit of a pane and its title on the border."""
        words = " · ".join(fact for fact in facts if fact)
        self.screen.query_one(f"#{name}", LineView).title(line(f" {NAMES.index(name) + 1} {words} "))


class EditLayout:
    """Tells the style sheet which panes are in front; the sheet decides how many fit."""

    def __init__(self, screen: EditScreen) -> None:
        self.screen = screen
        self._focused, self._last_pane, self._verdict_pane = "outline", "value", "verdict"

    def focus(self, name: str) -> None:
        """Bring a pane to the front and focus it, or the field in it."""
        self.note_focus(name)
        self.screen.query_one(f"#{name}", LineView).focus(scroll_visible=False)
        if name == "value":
            self.screen.writer.focus()

    def note_focus(self, name: str) -> None:
        """Arrange the panes around the focused one."""
        if name not in NAMES:
            return
        screen = self.screen
        self._focused = name
        if name != "outline":
            self._last_pane = name
        if name in VERDICT_PANES:
            self._verdict_pane = name
        for pane in screen.query(LineView):
            pane.set_class(pane.id in ("value", self._verdict_pane), "-kept")
        screen.set_class(name == "outline", "-on-outline")
        screen.set_class(self._last_pane == "value", "-on-value")
        self.show_tabs()

    def show_tabs(self) -> None:
        """Name the panes in the tab bar, and highlight the visible ones."""
        is_wide, is_tall = self.screen.has_class("-wide"), self.screen.has_class("-tall")
        beside = NAMES[1:] if is_tall else (self._last_pane,)
        seen = ("outline", *beside) if is_wide else (self._focused,)
        self.screen.query_one("#tabs", TabBar).show_tabs(self._focused, seen)

    # Actions.

    def pane(self, step: int) -> None:
        """Go to the next pane, or the one before."""
        self.focus(NAMES[(NAMES.index(self._focused) + step) % len(NAMES)])

    def show(self, name: str) -> None:
        """Go to a pane."""
        self.focus(name)
