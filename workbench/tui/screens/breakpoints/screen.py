"""Breakpoints screen of a live session: lists paused exchanges and breakpoints, and decides the paused ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.recorder.breakpoints import FRAMES, KINDS
from workbench.recorder.breakpoints import TOOLS as OF_TOOLS
from workbench.safetext import cells, clip, visible
from workbench.tui import keys, pause_listener
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.models import pauses
from workbench.tui.models.headline import TOOLS, fitting, key_words, mode_words
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.breakpoints.decisions import PauseDecisions
from workbench.tui.screens.breakpoints.details import PausedBody, PauseDetails
from workbench.tui.screens.breakpoints.editor import PausedBodyEditor
from workbench.tui.screens.worklist import ListPane
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.breakpoint_list import PointsPane, points
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.writing import Writing
from workbench.views import Span, line

if TYPE_CHECKING:
    from workbench.tui.models.pauses import PausedSide
    from workbench.tui.pause_listener import PauseListener
    from workbench.tui.screens.session.screen import SessionScreen

OTHERS = {OF_TOOLS: "calls to a tool server, and their results", FRAMES: "messages of a WebSocket"}
"""Descriptions of breakpoints that are no kinds, by the beginning of their names."""

PANES = ("points", "why", "held")


def _other(name: str) -> str:
    return next((says for mark, says in OTHERS.items() if name.startswith(mark)), "exchanges that match this filter")


class BreakpointsScreen(Screen["int | None"]):
    """Lists paused exchanges and breakpoints. Dismissed with the index of an exchange to show, or None.

    Args:
        session: the live session.
        listener: listens to the recorders of the session.

    Attributes:
        read_at: time of all durations on the screen, in seconds since the epoch.
    """

    CSS_PATH = "breakpoints.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.BREAKS
    BINDINGS = keys.bindings(keys.BREAKS)

    points = getters.query_one("#points", PointsPane)
    why = getters.query_one("#why", ListPane)
    body = getters.query_one("#held", BodyPane)

    def __init__(self, session: SessionScreen, listener: PauseListener) -> None:
        super().__init__()
        self.session, self.listener = session, listener
        self.read_at = 0.0
        self.details = PauseDetails(self)
        self.decisions = PauseDecisions(self)
        self.editor = PausedBodyEditor(self)

    @property
    def paused_here(self) -> PausedSide | None:
        """Paused exchange under the cursor; None on any other line."""
        here = self.points.here
        return here.held if here else None

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="held-above"):
            yield PointsPane(id="points")
            yield ListPane(id="why")
        yield BodyPane(id="held")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.show_keys()
        for pane, words in ((self.points, " Breakpoints "), (self.why, " Why "), (self.body, " Paused ")):
            pane.title(line(words))
        self.points.focus()
        self.app.clear_notifications()  # the list shows the same exchanges
        self.refresh_pauses()
        self.set_interval(1.0, self._tick)

    # What is shown.

    def show_keys(self, instead: str = "") -> None:
        """Show the keys that are of use now, or other words instead."""
        of_use = [key for key in keys.BREAKS if self.paused_here or key.id not in keys.BREAKS_HELD]
        self.query_one("#keys", KeyBar).show_keys(() if instead else [keys.OPEN_POINT, *of_use], instead)

    def refresh_pauses(self) -> None:
        """Show the current pauses and breakpoints. The cursor goes to the first pause."""
        is_first = not any(row.held for row in self.points.rows)
        paused, armed = self.listener.paused_sides, self.listener.armed_names
        numbered = [(each, self.session.state.number_of(each.exchange)) for each in paused]
        named = (*(n for n in armed if n not in KINDS), *KINDS)
        kinds = [(n, KINDS[n].description if n in KINDS else _other(n)) for n in named]
        self.read_at = pause_listener.now()
        self.points.show(points(numbered, kinds, armed, self.read_at, is_folded=self._is_folded))
        if is_first and paused:
            self.points.find(pauses.first_to_decide(paused))
        self.set_class(bool(paused), "-paused")
        self.show_point()
        self.editor.stop_unless_paused(paused)

    @property
    def _is_folded(self) -> bool:
        """The cursor is on a paused exchange, whose bytes have no room beside all breakpoints."""
        is_small = self.has_class("-narrow") or self.has_class("-short")
        is_on_kind = self.points.here is not None and not self.paused_here
        return is_small and not is_on_kind and bool(self.listener.paused_sides)

    def _tick(self) -> None:
        """Update durations, each second."""
        if self.is_current:
            self.refresh_pauses()

    def show_point(self) -> None:
        """Show the line under the cursor in full."""
        self._show_headline()
        self.details.show()
        if not self.editor.is_writing:
            self.show_keys()

    def _show_headline(self) -> None:
        paused, armed = self.listener.paused_sides, pauses.armed_words(self.listener.armed_names)
        state = self.session.state
        words = f"{pauses.SIGN} {len(paused)} paused" if paused else "nothing is paused"
        first = line(
            Span(" Breakpoints  ", "strong"),
            Span(f"{clip(state.name, 40)}  ", "strong"),
            Span(words, "warning strong" if paused else "muted"),
        )
        safety, facts = f"{mode_words(state)} · {key_words(state)}", f" · {armed or 'no breakpoint is armed'}"
        promise = fitting((f"{safety} · {TOOLS}", safety), self.size.width - cells(facts) - 1)
        second = line(Span(f" {promise}", "ok"), Span(facts, "muted"))
        self.query_one("#headline", Bar).show([first, second])

    def refuse(self, why: str) -> None:
        """Show why something is not done."""
        self.notify(visible(why), severity="warning", markup=False)

    # Messages.

    def on_resize(self) -> None:
        self.call_after_refresh(self.refresh_pauses)

    def on_paused_body(self, message: PausedBody) -> None:
        self.details.take(message)

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.points:
            self.refresh_pauses()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        if message.view is not self.points:
            self.focus_pane("points")
        elif self.paused_here:
            self.focus_pane("held")
        else:
            self.decisions.arm()

    def on_writing_save(self, message: Writing.Save) -> None:
        self.editor.take(message.text)

    def on_writing_cancel(self) -> None:
        self.editor.stop()

    def focus_pane(self, name: str) -> None:
        """Bring a pane to the front and focus it."""
        self.set_class(name == "held", "-on-held")
        self.query_one(f"#{name}", LineView).focus(scroll_visible=False)

    # Actions of the key table; most of them belong to a part.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable all decisions while a response is being edited."""
        return not self.editor.is_writing or action == "back"

    action_arm = ActionOf("decisions")
    action_filter = ActionOf("decisions")
    action_continue = ActionOf("decisions", "resume")
    action_drop = ActionOf("decisions")
    action_answer = ActionOf("decisions")
    action_edit = ActionOf("editor")
    action_editor = ActionOf("editor", "edit_outside")

    def action_pane(self) -> None:
        here = next((n for n, name in enumerate(PANES) if self.focused and self.focused.id == name), 0)
        self.focus_pane(PANES[(here + 1) % len(PANES)])

    def action_show(self) -> None:
        """Show the paused exchange in the session."""
        paused = self.paused_here
        index = self.session.state.index_of(paused.exchange) if paused else None
        if index is None:
            self.refuse("this exchange is not in the session yet" if paused else "select a paused exchange")
        else:
            self.dismiss(index)

    def action_page(self) -> None:
        """Open the page of the rule that paused the exchange."""
        from workbench.tui.screens.page import PageScreen

        paused = self.paused_here
        rule = next((why.rule for why in paused.reasons if why.rule), "") if paused else ""
        if rule:
            self.app.push_screen(PageScreen(rule))
        else:
            self.refuse("no rule caused this pause")

    def action_back(self) -> None:
        if self.editor.is_writing:
            self.editor.stop()
        else:
            self.dismiss(None)
