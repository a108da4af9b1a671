"""Which request the keys of the session screen work on: the recorded one, or a branch that was made of it.

Each exchange has one such place: where the person stands in its tree of edits and sends. What is shown is that, every
key works on it, and one key leads from the recorded request to its branch and back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.safetext import clip
from workbench.tui.models.send import made
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode, Workspace
    from workbench.tui.screens.session.screen import SessionScreen


ROOM = 50
"""Cells of the banner beside the title of the branch, up to what a key does."""


class BranchPlace(NamedTuple):
    """Where the person stands in the tree of an exchange. ``tip``: the end of its branch; the root if absent."""

    root: BranchNode
    here: BranchNode
    tip: BranchNode

    @property
    def is_branch(self) -> bool:
        """It is not the recorded request."""
        return self.here.id != self.root.id


class BranchSwitch:
    """Where the person stands in the trees of a session screen, as far as that was asked."""

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self._known: dict[int, BranchPlace] = {}
        self._left: dict[int, BranchNode] = {}

    def look(self, index: int) -> None:
        """Ask where the person stands, and show that."""
        self.screen.branches.ask(lambda workspace: branch_place(workspace, index), self._show_place)

    def _reopen(self, index: int) -> None:
        """Show another request in the place of an exchange, if it is the one that is wanted."""
        if self.screen.navigation.goal.exchange == index:
            self.screen.navigation.open(index)

    def switch_shown(self) -> None:
        """The same for the open exchange."""
        if self.screen.opened:
            self.switch(self.screen.opened.index)

    def switch(self, index: int) -> None:
        """From the recorded request to its branch, and back."""

        def question(workspace: Workspace) -> BranchPlace:
            now = branch_place(workspace, index)
            if now.is_branch:
                self._left[index] = now.here
                workspace.go(now.root)
            else:
                left = self._left.get(index, now.tip)
                workspace.go(left)
            return branch_place(workspace, index)

        def came(now: BranchPlace) -> None:
            if now.tip.id == now.root.id:
                self.screen.notify("there is no branch of this request: e edits it, f repairs it", markup=False)
            self._show_place(now)

        self.screen.branches.ask(question, came)

    def is_branch(self, index: int) -> bool:
        """A branch is shown in the place of an exchange."""
        known = self._known.get(index)
        return known is not None and known.is_branch

    def has_branch(self, index: int) -> bool:
        """Something was made of the request, whether that is shown or not."""
        known = self._known.get(index)
        return known is not None and known.tip.id != known.root.id

    def words(self, index: int) -> str:
        """For titles: which branch of a request is meant; empty string for the recorded request."""
        known = self._known.get(index)
        return made(known.here) if known else ""

    def banner(self, index: int, key: str, width: int) -> Line | None:
        """What the keys work on, and what switches it; None where there is no branch."""
        known = self._known.get(index)
        if known is None or not self.has_branch(index):
            return None
        other = self._left.get(index, known.tip)
        name, style = (known.here, "warning strong") if known.is_branch else (other, "muted")
        title = clip(name.name or name.title, max(10, width - ROOM))
        if known.is_branch:
            return line(
                Span(f" ├ branch of request {index + 1}: {title} ", style),
                Span(f" {key} recorded request · every key works on it", "muted"),
            )
        return line(
            Span(f" request {index + 1} as recorded ", "strong"),
            Span(f" {key} branch: {title} · every key works on it", "muted"),
        )

    def _show_place(self, now: BranchPlace) -> None:
        index, before = now.root.index, self._known.get(now.root.index)
        self._known[index] = now
        was = before.here.id if before else now.root.id
        if was != now.here.id:
            held = now.here.compact
            self.screen.inspecting.branch(index, (lambda: held.exchange) if now.is_branch else None)
            self._reopen(index)
        elif self.screen.panes.is_furnished:
            self.screen.header.show()


def branch_place(workspace: Workspace, index: int) -> BranchPlace:
    """Where the person stands in the tree of an exchange. Raises as ``Workspace.root``."""
    root = workspace.root(index)
    return BranchPlace(root, workspace.current(index), workspace.tip(root))
