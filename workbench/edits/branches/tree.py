"""The working session: a tree of edits and sent requests of a session that never changes.

Every node is an exchange: the root is the recorded one, a child is its parent with one edit, or with the response of a
target. On disk it is a separate session file, written a node at a time, so that a crash loses nothing; it opens,
checks and exports like any other. Secrets are replaced before writing; in memory the bytes stay.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from workbench.config import resources
from workbench.diff import Difference
from workbench.diff import compare as compare_bytes
from workbench.edits import text_of
from workbench.edits.branches.branch_session import BranchSession, CompactExchange, ExchangeCache
from workbench.edits.branches.files import HERE, META, NAME, BranchFiles, migrate_trees, request_digest, restore_secrets
from workbench.errors import SessionFormatError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.wire import Exchange, HttpRequest, Origin, State
from workbench.wire.session import MemorySession, Session, file_name, former_ids, session_id

RECORDED = "as recorded"
"""Title of a root."""


@dataclass(frozen=True, slots=True)
class BranchNode:
    """One state of a request.

    Attributes:
        id: of its exchange in the working session.
        parent: id of the parent node; None for a recorded exchange.
        compact: the request, with the response if it was sent or recorded.
        title: the edit or send, in one line.
        name: given by the user; empty if none.
        index: of the recorded exchange in the source session that is the root of its tree.
        is_trial: one of many that were sent to compare responses; it did not become the current node.
    """

    id: str
    parent: str | None
    compact: CompactExchange
    title: str
    index: int
    name: str = ""
    is_trial: bool = False

    @property
    def exchange(self) -> Exchange:
        """The request, with the response if it was sent or recorded. A large one is restored on demand."""
        return self.compact.exchange

    @property
    def is_sent(self) -> bool:
        """True if the node has the response of a target; further edits change its request."""
        return self.compact.bare.origin is Origin.RESENT


class Workspace:
    """The trees of one source session. For one thread at a time.

    Args:
        source: the session whose exchanges are edited; never written to.
        path: of the working session, read if it exists, created with the first edit; None to store nothing.

    Attributes:
        notices: messages for the user about the trees that were read, and about nodes that no file can hold.
    """

    def __init__(self, source: Session, path: Path | None = None) -> None:
        self.source = source
        self._files = BranchFiles(path)
        self.notices = self._files.damage
        self._recent = ExchangeCache()
        self._nodes: dict[str, BranchNode] = {}
        self._children: dict[str, list[str]] = {}
        self._roots: dict[int, str] = {}
        self._stored_ids: set[str] = set()
        self._visited: dict[str, str] = {}
        self._here: dict[str, str] = {}
        self._read()

    @property
    def trouble(self) -> str:
        """Reason why edits are kept in memory only, in one line; empty if they are written."""
        return self._files.trouble

    def root(self, index: int) -> BranchNode:
        """Root of the tree of a recorded exchange. Raises IndexError, SessionFormatError."""
        known = self._nodes.get(self._roots.get(index, ""))
        if known is None or known.compact.bare.state is State.OPEN:
            exchange = self.source.exchange(index)
            id = known.id if known else self._free_id(exchange.id)
            self._roots[index] = id
            self._nodes[id] = known = BranchNode(
                id, None, self._compact(exchange), RECORDED, index, self._files.labels.get(NAME + id, "")
            )
        return known

    def node(self, id: str) -> BranchNode:
        """A node by its id. Raises KeyError."""
        return self._nodes[id]

    def current(self, index: int) -> BranchNode:
        """The current node in the tree of a recorded exchange; its root at first. Raises as ``root``."""
        root = self.root(index)
        return self._nodes[self._here.get(root.id, root.id)]

    def start_at_roots(self) -> None:
        """Make the recorded exchanges current; ``redo`` leads to the nodes that were. Nothing is written."""
        self._here.clear()

    def go(self, node: BranchNode) -> BranchNode:
        """Make a node current; ``redo`` then leads back to it from all its ancestors."""
        for earlier, later in zip(way := self.path(node), way[1:], strict=False):
            self._visited[earlier.id] = later.id
        if self._here.get(way[0].id) != node.id:
            self._here[way[0].id] = node.id
            if way[0].id in self._stored_ids:
                self._files.set_label(HERE + way[0].id, node.id)
        return way[-1]

    def commit(self, parent: BranchNode, request: HttpRequest, title: str, *, is_trial: bool = False) -> BranchNode:
        """Add an edit: the request as it is now; returns the parent itself if nothing changed.

        The new node becomes current, except for a trial.
        """
        if request == parent.exchange.request:
            return parent if is_trial else self.go(parent)
        title = _line(title)
        exchange = Exchange(
            uuid.uuid4().hex[:12], request, origin=Origin.EDITED, parent=parent.id, started_at=time.time(), note=title
        )
        compact = self._compact(exchange, parent)
        return self._add(BranchNode(exchange.id, parent.id, compact, title, parent.index, is_trial=is_trial))

    def commit_response(self, parent: BranchNode, exchange: Exchange, *, is_trial: bool = False) -> BranchNode:
        """Add the response of a target to the request of a node.

        The new node becomes current, except for a trial, and for a converted request, which is not the edited one.
        """
        status = exchange.response.status if exchange.response else "no response"
        title = _line(f"sent to {exchange.meta.get('target', 'a target')} → {status}")
        exchange = replace(
            exchange, id=self._free_id(exchange.id), parent=parent.id, origin=Origin.RESENT, note=exchange.note or title
        )
        node = BranchNode(
            exchange.id, parent.id, self._compact(exchange, parent), title, parent.index, is_trial=is_trial
        )
        return self._store(node) if "converted" in exchange.meta else self._add(node)

    def children(self, node: BranchNode) -> list[BranchNode]:
        """Children of a node, in order."""
        return [self._nodes[id] for id in self._children.get(node.id, ())]

    def trials(self, node: BranchNode) -> list[BranchNode]:
        """Trials among the children of a node that are shown folded.

        Not those that have a name, are current, or have descendants other than trials.
        """
        here = set(self._here.values())

        def is_one_of_many(child: BranchNode) -> bool:
            return all(n.is_trial and not n.name and n.id not in here for n in self.subtree(child))

        return [child for child in self.children(node) if is_one_of_many(child)]

    def size(self, root: BranchNode) -> int:
        """Number of edits and sends in a tree; the trials of a node count as one."""
        nodes = self.subtree(root)
        folded = [[n for child in self.trials(node) for n in self.subtree(child)] for node in nodes]
        inner = {n.id for trials in folded for n in trials}
        folds = sum(bool(trials) for node, trials in zip(nodes, folded, strict=True) if node.id not in inner)
        return len(nodes) - 1 - len(inner) + folds

    def undo(self, node: BranchNode) -> BranchNode | None:
        """Go to the parent of a node; None for the root."""
        if node.parent is None:
            return None
        self._visited[node.parent] = node.id
        return self.go(self._nodes[node.parent])

    def redo(self, node: BranchNode) -> BranchNode | None:
        """Go to the child that was undone or added last; None if there is none."""
        later = self._redo_target(node)
        return self.go(later) if later else None

    def tip(self, node: BranchNode) -> BranchNode:
        """The node that ``redo`` leads to in the end; the current node does not change."""
        while later := self._redo_target(node):
            node = later
        return node

    def _redo_target(self, node: BranchNode) -> BranchNode | None:
        """The child that was visited last; else the newest one that is not a trial."""
        if node.id in self._visited:
            return self._nodes[self._visited[node.id]]
        return next((child for child in reversed(self.children(node)) if not child.is_trial), None)

    def path(self, node: BranchNode) -> list[BranchNode]:
        """Nodes from the root to this one, inclusive."""
        way = [self._nodes[node.id]]
        while way[-1].parent is not None:
            way.append(self._nodes[way[-1].parent])
        return way[::-1]

    def rename(self, node: BranchNode, name: str) -> BranchNode:
        """Name a node; an empty string removes its name."""
        name = _line(name)
        renamed = self._nodes[node.id] = replace(self._nodes[node.id], name=name)
        self._write_root(renamed)
        self._files.set_label(NAME + node.id, name)
        return renamed

    def branches(self, index: int) -> list[BranchNode]:
        """Leaves of the tree of a recorded exchange, in order of creation; its root if it has no edits."""
        root = self.root(index)
        return [n for n in self.subtree(root) if n.id not in self._children]

    def subtree(self, node: BranchNode) -> list[BranchNode]:
        """A node and all its descendants: parents before children, older branches first."""
        found, stack = list[BranchNode](), [node]
        while stack:
            found.append(stack.pop())
            stack += reversed(self.children(found[-1]))
        return found

    def roots(self) -> list[BranchNode]:
        """Roots of every tree with edits, also of exchanges that are no longer in the source."""
        return [n for n in self._nodes.values() if n.parent is None and n.id in self._children]

    def compare(self, a: BranchNode, b: BranchNode) -> Difference:
        """Difference between the requests of two nodes, in bytes and in meaning."""
        return compare_bytes(_body(a), _body(b))

    def as_session(self, root: BranchNode | None = None) -> MemorySession:
        """One tree, or all of them, as a session; the exchanges of a branch have its name."""
        nodes = [n for one in ([root] if root else self.roots()) for n in self.subtree(one)]
        exchanges = tuple(replace(n.exchange, id=n.id, parent=n.parent, branch=self._branch(n)) for n in nodes)
        about = {"made": "edited and sent in Workbench", "source": self.source.name}
        return MemorySession(f"edits of {self.source.name}", exchanges, about=about)

    def as_branch_session(self, node: BranchNode, name: str = "") -> Session:
        """The source up to the edited exchange, with a node in its place; ``name`` is its name.

        Exchanges whose answers the node's request continues come before it.
        """
        way = [n.exchange for n in self.path(node) if n.parent is not None or n.id == node.id]
        return BranchSession(self.source, node.index, way, name)

    def close(self) -> None:
        """Close the file, leaving no journal files; the source stays open."""
        self._files.close()

    def _compact(self, exchange: Exchange, parent: BranchNode | None = None) -> CompactExchange:
        return CompactExchange(exchange, parent.compact if parent else None, self._recent)

    def _branch(self, node: BranchNode) -> str:
        """The nearest name towards the root; empty if none."""
        return next((n.name for n in reversed(self.path(node)) if n.name), "")

    def _add(self, node: BranchNode) -> BranchNode:
        new = self._store(node)
        return new if node.is_trial else self.go(new)

    def _store(self, node: BranchNode) -> BranchNode:
        assert node.parent
        self._write_root(self._nodes[node.parent])
        self._attach(node)
        self._write_node(node)
        return node

    def _attach(self, node: BranchNode) -> None:
        self._nodes[node.id] = node
        if node.parent is not None:
            self._children.setdefault(node.parent, []).append(node.id)

    def _write_root(self, node: BranchNode) -> None:
        """Write the root of a node's tree, with the first edit of it."""
        root = self.path(node)[0]
        if root.id not in self._stored_ids:
            self._write_node(root)

    def _write_node(self, node: BranchNode) -> None:
        about: dict[str, JsonValue] = {"title": node.title, **({"trial": True} if node.is_trial else {})}
        base = self._nodes[node.parent].compact if node.parent else None
        if node.parent is None:
            about["digest"] = request_digest(node.exchange)
        self._stored_ids.add(node.id)
        self._files.write((node.id, node.parent), node.compact, about, base)

    def _free_id(self, preferred: str) -> str:
        """An unused id like the wanted one."""
        names = (preferred if n == 1 else f"{preferred}~{n}" for n in range(1, len(self._nodes) + 2))
        return next(name for name in names if name not in self._nodes)

    def _read(self) -> None:
        """Load stored trees: roots from the source, everything else from the files."""
        stored = dict[str, CompactExchange]()
        for exchange in self._files.read():
            stored[exchange.id] = CompactExchange(exchange, stored.get(exchange.parent or ""), self._recent)
        indices = {summary.id: summary.index for summary in self.source.summaries()} if stored else {}
        labels = self._files.labels
        for exchange in _parents_first(stored):
            about = exchange.meta.get(META)
            data: dict[str, JsonValue] = about if isinstance(about, dict) else {}
            meta = {key: value for key, value in exchange.meta.items() if key != META}
            base = self._nodes.get(exchange.parent or "")
            if base:
                exchange = restore_secrets(exchange, base.exchange.request)
                title = str(data.get("title", exchange.note))
                compact = self._compact(replace(exchange, meta=meta), base)
                node = BranchNode(exchange.id, base.id, compact, title, base.index, is_trial=data.get("trial") is True)
            else:
                node = self._restore_root(replace(exchange, meta=meta), data, indices)
            self._stored_ids.add(node.id)
            self._attach(replace(node, name=labels.get(NAME + node.id, "")))
        self._here = {w.removeprefix(HERE): id for w, id in labels.items() if w.startswith(HERE) and id in self._nodes}
        for id in list(self._here.values()):
            self.go(self._nodes[id])
        lost = {n.index for n in self.roots() if n.index >= 0 and n.index not in self._roots}
        what = "has changed since it was edited; the old edits are kept as a separate tree"
        self.notices += (f"exchange {index + 1} {what}" for index in sorted(lost))

    def _restore_root(self, stored: Exchange, data: Mapping[str, JsonValue], indices: Mapping[str, int]) -> BranchNode:
        """A root: from the source if it contains it unchanged, else as it was stored."""
        index = indices.get(stored.id, indices.get(stored.id.partition("~")[0], -1))
        current = self.source.exchange(index) if index >= 0 else stored
        if index < 0 or request_digest(current) != data.get("digest"):
            return BranchNode(stored.id, None, self._compact(stored), "as recorded", index)
        self._roots[index] = stored.id
        return BranchNode(stored.id, None, self._compact(current), RECORDED, index)


