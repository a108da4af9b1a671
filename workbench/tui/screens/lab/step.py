"""Step screen: shows each request of a probe sample, to change and send by hand or in a run.

Panes of the step screen: steps, reasoning so far, the pending or a sent request, and its bytes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.host import host_of
from workbench.tui.models import send, step
from workbench.tui.models.rowtable import StyledSpans
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.probing import in_memory
from workbench.tui.screens.lab.sample import SampleFailure, SampleRunner, SampleUpdate
from workbench.tui.screens.lab.step_editor import RequestEditor
from workbench.tui.screens.worklist import ListPane
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.outline import OutlinePane
from workbench.tui.widgets.text import TextLinesPane
from workbench.tui.widgets.writing import Writing
from workbench.views import REQUEST, RESPONSE, Line, line

if TYPE_CHECKING:
    from workbench.probes import Probe
    from workbench.tui.probing import LabColumn
    from workbench.tui.screens.lab.probe_sample import SampleState, SentRequest


class StepView:
    """Paints the state of the sample."""

    def __init__(self, screen: StepScreen) -> None:
        self.screen = screen

    def show_state(self) -> None:
        """Show the progress of the sample."""
        self.screen.query_one("#keys", KeyBar).run(self.screen.sample.is_sending)
        subject = self.screen.column.subject
        title = f"Step {self.screen.probe.name}   {subject.target.name} · {subject.model}"
        sample = self.screen.sample
        facts = step.facts(self.screen.state, is_sending=sample.is_sending, runs_on=sample.runs_on)
        lines = send.headline(title, facts, subject.target, self.screen.size, is_set=self.screen.is_key_set)
        self.screen.query_one("#headline", Bar).show(lines)
        self.screen.steps.refresh()

    def show_steps(self) -> None:
        """Show the steps; the cursor goes to the pending one."""
        state = self.screen.state
        rows = len(state.sent) + 1 if state else 1
        self.screen.steps.show(rows, self._row)
        self.screen.steps.move_to(rows - 1)
        self.screen.reasoned.show(lambda width: step.sample_lines(self.screen.probe, state, width))
        if not state or state.ask is None:
            self.screen.reasoned.move_to(self.screen.reasoned.count() - 1)
        self.show_state()
        self.show_step(is_new=True)

    def _row(self, item: int) -> Line:
        if self.screen.state and item < len(self.screen.state.sent):
            return step.sent_line(self.screen.state.sent[item])
        return step.pending_line(self.screen.state, is_sending=self.screen.sample.is_sending)

    def show_step(self, *, is_new: bool = False) -> None:
        """Show the step under the cursor: its IR and its bytes. ``is_new`` if the pending request has changed."""
        sent_request, state = self.screen.sent_request, self.screen.state
        last = state.sent[-1] if state and state.sent and state.ask is None else None
        request = sent_request or last
        is_pending = request is None
        self.screen.set_class(not is_pending, "-came")
        self.screen.bytes.title(line(step.title_of(state, request, self.screen.side)))
        if request:
            self._show_sent(request)
        elif state and state.studied:
            self._show_pending(state, is_new=is_new)
        elif state and state.ask:
            self.screen.bytes.show(state.ask.request.body.raw, (), "no body")

    def _show_sent(self, sent_request: SentRequest) -> None:
        side, decoded = self.screen.side, sent_request.opened.decoded
        is_request = side == REQUEST
        self.screen.came.title(line(" Request as sent " if is_request else " Response "))
        self.screen.came.show(lambda width: step.came(sent_request, side, width))
        self.screen.bytes.show(decoded.request_text if is_request else decoded.response_text, (), "no body")

    def _show_pending(self, state: SampleState, *, is_new: bool) -> None:
        assert state.studied
        self.screen.outline.title(
            line(" Pending request · e edit " if not state.is_changed else " ~ Pending request, changed ")
        )
        spans = tuple(span for _, span in state.new)
        self.screen.bytes.show(state.studied.text, (StyledSpans("related", spans),), "no body")
        if is_new:
            self.screen.outline.show(state.studied, state.new[0][0] if state.new else None)
        self.show_place()

    def show_place(self) -> None:
        """Highlight the bytes of the row under the cursor of the outline."""
        state, row = self.screen.state, self.screen.outline.here
        if state and state.studied and row and not self.screen.has_class("-came"):
            span = state.studied.span(row.pointer)
            self.screen.bytes.mark_range((span,) if span and row.pointer else ())


class StepScreen(Screen[None]):
    """Sample of a probe, one request at a time. Its results do not go into a profile.

    Args:
        probe: probe to step through.
        column: target to measure.

    Attributes:
        state: state of the sample; None before it starts.
        side: shown side of a request that was sent.
    """

    CSS_PATH = "lab_step.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.STEP
    BINDINGS = keys.bindings(keys.STEP)

    steps = getters.query_one("#probe-steps", ListPane)
    reasoned = getters.query_one("#reasoned", TextLinesPane)
    outline = getters.query_one("#asked", OutlinePane)
    came = getters.query_one("#came", TextLinesPane)
    bytes = getters.query_one("#asked-bytes", BodyPane)

    def __init__(self, probe: Probe, column: LabColumn) -> None:
        super().__init__()
        self.probe, self.column = probe, column
        self.state: SampleState | None = None
        self.side = RESPONSE
        self.view = StepView(self)
        self.sample = SampleRunner(self)
        self.editor = RequestEditor(self)

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="sides-of-probe"):
            with Container(id="gone"):
                yield ListPane(id="probe-steps")
                yield TextLinesPane(id="reasoned")
            with Container(id="asking"):
                yield OutlinePane(id="asked")
                yield TextLinesPane(id="came")
                yield BodyPane(id="asked-bytes")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_ASK, *keys.STEP])
        self.steps.title(line(f" Steps of {visible(self.probe.name)} "))
        self.reasoned.title(line(" Notes "))
        self.steps.focus()
        self.view.show_state()
        self.sample.begin()

    def on_resize(self) -> None:
        self.view.show_state()
        self.call_after_refresh(self.editor.focus)

    def on_unmount(self) -> None:
        self.sample.stop()

    @property
    def sent_request(self) -> SentRequest | None:
        """Sent request under the cursor; None on the pending one."""
        item = self.steps.cursor
        return self.state.sent[item] if self.state and item < len(self.state.sent) else None

    @property
    def is_key_set(self) -> bool:
        """The API key of the target is in the environment."""
        variable = self.column.subject.target.key_variable
        return bool(variable and os.environ.get(variable))

    def say(self, why: str) -> None:
        """Show a warning."""
        self.notify(visible(why), severity="warning", markup=False)

    # Messages.

    def on_sample_update(self, message: SampleUpdate) -> None:
        self.sample.take(message)

    async def on_sample_failure(self, message: SampleFailure) -> None:
        await self.sample.fail(message)

    async def on_line_view_activation(self, message: LineView.Activation) -> None:
        if message.view is self.outline:
            await self.editor.edit()
        else:
            self.sample.send()

    def on_writing_save(self, message: Writing.Save) -> None:
        self.editor.take(message.text)

    def on_writing_cancel(self, message: Writing.Cancel) -> None:
        self.editor.stop()

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.steps:
            self.view.show_step()
        elif message.view is self.outline:
            self.view.show_place()

    # Actions of the key table.

    action_run = ActionOf("sample")
    action_undo = ActionOf("sample")
    action_again = ActionOf("sample")
    action_leave = ActionOf("sample")
    action_edit = ActionOf("editor")
    action_editor = ActionOf("editor", "edit_outside")

    def action_side(self) -> None:
        """Show the other side of a sent request."""
        self.side = REQUEST if self.side == RESPONSE else RESPONSE
        if not self.has_class("-came"):
            self.say("the pending request has no response yet · k: go to a sent request")
        self.view.show_step()

    def action_pane(self, by: int) -> None:
        middle = self.came if self.has_class("-came") else self.outline
        panes: list[LineView] = [self.steps, self.reasoned, middle, self.bytes]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        self.go_to(panes[(at + by) % len(panes)])

    def go_to(self, pane: LineView) -> None:
        """Focus a pane; if there is little room it replaces another one."""
        if pane is not self.steps:
            for each in (self.reasoned, self.bytes):
                self.set_class(each is pane, f"-on-{each.id}")
        pane.focus()

    def action_fold(self) -> None:
        self.outline.fold()

    def action_open(self) -> None:
        """Open the exchanges so far as a session."""
        exchanges = self.sample.sampling.exchanges if self.sample.sampling else ()
        if not exchanges:
            self.say("nothing sent yet · enter: send the pending request")
            return
        subject = self.column.subject
        session = in_memory(f"{self.probe.name} · {subject.target.name}", exchanges)
        host_of(self.app).open_session(session, 0, subject.contract.label, subject.protocol)

    def action_back(self) -> None:
        self.dismiss(None)
