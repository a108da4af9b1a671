"""Step screen: shows each request of a probe sample, to change and send by hand or in a run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.delegate import ActionOf
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.panes.body import BodyPane
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.outline import OutlinePane
from workbench.tui.panes.text_lines import TextLinesPane
from workbench.tui.panes.writing import Writing
from workbench.tui.probing import in_memory
from workbench.tui.screens.lab.sample import SampleFailure, SampleRunner, SampleUpdate
from workbench.tui.screens.lab.step_editor import RequestEditor
from workbench.tui.screens.lab.step_view import StepView
from workbench.tui.screens.worklist import ListPane
from workbench.views import REQUEST, RESPONSE, line

if TYPE_CHECKING:
    from workbench.probes import Probe
    from workbench.tui.probing import LabColumn
    from workbench.tui.screens.lab.probe_sample import SampleState, SentRequest


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
        yield Bar(id="headline")
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
            self.say("the pending request has no response yet · k: go to a sent one")
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
        from workbench.tui.screens.session.screen import SessionScreen

        exchanges = self.sample.sampling.exchanges if self.sample.sampling else ()
        if not exchanges:
            self.say("nothing sent yet · enter: send the pending request")
            return
        subject = self.column.subject
        session = in_memory(f"{self.probe.name} · {subject.target.name}", exchanges)
        self.app.push_screen(SessionScreen(session, subject.contract.label, subject.protocol, 0))

    def action_back(self) -> None:
        self.dismiss(None)
