"""The panes of the stepping screen: steps, the reasoning so far, the pending request or what came of one, and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.bars import Bar, KeyBar
from workbench.tui.models import send, step
from workbench.tui.models.rowtable import Marked
from workbench.views import REQUEST, Line, line

if TYPE_CHECKING:
    from workbench.tui.screens.lab.probe_sample import SampleState, SentRequest
    from workbench.tui.screens.lab.step import StepScreen


class StepView:
    """Paints how the sample stands."""

    def __init__(self, screen: StepScreen) -> None:
        self.screen = screen

    def show_state(self) -> None:
        """Say how far the sample is."""
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
        stood = self.screen.state
        rows = len(stood.sent) + 1 if stood else 1
        self.screen.steps.show(rows, self._row)
        self.screen.steps.move_to(rows - 1)
        self.screen.reasoned.show(lambda width: step.reasoned(self.screen.probe, stood, width))
        if not stood or stood.ask is None:
            self.screen.reasoned.move_to(self.screen.reasoned.count() - 1)
        self.show_state()
        self.show_step(is_new=True)

    def _row(self, item: int) -> Line:
        if self.screen.state and item < len(self.screen.state.sent):
            return step.sent_line(self.screen.state.sent[item])
        return step.pending_line(self.screen.state, is_sending=self.screen.sample.is_sending)

    def show_step(self, *, is_new: bool = False) -> None:
        """Show the step under the cursor: its IR and its bytes. ``is_new``: the pending request is another one."""
        sent, stood = self.screen.sent_request, self.screen.state
        last = stood.sent[-1] if stood and stood.sent and stood.ask is None else None
        shown = sent or last
        is_pending = shown is None
        self.screen.set_class(not is_pending, "-came")
        self.screen.bytes.title(line(step.title_of(stood, shown, self.screen.side)))
        if shown:
            self._show_sent(shown)
        elif stood and stood.studied:
            self._show_pending(stood, is_new=is_new)
        elif stood and stood.ask:
            self.screen.bytes.show(stood.ask.request.body.raw, (), "there is no body")

    def _show_sent(self, sent: SentRequest) -> None:
        side, decoded = self.screen.side, sent.opened.decoded
        is_request = side == REQUEST
        self.screen.came.title(line(" Request as it was sent " if is_request else " Answer "))
        self.screen.came.show(lambda width: step.came(sent, side, width))
        self.screen.bytes.show(decoded.request_text if is_request else decoded.response_text, (), "there is no body")

    def _show_pending(self, stood: SampleState, *, is_new: bool) -> None:
        assert stood.studied
        self.screen.outline.title(
            line(" Pending request · e changes it " if not stood.is_changed else " ~ Changed request ")
        )
        spans = tuple(span for _, span in stood.new)
        self.screen.bytes.show(stood.studied.text, (Marked("related", spans),), "there is no body")
        if is_new:
            self.screen.outline.show(stood.studied, stood.new[0][0] if stood.new else None)
        self.show_place()

    def show_place(self) -> None:
        """Light up what the cursor of the outline stands on."""
        stood, row = self.screen.state, self.screen.outline.here
        if stood and stood.studied and row and not self.screen.has_class("-came"):
            span = stood.studied.span(row.pointer)
            self.screen.bytes.mark_range((span,) if span and row.pointer else ())
