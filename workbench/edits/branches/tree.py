"""The working session: a tree of edits and sends beside a session that nobody changes.

Every node is an exchange: the root is what was recorded, a child is its parent with one edit, or what a target answered
to it. On disk it is a session file of its own, written a node at a time, so that a crash loses nothing that was done;
it opens, checks and exports like any other. Secrets are replaced before they are written; in memory the bytes stay.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.config import resources
from workbench.diff import Difference
from workbench.diff import compare as compare_bytes
from workbench.edits import text_of
from workbench.edits.branches.former import take_over
from workbench.edits.branches.held import Held, Recent
from workbench.edits.branches.kept import HERE, META, NAME, Kept, digest, remade
from workbench.edits.branches.place import InPlace
from workbench.errors import SessionFormatError
from workbench.ir import JsonValue
from workbench.wire.exchange import Exchange, HttpRequest, Origin, State
from workbench.wire.session import MemorySession, Session
from workbench.wire.session.identity import file_name, former_ids, session_id

RECORDED = "as recorded"
"""Title of a root."""


@dataclass(frozen=True, slots=True)
class Node:
    """One state of a request.

    Attributes:
        id: of its exchange in the working session.
        parent: id of the node it was made of; None for what was recorded.
        held: the request; and the answer, where it was sent or recorded.
        title: what was done, in one line.
        name: given by people, "" for none.
        index: of the recorded exchange in the source session that its tree begins with.
        is_trial: made among many to compare their answers; nobody stood there when it was made.
    """

    id: str
    parent: str | None
    held: Held
    title: str
    index: int
    name: str = ""
    is_trial: bool = False

    @property
    def exchange(self) -> Exchange:
        """The request; and the answer, where it was sent or recorded. A large one is put together when it is asked."""
        return self.held.exchange

    @property
    def is_sent(self) -> bool:
        """It holds what a target answered; what is edited further is its request."""
        return self.held.bare.origin is Origin.RESENT


class Workspace:
    """The trees of one source session. For one thread at a time.

    Args:
        source: the session whose exchanges are edited; never written to.
        path: of the working session, read if it is there, made with the first edit; None to keep nothing.

    Attributes:
        notices: what people should know of the trees as they were read, and of nodes that no file can hold, one line
            each.
    """

    def __init__(self, source: Session, path: Path | None = None) -> None:
        self.source = source
        self._kept = Kept(path)
        self.notices = self._kept.damage
        self._recent = Recent()
        self._nodes: dict[str, Node] = {}
        self._children: dict[str, list[str]] = {}
        self._roots: dict[int, str] = {}
        self._written: set[str] = set()
        self._visited: dict[str, str] = {}
        self._here: dict[str, str] = {}
        self._read()

    @property
    def trouble(self) -> str:
        """Why edits are kept in memory only, in one line; "" where they are written."""
        return self._kept.trouble

    def root(self, index: int) -> Node:
        """The root of the tree of a recorded exchange. Raises IndexError, SessionFormatError."""
        known = self._nodes.get(self._roots.get(index, ""))
        if known is None or known.held.bare.state is State.OPEN:
            exchange = self.source.exchange(index)
            id = known.id if known else self._free(exchange.id)
            self._roots[index] = id
            self._nodes[id] = known = Node(
                id, None, self._held(exchange), RECORDED, index, self._kept.said.get(NAME + id, "")
            )
        return known

    def node(self, id: str) -> Node:
        """A node by its id. Raises KeyError."""
        return self._nodes[id]

    def current(self, index: int) -> Node:
        """Where somebody stood last in the tree of a recorded exchange; its root at first. Raises as ``root``."""
        root = self.root(index)
        return self._nodes[self._here.get(root.id, root.id)]

    def go(self, node: Node) -> Node:
        """Stand at a node: ``redo`` then leads back to it from everything it was made of."""
        for earlier, later in zip(way := self.path(node), way[1:], strict=False):
            self._visited[earlier.id] = later.id
        if self._here.get(way[0].id) != node.id:
            self._here[way[0].id] = node.id
            if way[0].id in self._written:
                self._kept.say(HERE + way[0].id, node.id)
        return way[-1]

    def commit(self, parent: Node, request: HttpRequest, title: str, *, is_trial: bool = False) -> Node:
        """An edit: the request as it is now; the parent itself where it is the same.

        Somebody stands there then, except of a trial.
        """
        if request == parent.exchange.request:
            return parent if is_trial else self.go(parent)
        title = _line(title)
        exchange = Exchange(
            uuid.uuid4().hex[:12], request, origin=Origin.EDITED, parent=parent.id, started_at=time.time(), note=title
        )
        held = self._held(exchange, parent)
        return self._add(Node(exchange.id, parent.id, held, title, parent.index, is_trial=is_trial))

    def sent(self, parent: Node, exchange: Exchange, *, is_trial: bool = False) -> Node:
        """What a target answered to the request of a node. Somebody stands there then, except of a trial.

        Of a request that was converted for it they stay where they are: it is not the one that is edited.
        """
        status = exchange.response.status if exchange.response else "no answer"
        title = _line(f"sent to {exchange.meta.get('target', 'a target')}: {status}")
        exchange = replace(
            exchange, id=self._free(exchange.id), parent=parent.id, origin=Origin.RESENT, note=exchange.note or title
        )
        node = Node(exchange.id, parent.id, self._held(exchange, parent), title, parent.index, is_trial=is_trial)
        return self._made(node) if "converted" in exchange.meta else self._add(node)

    def children(self, node: Node) -> list[Node]:
        """What was made of a node, in order."""
        return [self._nodes[id] for id in self._children.get(node.id, ())]

    def trials(self, node: Node) -> list[Node]:
        """The trials among the children of a node that are of use only together.

        Not those that have a name, that somebody stands at, or of which anything was made but further trials.
        """
        here = set(self._here.values())

        def is_one_of_many(child: Node) -> bool:
            return all(n.is_trial and not n.name and n.id not in here for n in self.below(child))

        return [child for child in self.children(node) if is_one_of_many(child)]

    def size(self, root: Node) -> int:
        """How many edits and sends a tree has; the trials of a node count as one."""
        nodes = self.below(root)
        folded = [[n for child in self.trials(node) for n in self.below(child)] for node in nodes]
        inner = {n.id for trials in folded for n in trials}
        folds = sum(bool(trials) for node, trials in zip(nodes, folded, strict=True) if node.id not in inner)
        return len(nodes) - 1 - len(inner) + folds

    def undo(self, node: Node) -> Node | None:
        """The node it was made of, where somebody stands then; None for the root."""
        if node.parent is None:
            return None
        self._visited[node.parent] = node.id
        return self.go(self._nodes[node.parent])

    def redo(self, node: Node) -> Node | None:
        """The child that was undone or made last, where somebody stands then; None where there is none."""
        later = self._later(node)
        return self.go(later) if later else None

    def tip(self, node: Node) -> Node:
        """Where ``redo`` leads in the end; nobody moves."""
        while later := self._later(node):
            node = later
        return node

    def _later(self, node: Node) -> Node | None:
        """The child that was visited last; else the one that was made last and is no trial."""
        if node.id in self._visited:
            return self._nodes[self._visited[node.id]]
        return next((child for child in reversed(self.children(node)) if not child.is_trial), None)

    def path(self, node: Node) -> list[Node]:
        """The nodes from the root to this one, both among them."""
        way = [self._nodes[node.id]]
        while way[-1].parent is not None:
            way.append(self._nodes[way[-1].parent])
        return way[::-1]

    def rename(self, node: Node, name: str) -> Node:
        """The node under another name; "" takes its name away."""
        name = _line(name)
        renamed = self._nodes[node.id] = replace(self._nodes[node.id], name=name)
        self._keep_way(renamed)
        self._kept.say(NAME + node.id, name)
        return renamed

    def branches(self, index: int) -> list[Node]:
        """The ends of the tree of a recorded exchange, in order of making; its root where nothing was made of it."""
        root = self.root(index)
        return [n for n in self.below(root) if n.id not in self._children]

    def below(self, node: Node) -> list[Node]:
        """A node and everything that was made of it: parents before children, older branches first."""
        found, left = list[Node](), [node]
        while left:
            found.append(left.pop())
            left += reversed(self.children(found[-1]))
        return found

    def roots(self) -> list[Node]:
        """The roots of every tree with edits, also of exchanges that the source does not hold any longer."""
        return [n for n in self._nodes.values() if n.parent is None and n.id in self._children]

    def compare(self, a: Node, b: Node) -> Difference:
        """The difference between the requests of two nodes, in bytes and in meaning."""
        return compare_bytes(_body(a), _body(b))

    def as_session(self, root: Node | None = None) -> MemorySession:
        """A tree as a session of its own, or all of them; the exchanges of a branch have its name."""
        nodes = [n for one in ([root] if root else self.roots()) for n in self.below(one)]
        exchanges = tuple(replace(n.exchange, id=n.id, parent=n.parent, branch=self._branch(n)) for n in nodes)
        about = {"made": "by editing and sending", "source": self.source.name}
        return MemorySession(f"edits of {self.source.name}", exchanges, about=about)

    def in_place(self, node: Node, name: str = "") -> Session:
        """The source up to the exchange that was edited, with a node in its place; ``name`` is its name.

        Answers that led to the node's request, as of a conversation that was continued, stand before it.
        """
        way = [n.exchange for n in self.path(node) if n.parent is not None or n.id == node.id]
        return InPlace(self.source, node.index, way, name)

    def close(self) -> None:
        """Leave one single file; the source stays open."""
        self._kept.close()

    def _held(self, exchange: Exchange, parent: Node | None = None) -> Held:
        return Held(exchange, parent.held if parent else None, self._recent)

    def _branch(self, node: Node) -> str:
        """The nearest name towards the root."""
        return next((n.name for n in reversed(self.path(node)) if n.name), "")

    def _add(self, node: Node) -> Node:
        made = self._made(node)
        return made if node.is_trial else self.go(made)

    def _made(self, node: Node) -> Node:
        assert node.parent
        self._keep_way(self._nodes[node.parent])
        self._attach(node)
        self._keep(node)
        return node

    def _attach(self, node: Node) -> None:
        self._nodes[node.id] = node
        if node.parent is not None:
            self._children.setdefault(node.parent, []).append(node.id)

    def _keep_way(self, node: Node) -> None:
        """A root is written with the first thing that is made of it."""
        root = self.path(node)[0]
        if root.id not in self._written:
            self._keep(root)

    def _keep(self, node: Node) -> None:
        about: dict[str, JsonValue] = {"title": node.title, **({"trial": True} if node.is_trial else {})}
        base = self._nodes[node.parent].held if node.parent else None
        if node.parent is None:
            about["digest"] = digest(node.exchange)
        self._written.add(node.id)
        self._kept.write((node.id, node.parent), node.held, about, base)

    def _free(self, wanted: str) -> str:
        """An id that no node has."""
        names = (wanted if n == 1 else f"{wanted}~{n}" for n in range(1, len(self._nodes) + 2))
        return next(name for name in names if name not in self._nodes)

    def _read(self) -> None:
        """Take in what was kept: roots as the source has them, everything else as it was written."""
        stored = dict[str, Held]()
        for exchange in self._kept.read():
            stored[exchange.id] = Held(exchange, stored.get(exchange.parent or ""), self._recent)
        indices = {summary.id: summary.index for summary in self.source.summaries()} if stored else {}
        said = self._kept.said
        for exchange in _parents_first(stored):
            about = exchange.meta.get(META)
            told: dict[str, JsonValue] = about if isinstance(about, dict) else {}
            meta = {key: value for key, value in exchange.meta.items() if key != META}
            base = self._nodes.get(exchange.parent or "")
            if base:
                exchange = remade(exchange, base.exchange.request)
                title = str(told.get("title", exchange.note))
                held = self._held(replace(exchange, meta=meta), base)
                node = Node(exchange.id, base.id, held, title, base.index, is_trial=told.get("trial") is True)
            else:
                node = self._found(replace(exchange, meta=meta), told, indices)
            self._written.add(node.id)
            self._attach(replace(node, name=said.get(NAME + node.id, "")))
        self._here = {w.removeprefix(HERE): id for w, id in said.items() if w.startswith(HERE) and id in self._nodes}
        for id in list(self._here.values()):
            self.go(self._nodes[id])
        lost = {n.index for n in self.roots() if n.index >= 0 and n.index not in self._roots}
        what = "is not the one that was edited any longer: its earlier edits are a tree beside"
        self.notices += (f"exchange {index + 1} {what}" for index in sorted(lost))

    def _found(self, stored: Exchange, told: Mapping[str, JsonValue], indices: Mapping[str, int]) -> Node:
        """A root: of the source where that holds it unchanged, else as it was kept."""
        index = indices.get(stored.id, indices.get(stored.id.partition("~")[0], -1))
        current = self.source.exchange(index) if index >= 0 else stored
        if index < 0 or digest(current) != told.get("digest"):
            return Node(stored.id, None, self._held(stored), "as it was recorded", index)
        self._roots[index] = stored.id
        return Node(stored.id, None, self._held(current), RECORDED, index)


def _parents_first(stored: Mapping[str, Held]) -> Iterator[Exchange]:
    """Exchanges in their order, but none before what it was made of: that may stand in another file."""
    below: dict[str, list[str]] = {}
    for id, held in stored.items():
        parent = held.bare.parent or ""
        below.setdefault(parent if parent in stored else "", []).append(id)
    left = below.pop("", [])[::-1]
    while left:
        id = left.pop()
        yield stored[id].made()
        left += reversed(below.pop(id, []))


def open_for(session: Session) -> Workspace:
    """The working session of a session, in the state folder; in memory where the session cannot be told from others.

    Nothing is raised for what cannot be read or written: ``notices`` and ``trouble`` say so.
    """
    try:
        ids = [session_id(session), *(former.id for former in former_ids(session))]
    except SessionFormatError:
        ids = [""]
    if not ids[0]:
        return Workspace(session)
    if isinstance(session, InPlace):
        ids = list(map(session.work_id, ids))
    folder = resources.state_folder("work")
    path, *former = (folder / f"{file_name(id)}.session" for id in ids)
    for old in former:
        take_over(old, path, session)
    return Workspace(session, path)


def _line(text: str) -> str:
    """A text as one line that any file takes: half a surrogate pair as its escape."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")


def _body(node: Node) -> bytes:
    return text_of(node.exchange.request) if node.exchange.request else b""
