"""Edit screen for a request paused at a breakpoint: the edited request is forwarded instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.edits import text_of
from workbench.errors import WorkbenchError
from workbench.tui import keys
from workbench.tui.bars import KeyBar
from workbench.tui.models import pauses
from workbench.tui.models.pauses import PausedSide
from workbench.tui.pause_listener import now, with_secrets
from workbench.tui.screens.edit.screen import EditScreen

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode, Workspace
    from workbench.tui.models.edit_study import EditStudy
    from workbench.tui.screens.session.screen import SessionScreen

WAYS = "s: forward the edited request · q: keep it paused"

Pass = Callable[[bytes], None]


class EditPausedScreen(EditScreen):
    """Edits a paused request, and sends it by forwarding it to the upstream. Edits are a branch, as elsewhere.

    Args:
        session: session of the exchange.
        root: recorded request, with stand-ins for the secrets of the paused one.
        node: current node.
        paused: the paused request.
        body: body of the paused request, with its secrets.
        pass_on: called with the body to forward.
    """

    def __init__(
        self, session: SessionScreen, root: BranchNode, node: BranchNode, paused: PausedSide, body: bytes, pass_on: Pass
    ) -> None:
        super().__init__(session, node, paused.reasons[0].pointer if paused.reasons else "")
        self._root, self._paused, self._body, self._pass_on = root, paused, body, pass_on
        self._words, self._style = "", "muted"

    def on_mount(self) -> None:
        self.say("")
        self.set_interval(1.0, self._tick)

    def say(self, words: str, style: str = "muted") -> None:
        self._words, self._style = words, style
        waits = pauses.patience(self._paused, now())
        words_now = f"{pauses.SIGN} paused · {waits.text} · {words or WAYS}"
        super().say(words_now, style if words and style != "muted" else waits.style)

    def _tick(self) -> None:
        """Update the remaining time of the client, each second."""
        if self.is_current:
            self.say(self._words, self._style)

    def show_keys(self, instead: str = "") -> None:
        self.query_one("#keys", KeyBar).show_keys(() if instead else keys.EDIT_HELD, instead)

    def action_send(self) -> None:
        self.study.when_settled(self._pass)

    def _pass(self, study: EditStudy) -> None:
        recorded = self._root.exchange.request
        assert recorded
        marks = [mark for mark in recorded.redactions if mark.where == "body"]
        try:
            body = with_secrets(study.text, text_of(recorded), self._body, marks)
        except WorkbenchError as error:
            self.flow.refuse(str(error))
            return
        self._pass_on(body)
        self.dismiss(None)


def begin(session: SessionScreen, index: int, paused: PausedSide, body: bytes, pass_on: Pass) -> None:
    """Edit the paused request of an exchange, from the current node of its tree."""

    def find_nodes(workspace: Workspace) -> tuple[BranchNode, BranchNode]:
        return workspace.root(index), workspace.current(index)

    def open_screen(nodes: tuple[BranchNode, BranchNode]) -> None:
        if session.app.screen is before:  # the person has not gone elsewhere meanwhile
            session.app.push_screen(EditPausedScreen(session, *nodes, paused, body, pass_on))

    before = session.app.screen
    session.branches.ask(find_nodes, open_screen)
