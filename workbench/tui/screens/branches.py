"""The branches screen: the tree of edits and sends of an exchange."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.list_search import search_of
from workbench.tui.models import branches
from workbench.tui.models.branches import Branch
from workbench.tui.models.diff import Places, RequestComparison
from workbench.tui.models.send_answer import answer_lines, answer_texts
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.diff import ChangesPane, HunksPane
from workbench.tui.screens.worklist import ListPane
from workbench.tui.service import JobAnswer, guard, is_open
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, line

if TYPE_CHECKING:
    from workbench.diff import Difference
    from workbench.edits.branches import BranchNode, Workspace
    from workbench.rules import Inspector
    from workbench.tui.screens.session.screen import SessionScreen

PANES = ("tree", "branch-meaning", "branch-bytes")


class OutcomePane(ChangesPane):
    """Changes in meaning, or a response."""

    _answer: tuple[tuple[str, str], ...] = ()

    def show(self, compared: RequestComparison, places: Places) -> None:
        self._answer = ()
        super().show(compared, places)

    def show_answer(self, answer: tuple[tuple[str, str], ...]) -> None:
        """Show a response instead."""
        self._answer = answer
        self.reload()

    def count(self) -> int:
        return 0 if self._answer else super().count()

    def nothing(self, width: int) -> list[Line]:
        return answer_lines(self._answer, width) if self._answer else super().nothing(width)


class BranchesScreen(Screen[bool]):
    """Tree of edits and sends of an exchange. Dismissed with True if the person went to a node.

    Args:
        session: session of the exchange.
        index: index of the exchange.
    """

    CSS_PATH = "branches.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.BRANCHES
    BINDINGS = keys.bindings(keys.BRANCHES)

    tree_list = getters.query_one("#tree", ListPane)
    meaning = getters.query_one("#branch-meaning", OutcomePane)
    hunks = getters.query_one("#branch-bytes", HunksPane)

    def __init__(self, session: SessionScreen, index: int) -> None:
        super().__init__()
        self.search = search_of(self)
        self.session = session
        self.index = index
        self.branches: Sequence[Branch] = ()
        self.current_id = ""
        self.marked_id = ""
        self.verdicts: dict[str, str] = {}
        self._judging = ""
        self._unfolded: set[str] = set()
        self.compared = NodeComparison(self)

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="branches"):
            yield ListPane(id="tree")
            with Container(id="branch-changes"):
                yield OutcomePane(id="branch-meaning")
                yield HunksPane(id="branch-bytes")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_NODE, *keys.BRANCHES])
        for pane, words in ((self.tree_list, " Tree "), (self.meaning, " Meaning "), (self.hunks, " Bytes ")):
            pane.title(line(words))
        self.tree_list.focus()
        self._read(None)

    def on_screen_resume(self) -> None:
        self._read(None)

    # The tree.

    def _read(self, changed: object) -> None:
        """Read the tree again; the argument is the result of what changed it."""

        def question(workspace: Workspace) -> tuple[list[Branch], BranchNode]:
            return branches.rows(workspace, self.index, opened), workspace.current(self.index)

        opened = frozenset(self._unfolded)
        self.session.branches.ask(question, self._show)

    def _show(self, found: tuple[list[Branch], BranchNode]) -> None:
        if not is_open(self):
            return
        is_first, before = not self.branches, self.row_here
        self.branches, self.current_id = found[0], found[1].id
        wanted = (self.current_id, False) if is_first or before is None else before.key
        self._show_tree()
        self.tree_list.move_to(next((n for n, b in enumerate(self.branches) if b.key == wanted), 0))
        self.compared.compare()
        self._judge()

    def _show_tree(self) -> None:
        self.tree_list.show(len(self.branches), self._line, "reading …")
        self.query_one("#headline", Bar).show(branches.headline(self.index + 1, self.branches))

    def _line(self, item: int) -> Line:
        branch = self.branches[item]
        id = branch.node.id
        if branch.trials:
            return branches.trials_line(branch, is_open=id in self._unfolded)
        return branches.branch_line(
            branch, self.verdicts.get(id), is_here=id == self.current_id, is_marked=id == self.marked_id
        )

    @property
    def row_here(self) -> Branch | None:
        """The row under the cursor."""
        return self.branches[self.tree_list.cursor] if self.branches else None

    def _node_here(self) -> BranchNode | None:
        """Node under the cursor. None for a row of collapsed trials, with a notice."""
        row = self.row_here
        if row and row.trials:
            self.notify("this row contains several requests · enter: expand", markup=False)
            return None
        return row.node if row else None

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.tree_list:
            self.compared.compare()
        elif message.view is self.meaning:
            self.compared.follow()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        if self.row_here and self.row_here.trials:
            self.action_fold()
        elif self.row_here:
            self.session.branches.go(self.row_here.node, self._leave)

    def action_fold(self) -> None:
        """Expand or collapse the trials that the row is, or belongs to."""
        row = self.row_here
        fold = next((b for b in self.branches if row and b.trials and (b is row or row.node in b.trials)), None)
        if fold is None:
            self.notify("nothing to expand here; a what-if (V) creates rows that can be expanded", markup=False)
            return
        self._unfolded ^= {fold.node.id}
        self.tree_list.move_to(self.branches.index(fold))
        self._read(None)

    def _leave(self, node: BranchNode) -> None:
        if self.is_current:
            self.dismiss(True)

    # Verdicts.

    def _judge(self) -> None:
        """Ask for the verdict of the next node without one."""
        wanted = next((b.node for b in self.branches if b.node.id not in self.verdicts), None)
        if wanted is None or self._judging == wanted.id or not is_open(self):
            return
        self._judging = wanted.id

        def job(inspector: Inspector) -> JobAnswer:
            return JobAnswer(partial(self._take_verdict, wanted.id, branches.verdict(inspector, self.index, wanted)))

        self.session.inspecting.do(guard(job, partial(self._take_verdict, wanted.id)))

    def _take_verdict(self, id: str, verdict: str) -> None:
        self.verdicts[id] = verdict
        if is_open(self):
            self._show_tree()
            self._judge()

    # Keys.

    def action_mark(self) -> None:
        if node := self._node_here():
            self.marked_id = "" if self.marked_id == node.id else node.id
            self._show_tree()
            self.compared.compare()

    def action_name(self) -> None:
        from workbench.tui.screens.questions import AskScreen

        node = self._node_here()
        if node is None:
            return

        def rename(name: str | None) -> None:
            if name is not None:
                self.session.branches.ask(lambda workspace: workspace.rename(node, name.strip()), self._read)

        self.app.push_screen(AskScreen("Name of this node", "empty: remove the name", visible(node.name)), rename)

    def action_undo(self) -> None:
        """Go from the current node to its parent."""
        here = next((b.node for b in self.branches if b.node.id == self.current_id), None)
        if here is None or here.parent is None:
            self.notify("nothing to undo: the current node is the recorded request", markup=False)
        else:
            self.session.branches.undo(here, self._read)

    def action_send(self) -> None:
        if node := self._node_here():
            self.session.request_screens.send(node)

    def action_pane(self) -> None:
        focused = self.focused.id if self.focused and self.focused.id in PANES else PANES[0]
        wanted = PANES[(PANES.index(focused) + 1) % len(PANES)]
        self.set_class(wanted != "tree", "-on-changes")
        self.query_one(f"#{wanted}", LineView).focus(scroll_visible=False)

    action_search = ActionOf("search", "ask")
    action_match = ActionOf("search")
    action_leave = ActionOf("search")

    def action_back(self) -> None:
        self.dismiss(False)


class NodeDifference(NamedTuple):
    """How a node differs from another one.

    Attributes:
        difference, places: of their requests.
        against: the other one, in words.
        answer: the response, if it is all that is new: then the difference is that from the recorded request.
    """

    difference: Difference
    places: Places
    against: str
    answer: tuple[tuple[str, str], ...] = ()


class NodeComparison:
    """The panes below the tree: how a node differs from the marked one, else from its parent.

    Args:
        screen: screen with the tree and both panes.
    """

    def __init__(self, screen: BranchesScreen) -> None:
        self.screen = screen

    def compare(self) -> None:
        """Compare the node under the cursor."""
        screen = self.screen
        row = screen.row_here
        marked_id = screen.marked_id or (row and row.node.parent)
        other = next((b for b in screen.branches if b.node.id == marked_id and not b.trials), None)
        if row is None or row.trials or other is None or other.node.id == row.node.id:
            self._show_none(row)
            return

        def question(workspace: Workspace) -> NodeDifference:
            from workbench.protocols import DecodedExchange

            found = workspace.compare(other.node, row.node)
            if found.hunks or not row.node.is_sent:
                return NodeDifference(found, Places(found), branches.against(other.node))
            answer = answer_texts(DecodedExchange(screen.index, row.node.exchange))
            root = workspace.root(screen.index)
            whole = workspace.compare(root, row.node) if answer else found
            return NodeDifference(whole, Places(whole), branches.against(root), answer)

        screen.session.branches.ask(question, partial(self._show, row))

    def follow(self) -> None:
        """Show the bytes of the change under the cursor."""
        meaning = self.screen.meaning
        hunk = meaning.places.hunk_of(meaning.changes[meaning.cursor])
        if hunk is not None:
            self.screen.hunks.move_to(hunk, center=True)

    def _show_none(self, row: Branch | None) -> None:
        why = (
            "several requests · enter: expand"
            if row and row.trials
            else "first node of the tree · space: mark this node to compare other nodes with it"
        )
        self.screen.meaning.show_answer(())
        for pane, words in ((self.screen.meaning, " Meaning "), (self.screen.hunks, " Bytes ")):
            pane.title(line(words))
            pane.compared, pane.why = None, why
            pane.reload()

    def _show(self, row: Branch, found: NodeDifference) -> None:
        screen = self.screen
        if not is_open(screen) or screen.row_here is None or screen.row_here.key != row.key:
            return
        for pane in (screen.meaning, screen.hunks):
            pane.show(RequestComparison(screen.index, screen.index, found.difference), found.places)
        compared = f"compared with {found.against}"
        screen.meaning.title(line(f" Meaning · {len(screen.meaning.changes):,} · {compared} "))
        screen.hunks.title(line(f" Bytes · {len(found.difference.hunks):,} · {compared} "))
        if found.answer:
            screen.meaning.title(line(" Response · sent as edited · tab: bytes "))
            screen.meaning.show_answer(found.answer)