def _parents_first(stored: Mapping[str, CompactExchange]) -> Iterator[Exchange]:
    """Exchanges in order, but parents first: these may be in another file."""
    below: dict[str, list[str]] = {}
    for id, compact in stored.items():
        parent = compact.bare.parent or ""
        below.setdefault(parent if parent in stored else "", []).append(id)
    stack = below.pop("", [])[::-1]
    while stack:
        id = stack.pop()
        yield stored[id].restore()
        stack += reversed(below.pop(id, []))


def open_for(session: Session) -> Workspace:
    """The working session of a session, in the state folder; in memory if the session has no id.

    Raises nothing if files cannot be read or written: see ``notices`` and ``trouble``.
    """
    try:
        ids = [session_id(session), *(former.id for former in former_ids(session))]
    except SessionFormatError:
        ids = [""]
    if not ids[0]:
        return Workspace(session)
    if isinstance(session, BranchSession):
        ids = list(map(session.work_id, ids))
    folder = resources.state_folder("work")
    path, *former = (folder / f"{file_name(id)}.session" for id in ids)
    for old in former:
        migrate_trees(old, path, session)
    return Workspace(session, path)


def _line(text: str) -> str:
    """A text as one line that any file can store: lone surrogates are escaped."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")


def _body(node: BranchNode) -> bytes:
    return text_of(node.exchange.request) if node.exchange.request else b""
