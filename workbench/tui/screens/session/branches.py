"""What people make of the requests of a session: its tree of edits and sends, for every screen that edits or sends.

``session_screen.working`` is the one way to it. Everything is called on the screen's thread, and returns at once: the
tree stands beside the source session, which the inspector's thread owns, so it is asked there, and what comes of it is
delivered on the screen's thread. ``Node`` values are plain and may be kept; the person stands at one of them in the
tree of each exchange, the root being what was recorded.

    screen.working.current(index, self._begin)                      # deliver(node): where the person stands
    screen.working.commit(node, request, "text changed", self._at)  # deliver(node): the new one, where they now stand
    screen.working.sent(node, exchange, self._answered)             # the same for what a target answered

What was asked just before the session is left is still done.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from workbench.errors import WorkbenchError
from workbench.safetext import visible
from workbench.tui.service import Answer, Failed, guarded
from workbench.views import Line, Span

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode, Workspace
    from workbench.rules import Inspector
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire import Exchange, HttpRequest

Result = TypeVar("Result")

BRANCH = "├"
"""Stands before how much was made of an exchange."""


class SessionBranches:
    """The working session of a session screen.

    Every method takes ``deliver``, which is called with the answer, and may take ``failed``, which is called with the
    reason in words; without it the reason is shown as a notice.
    """

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self._workspace: Workspace | None = None
        self._asked: deque[Callable[[Workspace], object]] = deque()
        self._told = ""
        self._counts: Mapping[str, int] = {}

    def load(self) -> None:
        """Find what was made of this session before, where anything was made of any."""
        from workbench.config import resources

        if resources.state_folder("work").is_dir():
            self.ask(lambda _: None, lambda _: None)

    @property
    def is_begun(self) -> bool:
        """Somebody asked for the trees."""
        return self._workspace is not None or bool(self._asked)

    def line_of(self, exchange: str) -> Line:
        """How much was made of an exchange, for its row."""
        made = self._counts.get(exchange)
        return (Span(f"{BRANCH} {made}", "accent"),) if made else ()

    def current(self, index: int, deliver: Callable[[BranchNode], None], failed: Failed | None = None) -> None:
        """Where the person stands in the tree of an exchange, or stood last when the session was open before."""
        self.ask(lambda workspace: workspace.current(index), deliver, failed)

    def commit(
        self,
        parent: BranchNode,
        request: HttpRequest,
        title: str,
        deliver: Callable[[BranchNode], None],
        failed: Failed | None = None,
    ) -> None:
        """An edit of a node's request, ``title`` saying what was done in one line; the person then stands at it."""
        self.ask(lambda workspace: workspace.commit(parent, request, title), deliver, failed)

    def commit_response(
        self,
        parent: BranchNode,
        exchange: Exchange,
        deliver: Callable[[BranchNode], None],
        failed: Failed | None = None,
    ) -> None:
        """What a target answered to a node's request; the person then stands at it."""
        self.ask(lambda workspace: workspace.commit_response(parent, exchange), deliver, failed)

    def go(
        self, node: BranchNode, deliver: Callable[[BranchNode], None] = lambda _: None, failed: Failed | None = None
    ) -> None:
        """Stand at another node: what is edited, sent, minimised or exported next is its request."""
        self.ask(lambda workspace: workspace.go(node), deliver, failed)

    def undo(
        self, node: BranchNode, deliver: Callable[[BranchNode | None], None], failed: Failed | None = None
    ) -> None:
        """Back to what a node was made of; None for the root. The person then stands there."""
        self.ask(lambda workspace: workspace.undo(node), deliver, failed)

    def redo(
        self, node: BranchNode, deliver: Callable[[BranchNode | None], None], failed: Failed | None = None
    ) -> None:
        """To what was undone last; None where nothing was. The person then stands there."""
        self.ask(lambda workspace: workspace.redo(node), deliver, failed)

    def ask(
        self, question: Callable[[Workspace], Result], deliver: Callable[[Result], None], failed: Failed | None = None
    ) -> None:
        """Anything else about the trees; the question is asked in the inspector's thread."""

        def job(inspector: Inspector) -> Answer:
            self._asked.popleft()
            workspace = self._open(inspector)
            told = question(workspace)
            return Answer(partial(self._deliver, deliver, told, self._news(workspace), counts(workspace)))

        self._asked.append(question)
        self.screen.inspecting.do(guarded(job, failed or self._notify))

    def _news(self, workspace: Workspace) -> tuple[str, ...]:
        """What people should know of the trees and were not told yet."""
        news = (*workspace.notices, *((workspace.trouble,) if workspace.trouble not in ("", self._told) else ()))
        workspace.notices.clear()
        self._told = workspace.trouble
        return news

    def _deliver(
        self, deliver: Callable[[Result], None], told: Result, news: tuple[str, ...], made: Mapping[str, int]
    ) -> None:
        for words in news:
            self.screen.notify(visible(words), severity="warning", markup=False)
        if made != self._counts:
            self._counts = made
            self.screen.exchanges.reload()
            self.screen.on_screen_resume()
        deliver(told)

    def _open(self, inspector: Inspector) -> Workspace:
        """The working session, in the inspector's thread."""
        if self._workspace is None:
            from workbench.edits.branches import open_for

            self._workspace = open_for(inspector.session)
            self.screen.inspecting.at_end(self._close)
        return self._workspace

    def _close(self) -> None:
        """Keep what was done just before the session was left, in the inspector's thread."""
        assert self._workspace
        while self._asked:
            with suppress(WorkbenchError, OSError):
                self._asked.popleft()(self._workspace)
        self._workspace.close()

    def _notify(self, why: str) -> None:
        self.screen.notify(visible(why), severity="error", markup=False)


def counts(workspace: Workspace) -> Mapping[str, int]:
    """Edits and sends of each exchange of which any were made, by its id; the trials of a request count as one."""
    return {root.compact.bare.id: workspace.size(root) for root in workspace.roots()}
