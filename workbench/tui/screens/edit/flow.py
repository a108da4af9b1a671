"""The edits of a request: one after the other, each a node of the tree, each judged before the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from workbench.edits import Change, ElementAction, Splice, apply_changes
from workbench.errors import WorkbenchError
from workbench.safetext import visible
from workbench.tui.models.edit import Entry
from workbench.tui.models.studied import Studied
from workbench.tui.service import is_open

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.tui.screens.edit.screen import EditScreen
    from workbench.wire import HttpRequest

Changes: TypeAlias = "Sequence[Change | Splice]"
Edit: TypeAlias = tuple[Changes, str, "str | None"]
"""What is changed, a title for it, and where the cursor goes: None to leave it where it is."""


class EditFlow:
    """Keeps edits as nodes, and goes from node to node."""

    def __init__(self, screen: EditScreen) -> None:
        self.screen = screen

    def show_node(self, node: BranchNode | None, pointer: str | None = None) -> None:
        """Show a node: what is apply_changes from now on is its request.

        Args:
            node: None for the one that is shown.
            pointer: where the cursor goes; None to leave it where it is.
        """
        screen = self.screen
        screen.study.is_moving = False
        screen.node = node or screen.node
        screen.pointer = screen.pointer if pointer is None else pointer
        if screen.node.exchange.request and is_open(screen):
            screen.study.judge(screen.node.exchange.request)
            screen.show_headline()

    def return_to(self, node: BranchNode) -> None:
        """Show a node to which another screen has led, unless edits are on their way."""
        screen = self.screen
        if node.id != screen.node.id and not screen.study.waiting and screen.study.is_settled:
            self.show_node(node)

    def commit(self, request: HttpRequest, title: str, pointer: str | None = None) -> None:
        """Keep a request as a node; nothing if it is the same."""
        screen = self.screen
        if request == screen.node.exchange.request:
            screen.say("nothing was changed")
            return
        screen.say("")
        screen.study.is_moving = True
        screen.session.branches.commit(
            screen.node, request, title, lambda node: self.show_node(node, pointer), self._not_moved
        )

    def change(self, make: Callable[[Studied, Entry], Edit], action: ElementAction | None = None) -> None:
        """Change what the cursor stands on, or say why that cannot be.

        Args:
            action: one that the element has to support.
        """

        def do(studied: Studied) -> None:
            row = self.screen.outline.here
            if row is None:
                return
            if action and action not in row.element.actions:
                self.refuse(f"{action}: not possible for {row.name}" if row.pointer else "choose what is to be changed")
            else:
                self.put(studied, lambda: make(studied, row))

        self.screen.study.when_settled(do)

    def put(self, studied: Studied, make: Callable[[], Edit]) -> bool:
        """Keep an edit of a judged request. Returns False, and says why, if it cannot be made."""
        try:
            changes, title, pointer = make()
            self.commit(apply_changes(studied.request, studied.text, changes), title, pointer)
        except WorkbenchError as error:
            self.refuse(str(error))
            return False
        return True

    def refuse(self, why: str) -> None:
        """Say why something is not done."""
        self.screen.notify(visible(why), severity="warning", markup=False)

    # Actions.

    def undo(self) -> None:
        """Go to the request before the last edit."""
        ask = self.screen.session.branches.undo
        self._move(ask, "this is the request as it was recorded: there is nothing to undo")

    def redo(self) -> None:
        """Go to the edit that was undone last."""
        self._move(self.screen.session.branches.redo, "nothing was made of it: there is nothing to redo")

    def _move(self, ask: Callable[..., None], why_none: str) -> None:
        """Go to another node of the tree; ``ask`` finds it, ``why_none`` is said if there is none."""

        def do(studied: Studied) -> None:
            self.screen.study.is_moving = True
            ask(self.screen.node, partial(self._arrive, why_none), self._not_moved)

        self.screen.study.when_settled(do)

    def _arrive(self, why_none: str, node: BranchNode | None) -> None:
        self.screen.say("" if node else why_none)
        self.show_node(node)

    def _not_moved(self, why: str) -> None:
        """Say why a node could not be kept or found; what waited for it is not done."""
        self.screen.study.waiting.clear()
        self.refuse(why)
        self.show_node(None)
