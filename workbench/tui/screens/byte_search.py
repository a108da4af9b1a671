"""Search screen: a text in the bytes of all exchanges of the session, with counts."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.screen import Screen

from workbench.tui import keys
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.models import byte_search
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.worklist import ListPane
from workbench.tui.selection import SessionSpot
from workbench.tui.service import JobAnswer, guard, is_open
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, line, progress_line

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui.models.byte_search import ExchangeMatches
    from workbench.tui.screens.session.screen import SessionScreen

SLICE_SECONDS = 0.1
"""Seconds of searching at a time; between two of them the inspection and other questions go on."""

WAIT_SECONDS = 0.3
"""Seconds until the search asks again for exchanges that were not inspected yet."""


class ByteSearchScreen(Screen["SessionSpot | None"]):
    """Lists the exchanges that contain a text. Dismissed with its first match in one, or None.

    Args:
        session: the session below.
        wanted: the text; a capital letter in it makes the search case-sensitive.
    """

    CSS_PATH = "byte_search.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.BYTE_SEARCH
    BINDINGS = keys.bindings(keys.BYTE_SEARCH)

    found_list = getters.query_one("#found", ListPane)

    def __init__(self, session: SessionScreen, wanted: str) -> None:
        super().__init__()
        self.session, self.wanted = session, wanted
        self.found: list[ExchangeMatches] = []
        self.done = 0
        self.trouble = ""
        self.is_stopped = False

    def compose(self) -> ComposeResult:
        yield Headline()
        yield ListPane(id="found")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_MATCH, *keys.BYTE_SEARCH])
        self.found_list.title(line(" Exchanges "))
        self.found_list.focus()
        self._show()
        self._ask()

    @property
    def is_over(self) -> bool:
        """No exchange is searched any more."""
        return self.is_stopped or bool(self.trouble) or self.done >= self.session.state.total

    # The search, in the inspector's thread.

    def _ask(self) -> None:
        if not self.is_over and is_open(self):
            self.session.inspecting.do(guard(partial(self._search, self.done), self._fail))

    def _search(self, start: int, inspector: Inspector) -> JobAnswer:
        until = time.monotonic() + SLICE_SECONDS
        found, number = [], start
        for row in inspector.rows[start:]:
            decoded = inspector.read_exchange(row.index)
            matches = byte_search.search_exchange(decoded, self.wanted) if decoded else None
            found += [matches] if matches else []
            number += 1
            if time.monotonic() > until:
                break
        return JobAnswer(partial(self._take, number, found))

    def _take(self, done: int, exchange_matches: list[ExchangeMatches]) -> None:
        if not is_open(self):
            return
        is_waiting = done == self.done
        self.done, self.found = done, [*self.found, *exchange_matches]
        self._show()
        if is_waiting:
            self.set_timer(WAIT_SECONDS, self._ask)
        else:
            self._ask()

    def _fail(self, why: str) -> None:
        self.trouble = why
        if is_open(self):
            self._show()

    # What is shown.

    def _show(self) -> None:
        total = self.session.state.total
        lines = [byte_search.headline(self.wanted, self.found, self.done, total), self._progress(total)]
        self.query_one("#headline", Bar).show(lines)
        self.query_one("#keys", KeyBar).run(not self.is_over)
        digits = len(f"{total:,}")
        why = "searching …" if not self.is_over else "no exchange contains this text"
        self.found_list.show(len(self.found), lambda item: byte_search.matches_line(self.found[item], digits), why)

    def _progress(self, total: int) -> Line:
        if self.trouble:
            return line(Span(f" {self.trouble}", "error"))
        if self.done >= total:
            return line(Span(" all bytes of all exchanges, also in JSON-escaped form", "muted"))
        stopped = " · stopped" if self.is_stopped else " · esc: cancel"
        return line(" ", *progress_line(self.done, total, "exchanges"), Span(stopped, "muted"))

    # Keys.

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        found = self.found[self.found_list.cursor]
        self.dismiss(SessionSpot(found.exchange, found.side, found.offset))

    def action_again(self) -> None:
        """Ask for another text."""
        from workbench.tui.screens.questions import AskScreen

        self.app.push_screen(AskScreen("Search", "the bytes of all exchanges", self.wanted), self._begin)

    def _begin(self, wanted: str | None) -> None:
        if wanted:
            self.wanted, self.found, self.done, self.trouble, self.is_stopped = wanted, [], 0, "", False
            self._show()
            self._ask()

    def action_leave(self) -> None:
        """Cancel the search and keep what was found; when it is over, go back."""
        if self.is_over:
            self.dismiss(None)
        else:
            self.is_stopped = True
            self._show()

    def action_back(self) -> None:
        self.dismiss(None)
