"""Panes of the Compare screen: turns, differences of one turn, and both of its sides."""

from __future__ import annotations

from workbench.tui.models import comparing
from workbench.tui.models.comparing import ComparedRow, ComparedTurn
from workbench.tui.panes.lineview import LineView
from workbench.views import Line, wrap

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

    is_accordion = True
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

    def show(self, places: tuple[ComparedRow, ...], why: str) -> None:
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
