"""Header and footer of the session screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.protocols.mcp import CALL_TOOL
from workbench.safetext import clip
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.keymap import keymap_of
from workbench.tui.models.headline import headline, key_words, mode_words, origin_word, upstream_of
from workbench.tui.models.state_line import state_line
from workbench.wire import ExchangeKind

if TYPE_CHECKING:
    from workbench.rules import InspectedExchange
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.views import Line


class SessionHeader:
    """Paints the name and state of the session, urgent lines below them, and the keys."""

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self._offers_repairs = True

    def show(self) -> None:
        """Paint the header and the footer again."""
        screen, state, opened = self.screen, self.screen.state, self.screen.opened
        row = opened.row if opened else None
        mode = mode_words(state, is_following=screen.follower.is_following)
        upstream = upstream_of(state, row.summary if row else None)
        banners = self._banners()
        has_state = opened is not None
        origin = clip(origin_word(state), 24)
        progress = self._progress("" if has_state and not banners else origin)
        lines = headline(state.name, row, screen.size.width, progress, mode, upstream, key_words(state))
        if opened and has_state:
            request = "" if banners else origin or "recorded"
            lines[1:] = self._with_state(lines[1:], state_line(opened.detail, request, screen.size.width))
        lines += banners
        bar = screen.query_one("#headline", Bar)
        bar.styles.height = len(lines)
        bar.show(lines)
        self.show_keys()

    def _with_state(self, facts: list[Line], state: Line) -> list[Line]:
        """The line of facts with the state below it; in a short window the state alone, unless they change."""
        session_state = self.screen.state
        is_told = not session_state.progress() and not session_state.shown_words()
        return [state] if is_told and not self.screen.has_class("-tall") else [*facts, state]

    def _progress(self, origin: str) -> str:
        """Shown exchanges, progress of the inspection, and origin of the session."""
        state, opened = self.screen.state, self.screen.opened
        words = state.shown_words(opened.index if opened else None)
        return " · ".join(f for f in (words, state.progress(), origin) if f)

    def _banners(self) -> list[Line]:
        screen = self.screen
        key = keymap_of(screen.app).row(keys.table()["session.branch"]).show
        switch = screen.branch_switch.banner(screen.opened.index, key, screen.size.width) if screen.opened else None
        return [*screen.breakpoints.banner(), *([switch] if switch else [])]

    def show_keys(self) -> None:
        """Show the keys that are of use now, and the state of the search."""
        searching = self.screen.pane_search
        search = f"/{clip(searching.wanted, 20)}  {searching.words()}  " if searching.wanted else ""
        self.screen.query_one("#keys", KeyBar).show_keys(keys.SEARCH if search else self._keys_of_use(), search)

    def follow_cursor(self) -> None:
        """Offer the key of the repairs only where the finding under the cursor has some."""
        if self.screen.repair_lookup.may_repair != self._offers_repairs:
            self.show_keys()

    def _keys_of_use(self) -> Sequence[keys.Key]:
        """Keys of the screen, the most useful ones for the open exchange first."""
        opened = self.screen.opened
        is_calm = self.screen.state.is_done and not self.screen.state.findings
        has_branch = opened and self.screen.branch_switch.has_branch(opened.index)
        table = keys.CALM if is_calm else keys.SESSION
        table = keys.with_branch(table) if has_branch else table
        is_hop = opened and _has_tool_results(self.screen.state.rows, opened)
        table = keys.with_tool_results(table) if is_hop else table
        self._offers_repairs = self.screen.repair_lookup.may_repair
        table = table if self._offers_repairs else keys.without_repairs(table)
        return keys.with_pause(table) if self.screen.breakpoints.paused_exchanges else table


def _has_tool_results(rows: Sequence[InspectedExchange], opened: ExchangeView) -> bool:
    """The shown exchange is a call of a tool server, or its request has results of some.

    Args:
        rows: inspected so far; the shown one may have been inspected alone, without the calls before it.
    """
    request = opened.decoded.exchange.request
    is_call = opened.row.summary.kind is ExchangeKind.MCP and request is not None and request.method == CALL_TOOL
    return is_call or (opened.index < len(rows) and bool(rows[opened.index].tool_links))
