"""Editing of a value in the pending request of a probe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.safetext import from_bytes
from workbench.tui.models import edit_modes
from workbench.tui.widgets.writing import MOST_IN_PLACE, Writing
from workbench.views import size

if TYPE_CHECKING:
    from workbench.edits import Change, Splice
    from workbench.tui.models.edit import EditRow
    from workbench.tui.models.edit_modes import WritingWay
    from workbench.tui.models.edit_study import EditStudy
    from workbench.tui.screens.lab.step import StepScreen
    from workbench.wire import HttpRequest


class RequestEditor:
    """Opens the value under the cursor for editing, and puts the edited value into the request."""

    def __init__(self, screen: StepScreen) -> None:
        self.screen = screen
        self._writing: tuple[EditStudy, WritingWay, str] | None = None

    def forget(self) -> None:
        """Forget the edit: it is in the request."""
        self._writing = None

    async def again(self) -> None:
        """Open a rejected edit again."""
        if self._writing:
            await self._write(*self._writing)

    async def edit(self) -> None:
        """Edit the value under the cursor in place."""
        if (found := self._editable()) is not None:
            studied, row = found
            way = edit_modes.likeliest(studied, row)
            if way.is_text and not edit_modes.is_plain(from_bytes(way.written)):
                way = edit_modes.as_json(studied, row)
            text = from_bytes(way.written)
            if len(way.written) > MOST_IN_PLACE or not edit_modes.is_plain(text):
                self.screen.say(f"{row.name} ({size(len(way.written))}) cannot be shown here · E: open your editor")
            else:
                await self._write(studied, way, text)

    def edit_outside(self) -> None:
        """Edit the value under the cursor in the person's own editor."""
        from workbench.tui.editor import edited_outside

        if (found := self._editable()) is None:
            return
        studied, row = found
        way = edit_modes.likeliest(studied, row)
        try:
            edited = edited_outside(self.screen.app, way.written, way.suffix)
        except WorkbenchError as error:
            self.screen.say(str(error))
            return
        if edited is not None:
            self._change(studied, way, edited)

    def _editable(self) -> tuple[EditStudy, EditRow] | None:
        """Judged request and the row that can be edited now; None if nothing can, with a notice."""
        state, row = self.screen.state, self.screen.outline.here
        if self.screen.sample.is_busy or state is None or self._writing:
            return None
        if state.ask is None or self.screen.sent_request:
            self.screen.say(
                "only the pending request can be changed"
                if state.ask
                else "the sample has ended: no pending request is left to change · u: undo"
            )
            return None
        if state.studied is None or row is None:
            self.screen.say(state.why)
            return None
        return state.studied, row

    async def _write(self, study: EditStudy, way: WritingWay, text: str) -> None:
        self._writing = study, way, text  # before any await: a key that is held down repeats
        await self.screen.query("#writing").remove()
        writing = Writing(text, f"Pending request · as {way.word}", is_line=way.is_line, id="writing")
        self.screen.add_class("-writing")
        self.screen.remove_class("-on-reasoned")
        self.screen.query_one("#asking").mount(writing)
        writing.focus()

    def focus(self) -> None:
        """Focus the field again, which lost the focus while there was no room for it."""
        for writing in self.screen.query(Writing):
            writing.focus()

    def take(self, text: str) -> None:
        """Put the edited text into the request."""
        if self._writing is None:
            return
        studied, way, _ = self._writing
        self.stop()
        self._writing = studied, way, text  # opened again if it is rejected
        self._change(studied, way, text.encode("utf-8", "surrogateescape"))

    def stop(self) -> None:
        """Close the field."""
        self._writing = None
        self.screen.query("#writing").remove()
        self.screen.remove_class("-writing")
        self.screen.outline.focus()

    def _change(self, study: EditStudy, way: WritingWay, edited: bytes) -> None:
        self.screen.sample.do(lambda: self._apply(study, way.make(edited)))

    def _apply(self, study: EditStudy, changes: Sequence[Change | Splice]) -> None:
        """Apply changes to the pending request, in a thread."""
        from workbench.edits import apply_changes

        assert self.screen.sample.sampling
        request: HttpRequest = apply_changes(study.request, study.text, changes)
        self.screen.sample.sampling.change(request)
