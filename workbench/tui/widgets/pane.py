"""Base of the panes of the session screen: they show an opened exchange and take part in its selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui import session_panes
from workbench.tui.widgets.lineview import LineView
from workbench.views import Span

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.selection import ExchangeSelection, Lights


class Pane(LineView):
    """A view of one exchange. Its id, or ``of`` for a second pane of the same, is a name of ``session_panes.PANES``."""

    def __init__(self, *, id: str, of: str = "") -> None:
        super().__init__(id=id)
        self.of = of or id
        slot = session_panes.row(self.of).slot
        self.set_class(slot in session_panes.SIDE_SLOTS, "side", update=False)
        self.set_class(slot not in session_panes.HALVES, "tall", update=False)
        self.set_class(slot in session_panes.HALVES, "half", update=False)

    opened: ExchangeView | None = None
    why_not = ""
    """Why no exchange is open."""

    def open(self, exchange_view: ExchangeView | None, why_not: str = "") -> None:
        """Show another exchange, or the reason that there is none."""
        self.opened, self.why_not = exchange_view, why_not
        self.cursor = 0
        self.opened_items.clear()
        self.lit = self.related = frozenset()
        self.reload()
        self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self.entitle()

    def grow(self, exchange_view: ExchangeView) -> None:
        """Show more of the open exchange; cursor, open items and scroll position are kept."""
        self.opened = exchange_view
        self.reload()

    def selection(self) -> ExchangeSelection | None:
        """Selection for the item under the cursor; None if it has none."""
        return None

    def light(self, selection: ExchangeSelection, lights: Lights, *, is_source: bool) -> None:
        """Highlight the items of the selection, and scroll to them unless the selection was made in this pane."""

    def entitle(self, *facts: str) -> None:
        """Show the pane's digit, name and facts on its border."""
        self.say(*facts)

    def say(self, *facts: str) -> None:
        """Show the pane's digit and name on its border, and other texts."""
        heading = f"{session_panes.digit(self.of)} {session_panes.row(self.of).title}"
        self.title((Span(" · ".join((heading, *(fact for fact in facts if fact)))),))

    def light_items(self, marked: frozenset[int], related: frozenset[int], *, is_source: bool) -> None:
        """Highlight items and put the cursor on the first one."""
        self.mark(marked, related)
        target = marked or related
        if target and not is_source and self.cursor not in target:
            self.move_to(min(target), center=True)
