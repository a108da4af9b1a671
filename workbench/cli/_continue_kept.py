"""Where a continued conversation is kept: in a file of its own, or in the working session beside its recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.send.loop import Send
    from workbench.send.outgoing import Outgoing
    from workbench.wire.exchange import Exchange
    from workbench.wire.session import Session

WORKING = "the working session: workbench open shows it as a branch"


class Kept:
    """Where what is sent and answered is kept."""

    def __init__(self, session: Session, index: int, out: str | None) -> None:
        from workbench.edits.branches import Workspace, open_for

        self._out = Path(out) if out else None
        self._workspace = Workspace(session) if out else open_for(session)
        self._node = self._workspace.root(index)
        self._exchanges = [self._node.exchange]

    @property
    def last(self) -> Exchange:
        """The newest."""
        return self._node.exchange

    @property
    def where(self) -> str:
        """The file that holds it, "" for none."""
        if len(self._exchanges) == 1:
            return ""
        return str(self._out) if self._out else "" if self._workspace.trouble else WORKING

    def add(self, step: Send, sent: Outgoing, exchange: Exchange) -> None:
        """A request that was sent, with what came of it. Raises OSError."""
        from workbench.wire.session import store

        self._exchanges.append(exchange)
        if self._out:
            store.save(self._exchanges, self._out, about={"made": f"continued with {sent.target.name}"})
        node = self._node
        if step.added:
            node = self._workspace.commit(node, step.request, "continued with the answer and its results")
        self._node = self._workspace.commit_response(node, exchange)

    def close(self) -> None:
        """No more comes."""
        self._workspace.close()
