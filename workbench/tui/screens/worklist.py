"""Screens with a list of subjects that are judged one by one: the one under the cursor first, then the rest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from textual.screen import Screen

from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar
from workbench.tui.list_search import search_of
from workbench.tui.models.branches import title_with_branch
from workbench.tui.selection import SessionSpot
from workbench.tui.service import JobAnswer, guard, is_open
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, wrap

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange
    from workbench.rules import Inspector
    from workbench.tui.service import Job

Subject = TypeVar("Subject")
Judgement = TypeVar("Judgement")


NONE = "-none"
"""Class of a screen without subjects: the panes about one are hidden."""


ELSEWHERE = "q: back, choose another exchange"
"""Where a person goes from an exchange that has nothing to show."""


class ListPane(LineView):
    """List of lines, each made when it becomes visible; if ``is_whole``, the one under the cursor is never cut."""

    why = ""
    """Text shown while there are no lines."""

    def __init__(self, *, id: str, is_whole: bool = False) -> None:
        super().__init__(id=id)
        self.is_accordion = self.hangs = is_whole
        self._count = 0
        self._line_of: Callable[[int], Line] = lambda item: ()

    def show(self, count: int, line_of: Callable[[int], Line], why: str = "") -> None:
        """Show other lines; the cursor keeps its number if there are enough lines."""
        self._count, self._line_of, self.why = count, line_of, why
        self.reload()

    def show_none(self, why: str) -> None:
        """Show a text instead of lines."""
        self.show(0, lambda item: (), why)

    def count(self) -> int:
        return self._count

    def head(self, item: int, width: int) -> Line:
        return self._line_of(item)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted")


class WorklistSource(ABC, Generic[Subject, Judgement]):
    """Finds the subjects of a worklist and judges them, in the inspector's thread."""

    @abstractmethod
    def subjects_in(self, inspector: Inspector) -> Sequence[Subject]:
        """Subjects to judge."""

    @abstractmethod
    def judge(self, inspector: Inspector, subject: Subject) -> Judgement:
        """Judgement of one subject."""


class WorklistScreen(Screen["SessionSpot | None"]):
    """Interface of a screen to its worklist. Dismissed with a place to show in the session, or None.

    Args:
        index: index of the exchange.
        branch: name of the shown branch, for the title; empty for the recorded request.
    """

    def __init__(self, index: int, branch: str) -> None:
        super().__init__()
        self.index, self.branch = index, branch
        self.search = search_of(self)

    action_search = ActionOf("search", "ask")
    action_match = ActionOf("search")
    action_leave = ActionOf("search")

    @abstractmethod
    def cursor_number(self) -> int:
        """Number of the subject under the cursor."""

    @abstractmethod
    def show_subjects(self) -> None:
        """Show the list of subjects."""

    @abstractmethod
    def show_judgement(self, number: int) -> None:
        """Show one more judgement."""

    def entitle(self, title: Line) -> None:
        """Show a title with the name of the branch."""
        self.query_one("#headline", Bar).show([title_with_branch(title, self.branch)])

    def action_back(self) -> None:
        self.dismiss(None)


class Worklist(Generic[Subject, Judgement]):
    """Subjects of a screen and their judgements, asked for one by one.

    Args:
        screen: shows them.
        source: finds and judges them.
        ask: puts a question to the inspector's thread.

    Attributes:
        subjects: subjects to judge; None until they are known.
        judgements: judgements by number of the subject.
        troubles: reasons that subjects could not be judged, by number.
        trouble: reason that there are no subjects; empty if there are.
    """

    def __init__(
        self, screen: WorklistScreen, source: WorklistSource[Subject, Judgement], ask: Callable[[Job], None]
    ) -> None:
        self.screen, self._source, self._ask = screen, source, ask
        self.subjects: Sequence[Subject] | None = None
        self.judgements: dict[int, Judgement] = {}
        self.troubles: dict[int, str] = {}
        self.trouble = ""
        self._next = 0
        self._is_asking = False

    @property
    def subject(self) -> Subject | None:
        """Subject under the cursor; None if there are no subjects."""
        return self.subjects[self.screen.cursor_number()] if self.subjects else None

    @property
    def judgement(self) -> Judgement | None:
        """Judgement of the subject under the cursor; None if it is not judged."""
        return self.judgements.get(self.screen.cursor_number())

    def why_none(self, waiting: str) -> str:
        """Text in place of a missing judgement: ``waiting``, the reason of a failure, or empty without subjects."""
        return self.troubles.get(self.screen.cursor_number(), waiting) if self.subjects else ""

    def begin(self) -> None:
        """Ask for the subjects, then for their judgements."""

        def job(inspector: Inspector) -> JobAnswer:
            found = self._source.subjects_in(inspector)
            return JobAnswer(lambda: self._list(found))

        self._ask(guard(job, self._list_none))

    def _list_none(self, why: str) -> None:
        self.trouble = why
        self._list(())

    def _list(self, subjects: Sequence[Subject]) -> None:
        if is_open(self.screen):
            self.subjects = subjects
            self.screen.set_class(not subjects, NONE)
            self.screen.show_subjects()
            self.ask_next()

    def ask_next(self) -> None:
        """Ask for one more judgement, that of the subject under the cursor first, unless the screen is closed."""
        if self._is_asking or not is_open(self.screen) or not self.subjects:
            return
        answered = self.judgements.keys() | self.troubles.keys()
        while self._next in answered:
            self._next += 1
        here = self.screen.cursor_number()
        number = self._next if here in answered else here
        if number >= len(self.subjects):
            return
        subject = self.subjects[number]

        def job(inspector: Inspector) -> JobAnswer:
            judgement = self._source.judge(inspector, subject)
            return JobAnswer(lambda: self._take(number, judgement))

        self._is_asking = True
        self._ask(guard(job, partial(self._take_failure, number)))

    def _take(self, number: int, judgement: Judgement) -> None:
        self.judgements[number] = judgement
        self._show_one(number)

    def _take_failure(self, number: int, why: str) -> None:
        self.troubles[number] = f"cannot be checked: {why}"
        self._show_one(number)

    def _show_one(self, number: int) -> None:
        self._is_asking = False
        if is_open(self.screen):
            self.screen.show_judgement(number)
            self.ask_next()

    def leave_for(self, find: Callable[[DecodedExchange], SessionSpot | None]) -> None:
        """Go to a place in the session; ``find`` is called in the inspector's thread."""

        def job(inspector: Inspector) -> JobAnswer:
            spot = find(inspector.detail(self.screen.index).decoded)
            return JobAnswer(lambda: self._leave_for(spot))

        self._ask(job)

    def _leave_for(self, spot: SessionSpot | None) -> None:
        if not self.screen.is_current:
            return
        if spot is None:
            self.screen.notify("no bytes of the recording belong to this line", severity="warning", markup=False)
        else:
            self.screen.dismiss(spot)
