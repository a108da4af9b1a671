"""Edits of a request, one after the other: each is a node of the tree, and is judged before the next.

Judges an edited request in the inspector's thread, and runs the edits that wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from workbench.edits import Change, ElementAction, Splice, apply_changes
from workbench.errors import WorkbenchError
from workbench.safetext import visible
from workbench.tui.models.edit import EditRow
from workbench.tui.models.edit_study import EditStudy
from workbench.tui.service import JobAnswer, guard, is_open

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.rules import Inspector
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

    def _take(self, study: EditStudy) -> None:
        self._asked = None
        if self.screen.is_attached:
            self.latest = study
            self.screen.contents.show(study)
            self.run_waiting()
            self._continue()

    def _fail(self, why: str) -> None:
        self._asked = None
        if self.screen.is_attached:
            self.screen.say(f"cannot be checked: {why}", "error")
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


Changes: TypeAlias = "Sequence[Change | Splice]"
Edit: TypeAlias = tuple[Changes, str, "str | None"]
"""Changes, a title for them, and the new pointer of the cursor; None to leave the cursor."""


class EditFlow:
    """Saves edits as nodes, and moves between nodes."""

    def __init__(self, screen: EditScreen) -> None:
        self.screen = screen

    def show_node(self, node: BranchNode | None, pointer: str | None = None) -> None:
        """Show a node, whose request is edited from now on.

        Args:
            node: node to show; None for the current one.
            pointer: new pointer of the cursor; None to leave it.
        """
        screen = self.screen
        screen.study.is_moving = False
        screen.node = node or screen.node
        screen.pointer = screen.pointer if pointer is None else pointer
        if screen.node.exchange.request and is_open(screen):
            screen.study.judge(screen.node.exchange.request)
            screen.show_headline()

    def return_to(self, node: BranchNode) -> None:
        """Show the node that another screen went to, unless edits are pending."""
        screen = self.screen
        if node.id != screen.node.id and not screen.study.waiting and screen.study.is_settled:
            self.show_node(node)

    def commit(self, request: HttpRequest, title: str, pointer: str | None = None) -> None:
        """Save a request as a node; do nothing if it is unchanged."""
        screen = self.screen
        if request == screen.node.exchange.request:
            screen.say("no change")
            return
        screen.say("")
        screen.study.is_moving = True
        screen.session.branches.commit(
            screen.node, request, title, lambda node: self.show_node(node, pointer), self._not_moved
        )

    def change(self, make: Callable[[EditStudy, EditRow], Edit], action: ElementAction | None = None) -> None:
        """Change the element under the cursor, or say why that is impossible.

        Args:
            action: action that the element has to support; None for any.
        """

        def do(study: EditStudy) -> None:
            row = self.screen.outline.here
            if row is None:
                return
            if action and action not in row.element.actions:
                self.refuse(f"{action}: not possible for {row.name}" if row.pointer else "select an element first")
            else:
                self.put(study, lambda: make(study, row))

        self.screen.study.when_settled(do)

    def put(self, study: EditStudy, make: Callable[[], Edit]) -> bool:
        """Save an edit of a judged request. Returns False, with a notice, if it cannot be made."""
        try:
            changes, title, pointer = make()
            self.commit(apply_changes(study.request, study.text, changes), title, pointer)
        except WorkbenchError as error:
            self.refuse(str(error))
            return False
        return True

    def refuse(self, why: str) -> None:
        """Show why something is not done."""
        self.screen.notify(visible(why), severity="warning", markup=False)

    # Actions.

    def undo(self) -> None:
        """Go to the request before the last edit."""
        ask = self.screen.session.branches.undo
        self._move(ask, "nothing to undo: this is the recorded request")

    def redo(self) -> None:
        """Go to the edit that was undone last."""
        self._move(self.screen.session.branches.redo, "nothing to redo")

    def _move(self, ask: Callable[..., None], why_none: str) -> None:
        """Go to another node of the tree; ``ask`` finds it, ``why_none`` is shown if there is none."""

        def do(study: EditStudy) -> None:
            self.screen.study.is_moving = True
            ask(self.screen.node, partial(self._arrive, why_none), self._not_moved)

        self.screen.study.when_settled(do)

    def _arrive(self, why_none: str, node: BranchNode | None) -> None:
        self.screen.say("" if node else why_none)
        self.show_node(node)

    def _not_moved(self, why: str) -> None:
        """Say why a node could not be saved or found; the edits that waited for it are dropped."""
        self.screen.study.waiting.clear()
        self.screen.type_ahead.drop()
        self.refuse(why)
        self.show_node(None)
