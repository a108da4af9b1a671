"""Base of the panes of the session screen: they show an opened exchange and take part in its selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui import session_panes
from workbench.tui.panes.lineview import LineView
from workbench.views import Span

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.selection import ExchangeSelection, Lights


class Pane(LineView):
    """A view of one exchange. Its id is a name of ``session_panes.PANES``."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        slot = session_panes.row(id).slot
        self.set_class(slot in session_panes.SIDE_SLOTS, "side")
        self.set_class(slot not in session_panes.HALVES, "tall")

    opened: ExchangeView | None = None
    why_not = ""
    """Why no exchange is open."""

    def open(self, opened: ExchangeView | None, why_not: str = "") -> None:
        """Show another exchange, or none and why."""
        self.opened, self.why_not = opened, why_not
        self.cursor = 0
        self.opened_items.clear()
        self.lit = self.related = frozenset()
        self.reload()
        self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self.entitle()

    def grow(self, opened: ExchangeView) -> None:
        """There is more of the exchange that is open: the cursor, what is open and what is seen stay."""
        self.opened = opened
        self.reload()

    def selection(self) -> ExchangeSelection | None:
        """Selection for the item under the cursor; None if it has none."""
        return None

    def light(self, selection: ExchangeSelection, lights: Lights, *, is_source: bool) -> None:
        """Show what belongs to the selection, and bring it into sight unless it was made here."""

    def entitle(self, *facts: str) -> None:
        """The pane's digit, name and facts on its border."""
        self.say(*facts)

    def say(self, *facts: str) -> None:
        """The pane's digit and name on its border, and words of the moment."""
        name = self.id or ""
        heading = f"{session_panes.digit(name)} {session_panes.row(name).title}"
        self.title((Span(" · ".join((heading, *(fact for fact in facts if fact)))),))

    def light_items(self, lit: frozenset[int], related: frozenset[int], *, is_source: bool) -> None:
        """Light items and put the cursor on the first lit one."""
        self.mark(lit, related)
        target = lit or related
        if target and not is_source and self.cursor not in target:
            self.move_to(min(target), center=True)
