"""Judges an edited request in the inspector's thread, and runs the edits that wait for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from workbench.tui.service import JobAnswer, guard

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui.models.edit_study import EditStudy
    from workbench.tui.screens.edit.screen import EditScreen
    from workbench.wire import HttpRequest


class RequestStudy:
    """Judges the newest request; requests replaced before their turn are skipped.

    Attributes:
        contract: label of the contract; empty for that of the exchange.
        latest: the request judged last, with verdict and differences; None before the first.
        waiting: edits that wait for the judgement of the current node.
        is_moving: the next node of the tree has been asked for.
    """

    def __init__(self, screen: EditScreen) -> None:
        self.screen = screen
        self.contract = ""
        self.latest: EditStudy | None = None
        self.waiting: list[Callable[[EditStudy], object]] = []
        self.is_moving = False
        self._wanted: tuple[HttpRequest, str] | None = None
        self._asked: tuple[HttpRequest, str] | None = None

    def judge(self, request: HttpRequest) -> None:
        """Judge a request in place of one that still waits."""
        self._wanted = (request, self.contract)
        self._continue()

    def _continue(self) -> None:
        if self._asked or self._wanted is None:
            return
        self._asked, self._wanted = self._wanted, None
        request, contract = self._asked
        index = self.screen.index

        def job(inspector: Inspector) -> JobAnswer:
            from workbench.tui.models.edit_study import study

            found = study(inspector, index, request, contract)
            return JobAnswer(partial(self._take, found))

        self.screen.session.inspecting.do(guard(job, self._fail))

    def _take(self, studied: EditStudy) -> None:
        self._asked = None
        if self.screen.is_attached:
            self.latest = studied
            self.screen.contents.show(studied)
            self.run_waiting()
            self._continue()

    def _fail(self, why: str) -> None:
        self._asked = None
        if self.screen.is_attached:
            self.screen.say(f"cannot be judged: {why}", "error")
            self._continue()

    @property
    def is_of_node(self) -> bool:
        """The request judged last is that of the current node."""
        studied, node = self.latest, self.screen.node
        return studied is not None and studied.request == node.exchange.request and self._wanted is None

    @property
    def is_settled(self) -> bool:
        """The current node is judged, and no other node has been asked for."""
        return self.is_of_node and not self.is_moving

    def when_settled(self, do: Callable[[EditStudy], object]) -> None:
        """Do something with the request once it is judged; keys may arrive faster than verdicts."""
        self.waiting.append(do)
        self.run_waiting()

    def run_waiting(self) -> None:
        """Run waiting edits while the current node is judged."""
        while self.waiting and self.is_settled and self.latest:
            self.waiting.pop(0)(self.latest)
