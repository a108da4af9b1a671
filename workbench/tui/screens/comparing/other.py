"""Dialog that asks what to compare an exchange, or its session, with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench import regex
from workbench.library import paths
from workbench.tui.models import timeline
from workbench.tui.screens.choose import offer_paths
from workbench.tui.screens.form import Field, FormOffer, FormScreen, FormSuggestion

if TYPE_CHECKING:
    from workbench.tui.compare_sources import CollationSource
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.state import SessionState
    from workbench.views import Line

_NUMBERED = regex.compile(r"(.+)#([0-9]{1,9})")
MOST = 200
"""Exchanges offered at most."""
ROOM = 88
"""Columns of an exchange in the list: enough for the names of its calls and its model."""


class Other(NamedTuple):
    """Exchange of this session, or a file with an exchange in it. Numbers count from zero; None for a whole file."""

    number: int | None
    path: Path | None = None


class OtherScreen(FormScreen[Other]):
    """Asks for the other side of a comparison.

    Args:
        index: index of the exchange to compare.
        state: the session.

    Attributes:
        neighbour: number that enter accepts without a text: the nearest exchange, of the same conversation if possible.
    """

    CSS_PATH = "../form.tcss"

    def __init__(self, index: int, state: SessionState) -> None:
        super().__init__()
        self.index = index
        self.state = state
        self._digits = len(str(len(state.summaries)))
        others = sorted((n for n in range(len(state.summaries)) if n != index), key=self._distance)
        self._others = others
        self.neighbour = str(others[0] + 1) if others else ""
        example = "a number from the list below, or the path of another file"
        self.fields = [Field("other", f"Compare exchange {index + 1} with", "", example=example)]

    def offer(self, field: str, text: str) -> FormOffer:
        typed = text.strip()
        if typed and not typed.isdecimal():
            numbered = _NUMBERED.fullmatch(typed)
            return FormOffer((), why_not=f"exchange {numbered[2]} of this file") if numbered else offer_paths(text)
        found = [n for n in self._others if str(n + 1).startswith(typed)]
        suggestions = [FormSuggestion(self._exchange_line(n), str(n + 1)) for n in found[:MOST]]
        why_not = "" if suggestions else "no other exchange has this number; to compare with a file, type its path"
        return FormOffer(suggestions, why_not=why_not, default="" if typed else self.neighbour)

    def _distance(self, number: int) -> tuple[bool, int, int]:
        """Order of the other exchanges: those of the same conversation first, the nearest first, the earlier first."""
        own, other = (row.conversation if row else None for row in map(self.state.row, (self.index, number)))
        return own is None or other != own, abs(number - self.index), number

    def _exchange_line(self, number: int) -> Line:
        state = self.state
        return timeline.row_line(
            state.summary(number), state.row(number), state.lane(number), ROOM, self._digits, hop=state.hop_columns
        )

    def explain(self, field: str, text: str) -> str:
        return f"enter: compare with exchange {self.neighbour}" if self.neighbour and not text.strip() else ""

    def submit(self, field: str, text: str) -> None:
        typed = text.strip() or self.neighbour
        if typed.isdecimal():
            number = int(typed) - 1
            if not 0 <= number < len(self.state.summaries) or number == self.index:
                self.say(f"type a number from 1 to {len(self.state.summaries)} other than {self.index + 1}")
                return
            self.dismiss(Other(number))
            return
        numbered = None if paths.expand(typed).exists() else _NUMBERED.fullmatch(typed)
        path = paths.expand(numbered[1] if numbered else typed)
        why_not = "type a number or a path, or choose one with ↓" if not typed else paths.why_not(path)
        if numbered and int(numbered[2]) < 1:
            why_not = "exchange numbers start at 1"
        if why_not:
            self.say(why_not)
        else:
            self.dismiss(Other(int(numbered[2]) - 1 if numbered else None, path))


def ask_other(session: SessionScreen, index: int, show: Callable[[CollationSource], None]) -> None:
    """Ask for the other side, and pass it to ``show`` as a source."""

    def compare(other: Other | None) -> None:
        from workbench.tui import compare_sources

        if other and other.path:
            show(compare_sources.File(session.state.name, other.path, index, other.number))
        elif other and other.number is not None:
            words = session.branch_switch.words
            older, newer = sorted((index, other.number))  # as in a diff
            show(compare_sources.Exchanges(older, newer, words))

    session.app.push_screen(OtherScreen(index, session.state), compare)
