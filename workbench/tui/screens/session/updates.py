"""Updates of the session screen from the inspector's thread."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.safetext import visible
from workbench.tui.service import SessionList
from workbench.views import Line, Span, join_lines

if TYPE_CHECKING:
    from workbench.rules import InspectedExchange
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.service import Trouble
    from workbench.wire.session import Session


class SessionUpdates:
    """Shows what the inspector's thread reports: the list, rows, an opened exchange, a failure."""

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen

    def list_at_once(self, recording: Session) -> None:
        """Show the exchanges of a recording in the first paint: a page of its list takes 3 ms."""
        with suppress(WorkbenchError, OSError):  # a fault is reported by the inspector's thread
            self.list(SessionList(recording))
            self.screen.inspecting.is_listed = True

    def list(self, message: SessionList) -> None:
        """Show the exchanges of a session that has been opened."""
        screen = self.screen
        screen.state.list(message.name, message.summaries, message.damage, message.about)
        screen.notes.load()
        screen.exchanges.note_line = self._marks_of
        for damage in message.damage[:3]:
            screen.notify(visible(f"damaged: {damage}"), severity="warning", markup=False)
        screen.call_after_refresh(screen.panes.furnish)
        screen.type_ahead.release()
        screen.breakpoints.listen(message.is_live, message.path)
        screen.follower.update(message)

    def _marks_of(self, exchange: str) -> Line:
        """Signs for the row of an exchange: pause, branches, marks and notes."""
        screen = self.screen
        marks = (
            screen.breakpoints.line_of(exchange),
            screen.branches.line_of(exchange),
            screen.notes.line_of(exchange),
        )
        return join_lines(marks, Span(" "))

    def add_provisional(self, rows: tuple[InspectedExchange, ...]) -> None:
        """Show exchanges that were inspected by themselves."""
        self.screen.state.provision(rows)
        self.screen.refresh_lists()
        self.screen.navigation.rows_arrived()

    def add_rows(self, rows: tuple[InspectedExchange, ...]) -> None:
        """Show the rows inspected so far."""
        screen = self.screen
        was_done = screen.state.is_done
        screen.state.update(rows)
        screen.exchange_filter.add_rows()
        screen.refresh_lists()
        screen.navigation.rows_arrived()
        if screen.state.is_done and not was_done:
            screen.branches.load()
        screen.follower.announce_first_break()

    async def open_exchange(self, exchange_view: ExchangeView) -> None:
        """Show an exchange that has been opened, if it is still wanted."""
        screen = self.screen
        await screen.panes.furnish()
        if exchange_view.index != screen.navigation.goal.exchange:
            return
        self._show_findings_of(exchange_view)
        screen.show_exchange(exchange_view)
        screen.notes.show()
        screen.navigation.arrive(exchange_view)
        screen.pane_search.again()
        screen.follower.compare_clients(exchange_view)
        screen.type_ahead.release()

    def _show_findings_of(self, exchange_view: ExchangeView) -> None:
        """List the findings of the shown request: the recorded one, or its branch."""
        screen = self.screen
        is_branch = screen.branch_switch.is_branch(exchange_view.index)
        if screen.state.branch(exchange_view.index, exchange_view.row if is_branch else None):
            screen.repair_lookup.forget()
            screen.refresh_lists()
        if screen.branches.line_of(exchange_view.row.summary.id):
            screen.branch_switch.look(exchange_view.index)

    def fail(self, message: Trouble) -> None:
        """Show why an exchange, or the rest of the session, cannot be read."""
        screen = self.screen
        if message.index is None:
            screen.state.trouble = message.text
            screen.refresh_lists()
            if screen.opened is None:
                screen.show_exchange(None, message.text)
        elif message.index == screen.navigation.goal.exchange:
            screen.navigation.fail()
            screen.show_exchange(None, message.text)
        screen.notify(visible(message.text), severity="error", markup=False)
        screen.type_ahead.release()

    def waits(self) -> bool:
        """Say so if the open exchange is provisional: most actions need the exchanges before it."""
        opened, state = self.screen.opened, self.screen.state
        if opened is None or not opened.is_provisional:
            return False
        why = f"exchange {opened.index + 1:,} is provisional until all earlier exchanges are inspected"
        progress = state.progress()
        self.screen.notify(f"{why}{f': {progress}' if progress else ''}", markup=False)
        return True
