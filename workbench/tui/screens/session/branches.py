"""Trees of edits and sends of a session, for every screen that edits or sends.

``session_screen.branches`` is the only access to them. Call it on the screen's thread; it returns at once. The trees
belong to the inspector's thread, so questions run there, and their answers are delivered on the screen's thread.
``BranchNode`` values are plain and may be kept. Each tree has one current node; its root is the recorded request.

    screen.branches.current(index, self._begin)                      # deliver(node): the current node
    screen.branches.commit(node, request, "text changed", self._at)  # deliver(node): the new node, now current
    screen.branches.commit_response(node, exchange, self._keep)      # the same for a response

Questions asked just before the session is closed are still answered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from workbench.errors import WorkbenchError
from workbench.safetext import visible
from workbench.tui.service import Failed, JobAnswer, guard
from workbench.views import Line, Span

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode, Workspace
    from workbench.rules import Inspector
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire import Exchange, HttpRequest

Result = TypeVar("Result")

BRANCH = "├"
"""Sign before the number of edits and sends of an exchange."""


class SessionBranches:
    """Working session of a session screen.

    ``deliver`` is called with the answer. ``failed`` is called with the reason of a failure in words; without it the
    reason is shown as a notice.
    """

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self._workspace: Workspace | None = None
        self._asked: deque[Callable[[Workspace], object]] = deque()
        self._last_trouble = ""
        self._counts: Mapping[str, int] = {}

    def load(self) -> None:
        """Load earlier branches of this session, if any session has branches."""
        from workbench.config import resources

        if resources.state_folder("work").is_dir():
            self.ask(lambda _: None, lambda _: None)

    @property
    def is_begun(self) -> bool:
        """The trees have been asked for."""
        return self._workspace is not None or bool(self._asked)

    def line_of(self, exchange: str) -> Line:
        """Number of edits and sends of an exchange, for its row; empty if none."""
        count = self._counts.get(exchange)
        return (Span(f"{BRANCH} {count}", "accent"),) if count else ()

    def current(self, index: int, deliver: Callable[[BranchNode], None], failed: Failed | None = None) -> None:
        """Ask for the current node of an exchange; of a session opened again it is the recorded request."""
        self._ask_of_person(lambda workspace: workspace.current(index), deliver, failed)

    def commit(
        self,
        parent: BranchNode,
        request: HttpRequest,
        title: str,
        deliver: Callable[[BranchNode], None],
        failed: Failed | None = None,
    ) -> None:
        """Add an edit of the request of a node, and make it current; ``title`` describes it in one line."""
        self._ask_of_person(lambda workspace: workspace.commit(parent, request, title), deliver, failed)

    def commit_response(
        self,
        parent: BranchNode,
        exchange: Exchange,
        deliver: Callable[[BranchNode], None],
        failed: Failed | None = None,
    ) -> None:
        """Add a response to the request of a node, and make it current."""
        self.ask(lambda workspace: workspace.commit_response(parent, exchange), deliver, failed)

    def go(
        self, node: BranchNode, deliver: Callable[[BranchNode], None] = lambda _: None, failed: Failed | None = None
    ) -> None:
        """Make a node current: its request is the next to be edited, sent, minimised or exported."""
        self.ask(lambda workspace: workspace.go(node), deliver, failed)

    def undo(
        self, node: BranchNode, deliver: Callable[[BranchNode | None], None], failed: Failed | None = None
    ) -> None:
        """Make the parent of a node current; delivers None for the root."""
        self.ask(lambda workspace: workspace.undo(node), deliver, failed)

    def redo(
        self, node: BranchNode, deliver: Callable[[BranchNode | None], None], failed: Failed | None = None
    ) -> None:
        """Make the node that was undone last current; delivers None if none was."""
        self.ask(lambda workspace: workspace.redo(node), deliver, failed)

    def ask(
        self, question: Callable[[Workspace], Result], deliver: Callable[[Result], None], failed: Failed | None = None
    ) -> None:
        """Ask anything else about the trees; ``question`` is called in the inspector's thread."""

        def job(inspector: Inspector) -> JobAnswer:
            self._asked.popleft()
            workspace = self._open(inspector)
            result = question(workspace)
            return JobAnswer(partial(self._deliver, deliver, result, self._news(workspace), counts(workspace)))

        self._asked.append(question)
        self.screen.inspecting.do(guard(job, failed or self._notify))

    def _ask_of_person(
        self, question: Callable[[Workspace], Result], deliver: Callable[[Result], None], failed: Failed | None
    ) -> None:
        """Ask what a key needs before it can act; further keys wait for that."""

        def deliver_first(result: Result) -> None:
            try:
                deliver(result)
            finally:
                self.screen.type_ahead.let_go()

        def fail_first(why: str) -> None:
            (failed or self._notify)(why)
            self.screen.type_ahead.let_go()

        self.screen.type_ahead.hold()
        self.ask(question, deliver_first, fail_first)

    def _news(self, workspace: Workspace) -> tuple[str, ...]:
        """Notices about the trees that were not shown yet."""
        news = (
            *workspace.notices,
            *((workspace.trouble,) if workspace.trouble not in ("", self._last_trouble) else ()),
        )
        workspace.notices.clear()
        self._last_trouble = workspace.trouble
        return news

    def _deliver(
        self, deliver: Callable[[Result], None], result: Result, news: tuple[str, ...], counts: Mapping[str, int]
    ) -> None:
        for words in news:
            self.screen.notify(visible(words), severity="warning", markup=False)
        if counts != self._counts:
            self._counts = counts
            self.screen.exchanges.reload()
            self.screen.on_screen_resume()
        deliver(result)

    def _open(self, inspector: Inspector) -> Workspace:
        """Open the working session, in the inspector's thread; what was recorded is shown first."""
        if self._workspace is None:
            from workbench.edits.branches import open_for

            self._workspace = open_for(inspector.session)
            self._workspace.start_at_roots()
            self.screen.inspecting.at_end(self._close)
        return self._workspace

    def _close(self) -> None:
        """Answer what was asked just before the session was closed, in the inspector's thread."""
        assert self._workspace
        while self._asked:
            with suppress(WorkbenchError, OSError):
                self._asked.popleft()(self._workspace)
        self._workspace.close()

    def _notify(self, why: str) -> None:
        self.screen.notify(visible(why), severity="error", markup=False)


def counts(workspace: Workspace) -> Mapping[str, int]:
    """Exchange id → number of its edits and sends, without zeros; the trials of a request count as one."""
    return {root.compact.bare.id: workspace.size(root) for root in workspace.roots()}
