"""Switch between the recorded request and its branch on the session screen.

Each exchange has a current node in its tree of edits and sends. The session screen shows that node, every key works on
it, and one key switches from the recorded request to its branch and back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.safetext import clip
from workbench.tui.models.send import request_name
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode, Workspace
    from workbench.tui.screens.session.screen import SessionScreen


ROOM = 50
"""Cells of the banner that the title of the branch leaves for the key."""


class BranchPlace(NamedTuple):
    """Current node in the tree of an exchange. ``tip`` is the end of the branch; the root if there is none."""

    root: BranchNode
    here: BranchNode
    tip: BranchNode

    @property
    def is_branch(self) -> bool:
        """The current node is not the recorded request."""
        return self.here.id != self.root.id


class BranchSwitch:
    """Current nodes of the exchanges of a session, as far as they have been looked up."""

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self._known: dict[int, BranchPlace] = {}
        self._tips: dict[int, BranchNode] = {}

    def look(self, index: int) -> None:
        """Look up the current node of an exchange, and show it."""
        self.screen.branches.ask(lambda workspace: branch_place(workspace, index), self._show_place)

    def _reopen(self, index: int) -> None:
        """Open an exchange again at its current node, if it is still the wanted one."""
        if self.screen.navigation.goal.exchange == index:
            self.screen.navigation.open(index)

    def switch_shown(self) -> None:
        """Switch the open exchange."""
        if self.screen.opened:
            self.switch(self.screen.opened.index)

    def switch(self, index: int) -> None:
        """Switch from the recorded request to its branch, or back."""

        def question(workspace: Workspace) -> BranchPlace:
            now = branch_place(workspace, index)
            if now.is_branch:
                self._tips[index] = now.here
                workspace.go(now.root)
            else:
                branch = self._tips.get(index, now.tip)
                workspace.go(branch)
            return branch_place(workspace, index)

        def show(now: BranchPlace) -> None:
            if now.tip.id == now.root.id:
                self.screen.notify("this request has no branch · e: edit · f: repair", markup=False)
            self._show_place(now)

        self.screen.branches.ask(question, show)

    def is_branch(self, index: int) -> bool:
        """The current node of an exchange is a branch."""
        known = self._known.get(index)
        return known is not None and known.is_branch

    def has_branch(self, index: int) -> bool:
        """The request of an exchange has a branch, shown or not."""
        known = self._known.get(index)
        return known is not None and known.tip.id != known.root.id

    def words(self, index: int) -> str:
        """Name of the current branch of an exchange, for titles; empty for the recorded request."""
        known = self._known.get(index)
        return request_name(known.here) if known else ""

    def words_of_all(self) -> str:
        """The requests that are shown as branches, in words; empty if none is."""
        numbers = ", ".join(f"{index + 1:,}" for index in sorted(self._known) if self.is_branch(index))
        return f"with the branch of request {numbers}" if numbers else ""

    def banner(self, index: int, key: str, width: int) -> Line | None:
        """Line that names the request that the keys work on, and the key that switches it; None without a branch."""
        known = self._known.get(index)
        if known is None or not self.has_branch(index):
            return None
        other = self._tips.get(index, known.tip)
        name, style = (known.here, "warning strong") if known.is_branch else (other, "muted")
        title = clip(name.name or name.title, max(10, width - ROOM))
        if known.is_branch:
            return line(
                Span(f" ├ branch of request {index + 1}: {title} ", style),
                Span(f" {key}: recorded request · every key works on this branch", "muted"),
            )
        return line(
            Span(f" request {index + 1} as recorded ", "strong"),
            Span(f" {key}: branch {title} · every key works on the recorded request", "muted"),
        )

    def _show_place(self, now: BranchPlace) -> None:
        index, before = now.root.index, self._known.get(now.root.index)
        self._known[index] = now
        was = before.here.id if before else now.root.id
        if was != now.here.id:
            compact = now.here.compact
            self.screen.inspecting.branch(index, (lambda: compact.exchange) if now.is_branch else None)
            self._reopen(index)
        elif self.screen.panes.is_furnished:
            self.screen.header.show()


def branch_place(workspace: Workspace, index: int) -> BranchPlace:
    """Current node in the tree of an exchange. Raises as ``Workspace.root``."""
    root = workspace.root(index)
    return BranchPlace(root, workspace.current(index), workspace.tip(root))
