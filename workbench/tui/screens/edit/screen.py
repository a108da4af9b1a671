"""Edit screen. Every change is a node of a tree; the recording is never modified."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events, getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar, TabBar
from workbench.tui.models import edit
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.diff import ChangesPane, HunksPane
from workbench.tui.screens.edit.actions import EditActions
from workbench.tui.screens.edit.flow import EditFlow, RequestStudy
from workbench.tui.screens.edit.layout import EditContents, EditLayout
from workbench.tui.screens.edit.type_ahead import FieldTypeAhead
from workbench.tui.screens.edit.writer import ValueWriter
from workbench.tui.screens.tools import DetailPane
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.outline import ChainPane, OutlinePane
from workbench.tui.widgets.writing import Writing
from workbench.views import Span

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.diff import Difference
    from workbench.edits.branches import BranchNode
    from workbench.tui.models.edit_study import EditStudy
    from workbench.tui.models.findings import RepairOffer
    from workbench.tui.screens.session.screen import SessionScreen


class EditScreen(Screen[None]):
    """Edits the request of an exchange, from the current node of its tree.

    Args:
        session: session of the exchange.
        node: current node.
        pointer: element of the request to select first.
    """

    CSS_PATH = "edit.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.EDIT
    BINDINGS = keys.bindings(keys.EDIT)

    outline = getters.query_one("#outline", OutlinePane)
    value = getters.query_one("#value", BodyPane)
    verdict = getters.query_one("#verdict", DetailPane)
    chain = getters.query_one("#chain", ChainPane)
    meaning = getters.query_one("#meaning", ChangesPane)
    hunks = getters.query_one("#bytes", HunksPane)

    def __init__(self, session: SessionScreen, node: BranchNode, pointer: str = "") -> None:
        super().__init__()
        self.session = session
        self.node = node
        self.index = node.index
        self.notice = Span("")
        self.pointer: str | None = pointer
        self.panes = EditLayout(self)
        self.contents = EditContents(self)
        self.study = RequestStudy(self)
        self.flow = EditFlow(self)
        self.writer = ValueWriter(self)
        self.type_ahead = FieldTypeAhead(self)
        self.actions = EditActions(self)

    @property
    def judged_request(self) -> EditStudy | None:
        """The request that was judged last; None before the first."""
        return self.study.latest

    def compose(self) -> ComposeResult:
        yield Headline()
        yield TabBar(edit.PANES, id="tabs")
        with Container(id="desk"):
            yield OutlinePane(id="outline")
            with Container(id="sides-of-edit"):
                with Container(id="values"):
                    yield BodyPane(id="value")
                with Container(id="told"):
                    yield DetailPane(id="verdict")
                    yield ChainPane(id="chain")
                    yield ChangesPane(id="meaning")
                    yield HunksPane(id="bytes")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.show_keys()
        for name, words in edit.PANES:
            self.contents.entitle(name, words)
        self.panes.focus("outline")
        self.flow.show_node(None)

    def show_keys(self, instead: str = "") -> None:
        """Show the keys that are of use now, or other words instead."""
        self.query_one("#keys", KeyBar).show_keys(() if instead else keys.EDIT, instead)

    def say(self, words: str, style: str = "muted") -> None:
        """Show a message in the header until the next one."""
        self.notice = Span(words and f" {words}", style)
        self.show_headline()

    def show_headline(self) -> None:
        """Paint the header: request, contract and verdict."""
        lines = edit.headline(self.index + 1, self.node, self.judged_request, self.notice, self.size)
        self.query_one("#headline", Bar).show(lines)

    # Messages.

    def on_resize(self) -> None:
        self.show_headline()
        self.panes.show_tabs()

    def on_tab_bar_tab_click(self, message: TabBar.TabClick) -> None:
        self.panes.focus(message.name)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, LineView) and event.widget.id:
            self.panes.note_focus(event.widget.id)
        elif isinstance(event.widget, Writing):
            self.type_ahead.release()

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if isinstance(message.view, OutlinePane):
            self.contents.show_value()
        elif message.view is self.meaning and self.judged_request:
            hunk = self.judged_request.places.hunk_of(self.meaning.changes[self.meaning.cursor])
            if hunk is not None:
                self.hunks.move_to(hunk, center=True)
        elif message.view is self.verdict and (row := self.verdict.here()) and row.pointer is not None:
            self.outline.go_to_pointer(row.pointer)
            self.contents.show_value()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        if message.view in (self.outline, self.value):
            self.writer.write()
        else:
            self.panes.focus("outline")

    def on_writing_text_change(self, message: Writing.TextChange) -> None:
        self.writer.judge_soon()

    def on_writing_save(self, message: Writing.Save) -> None:
        self.writer.take(message.text)

    def on_writing_cancel(self) -> None:
        self.writer.leave()

    def on_screen_resume(self) -> None:
        """Show the node that another screen may have gone to."""
        self.session.branches.current(self.index, self.flow.return_to)

    # Actions of the key table; most of them belong to a part.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable other changes while a value is being edited."""
        return not self.writer.is_writing or action in ("pane", "show", "back")

    action_pane = ActionOf("panes")
    action_show = ActionOf("panes")
    action_write = ActionOf("writer")
    action_write_json = ActionOf("writer")
    action_raw = ActionOf("writer")
    action_editor = ActionOf("writer")
    action_undo = ActionOf("flow")
    action_redo = ActionOf("flow")
    action_fold = ActionOf("actions")
    action_remove = ActionOf("actions")
    action_duplicate = ActionOf("actions")
    action_shift = ActionOf("actions")
    action_rename = ActionOf("actions")
    action_add = ActionOf("actions")
    action_contract = ActionOf("actions")
    action_repairs = ActionOf("actions")
    action_export = ActionOf("actions")
    action_branches = ActionOf("actions")

    def action_send(self) -> None:
        self.session.request_screens.send(self.node)

    def action_back(self) -> None:
        """Go back; from beside a field that is being written in, go to the field: escape there cancels the edit."""
        if self.writer.is_writing:
            self.panes.focus("value")
        else:
            self.dismiss(None)


def begin(session: SessionScreen, index: int, pointer: str = "") -> None:
    """Edit the request of an exchange, if there is one.

    Args:
        pointer: element of the request to select first.
    """

    def open_screen(node: BranchNode) -> None:
        if node.exchange.request is None:
            session.notify("no request to edit here", markup=False)
        elif session.app.screen in (session, before):  # the person has not gone elsewhere meanwhile
            session.app.push_screen(EditScreen(session, node, pointer))

    before = session.app.screen
    session.branches.current(index, open_screen)


def _first_change(difference: Difference) -> str:
    """Pointer of the first change that is in the new request; empty if there is none."""
    for change in difference.changes:
        if pointer := change.details[0].pointer if change.details else change.after:
            return pointer
    return ""


def begin_repaired(session: SessionScreen, finding: Finding, repair_offer: RepairOffer) -> None:
    """Apply a repair to the shown request as a branch, and open the edit screen on it."""

    def apply_repair(node: BranchNode) -> None:
        session.branches.commit(
            node, repair_offer.request, repair_offer.repair.title, lambda _: begin(session, node.index, at)
        )

    at = _first_change(repair_offer.difference) or finding.pointer
    session.branches.current(finding.exchange, apply_repair)
