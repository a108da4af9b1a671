"""Dialog that asks what to compare an exchange, or its session, with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench import regex
from workbench.library import paths
from workbench.tui.screens.choose import offer_paths
from workbench.tui.screens.form import Field, FormOffer, FormScreen, FormSuggestion

if TYPE_CHECKING:
    from workbench.tui.collating import CollationSource
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire import Summary

_NUMBERED = regex.compile(r"(.+)#([0-9]{1,9})")
MOST = 200
"""Exchanges offered at most."""


class Other(NamedTuple):
    """Exchange of this session, or a file with an exchange in it. Numbers count from zero; None for a whole file."""

    number: int | None
    path: Path | None = None


class OtherScreen(FormScreen[Other]):
    """Asks for the other side of a comparison.

    Args:
        index: index of the exchange to compare.
        summaries: all exchanges of the session.

    Attributes:
        neighbour: number that enter accepts without a text: the exchange before, for the first one that after it.
    """

    CSS_PATH = "../form.tcss"

    def __init__(self, index: int, summaries: Sequence[Summary]) -> None:
        super().__init__()
        self.index = index
        self.summaries = summaries
        self.neighbour = str(index if index else 2) if len(summaries) > 1 else ""
        hint = "an exchange number, FILE or FILE#N"
        self.fields = [Field("other", f"Compare exchange {index + 1}, or the session, with", hint)]

    def offer(self, field: str, text: str) -> FormOffer:
        typed = text.strip()
        if typed and not typed.isdecimal():
            numbered = _NUMBERED.fullmatch(typed)
            return FormOffer((), why_not=f"exchange {numbered[2]} of this file") if numbered else offer_paths(text)
        found = [s for s in self.summaries if s.index != self.index and str(s.index + 1).startswith(typed)]
        suggestions = [FormSuggestion(_summary_line(summary), str(summary.index + 1)) for summary in found[:MOST]]
        why_not = "" if suggestions else "no other exchange has this number; for a file type its path"
        return FormOffer(suggestions, why_not=why_not, default="" if typed else self.neighbour)

    def explain(self, field: str, text: str) -> str:
        return f"enter: compare with exchange {self.neighbour}" if self.neighbour and not text.strip() else ""

    def submit(self, field: str, text: str) -> None:
        typed = text.strip() or self.neighbour
        if typed.isdecimal():
            number = int(typed) - 1
            if not 0 <= number < len(self.summaries) or number == self.index:
                self.say(f"type a number from 1 to {len(self.summaries)} other than {self.index + 1}")
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


def _summary_line(summary: Summary) -> str:
    facts = (summary.hop, summary.model or "", "" if summary.status is None else str(summary.status), summary.url)
    return f"{summary.index + 1:>4}  {' · '.join(fact for fact in facts if fact)}"


def ask_other(session: SessionScreen, index: int, show: Callable[[CollationSource], None]) -> None:
    """Ask for the other side, and pass it to ``show`` as a source."""

    def compare(other: Other | None) -> None:
        from workbench.tui import collating

        if other and other.path:
            show(collating.File(session.state.name, other.path, index, other.number))
        elif other and other.number is not None:
            words = session.branch_switch.words
            older, newer = sorted((index, other.number))  # as in a diff
            show(collating.Exchanges(older, newer, words))

    session.app.push_screen(OtherScreen(index, session.state.summaries), compare)
