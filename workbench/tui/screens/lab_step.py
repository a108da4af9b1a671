"""Steps through one sample of a probe: each request is shown, changed, and sent by hand or run on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.safetext import from_bytes
from workbench.tui.dispatch import Dispatch, is_open
from workbench.tui.models import lab, ways
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.writing import MOST_IN_PLACE, Writing
from workbench.tui.probing import in_memory
from workbench.tui.sampling import Sampling
from workbench.tui.screens.lab_step_desk import StepDesk
from workbench.tui.service import in_words
from workbench.views.words import size

if TYPE_CHECKING:
    from workbench.edits import Change, Splice
    from workbench.probes import Ask, Probe
    from workbench.send.sending import Sender
    from workbench.tui.models.edit import Entry
    from workbench.tui.models.studied import Studied
    from workbench.tui.models.ways import Way
    from workbench.tui.probing import Column
    from workbench.tui.sampling import Stood
    from workbench.wire.exchange import Exchange, HttpRequest


class Stands(Message):
    """How the sample stands now."""

    def __init__(self, stood: Stood) -> None:
        super().__init__()
        self.stood = stood


class Failed(Message):
    """It stands as it did, and why."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why


class StepScreen(StepDesk):
    """A sample of a probe, one request at a time. Nothing of it goes into a profile."""

    def __init__(self, probe: Probe, column: Column) -> None:
        super().__init__(probe, column)
        self.sampling: Sampling | None = None
        self._is_busy = True
        self._dispatch: Dispatch[Exchange] | None = None
        self._writing: tuple[Studied, Way, str] | None = None

    def on_mount(self) -> None:
        super().on_mount()
        self._do(lambda: None)

    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self._write_on)

    def on_unmount(self) -> None:
        if self._dispatch:
            self._dispatch.cancel()

    # What takes time is done in a thread, one thing after the other.

    def do(self, job: Callable[[], object]) -> None:
        """Do something with the sample, then show how it stands; nothing while something else is done."""
        if not self._is_busy:
            self._is_busy = True
            self._do(job)

    @work(thread=True, group="step", exit_on_error=False)
    def _do(self, job: Callable[[], object]) -> None:
        try:
            if self.sampling is None:
                self.sampling = Sampling(self.probe, self.column.subject)
            job()
            self.post_message(Stands(self.sampling.stood()))
        except Exception as error:
            self.post_message(Failed(in_words(error)))

    def on_stands(self, message: Stands) -> None:
        self._is_busy = self.is_sending = False
        self._dispatch = self._writing = None
        if not is_open(self):
            return
        self.stood = message.stood
        self.runs_on &= message.stood.ask is not None
        self.show_steps()
        if self.runs_on:
            self._send()

    async def on_failed(self, message: Failed) -> None:
        self._is_busy = self.is_sending = self.runs_on = False
        self._dispatch = None
        if is_open(self):
            self.say(message.why)
            self.show_state()
            if self._writing:
                await self._write(*self._writing)

    # Sending.

    async def on_line_view_entered(self, message: LineView.Entered) -> None:
        if message.view is self.outline:
            await self.action_edit()
        else:
            self._send()

    def action_run(self) -> None:
        """Request after request, to the end."""
        self.runs_on = True
        self._send()

    def _send(self) -> None:
        """Send the pending request; a real endpoint is asked about first."""
        stood, subject = self.stood, self.column.subject
        if self._is_busy or stood is None:
            return
        if stood.ask is None:
            self.say("it is over: a begins again, u steps back, o opens what was sent")
        elif subject.target.is_simulator or self.column.is_agreed:
            self._go(stood.ask)
        else:
            from workbench.tui.screens.confirm import ConfirmScreen

            told = lab.estimate((self.probe,), 1)
            asked = lab.question(subject.target, told, subject.model, is_set=self.is_key_set)
            self.app.push_screen(ConfirmScreen(asked, "send them", "send nothing"), partial(self._agreed, stood.ask))

    def _agreed(self, ask: Ask, is_agreed: bool | None) -> None:
        self.column.is_agreed = bool(is_agreed)
        if is_agreed:
            self._go(ask)
        else:
            self.runs_on = False
            self.show_state()

    def _go(self, ask: Ask) -> None:
        self.is_sending = True
        self.show_state()
        self.do(lambda: self._ask(ask))

    def _ask(self, ask: Ask) -> None:
        """In a thread: send it and wait for the answer."""
        from workbench import probes

        sampling = self.sampling
        assert sampling

        async def sent(sender: Sender) -> Exchange:
            return await probes.send(ask, sampling.subject, sender)

        model = probes.scripted(self.column.dials.split())
        self._dispatch = Dispatch(in_memory("probe", sampling.exchanges), sent, model)
        exchange = self._dispatch.run()
        if exchange is not None:  # else it was broken off: the request is pending still
            sampling.after(exchange)

    # Changing the request.

    async def action_edit(self) -> None:
        """Write the value under the cursor in place."""
        if (found := self._editable()) is not None:
            studied, row = found
            way = ways.likeliest(studied, row)
            if way.is_text and not ways.is_plain(from_bytes(way.written)):
                way = ways.as_json(studied, row)
            text = from_bytes(way.written)
            if len(way.written) > MOST_IN_PLACE or not ways.is_plain(text):
                self.say(f"{row.name} ({size(len(way.written))}) cannot be shown here: E opens your editor")
            else:
                await self._write(studied, way, text)

    def action_editor(self) -> None:
        """Write it in the person's own editor."""
        from workbench.tui.editor import edited_outside

        if (found := self._editable()) is None:
            return
        studied, row = found
        way = ways.likeliest(studied, row)
        try:
            made = edited_outside(self.app, way.written, way.suffix)
        except WorkbenchError as error:
            self.say(str(error))
            return
        if made is not None:
            self._change(studied, way, made)

    def _editable(self) -> tuple[Studied, Entry] | None:
        """What can be written now; None where nothing can."""
        stood, row = self.stood, self.outline.here
        if self._is_busy or stood is None or self._writing:
            return None
        if stood.ask is None or self.sent:
            self.say("only the pending request can be changed" if stood.ask else "it is over: u steps back")
            return None
        if stood.studied is None or row is None:
            self.say(stood.why)
            return None
        return stood.studied, row

    async def _write(self, studied: Studied, way: Way, text: str) -> None:
        self._writing = studied, way, text  # before anything is waited for: a key that is held down comes again
        await self.query("#writing").remove()
        writing = Writing(text, f"Pending request · as {way.word}", is_line=way.is_line, id="writing")
        self.add_class("-writing")
        self.remove_class("-on-reasoned")
        self.query_one("#asking").mount(writing)
        writing.focus()

    def _write_on(self) -> None:
        """Who was writing while there was no room goes on."""
        for writing in self.query(Writing):
            writing.focus()

    def on_writing_taken(self, message: Writing.Taken) -> None:
        if self._writing is None:
            return
        studied, way, _ = self._writing
        self._stop_writing()
        self._writing = studied, way, message.text  # shown again if it cannot stand there
        self._change(studied, way, message.text.encode("utf-8", "surrogateescape"))

    def on_writing_left(self, message: Writing.Left) -> None:
        self._stop_writing()

    def _stop_writing(self) -> None:
        self._writing = None
        self.query("#writing").remove()
        self.remove_class("-writing")
        self.outline.focus()

    def _change(self, studied: Studied, way: Way, made: bytes) -> None:
        """What was written counts."""
        self.do(lambda: self._changed(studied, way.make(made)))

    def _changed(self, studied: Studied, changes: Sequence[Change | Splice]) -> None:
        """In a thread."""
        from workbench.edits import edited

        assert self.sampling
        made: HttpRequest = edited(studied.request, studied.text, changes)
        self.sampling.change(made)

    # Back and again.

    def action_undo(self) -> None:
        """Take the change back; without one, the last request."""
        self.runs_on = False
        self.do(self._undo)

    def _undo(self) -> None:
        assert self.sampling
        self.sampling.undo()

    def action_again(self) -> None:
        """Another sample, from the beginning."""
        if not self._is_busy:
            self.sampling, self.runs_on = None, False
            self.do(lambda: None)

    def action_open(self) -> None:
        """What was sent so far, as a session."""
        from workbench.tui.screens.session.screen import SessionScreen

        exchanges = self.sampling.exchanges if self.sampling else ()
        if not exchanges:
            self.say("nothing was sent yet: enter sends the pending request")
            return
        subject = self.column.subject
        session = in_memory(f"{self.probe.name} · {subject.target.name}", exchanges)
        self.app.push_screen(SessionScreen(session, subject.contract.label, subject.protocol, 0))

    def action_leave(self) -> None:
        """Break off what is on its way; else back."""
        self.runs_on = False
        if self.is_sending and self._dispatch:
            self._dispatch.cancel()
        else:
            self.dismiss(None)

    def action_back(self) -> None:
        self.dismiss(None)
