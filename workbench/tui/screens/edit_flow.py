"""How edits of a request are made: one after the other, each a node of the tree, each judged before the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from workbench.edits import Change, Splice, edited
from workbench.edits.elements import Action
from workbench.errors import WorkbenchError
from workbench.safetext import visible
from workbench.tui.models.edit import Entry
from workbench.tui.models.studied import Studied
from workbench.tui.screens.edit_desk import EditDesk
from workbench.tui.service import is_open

if TYPE_CHECKING:
    from workbench.edits.branches import Node
    from workbench.wire.exchange import HttpRequest

Changes: TypeAlias = "Sequence[Change | Splice]"
Edit: TypeAlias = tuple[Changes, str, "str | None"]
"""What is changed, in words what that is, and where the cursor goes: None to leave it where it is."""


class EditFlow(EditDesk):
    """A desk whose request can be changed."""

    _is_moving = False
    """The node that is stood at next is not there yet."""

    def stand(self, node: Node | None, pointer: str | None = None) -> None:
        """Show a node: what is edited from now on is its request.

        Args:
            node: None for none further: the one that is shown stays.
            pointer: where the cursor goes; None to leave it where it is.
        """
        self._is_moving = False
        self.node = node or self.node
        self.pointer = self.pointer if pointer is None else pointer
        if self.node.exchange.request and is_open(self):
            self.judge(self.node.exchange.request)
            self.show_headline()

    @property
    def is_settled(self) -> bool:
        return super().is_settled and not self._is_moving

    def show(self, studied: Studied) -> None:
        super().show(studied)
        self._go_through()

    def edit(self, do: Callable[[Studied], object]) -> None:
        """Do something to the request as it is, once that is known: keys may come faster than it is judged."""
        self.waiting.append(do)
        self._go_through()

    def _go_through(self) -> None:
        while self.waiting and self.is_settled and self.studied:
            self.waiting.pop(0)(self.studied)

    def commit(self, request: HttpRequest, title: str, pointer: str | None = None) -> None:
        """Keep a request as a node; nothing where it is the same."""
        if request == self.node.exchange.request:
            self.say("nothing was changed")
            return
        self.say("")
        self._is_moving = True
        arrived = partial(self._committed, pointer)
        self.session.working.commit(self.node, request, title, arrived, self.not_moved)

    def _committed(self, pointer: str | None, node: Node) -> None:
        self.stand(node, pointer)

    def move(self, ask: Callable[..., None], why_none: str) -> None:
        """Go to another node of the tree.

        Args:
            ask: ``undo`` or ``redo`` of the working session.
            why_none: what to say where there is none.
        """

        def do(studied: Studied) -> None:
            self._is_moving = True
            ask(self.node, partial(self._moved, why_none), self.not_moved)

        self.edit(do)

    def _moved(self, why_none: str, node: Node | None) -> None:
        self.say("" if node else why_none)
        self.stand(node)

    def not_moved(self, why: str) -> None:
        """Say why a node could not be kept or found; what waited for it is not done."""
        self.waiting.clear()
        self.refuse(why)
        self.stand(None)

    def change(self, make: Callable[[Studied, Entry], Edit], action: Action | None = None) -> None:
        """Change what the cursor stands on, or say why that cannot be.

        Args:
            action: what an element has to be able to.
        """

        def do(studied: Studied) -> None:
            row = self.outline.here
            if row is None:
                return
            if action and action not in row.element.able:
                self.refuse(f"{action}: not possible for {row.name}" if row.pointer else "choose what is to be changed")
            else:
                self.put(studied, lambda: make(studied, row))

        self.edit(do)

    def put(self, studied: Studied, make: Callable[[], Edit]) -> bool:
        """Keep an edit of what was studied; where it cannot be made say why, and answer False."""
        try:
            changes, title, pointer = make()
            self.commit(edited(studied.request, studied.text, changes), title, pointer)
        except WorkbenchError as error:
            self.refuse(str(error))
            return False
        return True

    def refuse(self, why: str) -> None:
        """Say why something is not done."""
        self.notify(visible(why), severity="warning", markup=False)
