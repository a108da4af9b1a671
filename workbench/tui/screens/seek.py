"""Finding one's way in a session: filter, search, marks and notes. What the keys do is in a module each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.screens.desk import Desk

if TYPE_CHECKING:
    from workbench.tui.filtering import Filtering
    from workbench.tui.noting import Noting
    from workbench.tui.searching import Searching


class Seeker(Desk):
    """A desk with a filter, a search and a notebook."""

    searching: Searching

    @property
    def filtering(self) -> Filtering:
        """The filter."""
        raise NotImplementedError

    @property
    def noting(self) -> Noting:
        """Marks and notes."""
        raise NotImplementedError

    def show_notes(self) -> None:
        """Show marks and notes where they are."""
        self.exchanges.refresh()
        from workbench.tui.panes.exchange import ExchangePane

        ir = self.query_one("#ir", ExchangePane)
        opened = self.opened
        ir.noted = self.noting.items_of(opened.outline.by_pointer) if opened else {}
        ir.refresh()

    def show_keys(self) -> None:
        self.search = self.searching.wanted
        super().show_keys()

    def search_words(self) -> str:
        """How the search stands, for the footer."""
        return self.searching.words()

    def action_filter(self) -> None:
        self.filtering.ask()

    def action_mark(self) -> None:
        self.noting.mark()

    def action_note(self) -> None:
        self.noting.ask()

    def action_next_mark(self) -> None:
        self.noting.next()

    def action_search(self) -> None:
        self.searching.ask()

    def action_match(self, step: int) -> None:
        if self.searching.wanted:
            self.searching.step(step)

    def stop_seeking(self) -> bool:
        """End what esc ends first: a search, then the reading for a filter. False where there is neither."""
        if self.searching.wanted:
            self.searching.end()
            self.show_keys()
            return True
        if self.filtering.is_reading:
            self.filtering.stop()
            return True
        return False
