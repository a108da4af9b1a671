"""What people make of the requests of a session: its tree of edits and sends, for every screen that edits or sends.

``session_screen.working`` is the one way to it. Everything is called on the screen's thread, and returns at once: the
tree stands beside the source session, which the inspector's thread owns, so it is asked there, and what comes of it is
delivered on the screen's thread. ``Node`` values are plain and may be kept; the person stands at one of them in the
tree of each exchange, the root being what was recorded.

    screen.working.current(index, self._begin)                      # deliver(node): where the person stands
    screen.working.commit(node, request, "text changed", self._at)  # deliver(node): the new one, where they now stand
    screen.working.sent(node, exchange, self._answered)             # the same for what a target answered
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from workbench.tui.safetext import visible
from workbench.tui.service import Answer, Failed, guarded

if TYPE_CHECKING:
    from workbench.inspection import Inspector
    from workbench.tui.screens.session import SessionScreen
    from workbench.wire.exchange import Exchange, HttpRequest
    from workbench.workspace import Node, Workspace

Told = TypeVar("Told")


class Working:
    """The working session of a session screen.

    Every method takes ``deliver``, which is called with the answer, and may take ``failed``, which is called with the
    reason in words; without it the reason is shown as a notice.
    """

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self._workspace: Workspace | None = None
        self._here: dict[int, Node] = {}

    def current(self, index: int, deliver: Callable[[Node], None], failed: Failed | None = None) -> None:
        """Where the person stands in the tree of an exchange."""
        if index in self._here:
            deliver(self._here[index])
        else:
            self.ask(lambda workspace: _latest(workspace, index), self._there(deliver), failed)

    def commit(
        self,
        parent: Node,
        request: HttpRequest,
        title: str,
        deliver: Callable[[Node], None],
        failed: Failed | None = None,
    ) -> None:
        """An edit of a node's request, ``title`` saying what was done in one line; the person then stands at it."""
        self.ask(lambda workspace: workspace.commit(parent, request, title), self._there(deliver), failed)

    def sent(
        self, parent: Node, exchange: Exchange, deliver: Callable[[Node], None], failed: Failed | None = None
    ) -> None:
        """What a target answered to a node's request; the person then stands at it."""
        self.ask(lambda workspace: workspace.sent(parent, exchange), self._there(deliver), failed)

    def go(self, node: Node) -> None:
        """Stand at another node: what is edited, sent, minimised or exported next is its request."""
        self._here[node.index] = node

    def undo(self, node: Node, deliver: Callable[[Node | None], None], failed: Failed | None = None) -> None:
        """Back to what a node was made of; None for the root. The person then stands there."""
        self.ask(lambda workspace: workspace.undo(node), self._there_if(deliver), failed)

    def redo(self, node: Node, deliver: Callable[[Node | None], None], failed: Failed | None = None) -> None:
        """To what was undone last; None where nothing was. The person then stands there."""
        self.ask(lambda workspace: workspace.redo(node), self._there_if(deliver), failed)

    def ask(
        self, question: Callable[[Workspace], Told], deliver: Callable[[Told], None], failed: Failed | None = None
    ) -> None:
        """Anything else about the trees; the question is asked in the inspector's thread."""

        def job(inspector: Inspector) -> Answer:
            return Answer(partial(deliver, question(self._open(inspector))))

        self.screen.inspecting.do(guarded(job, failed or self._notify))

    def _there(self, deliver: Callable[[Node], None]) -> Callable[[Node], None]:
        def arrived(node: Node) -> None:
            self.go(node)
            deliver(node)

        return arrived

    def _there_if(self, deliver: Callable[[Node | None], None]) -> Callable[[Node | None], None]:
        def arrived(node: Node | None) -> None:
            if node:
                self.go(node)
            deliver(node)

        return arrived

    def _open(self, inspector: Inspector) -> Workspace:
        """The working session, in the inspector's thread."""
        if self._workspace is None:
            from workbench.workspace import Workspace

            self._workspace = Workspace(inspector.session)
        return self._workspace

    def _notify(self, why: str) -> None:
        self.screen.notify(visible(why), severity="error", markup=False)


def _latest(workspace: Workspace, index: int) -> Node:
    """The newest state of an exchange: what was made last of what was made last, from the root on."""
    node = workspace.root(index)
    while later := workspace.redo(node):
        node = later
    return node
