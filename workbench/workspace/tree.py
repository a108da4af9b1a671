"""The working session: a tree of edits and sends beside a session that nobody changes.

Every node is an exchange: the root is what was recorded, a child is its parent with one edit, or what a target answered
to it. On disk it is a session file of its own, written a node at a time, so that a crash loses nothing that was done;
it opens, checks and exports like any other. Secrets are replaced before they are written.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.wire.exchange import Exchange, HttpRequest, Origin
from workbench.wire.redaction import Redactor
from workbench.wire.session import Session
from workbench.wire.session.writer import SessionWriter


@dataclass(frozen=True, slots=True)
class Node:
    """One state of a request.

    Attributes:
        id: of its exchange in the working session.
        parent: id of the node it was made of; None for what was recorded.
        exchange: the request; and the answer, where it was sent or recorded.
        title: what was done, in one line.
        name: given by people, "" for none.
        index: of the recorded exchange in the source session that its tree begins with.
    """

    id: str
    parent: str | None
    exchange: Exchange
    title: str
    index: int
    name: str = ""

    @property
    def is_sent(self) -> bool:
        """It holds what a target answered; what is edited further is its request."""
        return self.exchange.origin is Origin.RESENT


class Workspace:
    """The trees of one source session. For one thread at a time.

    Args:
        source: the session whose exchanges are edited; never written to.
        path: of the working session, made with the first edit; None to keep nothing.
    """

    def __init__(self, source: Session, path: Path | None = None) -> None:
        self.source, self.path = source, path
        self._nodes: dict[str, Node] = {}
        self._roots: dict[int, str] = {}
        self._visited: dict[str, str] = {}
        self._writer: SessionWriter | None = None
        self._redactor = Redactor()

    def root(self, index: int) -> Node:
        """The root of the tree of a recorded exchange."""
        if index not in self._roots:
            exchange = self.source.exchange(index)
            self._roots[index] = exchange.id
            self._nodes[exchange.id] = Node(exchange.id, None, exchange, "as recorded", index)
        return self._nodes[self._roots[index]]

    def node(self, id: str) -> Node:
        """A node by its id. Raises KeyError."""
        return self._nodes[id]

    def commit(self, parent: Node, request: HttpRequest, title: str) -> Node:
        """An edit: the request as it is now. Raises OSError, sqlite3.Error where it cannot be kept."""
        exchange = Exchange(
            uuid.uuid4().hex[:12], request, origin=Origin.EDITED, parent=parent.id, started_at=time.time(), note=title
        )
        return self._add(Node(exchange.id, parent.id, exchange, title, parent.index))

    def sent(self, parent: Node, exchange: Exchange) -> Node:
        """What a target answered to the request of a node. Raises as ``commit``."""
        status = exchange.response.status if exchange.response else "no answer"
        title = f"sent to {exchange.meta.get('target', 'a target')}: {status}"
        exchange = replace(exchange, parent=parent.id, note=exchange.note or title)
        return self._add(Node(exchange.id, parent.id, exchange, title, parent.index))

    def children(self, node: Node) -> list[Node]:
        """What was made of a node, in order."""
        return [n for n in self._nodes.values() if n.parent == node.id]

    def undo(self, node: Node) -> Node | None:
        """The node it was made of; None for the root."""
        return self._nodes[node.parent] if node.parent else None

    def redo(self, node: Node) -> Node | None:
        """The child that was undone or made last; None where there is none."""
        visited = self._visited.get(node.id)
        return self._nodes[visited] if visited else None

    def _add(self, node: Node) -> Node:
        self._nodes[node.id] = node
        assert node.parent
        self._visited[node.parent] = node.id
        return node
