"""Editing of a value of the request: in a field on the screen, or in the person's own editor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from workbench.edits import apply_changes
from workbench.errors import WorkbenchError
from workbench.safetext import from_bytes
from workbench.tui.models import edit_modes
from workbench.tui.models.edit import EditRow
from workbench.tui.models.edit_modes import WritingWay
from workbench.tui.models.edit_study import EditStudy
from workbench.tui.widgets.writing import MOST_IN_PLACE, Writing
from workbench.views import size

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.tui.screens.edit.screen import EditScreen

PAUSE = 0.2
"""Seconds without a key before the draft is judged."""


class Draft(NamedTuple):
    """A value being edited: its field, its syntax, and the element that it replaces."""

    field: Writing
    way: WritingWay
    studied: EditStudy
    row: EditRow


class ValueWriter:
    """Opens a value for editing, judges the draft, and saves it."""

    def __init__(self, screen: EditScreen) -> None:
        self.screen = screen
        self._draft: Draft | None = None
        self._pause: Timer | None = None

    @property
    def is_writing(self) -> bool:
        """A value is being edited on the screen."""
        return self._draft is not None

    def focus(self) -> None:
        """Focus the field, if there is one."""
        if self._draft:
            self._draft.field.focus()

    # Actions.

    def write(self) -> None:
        """Edit the value in its likeliest syntax."""
        self._write(edit_modes.likeliest)

    def write_json(self) -> None:
        """Edit the value as JSON."""
        self._write(edit_modes.as_json)

    def raw(self) -> None:
        """Edit the bytes."""
        self._write(edit_modes.as_bytes)

    def editor(self) -> None:
        """Edit the value in the person's own editor."""

        def do(study: EditStudy) -> None:
            if row := self.screen.outline.here:
                self._write_outside(study, row, edit_modes.likeliest(study, row))

        self.screen.study.when_settled(do)

    def _write_outside(self, study: EditStudy, row: EditRow, way: WritingWay) -> None:
        from workbench.tui.editor import edited_outside

        try:
            edited = edited_outside(self.screen.app, way.written, way.suffix)
        except WorkbenchError as error:
            self.screen.flow.refuse(str(error))
            return
        if edited is None:
            self.screen.say("no change; if your editor opens its own window, start it with its wait option")
        elif not self.screen.flow.put(study, lambda: (way.make(edited), f"{row.name} changed", None)):
            self._write_in_place(study, row, way._replace(written=edited))

    def _write(self, choose: Callable[[EditStudy, EditRow], WritingWay]) -> None:
        def do(study: EditStudy) -> None:
            if row := self.screen.outline.here:
                try:
                    way = choose(study, row)
                except WorkbenchError as error:
                    self.screen.flow.refuse(str(error))
                else:
                    self._write_in_place(study, row, way)
            if self._draft is None:
                self.screen.type_ahead.drop()

        self.screen.type_ahead.begin()
        self.screen.study.when_settled(do)

    def _write_in_place(self, study: EditStudy, row: EditRow, way: WritingWay) -> None:
        screen = self.screen
        if way.is_text and not edit_modes.is_plain(from_bytes(way.written)):
            way = edit_modes.as_json(study, row)
            screen.say("control and hidden characters are shown as escapes")
        text = from_bytes(way.written)
        if len(way.written) > MOST_IN_PLACE:
            screen.flow.refuse(f"{size(len(way.written))} is too long to edit here · E: open your editor")
        elif not edit_modes.is_plain(text):
            screen.flow.refuse(f"{row.name} has bytes that cannot be shown · E: open your editor")
        elif self._draft is None:
            complete = edit_modes.completes(study, row, way)
            title = f"{row.name} · as {way.word}"
            field = Writing(text, title, is_line=way.is_line, id="writing", complete=complete)
            self._draft = Draft(field, way, study, row)
            screen.query_one("#values").mount(field)
            screen.add_class("-writing")
            screen.show_keys(f"editing: {'enter' if way.is_line else 'ctrl+s'} save · esc cancel  ")
            screen.panes.focus("value")

    # The field.

    def judge_soon(self) -> None:
        """Judge the draft once the person stops typing."""
        if self._pause:
            self._pause.stop()
        self._pause = self.screen.set_timer(PAUSE, self._judge_draft)

    def _judge_draft(self) -> None:
        if self._draft is None:
            return
        field, way, studied, _ = self._draft
        try:
            draft = apply_changes(studied.request, studied.text, way.make(encode(field.text)))
        except WorkbenchError as error:
            self.screen.say(f"not checked: {error}", "error")
        else:
            self.screen.say("verdict of the draft")
            self.screen.study.judge(draft)

    def take(self, text: str) -> None:
        """Save the edited value; the field stays open if that fails."""
        if self._draft is None:
            return
        _, way, studied, row = self._draft
        edited = encode(text)
        if edited == way.written:
            self.leave()
            self.screen.say("no change")
        elif self.screen.flow.put(studied, lambda: (way.make(edited), f"{row.name} changed", None)):
            self._end()

    def leave(self) -> None:
        """Cancel the edit."""
        self._end()
        self.screen.say("cancelled")
        self.screen.flow.show_node(None)

    def _end(self) -> None:
        if self._pause:
            self._pause.stop()
        if self._draft:
            self._draft.field.remove()
            self._draft = None
        self.screen.remove_class("-writing")
        self.screen.show_keys()
        self.screen.panes.focus("outline")


def encode(text: str) -> bytes:
    """Text as bytes, with undecodable bytes restored."""
    return text.encode("utf-8", "surrogateescape")
