"""Panes of the step screen: steps, reasoning so far, the pending or a sent request, and its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.bars import Bar, KeyBar
from workbench.tui.models import send, step
from workbench.tui.models.rowtable import StyledSpans
from workbench.views import REQUEST, Line, line

if TYPE_CHECKING:
    from workbench.tui.screens.lab.probe_sample import SampleState, SentRequest
    from workbench.tui.screens.lab.step import StepScreen


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
        lines = send.headline(title, facts, subject.target, self.screen.size.width, is_set=self.screen.is_key_set)
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
        sent, state = self.screen.sent_request, self.screen.state
        last = state.sent[-1] if state and state.sent and state.ask is None else None
        shown = sent or last
        is_pending = shown is None
        self.screen.set_class(not is_pending, "-came")
        self.screen.bytes.title(line(step.title_of(state, shown, self.screen.side)))
        if shown:
            self._show_sent(shown)
        elif state and state.studied:
            self._show_pending(state, is_new=is_new)
        elif state and state.ask:
            self.screen.bytes.show(state.ask.request.body.raw, (), "no body")

    def _show_sent(self, sent: SentRequest) -> None:
        side, decoded = self.screen.side, sent.opened.decoded
        is_request = side == REQUEST
        self.screen.came.title(line(" Request as sent " if is_request else " Response "))
        self.screen.came.show(lambda width: step.came(sent, side, width))
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
