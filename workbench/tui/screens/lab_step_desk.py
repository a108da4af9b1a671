"""What the stepping screen shows: steps, the reasoning so far, the pending request or what came of one, and bytes."""

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
from workbench.tui.models import send, step
from workbench.tui.models.rowtable import Marked
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.panes.body import BodyPane
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.outline import OutlinePane
from workbench.tui.panes.told import ToldPane
from workbench.tui.screens.worklist import ListPane
from workbench.views.lines import Line, line
from workbench.views.words import REQUEST, RESPONSE

if TYPE_CHECKING:
    from workbench.probes import Probe
    from workbench.tui.probing import Column
    from workbench.tui.sampling import Sent, Stood


class StepDesk(Screen[None]):
    """A sample of a probe.

    Args:
        column: the target that is asked.

    Attributes:
        stood: how the sample stands; None until that is known.
        side: of a request that was sent, what is shown of it.
    """

    CSS_PATH = "lab_step.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.STEP
    BINDINGS = keys.bindings(keys.STEP)

    steps = getters.query_one("#probe-steps", ListPane)
    reasoned = getters.query_one("#reasoned", ToldPane)
    outline = getters.query_one("#asked", OutlinePane)
    came = getters.query_one("#came", ToldPane)
    bytes = getters.query_one("#asked-bytes", BodyPane)

    def __init__(self, probe: Probe, column: Column) -> None:
        super().__init__()
        self.probe, self.column = probe, column
        self.stood: Stood | None = None
        self.side = RESPONSE
        self.is_sending = self.runs_on = False

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        with Container(id="sides-of-probe"):
            with Container(id="gone"):
                yield ListPane(id="probe-steps")
                yield ToldPane(id="reasoned")
            with Container(id="asking"):
                yield OutlinePane(id="asked")
                yield ToldPane(id="came")
                yield BodyPane(id="asked-bytes")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_ASK, *keys.STEP])
        self.steps.title(line(f" Steps of {visible(self.probe.name)} "))
        self.reasoned.title(line(" Reasoning so far "))
        self.steps.focus()
        self.show_state()

    def on_resize(self) -> None:
        self.show_state()

    @property
    def sent(self) -> Sent | None:
        """The request that was sent under the cursor; None where it stands on what is next."""
        item = self.steps.cursor
        return self.stood.sent[item] if self.stood and item < len(self.stood.sent) else None

    @property
    def is_key_set(self) -> bool:
        """The key that the target asks for is in the environment."""
        variable = self.column.subject.target.key_variable
        return bool(variable and os.environ.get(variable))

    def say(self, why: str) -> None:
        """Something is not as people want it."""
        self.notify(visible(why), severity="warning", markup=False)

    # What is shown.

    def show_state(self) -> None:
        """How far it is."""
        self.query_one("#keys", KeyBar).run(self.is_sending)
        subject = self.column.subject
        title = f"Step {self.probe.name}   {subject.target.name} · {subject.model}"
        told = step.facts(self.stood, is_sending=self.is_sending, runs_on=self.runs_on)
        lines = send.headline(title, told, subject.target, self.size.width, is_set=self.is_key_set)
        self.query_one("#headline", Bar).show(lines)
        self.steps.refresh()

    def show_steps(self) -> None:
        """It stands otherwise; the cursor goes to what is next."""
        stood = self.stood
        rows = len(stood.sent) + 1 if stood else 1
        self.steps.show(rows, self._row)
        self.steps.move_to(rows - 1)
        self.reasoned.show(lambda width: step.reasoned(self.probe, stood, width))
        if not stood or stood.ask is None:
            self.reasoned.move_to(self.reasoned.count() - 1)
        self.show_state()
        self.show_step(is_new=True)

    def _row(self, item: int) -> Line:
        if self.stood and item < len(self.stood.sent):
            return step.sent_line(self.stood.sent[item])
        return step.pending_line(self.stood, is_sending=self.is_sending)

    def show_step(self, *, is_new: bool = False) -> None:
        """The step under the cursor: its IR and its bytes. ``is_new``: the pending request is another one."""
        sent, stood = self.sent, self.stood
        last = stood.sent[-1] if stood and stood.sent and stood.ask is None else None
        shown = sent or last
        is_pending = shown is None
        self.set_class(not is_pending, "-came")
        self.bytes.title(line(step.title_of(stood, shown, self.side)))
        if shown:
            self._show_sent(shown)
        elif stood and stood.studied:
            self._show_pending(stood, is_new=is_new)
        elif stood and stood.ask:
            self.bytes.show(stood.ask.request.body.raw, (), "there is no body")

    def _show_sent(self, sent: Sent) -> None:
        side, decoded = self.side, sent.opened.decoded
        is_request = side == REQUEST
        self.came.title(line(" Request as it was sent " if is_request else " Answer "))
        self.came.show(lambda width: step.came(sent, side, width))
        self.bytes.show(decoded.request_text if is_request else decoded.response_text, (), "there is no body")

    def _show_pending(self, stood: Stood, *, is_new: bool) -> None:
        assert stood.studied
        self.outline.title(line(" Pending request · e changes it " if not stood.is_changed else " ~ Changed request "))
        spans = tuple(span for _, span in stood.new)
        self.bytes.show(stood.studied.text, (Marked("related", spans),), "there is no body")
        if is_new:
            self.outline.show(stood.studied, stood.new[0][0] if stood.new else None)
        self.show_place()

    def show_place(self) -> None:
        """Light up what the cursor of the outline stands on."""
        stood, row = self.stood, self.outline.here
        if stood and stood.studied and row and not self.has_class("-came"):
            span = stood.studied.span(row.pointer)
            self.bytes.mark_range((span,) if span and row.pointer else ())

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        if message.view is self.steps:
            self.show_step()
        elif message.view is self.outline:
            self.show_place()

    def action_side(self) -> None:
        """Of a request that was sent, the other side."""
        self.side = REQUEST if self.side == RESPONSE else RESPONSE
        if not self.has_class("-came"):
            self.say("the pending request has no answer yet: k goes to one that was sent")
        self.show_step()

    def action_pane(self, by: int) -> None:
        middle = self.came if self.has_class("-came") else self.outline
        panes: list[LineView] = [self.steps, self.reasoned, middle, self.bytes]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        self.go_to(panes[(at + by) % len(panes)])

    def go_to(self, pane: LineView) -> None:
        """Give a pane the keys; where there is little room it takes the place of another."""
        if pane is not self.steps:
            for each in (self.reasoned, self.bytes):
                self.set_class(each is pane, f"-on-{each.id}")
        pane.focus()

    def action_fold(self) -> None:
        self.outline.fold()
