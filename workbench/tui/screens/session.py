"""The session screen: timeline, wire, IR, reasoning, closure and findings, driven by one selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import events, getters, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.tui import keys
from workbench.tui.bars import Bar
from workbench.tui.models import findings as walk
from workbench.tui.models.headline import headline
from workbench.tui.models.tabs import PANES, TOO_SMALL, key_line, tab_line
from workbench.tui.models.words import REQUEST, RESPONSE
from workbench.tui.panes.exchange import ExchangePane
from workbench.tui.panes.findings import FindingsPane
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.pane import Pane
from workbench.tui.panes.timeline import TimelinePane
from workbench.tui.panes.wire import WirePane
from workbench.tui.safetext import visible
from workbench.tui.service import ExchangeOpened, Inspecting, Listed, NotOpened, Opener, RowsCame, Trouble
from workbench.tui.state import SessionState

if TYPE_CHECKING:
    from workbench.errors import WorkbenchError
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.opened import Opened
    from workbench.tui.selection import Selection
    from workbench.wire.session import Session

PATIENCE = 0.2
"""Seconds after which an exchange that is not open yet is announced."""

SIDE_PANES = ("ir", "reasoning", "closure")
"""Panes that share a place while there is no room for all."""


class SessionScreen(Screen["WorkbenchError | OSError | None"]):
    """One session. It is dismissed with the error where the session cannot be opened.

    Args:
        source: a session, or how to open one; then it is opened, and closed, in a thread.
        provider: contract to use, None to choose one for each exchange.
        protocol: protocol to use, None to find it for each exchange.
        exchange: index of the exchange to open at; None for the first break.
    """

    CSS_PATH = "session.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.SESSION
    BINDINGS = keys.bindings(keys.SESSION)

    exchanges = getters.query_one("#exchanges", TimelinePane)
    wire = getters.query_one("#wire", WirePane)
    findings = getters.query_one("#findings", FindingsPane)

    def __init__(
        self,
        source: Session | Opener,
        provider: str | None = None,
        protocol: str | None = None,
        exchange: int | None = None,
    ) -> None:
        super().__init__()
        self.state = SessionState()
        self.inspecting = Inspecting(source, provider, protocol)
        self.opened: Opened | None = None
        self.selection: Selection | None = None
        self._wanted = exchange
        self._wanted_finding: int | None = None
        self._wanted_event: int | None = None
        self._focused = self._front = "exchanges"
        self._kept = "ir"
        self._search = ""

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        yield Bar(id="tabs")
        with Container(id="body"):
            yield TimelinePane(self.state, id="exchanges")
            yield WirePane(id="wire")
            yield ExchangePane(id="ir", is_accordion=False)
            yield ExchangePane(id="reasoning", is_accordion=True)
            yield ExchangePane(id="closure", is_accordion=True)
        yield FindingsPane(self.state, id="findings")
        yield Bar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        for pane in self.query(Pane):
            pane.open(None)
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", Bar).show([key_line(keys.hints(keys.SESSION), self.size.width)])
        self.focus_pane("wire" if self._wanted is not None else "exchanges")
        self.call_after_refresh(self._inspect)
        if self._wanted is not None:
            self.open_exchange(self._wanted)

    def on_unmount(self) -> None:
        self.inspecting.stop()

    @work(thread=True, group="inspect", exit_on_error=False)
    def _inspect(self) -> None:
        self.inspecting.run(self.post_message)

    # What the inspection says.

    def on_not_opened(self, message: NotOpened) -> None:
        self._leave(message.error)

    def on_listed(self, message: Listed) -> None:
        self.state.list(message.name, message.summaries, message.damage)
        self._refresh_lists()
        self._show_headline()
        for damage in message.damage[:3]:
            self.notify(visible(damage), title="damaged", severity="warning", markup=False)

    def on_rows_came(self, message: RowsCame) -> None:
        self.state.update(message.rows)
        self._refresh_lists()
        if self._wanted is None:
            self._go_to_first_break()

    def on_exchange_opened(self, message: ExchangeOpened) -> None:
        opened = message.opened
        if opened.index != self._wanted:
            return
        self.opened = opened
        for pane in self.query(Pane):
            pane.open(opened)
        self._show_headline()
        if self._wanted_event is not None:
            self.select(opened.at_event(self._wanted_event))
            return
        numbers = self.state.numbers_of(opened.index)
        number = self._wanted_finding if self._wanted_finding in numbers else numbers[0] if numbers else None
        if number is None:
            self.select(opened.at_start())
        else:
            self.findings.move_to(number)
            self.select(opened.at_finding(self.state.findings[number]), source=self.findings)

    def on_trouble(self, message: Trouble) -> None:
        if message.index is None:
            self.state.trouble = message.text
            self._refresh_lists()
        elif message.index == self._wanted:
            self.opened = None
            for pane in self.query(Pane):
                pane.open(None, message.text)
        self.notify(visible(message.text), severity="error", markup=False)

    def _refresh_lists(self) -> None:
        self.exchanges.grew()
        self.findings.grew()
        self.set_class(not self.state.findings, "-calm")

    def _go_to_first_break(self) -> None:
        """Once, unless the user has gone somewhere: to the first error, at the end to the first warning."""
        state = self.state
        number = walk.first_break(state.findings)
        if number is not None and (state.is_done or state.findings[number].severity == "error"):
            self.go_to_finding(number)
            self.focus_pane("findings")
        elif self.opened is None and state.rows:
            self.inspecting.ask(0)
            if state.is_done:
                self.open_exchange(0)

    # Going somewhere.

    def open_exchange(self, index: int, finding: int | None = None, event: int | None = None) -> None:
        """Show an exchange: at one of its findings, at an event of its answer, or where there is most to see."""
        self._wanted, self._wanted_finding, self._wanted_event = index, finding, event
        self.inspecting.ask(index)
        self.set_timer(PATIENCE, self._say_what_is_awaited)

    def _say_what_is_awaited(self) -> None:
        if self._wanted is not None and (self.opened is None or self.opened.index != self._wanted):
            self.wire.say(f"decoding exchange {self._wanted + 1} …")

    def go_to_finding(self, number: int) -> None:
        """Show a finding of the session and its bytes."""
        finding = self.state.findings[number]
        self.findings.move_to(number)
        if self._front == "exchanges":
            self._front = "wire"
            self._arrange()
        if self.opened and self.opened.index == finding.exchange == self._wanted:
            self.select(self.opened.at_finding(finding), source=self.findings)
        else:
            self.open_exchange(finding.exchange, number)

    def select(self, selection: Selection, source: LineView | None = None) -> None:
        """Light up in every pane what belongs to a place of the open exchange."""
        assert self.opened
        self.selection = selection
        found = self.opened.lights(selection)
        for pane in self.query(Pane):
            pane.light(selection, found, is_source=pane is source)

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        view = message.view
        if view is self.exchanges:
            self.open_exchange(view.cursor)
        elif view is self.findings:
            self.go_to_finding(view.cursor)
        elif isinstance(view, Pane) and (selection := view.selection()):
            self.select(selection, source=view)

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        view = message.view
        origin = view.origin() if isinstance(view, ExchangePane) else None
        if origin:
            self.open_exchange(origin[0], event=origin[1][0] if origin[1] else None)
            self.focus_pane("wire")
        elif view.id == "ir":
            view.toggle()
        elif view is self.wire:
            self.focus_pane("ir")
        else:
            self.focus_pane("wire")

    # Panes.

    def focus_pane(self, name: str) -> None:
        """Bring a pane to the front and give it the keys."""
        pane = self.query_one(f"#{name}", Pane)
        self._note_focus(name)
        pane.focus(scroll_visible=False)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, Pane) and event.widget.id:
            self._note_focus(event.widget.id)

    def _note_focus(self, name: str) -> None:
        self._focused = name
        if name != "findings":
            self._front = name
        if name in SIDE_PANES:
            self._kept = name
        self._arrange()

    def _arrange(self) -> None:
        """Tell the style sheet which panes are in front."""
        for pane in self.query(Pane):
            pane.set_class(pane.id == self._front, "-front")
            pane.set_class(pane.id == self._kept, "-kept")
        self.set_class(self._focused == "findings", "-on-findings")
        self._show_tabs()

    def _show_tabs(self) -> None:
        wide = self.has_class("-wide")
        seen = ("exchanges", "wire", self._kept, "findings") if wide else (self._front, "findings")
        self.query_one("#tabs", Bar).show([tab_line(self._focused, seen)])

    def _show_headline(self) -> None:
        row = self.opened.row if self.opened else None
        lines = headline(self.state.name, row, self.size.width)
        bar = self.query_one("#headline", Bar)
        bar.styles.height = len(lines)
        bar.show(lines)

    def on_resize(self) -> None:
        self._show_headline()
        self._show_tabs()
        self.query_one("#keys", Bar).show([key_line(keys.hints(keys.SESSION), self.size.width)])

    # Keys.

    def action_next(self, step: int) -> None:
        if self._search:
            self.action_match(step)
            return
        findings = self.state.findings
        cursor = self.findings.cursor
        here = self.opened.index if self.opened else 0
        current = cursor if cursor in self.state.numbers_of(here) else None
        number = walk.next_break(findings, current, here, step)
        if number is None:
            self.notify(self._no_break(step), markup=False)
        else:
            self.go_to_finding(number)

    def _no_break(self, step: int) -> str:
        if not self.state.is_done:
            return f"no break up to exchange {len(self.state.rows):,}; still inspecting"
        return f"no {'further' if step > 0 else 'earlier'} break"

    def action_pane(self, step: int) -> None:
        names = [name for name, _ in PANES]
        self.focus_pane(names[(names.index(self._focused) + step) % len(names)])

    def action_show(self, name: str) -> None:
        self.focus_pane(name)

    def action_exchange(self, step: int) -> None:
        here = self._wanted or 0
        target = max(0, min(here + step, len(self.state.summaries) - 1))
        if self.state.summaries and target != here:
            self.exchanges.move_to(target)
            self.open_exchange(target)

    def action_side(self) -> None:
        self.wire.show_side(RESPONSE if self.wire.side == REQUEST else REQUEST)

    def action_search(self) -> None:
        from workbench.tui.screens.ask import AskScreen

        self.app.push_screen(AskScreen("Search", "in the focused pane; then n and N", self._search), self._start_search)

    def _start_search(self, wanted: str | None) -> None:
        self._search = wanted or ""
        if self._search:
            self.action_match(1)

    def action_match(self, step: int) -> None:
        view = self.focused
        if not self._search or not isinstance(view, LineView):
            return
        item = view.find(self._search, view.cursor + step, step)
        if item is None:
            self.notify(f"not found: {visible(self._search)}", markup=False)
        else:
            view.move_to(item, center=True)
            view.post_message(LineView.Moved(view))

    def action_zoom(self) -> None:
        self.toggle_class("-zoom")

    def action_help(self) -> None:
        from workbench.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen((("session", keys.SESSION), ("every pane", keys.PANE), ("wire", keys.WIRE))))

    def action_leave(self) -> None:
        if self._search:
            self._search = ""
        elif self.has_class("-zoom"):
            self.remove_class("-zoom")
        else:
            self.focus_pane("findings")

    def action_back(self) -> None:
        self._leave()

    def _leave(self, error: WorkbenchError | OSError | None = None) -> None:
        """Back to the screen below, or out of the program."""
        if len(self.app.screen_stack) > 1:
            self.dismiss(error)
        else:
            cast("WorkbenchApp", self.app).leave(error)
