"""Judging an edited request off the screen's thread, and doing what waits for that."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from workbench.tui.service import Answer, guarded

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui.models.studied import Studied
    from workbench.tui.screens.edit.screen import EditScreen
    from workbench.wire import HttpRequest


class RequestStudy:
    """Judges the newest request that was asked for; those between are left out.

    Attributes:
        contract: label of the contract that judges; empty for that of the exchange.
        studied: what is known of the request that was judged last.
        waiting: edits that wait until the request of the node is judged.
        is_moving: the next node of the tree is not there yet.
    """

    def __init__(self, screen: EditScreen) -> None:
        self.screen = screen
        self.contract = ""
        self.latest: Studied | None = None
        self.waiting: list[Callable[[Studied], object]] = []
        self.is_moving = False
        self._wanted: tuple[HttpRequest, str] | None = None
        self._asked: tuple[HttpRequest, str] | None = None

    def judge(self, request: HttpRequest) -> None:
        """Judge a request; one that was asked for before and is not begun is left out."""
        self._wanted = (request, self.contract)
        self._continue()

    def _continue(self) -> None:
        if self._asked or self._wanted is None:
            return
        self._asked, self._wanted = self._wanted, None
        request, contract = self._asked
        index = self.screen.index

        def job(inspector: Inspector) -> Answer:
            from workbench.tui.models.studied import study

            found = study(inspector, index, request, contract)
            return Answer(partial(self._take, found))

        self.screen.session.inspecting.do(guarded(job, self._fail))

    def _take(self, studied: Studied) -> None:
        self._asked = None
        if self.screen.is_attached:
            self.latest = studied
            self.screen.contents.show(studied)
            self.run_waiting()
            self._continue()

    def _fail(self, why: str) -> None:
        self._asked = None
        if self.screen.is_attached:
            self.screen.say(f"it cannot be judged: {why}", "error")
            self._continue()

    @property
    def is_of_node(self) -> bool:
        """The request that was judged last is that of the node."""
        studied, node = self.latest, self.screen.node
        return studied is not None and studied.request == node.exchange.request and self._wanted is None

    @property
    def is_settled(self) -> bool:
        """The same, and no other node is on its way."""
        return self.is_of_node and not self.is_moving

    def when_settled(self, do: Callable[[Studied], object]) -> None:
        """Do something to the request once it is judged: keys may arrive faster than that."""
        self.waiting.append(do)
        self.run_waiting()

    def run_waiting(self) -> None:
        """Do what waits, as far as the request is judged."""
        while self.waiting and self.is_settled and self.latest:
            self.waiting.pop(0)(self.latest)
