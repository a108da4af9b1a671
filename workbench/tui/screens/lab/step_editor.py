"""Writing a value of the pending request of a probe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError
from workbench.safetext import from_bytes
from workbench.tui.models import ways
from workbench.tui.panes.writing import MOST_IN_PLACE, Writing
from workbench.views import size

if TYPE_CHECKING:
    from workbench.edits import Change, Splice
    from workbench.tui.models.edit import Entry
    from workbench.tui.models.studied import Studied
    from workbench.tui.models.ways import Way
    from workbench.tui.screens.lab.step import StepScreen
    from workbench.wire import HttpRequest


class RequestEditor:
    """Opens the value under the cursor for writing, and puts what was written into the request."""

    def __init__(self, screen: StepScreen) -> None:
        self.screen = screen
        self._writing: tuple[Studied, Way, str] | None = None

    def forget(self) -> None:
        """Forget what was written: it is in the request."""
        self._writing = None

    async def again(self) -> None:
        """Show again what could not be put into the request."""
        if self._writing:
            await self._write(*self._writing)

    async def edit(self) -> None:
        """Write the value under the cursor in place."""
        if (found := self._editable()) is not None:
            studied, row = found
            way = ways.likeliest(studied, row)
            if way.is_text and not ways.is_plain(from_bytes(way.written)):
                way = ways.as_json(studied, row)
            text = from_bytes(way.written)
            if len(way.written) > MOST_IN_PLACE or not ways.is_plain(text):
                self.screen.say(f"{row.name} ({size(len(way.written))}) cannot be shown here: E opens your editor")
            else:
                await self._write(studied, way, text)

    def edit_outside(self) -> None:
        """Write the same in the person's own editor."""
        from workbench.tui.editor import edited_outside

        if (found := self._editable()) is None:
            return
        studied, row = found
        way = ways.likeliest(studied, row)
        try:
            made = edited_outside(self.screen.app, way.written, way.suffix)
        except WorkbenchError as error:
            self.screen.say(str(error))
            return
        if made is not None:
            self._change(studied, way, made)

    def _editable(self) -> tuple[Studied, Entry] | None:
        """The judged request and the row that can be written now; None if nothing can."""
        stood, row = self.screen.state, self.screen.outline.here
        if self.screen.sample.is_busy or stood is None or self._writing:
            return None
        if stood.ask is None or self.screen.sent_request:
            self.screen.say("only the pending request can be changed" if stood.ask else "it is over: u steps back")
            return None
        if stood.studied is None or row is None:
            self.screen.say(stood.why)
            return None
        return stood.studied, row

    async def _write(self, studied: Studied, way: Way, text: str) -> None:
        self._writing = studied, way, text  # before anything is waited for: a key that is held down comes again
        await self.screen.query("#writing").remove()
        writing = Writing(text, f"Pending request · as {way.word}", is_line=way.is_line, id="writing")
        self.screen.add_class("-writing")
        self.screen.remove_class("-on-reasoned")
        self.screen.query_one("#asking").mount(writing)
        writing.focus()

    def focus(self) -> None:
        """Give the keys back to the field, which lost them while there was no room for it."""
        for writing in self.screen.query(Writing):
            writing.focus()

    def take(self, text: str) -> None:
        """Put what was written into the request."""
        if self._writing is None:
            return
        studied, way, _ = self._writing
        self.stop()
        self._writing = studied, way, text  # shown again if it cannot stand there
        self._change(studied, way, text.encode("utf-8", "surrogateescape"))

    def stop(self) -> None:
        """Close the field."""
        self._writing = None
        self.screen.query("#writing").remove()
        self.screen.remove_class("-writing")
        self.screen.outline.focus()

    def _change(self, studied: Studied, way: Way, made: bytes) -> None:
        """Change the pending request."""
        self.screen.sample.do(lambda: self._apply(studied, way.make(made)))

    def _apply(self, studied: Studied, changes: Sequence[Change | Splice]) -> None:
        """In a thread."""
        from workbench.edits import apply_changes

        assert self.screen.sample.sampling
        made: HttpRequest = apply_changes(studied.request, studied.text, changes)
        self.screen.sample.sampling.change(made)
