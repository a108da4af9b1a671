"""The branches screen: the tree of edits and sends of an exchange."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.models import branches
from workbench.tui.models.branches import Branch
from workbench.tui.models.diff import Compared, Places
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.panes.lineview import LineView
from workbench.tui.screens.diff import ChangesPane, HunksPane
from workbench.tui.screens.worklist import ListPane
from workbench.tui.service import Answer, guarded, is_open
from workbench.views import Line, line

if TYPE_CHECKING:
    from workbench.diff import Difference
    from workbench.edits.branches import BranchNode, Workspace
    from workbench.rules import Inspector
    from workbench.tui.screens.session.screen import SessionScreen

PANES = ("tree", "branch-meaning", "branch-bytes")


class BranchesScreen(Screen[bool]):
    """Answers whether the person went to a node.

    Args:
        session: whose exchange it is.
        index: of the exchange.
    """

    CSS_PATH = "branches.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.BRANCHES
    BINDINGS = keys.bindings(keys.BRANCHES)

    tree_list = getters.query_one("#tree", ListPane)
    meaning = getters.query_one("#branch-meaning", ChangesPane)
    hunks = getters.query_one("#branch-bytes", HunksPane)

    def __init__(self, session: SessionScreen, index: int) -> None:
        super().__init__()
        self.session = session
        self.index = index
        self.branches: Sequence[Branch] = ()
        self.current_id = ""
        self.marked_id = ""
        self.verdicts: dict[str, str] = {}
        self._judging = ""
        self._unfolded: set[str] = set()

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        with Container(id="branches"):
            yield ListPane(id="tree")
            with Container(id="branch-changes"):
                yield ChangesPane(id="branch-meaning")
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

    def _read(self, told: object) -> None:
        """See what there is."""

        def question(workspace: Workspace) -> tuple[list[Branch], BranchNode]:
            return branches.rows(workspace, self.index, opened), workspace.current(self.index)

        opened = frozenset(self._unfolded)
        self.session.branches.ask(question, self._show)

    def _show(self, told: tuple[list[Branch], BranchNode]) -> None:
        if not is_open(self):
            return
        is_first, was = not self.branches, self.row_here
        self.branches, self.current_id = told[0], told[1].id
        wanted = (self.current_id, False) if is_first or was is None else was.key
        self._show_tree()
        self.tree_list.move_to(next((n for n, b in enumerate(self.branches) if b.key == wanted), 0))
        self._compare()
        self._judge()

    def _show_tree(self) -> None:
        self.tree_list.show(len(self.branches), self._line, "reading …")
        self.query_one("#headline", Bar).show(branches.headline(self.index + 1, self.branches, self.current_id))

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
        """The node under the cursor; of trials that are folded it is said that one is to be chosen."""
        chosen = self.row_here
        if chosen and chosen.trials:
            self.notify("these are several requests: enter opens them", markup=False)
            return None
        return chosen.node if chosen else None

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        if message.view is self.tree_list:
            self._compare()
        elif message.view is self.meaning:
            hunk = self.meaning.places.hunk_of(self.meaning.changes[self.meaning.cursor])
            if hunk is not None:
                self.hunks.move_to(hunk, center=True)

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        if self.row_here and self.row_here.trials:
            self.action_fold()
        elif self.row_here:
            self.session.branches.go(self.row_here.node, self._leave)

    def action_fold(self) -> None:
        """Show the trials of the row one by one, or as one row; those it is among, where it is one of them."""
        chosen = self.row_here
        fold = next(
            (b for b in self.branches if chosen and b.trials and (b is chosen or chosen.node in b.trials)), None
        )
        if fold is None:
            self.notify("nothing is folded here: a what-if is, V runs one", markup=False)
            return
        self._unfolded ^= {fold.node.id}
        self.tree_list.move_to(self.branches.index(fold))
        self._read(None)

    def _leave(self, node: BranchNode) -> None:
        if self.is_current:
            self.dismiss(True)

    # What is said of the nodes.

    def _judge(self) -> None:
        """Ask for the verdict of the next node that has none."""
        wanted = next((b.node for b in self.branches if b.node.id not in self.verdicts), None)
        if wanted is None or self._judging == wanted.id or not is_open(self):
            return
        self._judging = wanted.id

        def job(inspector: Inspector) -> Answer:
            return Answer(partial(self._take_verdict, wanted.id, branches.verdict(inspector, self.index, wanted)))

        self.session.inspecting.do(guarded(job, partial(self._take_verdict, wanted.id)))

    def _take_verdict(self, id: str, verdict: str) -> None:
        self.verdicts[id] = verdict
        if is_open(self):
            self._show_tree()
            self._judge()

    def _compare(self) -> None:
        """Lay the node under the cursor beside the one that is marked, else beside what it was made of."""
        chosen = self.row_here
        wanted = self.marked_id or (chosen and chosen.node.parent)
        other = next((b for b in self.branches if b.node.id == wanted and not b.trials), None)
        if chosen is None or chosen.trials or other is None or other.node.id == chosen.node.id:
            why = (
                "several requests: enter shows them one by one"
                if chosen and chosen.trials
                else "here the tree begins: space marks it, to compare others with it"
            )
            for pane, words in ((self.meaning, " Meaning "), (self.hunks, " Bytes ")):
                pane.title(line(words))
                pane.compared, pane.why = None, why
                pane.reload()
            return

        def question(workspace: Workspace) -> tuple[Difference, Places]:
            found = workspace.compare(other.node, chosen.node)
            return found, Places(found)

        self.session.branches.ask(question, partial(self._show_difference, chosen, other))

    def _show_difference(self, chosen: Branch, other: Branch, told: tuple[Difference, Places]) -> None:
        if not is_open(self) or self.row_here is None or self.row_here.key != chosen.key:
            return
        difference, places = told
        for pane in (self.meaning, self.hunks):
            pane.show(Compared(self.index, self.index, difference), places)
        against = branches.against(other.node)
        self.meaning.title(line(f" Meaning · {len(self.meaning.changes):,} · against {against} "))
        self.hunks.title(line(f" Bytes · {len(difference.hunks):,} "))

    # Keys.

    def action_mark(self) -> None:
        if node := self._node_here():
            self.marked_id = "" if self.marked_id == node.id else node.id
            self._show_tree()
            self._compare()

    def action_name(self) -> None:
        from workbench.tui.screens.ask import AskScreen

        node = self._node_here()
        if node is None:
            return

        def rename(name: str | None) -> None:
            if name is not None:
                self.session.branches.ask(lambda workspace: workspace.rename(node, name.strip()), self._read)

        self.app.push_screen(AskScreen("Name of this state", "empty takes it away", visible(node.name)), rename)

    def action_undo(self) -> None:
        """Stand at what the node where the person stands was made of."""
        here = next((b.node for b in self.branches if b.node.id == self.current_id), None)
        if here is None or here.parent is None:
            self.notify("current: the recorded request", markup=False)
        else:
            self.session.branches.undo(here, self._read)

    def action_send(self) -> None:
        from workbench.tui.screens import send

        if node := self._node_here():
            send.begin(self.session, node)

    def action_pane(self) -> None:
        focused = self.focused.id if self.focused and self.focused.id in PANES else PANES[0]
        wanted = PANES[(PANES.index(focused) + 1) % len(PANES)]
        self.set_class(wanted != "tree", "-on-changes")
        self.query_one(f"#{wanted}", LineView).focus(scroll_visible=False)

    def action_back(self) -> None:
        self.dismiss(False)
