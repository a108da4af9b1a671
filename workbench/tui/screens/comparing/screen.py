"""Compare screen: two exchanges, two hops of a session, or two sessions, aligned; the first difference first.

Panes of the Compare screen: turns, differences of one turn, and both of its sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.list_search import search_of
from workbench.tui.models import comparing
from workbench.tui.models.comparing import ComparedRow, ComparedTurn
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.comparing.comparison import Sides, TurnComparison, begin
from workbench.tui.selection import SessionSpot
from workbench.tui.service import is_open
from workbench.tui.widgets.lineview import LineView
from workbench.views import REQUEST, Line, Span, line, wrap

if TYPE_CHECKING:
    from workbench.diff.damage import Damage
    from workbench.tui.compare_sources import CollationSource
    from workbench.tui.screens.session.screen import SessionScreen


SAME = "no difference: both sides are identical"


class TurnsPane(LineView):
    """Turns, each with its differences in short."""

    turns: list[ComparedTurn]
    pairing: comparing.Pairing

    def count(self) -> int:
        return len(self.turns)

    def head(self, item: int, width: int) -> Line:
        return comparing.turn_line(self.turns[item], self.pairing)


class DamagesPane(LineView):
    """Differences of one turn; the one under the cursor in full."""

    is_accordion = fills = hangs = True
    turn: ComparedTurn | None = None
    pairing: comparing.Pairing

    def show(self, turn: ComparedTurn | None) -> None:
        if turn != self.turn:
            self.turn, self.cursor = turn, 0
        self.reload()

    def count(self) -> int:
        return len(self.turn.damages) if self.turn else 0

    def head(self, item: int, width: int) -> Line:
        assert self.turn
        return comparing.damage_line(self.turn.damages[item])

    def further(self, item: int, width: int) -> list[Line]:
        assert self.turn
        return comparing.damage_body(self.turn.damages[item], self.turn, self.pairing, width)

    def nothing(self, width: int) -> list[Line]:
        if self.turn is None:
            return wrap("comparing …", width, "muted")
        return wrap(SAME, width, "ok")


class BothSidesPane(LineView):
    """Both sides of a turn, with the differing places expanded."""

    places: tuple[ComparedRow, ...] = ()
    why = "…"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.bodies = comparing.BodyRows()

    def show(self, places: tuple[ComparedRow, ...], why: str) -> None:
        self.places, self.why, self.cursor = places, why, 0
        self.bodies = comparing.BodyRows()
        self.opened_items = {n for n, place in enumerate(places) if not place.row.is_same}
        self.reload()
        self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def count(self) -> int:
        return len(self.places)

    def head(self, item: int, width: int) -> Line:
        return comparing.place_line(self.places[item])

    def further(self, item: int, width: int) -> list[Line]:
        return comparing.place_body(self.places[item], width, self.bodies)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted")


class ComparingScreen(Screen["SessionSpot | None"]):
    """Compares two sources. Dismissed with a place to show in the session, or None.

    Args:
        session: the session below.
        source: both sides of the first comparison.
        index: index of the open exchange; its turn is shown first if nothing differs before it.

    Attributes:
        comparison: the shown comparison.
    """

    CSS_PATH = "comparing.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.COMPARE
    BINDINGS = keys.bindings(keys.COMPARE)

    turns = getters.query_one("#compared-turns", TurnsPane)
    found = getters.query_one("#what-happened", DamagesPane)
    beside = getters.query_one("#both-sides", BothSidesPane)

    def __init__(self, session: SessionScreen, source: CollationSource, index: int) -> None:
        super().__init__()
        self.search = search_of(self)
        self.session = session
        self.index = index
        self._take(source)

    def _take(self, source: CollationSource) -> None:
        self.comparison = TurnComparison(self, source)
        self._has_moved = False
        self._open_turn: ComparedTurn | None = None
        self.sides: Sides = (None, None)

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="body"):
            with Container(id="left"):
                yield TurnsPane(id="compared-turns")
                yield DamagesPane(id="what-happened")
            yield BothSidesPane(id="both-sides")
        yield Bar(id="nothing")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_CHANGE, *keys.COMPARE])
        self.found.focus()
        self._begin()

    def _begin(self) -> None:
        self.turns.turns = self.comparison.turns
        self.turns.pairing = self.found.pairing = self.comparison.source.pairing
        self.show()
        self.comparison.compare()

    def on_unmount(self) -> None:
        self.comparison.close()

    def on_resize(self) -> None:
        self.call_after_refresh(self._head_columns)

    # What is shown.

    @property
    def turn(self) -> ComparedTurn | None:
        """Turn under the cursor."""
        turns = self.comparison.turns
        return turns[self.turns.cursor] if turns else None

    @property
    def damage(self) -> Damage | None:
        """Difference under the cursor."""
        turn = self.turn
        return turn.damages[self.found.cursor] if turn and turn.damages else None

    def show_turns(self) -> None:
        """Show more turns; the cursor goes to the first difference until the person moves it."""
        if not self._has_moved:
            turns = self.comparison.turns
            own = next((n for n, turn in enumerate(turns) if self.index in (turn.before, turn.after)), 0)
            self.turns.move_to(next((n for n, turn in enumerate(turns) if not turn.is_same), own))
        self.show()

    def show(self) -> None:
        """Paint everything again."""
        comparison = self.comparison
        lines = comparing.headline(comparison.source.pairing, comparison.turns, is_over=comparison.is_over)
        if comparison.trouble:
            lines = [lines[0], line(Span(f" {comparison.trouble}", "error"))]
        self.query_one("#headline", Bar).show(lines)
        self.set_class(comparison.is_over and not comparison.turns, "-nothing")
        self.set_class(len(comparison.turns) < 2 and comparison.is_over, "-one")
        self.query_one("#nothing", Bar).show(self._nothing())
        self.turns.reload()
        self.turns.title(line(f" Turns · {len(comparison.turns):,} "))
        self._show_turn()

    def _nothing(self) -> list[Line]:
        width = max(20, self.size.width - 4)
        why = self.comparison.trouble or "There is nothing to compare: neither side has an exchange."
        return [*wrap(why, width), (), *wrap("o: compare with something else · q: back", width, "muted")]

    def _show_turn(self) -> None:
        turn = self.turn
        self.found.show(turn)
        self.found.title(comparing.damages_title(turn))
        if turn is not None and turn is not self._open_turn:
            self._open_turn = turn
            self.beside.show((), "…")
            self.comparison.look(turn, self._show_sides)

    def _show_sides(self, turn: ComparedTurn, sides: Sides, compared_rows: tuple[ComparedRow, ...]) -> None:
        if not is_open(self) or turn is not self._open_turn:
            return
        self.sides = sides
        is_alone = None in (turn.before, turn.after)
        self.beside.show(compared_rows, "this exchange is only on one side" if is_alone else SAME)
        self._head_columns()
        self._light()

    def _head_columns(self) -> None:
        if turn := self._open_turn:
            pairing = self.comparison.source.pairing
            self.beside.title(comparing.sides_title(pairing, turn, self.sides, self.beside.text_width))

    def _light(self) -> None:
        """Highlight the place of the difference under the cursor."""
        at = self._place_of_damage() if self.turn is self._open_turn else None
        self.beside.mark(frozenset() if at is None else frozenset((at,)))
        if at is not None:
            self.beside.move_to(at, center=True)

    def _place_of_damage(self) -> int | None:
        """Number of the place of the difference under the cursor."""
        damage, turn = self.damage, self.turn
        return comparing.place_of(damage, self.beside.places, turn) if damage and turn else None

    # Keys.

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        self._has_moved = True
        if message.view is self.turns:
            self._show_turn()
        elif message.view is self.found:
            self._light()

    def action_next(self, step: int) -> None:
        """Go to the next difference, in this turn or another one."""
        self._has_moved = True
        turns, here = self.comparison.turns, self.found.cursor + step
        if self.turn and 0 <= here < len(self.turn.damages):
            self.found.move_to(here)
            self._light()
            return
        numbers = range(self.turns.cursor + step, len(turns) if step > 0 else -1, step)
        other = next((n for n in numbers if turns[n].damages), None)
        if other is None:
            self.notify(f"no more differences {'after' if step > 0 else 'before'} this one", markup=False)
            return
        self._go_to(other, -1 if step < 0 else 0)

    def action_turn(self, step: int) -> None:
        """Go to the next turn, with or without a difference."""
        self._has_moved = True
        number = self.turns.cursor + step
        if 0 <= number < len(self.comparison.turns):
            self._go_to(number, 0)

    def _go_to(self, number: int, damage: int) -> None:
        self.turns.move_to(number)
        self._show_turn()
        self.found.move_to(damage % max(1, self.found.count()))

    action_search = ActionOf("search", "ask")
    action_match = ActionOf("search")
    action_leave = ActionOf("search")

    def action_pane(self, step: int) -> None:
        several = len(self.comparison.turns) > 1
        panes: list[LineView] = [self.turns, self.found, self.beside] if several else [self.found, self.beside]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        panes[(at + step) % len(panes)].focus()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        """Go to the bytes in the session below."""
        turn = self.turn
        at = self.beside.cursor if message.view is self.beside else None
        if at is None:
            at = self._place_of_damage()
        if turn is None:
            return
        index = turn.before if turn.before is not None else turn.after if self.comparison.source.is_own else None
        if index is None:
            self.notify("this exchange is not in this session", markup=False)
            return
        place = self.beside.places[at] if at is not None and self.beside.places else None
        span = (place.before or (0, 0)) if place else (0, 0)
        self.dismiss(SessionSpot(index, place.side if place else REQUEST, span[0]))

    def action_other(self) -> None:
        """Compare with something else."""
        from workbench.tui.screens.comparing.other import ask_other

        ask_other(self.session, self.index, self._choose)

    def _choose(self, source: CollationSource) -> None:
        self.comparison.close()
        self._take(source)
        self._begin()

    def action_hops(self) -> None:
        """Compare the next two hops of this session."""
        begin(self.session, self.index, self._choose, self._notify_none, self.comparison.source)

    def _notify_none(self) -> None:
        self.notify("this session was recorded at only one hop", markup=False)

    def action_back(self) -> None:
        self.dismiss(None)
