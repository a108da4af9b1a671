"""Navigation to an exchange, a finding or a byte of the session, with progress while it is not shown yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy_dataclass import dataclass, replace
from workbench.tui.models import findings as walk
from workbench.tui.selection import SessionSpot
from workbench.tui.widgets.lineview import LineView
from workbench.views import REQUEST

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.views import StoryItem


@dataclass(frozen=True)
class Goal:
    """Exchange to show, and the place in it: the first one given, else its first finding.

    Attributes:
        exchange: index of the exchange; None if none is wanted.
        event: stream event of its response.
        byte: offset in the body of ``side``.
        note: (side, pointer) of a mark or note; both empty for one on the whole exchange.
        finding: number of one of the session's findings.
        is_tentative: chosen by default; the first break replaces it.
        is_failed: the exchange cannot be opened.
    """

    exchange: int | None = None
    event: int | None = None
    byte: int | None = None
    side: str = REQUEST
    note: tuple[str, str] | None = None
    finding: int | None = None
    is_tentative: bool = False
    is_failed: bool = False


PATIENCE = 0.2
"""Seconds before the screen says which exchange is being opened."""


class Navigation:
    """Place that the session screen shows, or is opening.

    Attributes:
        goal: wanted place; once opened, the shown one.
    """

    def __init__(self, screen: SessionScreen, exchange: int | None) -> None:
        self.screen = screen
        self.goal = Goal(exchange, is_tentative=exchange is None)

    @property
    def here(self) -> ExchangeView | None:
        """Open exchange if it is the wanted one."""
        opened = self.screen.opened
        return opened if opened and opened.index == self.goal.exchange else None

    # Going somewhere.

    def open(self, exchange: int) -> None:
        """Show an exchange."""
        self.go(Goal(exchange))

    def go(self, goal: Goal) -> None:
        """Show an exchange, and a place in it."""
        assert goal.exchange is not None
        self.stay()
        self.goal = goal
        self.screen.inspecting.ask(goal.exchange)
        self.screen.set_timer(PATIENCE, self.announce)

    def start_at(self, exchange: int) -> None:
        """Expect the exchange that is opened before anything is inspected, unless the person has chosen one."""
        if self.goal.exchange is None:
            self.goal = Goal(exchange, is_tentative=True)
            self.screen.set_timer(PATIENCE, self.announce)

    def stay(self) -> None:
        """Keep the selection in place when findings or events arrive later."""
        self.choose()
        self.screen.follower.is_following = False

    def choose(self) -> None:
        """Mark the exchange as chosen by the person."""
        self.goal = replace(self.goal, is_tentative=False)

    def fail(self) -> None:
        """Note that the wanted exchange cannot be opened."""
        self.goal = replace(self.goal, is_failed=True)

    def arrive(self, exchange_view: ExchangeView) -> None:
        """Select the wanted place in the opened exchange."""
        screen, goal = self.screen, self.goal
        findings = screen.state.found.of(exchange_view.index)
        found = next((each for each in findings if each[0] == goal.finding), findings[0] if findings else None)
        if goal.event is not None:
            screen.pointer.select(exchange_view.at_event(goal.event))
        elif goal.byte is not None:
            self._select_byte(exchange_view, goal.side, goal.byte)
        elif goal.note is not None:
            side, pointer = goal.note
            screen.pointer.select(exchange_view.at_pointer(side, pointer) if side else exchange_view.at_start())
        elif found is None:
            if not screen.follower.show_newest(exchange_view):
                screen.pointer.select(exchange_view.at_start())
        else:
            screen.findings.move_to(found[0])
            screen.pointer.select(exchange_view.at_finding(found[1]), source=screen.findings)
        self.goal = replace(goal, note=None)

    def _select_byte(self, exchange_view: ExchangeView, side: str, offset: int) -> None:
        """Select the value that contains a byte, and put the cursor of the wire on the byte."""
        self.screen.pointer.select(exchange_view.at_byte(side, offset))
        self.screen.wire.show_side(side)
        self.screen.wire.go_to(offset)

    def announce(self) -> None:
        """Show which exchange is being opened, if that takes long."""
        state, exchange = self.screen.state, self.goal.exchange
        if exchange is None or self.here:
            return
        if not self.screen.panes.is_furnished or self.goal.is_failed or state.trouble:
            return
        if exchange < len(state.rows):
            self.screen.wire.say(f"decoding exchange {exchange + 1:,} …")
        else:
            why = f"exchange {exchange + 1:,} is not inspected yet"
            self.screen.show_exchange(None, f"{why}: {state.progress()}")

    def rows_arrived(self) -> None:
        """Go to the first break once there is one; show the progress while the wanted exchange is not inspected."""
        if self.goal.is_tentative:
            self._go_to_first_break()
        exchange = self.goal.exchange
        if self.screen.opened is None and exchange is not None and exchange >= len(self.screen.state.rows):
            self.announce()

    def _go_to_first_break(self) -> None:
        """Go to the first error once found, at the end to the first warning; until then to the first exchange."""
        state = self.screen.state
        number = walk.first_break(state.findings)
        if number is not None and (state.is_done or state.findings[number].severity == "error"):
            self.choose()
            self.go_to_finding(number)
            if isinstance(self.screen.focused, LineView):  # else the person is typing
                self.screen.panes.focus("findings")
        elif self.goal.exchange is None and (first := self._first_judged()) is not None:
            self.go(Goal(first, is_tentative=not state.is_done))

    def _first_judged(self) -> int | None:
        """The first exchange with a model or a tool server; at the end the first one; None if there is none yet."""
        rows = self.screen.state.rows
        first = next((row.index for row in rows if row.is_judged), None)
        return 0 if first is None and rows and self.screen.state.is_done else first

    def go_to_finding(self, number: int) -> None:
        """Show a finding of the session and its bytes."""
        screen = self.screen
        finding = screen.state.findings[number]
        screen.findings.move_to(number)
        screen.header.follow_cursor()
        screen.panes.bring_bytes_to_front()
        if self.here and self.here.index == finding.exchange:
            screen.pointer.select(self.here.at_finding(finding), source=screen.findings)
        else:
            self.go(Goal(finding.exchange, finding=number))

    def go_to_item(self, item: StoryItem | None) -> None:
        """Show the place of an item of the story."""
        if item is None:
            return
        findings = self.screen.state.findings
        is_it = (item.label, item.exchange, item.pointer)
        named = [n for n, f in enumerate(findings) if (f.rule, f.exchange, f.pointer) == is_it]
        if item.kind == "finding" and named:
            self.go_to_finding(named[0])
            return
        self.go(Goal(item.exchange, note=(item.side, item.pointer)))
        self.screen.panes.focus("ir" if item.side else "exchanges")

    def go_to_event(self, event: int | None) -> None:
        """Return from the stream screen to an event of the open response on the wire."""
        screen = self.screen
        screen.follower.stream = None
        screen.header.show()
        if event is not None and screen.opened:
            screen.pointer.select(screen.opened.at_event(event))
            screen.panes.focus("wire")

    def go_to_byte(self, place: tuple[int, int] | None) -> None:
        """Show a byte of a request, given as (exchange, offset)."""
        self.go_to_spot(place and SessionSpot(place[0], REQUEST, place[1]))

    def go_to_spot(self, place: SessionSpot | None) -> None:
        """Show a place found by another screen, on the wire."""
        if place is None:
            return
        if self.here and self.here.index == place.exchange:
            self._select_byte(self.here, place.side, place.offset)
        else:
            self.go(Goal(place.exchange, byte=place.offset, side=place.side))
        self.screen.panes.focus("wire")
