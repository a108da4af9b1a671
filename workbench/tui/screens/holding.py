"""A session whose recorder may hold exchanges at breakpoints: whoever looks at it is told at once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.models import pauses
from workbench.tui.models.pauses import Held
from workbench.tui.screens.follow import Follower
from workbench.tui.service import Listed, SessionGrew
from workbench.views.lines import Line, Span

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.tui.app import WorkbenchApp
    from workbench.tui.pausing import PausesChanged, Pausing, PausingTrouble
    from workbench.tui.screens.breakpoints import BreakpointsScreen
    from workbench.tui.screens.session import SessionScreen

SECONDS = 12.0
"""How long it is said that something is held; the header says it as long as it is."""

LISTED_IN = 0.3
"""Seconds in which what is held is in the list of the session, and has a number."""


class Holding(Follower):
    """A desk that listens to the recorders of its session."""

    def __init__(self) -> None:
        super().__init__()
        self.pausing: Pausing | None = None
        self._breaking: BreakpointsScreen | None = None
        self._path: Path | None = None
        self._ticking: Timer | None = None

    def on_listed(self, message: Listed) -> None:
        self._path = message.path
        self._listen(message.is_live)

    def on_session_grew(self, message: SessionGrew) -> None:
        self._listen(message.is_live)

    def _listen(self, is_live: bool) -> None:
        """While a process writes the session."""
        if is_live and self._path and self.pausing is None:
            from workbench.tui.pausing import Pausing

            self.pausing = Pausing(self._path, self.post_message)
            self.pausing.start()
        elif not is_live and self.pausing and not self.pausing.recorders:
            self.pausing.stop()
            self.pausing = None

    def on_unmount(self) -> None:
        if self.pausing:
            self.pausing.stop()

    def on_pauses_changed(self, message: PausesChanged) -> None:
        if held := message.came:
            announce = partial(self._announce, held)
            if self.index_of(held.exchange) is None:
                self.set_timer(LISTED_IN, announce)
            else:
                announce()
        if held := message.ended:
            name = pauses.named(held, self.number_of(held.exchange))
            self.notify(visible(f"{name} is held no longer: {message.how}"), markup=False)
        if self.pausing and self.pausing.held and self._ticking is None:
            self._ticking = self.set_interval(1.0, self._tick)
        self.exchanges.reload()
        self._show_headline()
        if self._breaking and self._breaking.is_attached:
            self._breaking.refresh_pauses()

    def _announce(self, held: Held) -> None:
        """Say that something is held, unless the person looks at the list of it."""
        is_listed = self._breaking is not None and self._breaking.is_current
        if is_listed or not (self.pausing and held in self.pausing.held):
            return
        title = f"{pauses.SIGN} {pauses.named(held, self.number_of(held.exchange))} is held: {held.why}"
        words = visible(pauses.announced(held, self._key))
        self.notify(words, title=visible(title), severity="warning", timeout=SECONDS, markup=False)

    def on_pausing_trouble(self, message: PausingTrouble) -> None:
        self.notify(visible(message.text), title="breakpoints", severity="warning", markup=False)

    def _tick(self) -> None:
        """A second is over: how long something is held, and its client still waits."""
        if self.is_current:
            self._show_headline()
        if self._ticking and not (self.pausing and self.pausing.held):
            self._ticking.stop()
            self._ticking = None

    @property
    def _key(self) -> str:
        return cast("WorkbenchApp", self.app).keymap.row(keys.table()["session.breaks"]).show

    def banner(self) -> list[Line]:
        held = self.pausing.held if self.pausing else []
        if not held:
            return []
        from workbench.tui.pausing import now

        number = self.number_of(pauses.first_to_decide(held).exchange)
        return [pauses.banner(held, number, self._key, now())]

    def held_line(self, exchange: str) -> Line:
        """The sign of what is held, for the row of its exchange."""
        held = self.pausing.held if self.pausing else []
        return (Span(f"{pauses.SIGN} held", "warning strong"),) if any(h.exchange == exchange for h in held) else ()

    def index_of(self, exchange: str) -> int | None:
        """Where an exchange is, by its id; None while the list does not have it."""
        newest = reversed(self.state.summaries)
        return next((summary.index for summary in newest if summary.id == exchange), None)

    def number_of(self, exchange: str) -> int | None:
        """Its number as people count."""
        index = self.index_of(exchange)
        return None if index is None else index + 1

    def action_breaks(self) -> None:
        """What is held, and what it is held for."""
        if self.pausing is None or not self.pausing.recorders:
            over = "this session is not being recorded: breakpoints are those of a live one"
            self.notify("its recorder takes no breakpoints" if self.state.is_live else over, markup=False)
            return
        from workbench.tui.screens.breakpoints import BreakpointsScreen

        def shown(index: int | None) -> None:
            self._breaking = None
            if index is not None:
                self.open_exchange(index)

        self._breaking = BreakpointsScreen(cast("SessionScreen", self), self.pausing)
        self.app.push_screen(self._breaking, shown)
