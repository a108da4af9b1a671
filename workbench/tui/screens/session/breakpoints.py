"""Paused exchanges of a live session: a banner, a notice, and the screen that lists them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.keymap import keymap_of
from workbench.tui.models import pauses
from workbench.tui.models.pauses import PausedSide
from workbench.views import Line

if TYPE_CHECKING:
    from pathlib import Path

    from textual.timer import Timer

    from workbench.tui.pause_listener import PauseChange, PauseListener
    from workbench.tui.screens.breakpoints.screen import BreakpointsScreen
    from workbench.tui.screens.session.screen import SessionScreen

SECONDS = 12.0
"""Duration of the notice of a paused exchange; the banner lasts as long as the pause."""

LISTED_IN = 0.3
"""Seconds within which the session lists a paused exchange, with its number."""


class BreakpointBanner:
    """Listens to the recorders of the session, and shows the exchanges that they paused."""

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self.listener: PauseListener | None = None
        self._list: BreakpointsScreen | None = None
        self._path: Path | None = None
        self._ticking: Timer | None = None

    def listen(self, is_live: bool, path: Path | None = None) -> None:
        """Listen while a recorder writes the session; ``path`` is its file, None if known from before."""
        self._path = path or self._path
        if is_live and self._path and self.listener is None:
            from workbench.tui.pause_listener import PauseListener

            self.listener = PauseListener(self._path, self.screen.post_message)
            self.listener.start()
        elif not is_live and self.listener and not self.listener.recorders:
            self.listener.stop()
            self.listener = None

    def stop(self) -> None:
        """Stop listening."""
        if self.listener:
            self.listener.stop()

    def change(self, message: PauseChange) -> None:
        """Show what was paused or released."""
        screen = self.screen
        if paused := message.came:
            announce = partial(self._announce, paused)
            if screen.state.index_of(paused.exchange) is None:
                screen.set_timer(LISTED_IN, announce)
            else:
                announce()
        if paused := message.ended:
            name = pauses.paused_name(paused, screen.state.number_of(paused.exchange))
            screen.notify(visible(f"{name} was released: {message.how}"), markup=False)
        if self.paused_exchanges and self._ticking is None:
            self._ticking = screen.set_interval(1.0, self._tick)
        screen.exchanges.reload()
        screen.header.show()
        if self._list and self._list.is_mounted:  # it may be on the way to the screen, without its parts
            self._list.refresh_pauses()

    @property
    def paused_exchanges(self) -> list[PausedSide]:
        """Paused exchanges, the oldest first."""
        return self.listener.paused_sides if self.listener else []

    def _announce(self, paused: PausedSide) -> None:
        """Notify of a paused exchange, unless the person looks at the header of the session or the list of pauses."""
        is_told = self.screen.is_current or (self._list is not None and self._list.is_current)
        if is_told or paused not in self.paused_exchanges:
            return
        name = pauses.paused_name(paused, self.screen.state.number_of(paused.exchange))
        title = f"{pauses.SIGN} {name} is paused: {paused.why}"
        words = visible(pauses.announcement(paused, self._key))
        self.screen.notify(words, title=visible(title), severity="warning", timeout=SECONDS, markup=False)

    def _tick(self) -> None:
        """Update the duration of the pause and the remaining time of the client, each second."""
        if self.screen.is_current:
            self.screen.header.show()
        if self._ticking and not self.paused_exchanges:
            self._ticking.stop()
            self._ticking = None

    @property
    def _key(self) -> str:
        return keymap_of(self.screen.app).row(keys.table()["session.breaks"]).show

    def banner(self) -> list[Line]:
        """Line below the header; empty if nothing is paused."""
        paused = self.paused_exchanges
        if not paused:
            return []
        from workbench.tui.pause_listener import now

        number = self.screen.state.number_of(pauses.first_to_decide(paused).exchange)
        return [pauses.banner(paused, number, self._key, now())]

    def line_of(self, exchange: str) -> Line:
        """Sign of a paused exchange, for its row."""
        is_paused = any(each.exchange == exchange for each in self.paused_exchanges)
        return (pauses.PAUSED,) if is_paused else ()

    # Action.

    def breaks(self) -> None:
        """Open the list of paused exchanges and breakpoints."""
        if self.listener is None or not self.listener.recorders:
            over = "breakpoints need a live recording (r on Home starts one)"
            self.screen.notify(
                "the recorder of this session does not support breakpoints" if self.screen.state.is_live else over,
                markup=False,
            )
            return
        from workbench.tui.screens.breakpoints.screen import BreakpointsScreen

        def show(index: int | None) -> None:
            self._list = None
            if index is not None:
                self.screen.navigation.open(index)

        self._list = BreakpointsScreen(self.screen, self.listener)
        self.screen.app.push_screen(self._list, show)
