"""The edit screen: the keys that change a request. Every change is a node of a tree; nothing recorded is changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from workbench.edits import edited, operations
from workbench.edits.elements import Action, container
from workbench.errors import WorkbenchError
from workbench.safetext import from_bytes, visible
from workbench.tui.models import additions, ways
from workbench.tui.models.edit import Entry
from workbench.tui.models.studied import Studied
from workbench.tui.models.ways import Way
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.outline import OutlinePane
from workbench.tui.panes.writing import MOST_IN_PLACE, Writing
from workbench.tui.screens.edit_flow import Edit, EditFlow
from workbench.tui.service import Answer, guarded
from workbench.views.words import size

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.contracts import Finding
    from workbench.edits.branches import Node
    from workbench.rules.inspection import Inspector
    from workbench.tui.models.additions import Addition
    from workbench.tui.models.repairs import Offered
    from workbench.tui.screens.session.screen import SessionScreen

PAUSE = 0.2
"""Seconds without a key after which what is being written is judged."""


class EditScreen(EditFlow):
    """Edits the request of an exchange, from where the person stands in its tree.

    Args:
        session: whose exchange it is.
        node: where the person stands.
        pointer: where in the request the cursor begins.
    """

    def __init__(self, session: SessionScreen, node: Node, pointer: str = "") -> None:
        super().__init__(session, node, pointer)
        self._writing: tuple[Writing, Way, Studied, Entry] | None = None
        self._pause: Timer | None = None

    def on_mount(self) -> None:
        super().on_mount()
        if self.node.parent is not None:
            self.say("you stand on a branch · u goes back step by step · B shows the tree")
        self.stand(None)

    # What a row is made of.

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        if isinstance(message.view, OutlinePane):
            self.show_value()
        elif message.view is self.meaning and self.studied:
            hunk = self.studied.places.hunk_of(self.meaning.changes[self.meaning.cursor])
            if hunk is not None:
                self.hunks.move_to(hunk, center=True)
        elif message.view is self.verdict and (row := self.verdict.here()) and row.pointer is not None:
            self.outline.go_to_pointer(row.pointer)
            self.show_value()

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        if message.view in (self.outline, self.value):
            self.action_write()
        else:
            self.focus_pane("outline")

    def action_fold(self) -> None:
        self.outline.fold()

    def action_remove(self) -> None:
        def make(studied: Studied, row: Entry) -> Edit:
            return operations.remove(studied.decoded, row.pointer), f"{row.name} removed", None

        self.change(make, Action.REMOVE)

    def action_duplicate(self) -> None:
        def make(studied: Studied, row: Entry) -> Edit:
            changes = operations.duplicate(studied.decoded, row.pointer)
            return changes, f"{row.name} duplicated", beside(row.pointer, 1)

        self.change(make, Action.DUPLICATE)

    def action_shift(self, by: int) -> None:
        def make(studied: Studied, row: Entry) -> Edit:
            changes = operations.move(studied.decoded, row.pointer, by)
            return changes, f"{row.name} moved {'down' if by > 0 else 'up'}", beside(row.pointer, by)

        self.change(make, Action.DOWN if by > 0 else Action.UP)

    def action_rename(self) -> None:
        from workbench.tui.screens.ask import AskScreen

        row = self.outline.here
        if row is None or Action.RENAME not in row.element.able:
            self.refuse("only a parameter has a name that can be changed here")
            return

        def make(name: str, studied: Studied, row: Entry) -> Edit:
            changes = operations.rename(studied.decoded, row.pointer, name)
            return changes, f"{row.name} renamed", f"{container(row.pointer)}/{name}"

        def named(name: str | None) -> None:
            if name:
                self.change(partial(make, name))

        self.app.push_screen(AskScreen("Name of the parameter", "empty leaves it", visible(row.element.label)), named)

    def action_add(self) -> None:
        from workbench.tui.screens.edit_forms import AddScreen

        def make(wanted: Addition, studied: Studied) -> Edit:
            made = additions.add(studied.decoded, self.outline.rows, self.outline.cursor, wanted)
            return made.splices, f"{wanted.choice} added", made.pointer

        def add(wanted: Addition | None) -> None:
            if wanted:
                self.edit(lambda studied: self.put(studied, lambda: make(wanted, studied)))

        def ask(studied: Studied) -> None:
            self.app.push_screen(AddScreen(additions.choices(self.outline.rows, self.outline.cursor)), add)

        self.edit(ask)

    # Writing in place.

    def focus_pane(self, name: str) -> None:
        super().focus_pane(name)
        if name == "value" and self._writing:
            self._writing[0].focus()

    def action_write(self) -> None:
        self._write(ways.likeliest)

    def action_write_json(self) -> None:
        self._write(ways.as_json)

    def action_raw(self) -> None:
        self._write(ways.as_bytes)

    def action_editor(self) -> None:
        """Write the value in the person's own editor."""

        def do(studied: Studied) -> None:
            if row := self.outline.here:
                self._write_outside(studied, row, ways.likeliest(studied, row))

        self.edit(do)

    def _write_outside(self, studied: Studied, row: Entry, way: Way) -> None:
        from workbench.tui.editor import edited_outside

        try:
            made = edited_outside(self.app, way.written, way.suffix)
        except WorkbenchError as error:
            self.refuse(str(error))
            return
        if made is None:
            self.say("nothing was changed; an editor with a window of its own has to be told to wait")
        elif not self.put(studied, lambda: (way.make(made), f"{row.name} changed", None)):
            self._write_in_place(studied, row, way._replace(written=made))

    def _write(self, choose: Callable[[Studied, Entry], Way]) -> None:
        def do(studied: Studied) -> None:
            if row := self.outline.here:
                try:
                    way = choose(studied, row)
                except WorkbenchError as error:
                    self.refuse(str(error))
                else:
                    self._write_in_place(studied, row, way)

        self.edit(do)

    def _write_in_place(self, studied: Studied, row: Entry, way: Way) -> None:
        if way.is_text and not ways.is_plain(from_bytes(way.written)):
            way = ways.as_json(studied, row)
            self.say("it holds characters that act or hide: they are written as escapes")
        text = from_bytes(way.written)
        if len(way.written) > MOST_IN_PLACE:
            self.refuse(f"{size(len(way.written))} are too much to be edited here: E opens your editor")
        elif not ways.is_plain(text):
            self.refuse(f"{row.name} holds bytes that cannot be shown: E opens your editor")
        elif self._writing is None:
            writing = Writing(text, f"{row.name} · as {way.word}", is_line=way.is_line, id="writing")
            self._writing = writing, way, studied, row
            self.query_one("#values").mount(writing)
            self.add_class("-writing")
            self.show_keys(f"writing: {'enter' if way.is_line else 'ctrl+s'} keeps it  esc leaves it as it was  ")
            self.focus_pane("value")

    def on_writing_typed(self, message: Writing.Typed) -> None:
        if self._pause:
            self._pause.stop()
        self._pause = self.set_timer(PAUSE, self._judge_draft)

    def _judge_draft(self) -> None:
        """Judge the request with what is written so far."""
        if self._writing is None:
            return
        writing, way, studied, _ = self._writing
        try:
            draft = edited(studied.request, studied.text, way.make(encode(writing.text)))
        except WorkbenchError as error:
            self.say(f"not judged: {error}", "error")
        else:
            self.say("as it is being written")
            self.judge(draft)

    def on_writing_taken(self, message: Writing.Taken) -> None:
        if self._writing is None:
            return
        _, way, studied, row = self._writing
        made = encode(message.text)
        if made == way.written:
            self.on_writing_left()
            self.say("nothing was changed")
        elif self.put(studied, lambda: (way.make(made), f"{row.name} changed", None)):
            self._end_writing()

    def on_writing_left(self) -> None:
        """Leave it as it was."""
        self._end_writing()
        self.say("left as it was")
        self.stand(None)

    def _end_writing(self) -> None:
        if self._pause:
            self._pause.stop()
        if self._writing:
            self._writing[0].remove()
            self._writing = None
        self.remove_class("-writing")
        self.show_keys()
        self.focus_pane("outline")

    # The whole of it.

    def action_undo(self) -> None:
        self.move(self.session.working.undo, "this is the request as it was recorded: there is nothing to undo")

    def action_redo(self) -> None:
        self.move(self.session.working.redo, "nothing was made of it: there is nothing to redo")

    def action_contract(self) -> None:
        from workbench.tui.screens.edit_forms import ContractScreen

        def chosen(label: str | None) -> None:
            if label is not None:
                self.contract = label
                self.stand(None)

        own = self.session.state.rows[self.index].provider or "generic"
        self.app.push_screen(ContractScreen(own), chosen)

    def action_repairs(self) -> None:
        """Look for the repairs of everything that is wrong with the request as it is."""

        def do(studied: Studied) -> None:
            def job(inspector: Inspector) -> Answer:
                from workbench.tui.mending import look

                found = studied.told.findings
                offered = [o for f in found for o in look(inspector, f, studied.request, studied.told.contract)]
                return Answer(partial(self._show_repairs, studied, offered))

            if not studied.told.findings:
                self.refuse(f"nothing to repair: nothing is wrong with it under {studied.told.contract}")
                return
            self.say("looking for repairs …")
            self.session.inspecting.do(guarded(job, self.refuse))

        self.edit(do)

    def _show_repairs(self, studied: Studied, offered: list[Offered]) -> None:
        from workbench.tui.screens.repairs import RepairsScreen

        def apply(chosen: Offered | None) -> None:
            if chosen:
                self.edit(lambda studied: self.commit(chosen.request, chosen.repair.title))

        if not self.is_current or studied is not self.studied:
            return
        self.say("" if offered else "no repair is known that holds under the contract")
        if offered:
            self.app.push_screen(RepairsScreen(studied.told.findings[0], offered), apply)

    def action_send(self) -> None:
        from workbench.tui.screens import send

        send.begin(self.session, self.node)

    def action_export(self) -> None:
        from workbench.tui.screens import exporting

        exporting.begin(self.session, self.node)

    def action_branches(self) -> None:
        from workbench.tui.screens.branches import BranchesScreen

        self.app.push_screen(BranchesScreen(self.session, self.index))

    def on_screen_resume(self) -> None:
        """Another screen may have led elsewhere in the tree."""
        self.session.working.current(self.index, self._come_back)

    def _come_back(self, node: Node) -> None:
        if node.id != self.node.id and not self.waiting and self.is_settled:
            self.stand(node)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a value is written no key changes anything else."""
        return self._writing is None or action in ("pane", "show", "back")

    def action_back(self) -> None:
        if self._writing:
            self.on_writing_left()
        else:
            self.dismiss(None)


def begin(session: SessionScreen, index: int, pointer: str = "") -> None:
    """Edit the request of an exchange, if there is one.

    Args:
        pointer: where in it the cursor begins.
    """

    def opened(node: Node) -> None:
        if node.exchange.request is None:
            session.notify("there is no request here that could be edited", markup=False)
        elif session.app.screen in (session, before):  # the person has not gone elsewhere meanwhile
            session.app.push_screen(EditScreen(session, node, pointer))

    before = session.app.screen
    session.working.current(index, opened)


def begin_repaired(session: SessionScreen, finding: Finding, offered: Offered) -> None:
    """Make a branch of the request that is shown with a repair of a finding, and edit on from there."""

    def stood(node: Node) -> None:
        session.working.commit(node, offered.request, offered.repair.title, lambda _: begin(session, node.index, at))

    at = finding.pointer
    session.working.current(finding.exchange, stood)


def beside(pointer: str, by: int) -> str:
    """Pointer of the element that stands so far behind another one in its list."""
    return f"{container(pointer)}/{int(pointer.rpartition('/')[2]) + by}"


def encode(text: str) -> bytes:
    """What is written, as bytes; those that are no UTF-8 as they came."""
    return text.encode("utf-8", "surrogateescape")
