"""The Compare screen: two exchanges, two places of a session, or two sessions, aligned; the first divergence first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.models import comparing
from workbench.tui.models.comparing import Place, Turn
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.panes.lineview import LineView
from workbench.tui.selection import Spot
from workbench.tui.service import Answer, guarded, is_open
from workbench.views import REQUEST, Line, Span, line, wrap

if TYPE_CHECKING:
    from workbench.diff.damage import Damage
    from workbench.protocols import DecodedExchange
    from workbench.rules import Inspector
    from workbench.tui.collating import Source
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.service import Job

SLICE = 0.1
"""Seconds of comparing between two looks at what was found."""


class TurnsPane(LineView):
    """Every turn, with what became of it."""

    turns: list[Turn]
    pairing: comparing.Pairing

    def count(self) -> int:
        return len(self.turns)

    def head(self, item: int, width: int) -> Line:
        return comparing.turn_line(self.turns[item], self.pairing)


class DamagesPane(LineView):
    """What happened to one turn; the one under the cursor is told in full."""

    is_accordion = True
    turn: Turn | None = None
    pairing: comparing.Pairing

    def show(self, turn: Turn | None) -> None:
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
        return wrap("nothing: both sides are the same, byte for byte", width, "ok")


class BothSidesPane(LineView):
    """Both sides of a turn, where they differ."""

    places: tuple[Place, ...] = ()
    why = "…"

    def show(self, places: tuple[Place, ...], why: str) -> None:
        self.places, self.why, self.cursor = places, why, 0
        self.opened_items = {n for n, place in enumerate(places) if not place.row.is_same}
        self.reload()
        self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def count(self) -> int:
        return len(self.places)

    def head(self, item: int, width: int) -> Line:
        return comparing.place_line(self.places[item])

    def further(self, item: int, width: int) -> list[Line]:
        return comparing.place_body(self.places[item], width)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted")


class ComparingScreen(Screen["Spot | None"]):
    """Dismissed with a place to look at in the session, or None.

    Args:
        session: below.
        source: what is compared first.
        index: the exchange that is open: its turn is shown first where nothing differs before it.
    """

    CSS_PATH = "comparing.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.COMPARE
    BINDINGS = keys.bindings(keys.COMPARE)

    turns = getters.query_one("#compared-turns", TurnsPane)
    found = getters.query_one("#what-happened", DamagesPane)
    beside = getters.query_one("#both-sides", BothSidesPane)

    def __init__(self, session: SessionScreen, source: Source, index: int) -> None:
        super().__init__()
        self.session = session
        self.index = index
        self._take(source)

    def _take(self, source: Source) -> None:
        self.source = source
        self.all: list[Turn] = []
        self.is_over = False
        self.trouble = ""
        self._has_moved = False
        self._shown: Turn | None = None
        self._both: tuple[DecodedExchange | None, DecodedExchange | None] = (None, None)
        self._going: Iterator[Turn] | None = None

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        with Container(id="body"):
            with Container(id="left"):
                yield TurnsPane(id="compared-turns")
                yield DamagesPane(id="what-happened")
            with Container(id="sides"):
                yield Bar(id="columns")
                yield BothSidesPane(id="both-sides")
        yield Bar(id="nothing")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_CHANGE, *keys.COMPARE])
        self.found.focus()
        self._begin()

    def on_unmount(self) -> None:
        source = self.source
        self.session.inspecting.do(lambda inspector: Answer(source.close))

    # Comparing, a slice at a time, in the inspector's thread.

    def _begin(self) -> None:
        self.turns.turns = self.all
        self.turns.pairing = self.found.pairing = self.source.pairing
        self._show()
        self._ask(self._go_on(self.source))

    def _ask(self, job: Job) -> None:
        self.session.inspecting.do_shown(guarded(job, self._fail))

    def _go_on(self, source: Source) -> Job:
        def job(inspector: Inspector) -> Answer:
            if self._going is None:
                self._going = source.turns(inspector)
            until, more = time.monotonic() + SLICE, list[Turn]()
            for turn in self._going:
                more.append(turn)
                if time.monotonic() > until:
                    return Answer(partial(self._add_turns, source, more, is_over=False))
            return Answer(partial(self._add_turns, source, more, is_over=True))

        return job

    def _add_turns(self, source: Source, more: list[Turn], *, is_over: bool) -> None:
        if not is_open(self) or source is not self.source:
            return
        self.all += more
        self.is_over = is_over
        if not self._has_moved:
            self.turns.move_to(next((n for n, turn in enumerate(self.all) if not turn.is_same), self._own()))
        self._show()
        if not is_over:
            self._ask(self._go_on(source))

    def _own(self) -> int:
        """The turn of the exchange that was open below."""
        return next((n for n, turn in enumerate(self.all) if self.index in (turn.before, turn.after)), 0)

    def _fail(self, why: str) -> None:
        if is_open(self):
            self.trouble, self.is_over = why, True
            self._show()

    # Showing.

    @property
    def turn(self) -> Turn | None:
        """The turn under the cursor."""
        return self.all[self.turns.cursor] if self.all else None

    @property
    def damage(self) -> Damage | None:
        """What is under the cursor of what happened to it."""
        turn = self.turn
        return turn.damages[self.found.cursor] if turn and turn.damages else None

    def _show(self) -> None:
        told = comparing.headline(self.source.pairing, self.all, is_over=self.is_over)
        trouble = line(Span(f" {self.trouble}", "error"))
        head = self.query_one("#headline", Bar)
        head.show([told[0], trouble] if self.trouble else told)
        head.styles.height = 2 if self.trouble else len(told)
        self.set_class(self.is_over and not self.all, "-nothing")
        self.set_class(len(self.all) < 2 and self.is_over, "-one")
        self.query_one("#nothing", Bar).show(self._nothing())
        self.turns.reload()
        self.turns.title(line(f" Turns · {len(self.all):,} "))
        self._show_turn()

    def _nothing(self) -> list[Line]:
        width = max(20, self.size.width - 4)
        what = self.trouble or "There is nothing to compare: no side holds an exchange."
        return [*wrap(what, width), (), *wrap("o compares with something else · q goes back", width, "muted")]

    def _show_turn(self) -> None:
        turn = self.turn
        self.found.show(turn)
        self.found.title(line(f" What happened · {len(turn.damages):,} " if turn else " What happened "))
        if turn is not None and turn is not self._shown:
            self._shown = turn
            self.beside.show((), "…")
            self._ask(self._look(self.source, turn))

    def _look(self, source: Source, turn: Turn) -> Job:
        def job(inspector: Inspector) -> Answer:
            before, after = source.both(inspector, turn)
            found = comparing.places(before, after, turn.damages) if before and after else ()
            return Answer(lambda: self._show_sides(turn, (before, after), found))

        return job

    def _show_sides(
        self, turn: Turn, both: tuple[DecodedExchange | None, DecodedExchange | None], found: tuple[Place, ...]
    ) -> None:
        if not is_open(self) or turn is not self._shown:
            return
        self._both = both
        is_alone = None in (turn.before, turn.after)
        why = "this exchange was seen on one side only" if is_alone else "both sides are the same, byte for byte"
        self.beside.show(found, why)
        self.beside.title(line(f" Side by side · {sum(not p.row.is_same for p in found):,} "))
        self._head_columns()
        self._light()

    def _head_columns(self) -> None:
        turn = self._shown
        if turn:
            head = comparing.columns(self.source.pairing, turn, self._both, self.beside.text_width)
            self.query_one("#columns", Bar).show([line("  ", *head)])

    def _light(self) -> None:
        """Show the bytes of what happened."""
        damage, turn = self.damage, self.turn
        at = comparing.place_of(damage, self.beside.places, turn) if damage and turn is self._shown and turn else None
        self.beside.mark(frozenset() if at is None else frozenset((at,)))
        if at is not None:
            self.beside.move_to(at, center=True)

    def on_resize(self) -> None:
        self.call_after_refresh(self._head_columns)

    # Keys.

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        self._has_moved = True
        if message.view is self.turns:
            self._show_turn()
        elif message.view is self.found:
            self._light()

    def action_next(self, step: int) -> None:
        """The next difference, in this turn or another one."""
        self._has_moved = True
        here = self.found.cursor + step
        if self.turn and 0 <= here < len(self.turn.damages):
            self.found.move_to(here)
            self._light()
            return
        numbers = range(self.turns.cursor + step, len(self.all) if step > 0 else -1, step)
        other = next((n for n in numbers if self.all[n].damages), None)
        if other is None:
            self.notify(f"no difference {'after' if step > 0 else 'before'} this one", markup=False)
            return
        self._go_to(other, -1 if step < 0 else 0)

    def action_turn(self, step: int) -> None:
        """The next turn, with or without a difference."""
        self._has_moved = True
        number = self.turns.cursor + step
        if 0 <= number < len(self.all):
            self._go_to(number, 0)

    def _go_to(self, number: int, damage: int) -> None:
        self.turns.move_to(number)
        self._show_turn()
        self.found.move_to(damage % max(1, self.found.count()))

    def action_pane(self, step: int) -> None:
        panes: list[LineView] = (
            [self.found, self.beside] if len(self.all) < 2 else [self.turns, self.found, self.beside]
        )
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        panes[(at + step) % len(panes)].focus()

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        """To the bytes, in the session below."""
        turn = self.turn
        at = self.beside.cursor if message.view is self.beside else None
        damage = self.damage
        if at is None and damage and turn:
            at = comparing.place_of(damage, self.beside.places, turn)
        if turn is None:
            return
        index = turn.before if turn.before is not None else turn.after if self.source.is_own else None
        if index is None:
            self.notify("this exchange is not in this session", markup=False)
            return
        place = self.beside.places[at] if at is not None and self.beside.places else None
        span = (place.before or (0, 0)) if place else (0, 0)
        self.dismiss(Spot(index, place.side if place else REQUEST, span[0]))

    def action_other(self) -> None:
        """Compare with something else."""
        from workbench.tui.screens.comparing_other import ask_other

        ask_other(self.session, self.index, self._choose)

    def _choose(self, source: Source) -> None:
        self.on_unmount()
        self._take(source)
        self._begin()

    def action_hops(self) -> None:
        """The next two places of this session."""
        begin(self.session, self.index, self._choose, self.notify_none, self.source)

    def notify_none(self) -> None:
        """Say that there is one place alone."""
        self.notify("this session was recorded at one place", markup=False)

    def action_back(self) -> None:
        self.dismiss(None)


def begin(
    session: SessionScreen,
    index: int,
    show: Callable[[Source], None],
    none: Callable[[], None],
    now: Source | None = None,
) -> None:
    """Compare the places of a session, neighbours first; of several pairs the one after the one that is shown."""

    def job(inspector: Inspector) -> Answer:
        from itertools import combinations, pairwise

        from workbench.diff import hops_of
        from workbench.tui.collating import Hops

        names = hops_of(inspector.session)
        pairs = list(dict.fromkeys((*pairwise(names), *combinations(names, 2))))
        if not pairs:
            return Answer(none)
        at = pairs.index(now.names) + 1 if isinstance(now, Hops) and now.names in pairs else _near(inspector, pairs)
        made = Hops(*pairs[at % len(pairs)])
        return Answer(lambda: show(made))

    def _near(inspector: Inspector, pairs: list[tuple[str, str]]) -> int:
        here = inspector.session.summaries()[index].hop
        return next((n for n, pair in enumerate(pairs) if here in pair), 0)

    session.inspecting.do(guarded(job, lambda why: session.notify(visible(why), severity="error", markup=False)))
