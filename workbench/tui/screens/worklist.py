"""Screens with a list whose answers come one by one: that of the line under the cursor first, then the rest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from textual.screen import Screen

from workbench.tui.bars import Bar
from workbench.tui.models.branches import entitled
from workbench.tui.panes.lineview import LineView
from workbench.tui.selection import Spot
from workbench.tui.service import Answer, guarded, is_open
from workbench.views import Line, wrap

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange
    from workbench.rules import Inspector
    from workbench.tui.service import Job

Subject = TypeVar("Subject")
Judgement = TypeVar("Judgement")


class ListPane(LineView):
    """As many lines as there are subjects, each made when it is seen."""

    why = ""
    """What to say while there are none."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._count = 0
        self._line_of: Callable[[int], Line] = lambda item: ()

    def show(self, count: int, line_of: Callable[[int], Line], why: str = "") -> None:
        """Show other lines; the cursor stays where it is, as far as there are lines."""
        self._count, self._line_of, self.why = count, line_of, why
        self.reload()

    def show_none(self, why: str) -> None:
        """Show that there are none."""
        self.show(0, lambda item: (), why)

    def count(self) -> int:
        return self._count

    def head(self, item: int, width: int) -> Line:
        return self._line_of(item)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted")


class Worklist(Screen["Spot | None"], Generic[Subject, Judgement]):
    """Dismissed with a place to look at in the session, or None.

    Args:
        ask: has a question answered in the inspector's thread.
        index: the exchange.
        branch: which branch of it is judged, for the title; empty string for the recorded request.

    Attributes:
        subjects: what there is to judge, None until that is known.
        told: what is said of them, by number.
        troubles: why nothing can be said of one, by number.
        trouble: why it cannot be known what there is to judge, "" where it can.
    """

    def __init__(self, ask: Callable[[Job], None], index: int, branch: str = "") -> None:
        super().__init__()
        self.branch = branch
        self.ask = ask
        self.index = index
        self.subjects: Sequence[Subject] | None = None
        self.judgements: dict[int, Judgement] = {}
        self.troubles: dict[int, str] = {}
        self.trouble = ""
        self._next = 0
        self._is_asking = False

    def entitle(self, title: Line) -> None:
        """Show what is judged."""
        self.query_one("#headline", Bar).show([entitled(title, self.branch)])

    # What a screen supplies.

    @abstractmethod
    def subjects_in(self, inspector: Inspector) -> Sequence[Subject]:
        """The subjects to judge. Called in the inspector's thread."""

    @abstractmethod
    def judge(self, inspector: Inspector, subject: Subject) -> Judgement:
        """The judgement of one subject. Called in the inspector's thread."""

    @abstractmethod
    def cursor_number(self) -> int:
        """The number of the subject under the cursor."""

    @abstractmethod
    def show_subjects(self) -> None:
        """Show the list of subjects."""

    @abstractmethod
    def show_judgement(self, number: int) -> None:
        """Show one more judgement."""

    # What it does.

    def begin(self) -> None:
        """Ask for the subjects, then for what there is to say of them."""

        def job(inspector: Inspector) -> Answer:
            found = self.subjects_in(inspector)
            return Answer(lambda: self._list(found))

        self.ask(guarded(job, self._list_none))

    def _list_none(self, why: str) -> None:
        self.trouble = why
        self._list(())

    def _list(self, found: Sequence[Subject]) -> None:
        if is_open(self):
            self.subjects = found
            self.show_subjects()
            self.ask_next()

    def ask_next(self) -> None:
        """Ask for one more, the one under the cursor first; nobody asks once the screen is left."""
        if self._is_asking or not is_open(self) or not self.subjects:
            return
        answered = self.judgements.keys() | self.troubles.keys()
        while self._next in answered:
            self._next += 1
        here = self.cursor_number()
        number = self._next if here in answered else here
        if number >= len(self.subjects):
            return
        subject = self.subjects[number]

        def job(inspector: Inspector) -> Answer:
            told = self.judge(inspector, subject)
            return Answer(lambda: self._take(number, told))

        self._is_asking = True
        self.ask(guarded(job, partial(self._take_failure, number)))

    def _take(self, number: int, told: Judgement) -> None:
        self.judgements[number] = told
        self._show_one(number)

    def _take_failure(self, number: int, why: str) -> None:
        self.troubles[number] = f"it cannot be judged: {why}"
        self._show_one(number)

    def _show_one(self, number: int) -> None:
        self._is_asking = False
        if is_open(self):
            self.show_judgement(number)
            self.ask_next()

    def leave_for(self, find: Callable[[DecodedExchange], Spot | None]) -> None:
        """Go to a place in the session; its bytes are found in the inspector's thread."""

        def job(inspector: Inspector) -> Answer:
            spot = find(inspector.detail(self.index).decoded)
            return Answer(lambda: self._leave_for(spot))

        self.ask(job)

    def _leave_for(self, spot: Spot | None) -> None:
        if not self.is_current:
            return
        if spot is None:
            self.notify("it is not on the wire", severity="warning", markup=False)
        else:
            self.dismiss(spot)

    def action_back(self) -> None:
        self.dismiss(None)
