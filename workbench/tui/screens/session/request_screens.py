"""Screens on one request of the session: the editor, the tree of branches, and send.

They open one another through this, so that none of them imports another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.edits.branches import BranchNode
    from workbench.tui.screens.session.screen import SessionScreen


class RequestScreens:
    """Opens the screens on a request of the session."""

    def __init__(self, session: SessionScreen) -> None:
        self.session = session

    def edit(self, index: int, pointer: str = "") -> None:
        """Edit the request of an exchange, if there is one.

        Args:
            pointer: element of the request to select first.
        """
        from workbench.tui.screens.edit.screen import begin

        begin(self.session, index, pointer)

    def edit_further(self, index: int, is_wanted: bool | None) -> None:
        """Go back to the edit screen below, or open one."""
        from workbench.tui.screens.edit.screen import EditScreen

        if is_wanted and not isinstance(self.session.app.screen, EditScreen):
            self.edit(index)

    def branches(self, index: int, leave: Callable[[bool | None], None] | None = None) -> None:
        """Open the tree of edits and sends of an exchange.

        Args:
            leave: called with True if the person went to a node.
        """
        from workbench.tui.screens.branches import BranchesScreen

        self.session.app.push_screen(BranchesScreen(self.session, index), leave)

    def send(self, node: BranchNode) -> None:
        """Ask for a target, then show a preview of the request of a node."""
        from workbench.tui.screens.send import begin

        begin(self.session, node)
