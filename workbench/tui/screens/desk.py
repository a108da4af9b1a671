"""The desk of the session screen: where its panes stand, and which of them has the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.errors import WorkbenchError
from workbench.tui import keys
from workbench.tui.bars import Bar
from workbench.tui.models.headline import headline
from workbench.tui.models.tabs import PANES, TOO_SMALL, key_line, tab_line
from workbench.tui.panes.exchange import ExchangePane
from workbench.tui.panes.findings import FindingsPane
from workbench.tui.panes.pane import Pane
from workbench.tui.panes.timeline import TimelinePane
from workbench.tui.panes.wire import WirePane
from workbench.tui.safetext import clip
from workbench.tui.state import SessionState

if TYPE_CHECKING:
    from workbench.tui.opened import Opened

FEW = 5
"""Exchanges for which a small timeline does."""

SIDE_PANES = ("ir", "reasoning", "closure")
"""Panes that share a place while there is no room for all."""


class Desk(Screen[WorkbenchError | OSError | None]):
    """Six panes under a header, as many of them seen as there is room for; the style sheet says which."""

    CSS_PATH = "session.tcss"

    exchanges = getters.query_one("#exchanges", TimelinePane)
    wire = getters.query_one("#wire", WirePane)
    findings = getters.query_one("#findings", FindingsPane)

    def __init__(self) -> None:
        super().__init__()
        self.state = SessionState()
        self.opened: Opened | None = None
        self._focused = self._front = "exchanges"
        self._kept = "ir"
        self.search = ""

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
        self.show_exchange(None)
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.focus_pane("exchanges")

    # What the panes show.

    def show_exchange(self, opened: Opened | None, why_not: str = "opening …") -> None:
        """Show an exchange in every pane, or none and why."""
        self.opened = opened
        for pane in self.query(Pane):
            pane.open(opened, why_not)
        self._show_headline()

    def refresh_lists(self) -> None:
        """More of the session is known."""
        self.exchanges.grew()
        self.findings.grew()
        self.set_class(not self.state.findings, "-calm")
        self.set_class(len(self.state.summaries) <= FEW, "-few")
        self._show_headline()

    def _show_headline(self) -> None:
        row = self.opened.row if self.opened else None
        lines = headline(self.state.name, row, self.size.width, self.state.progress())
        bar = self.query_one("#headline", Bar)
        bar.styles.height = len(lines)
        bar.show(lines)

    def _show_tabs(self) -> None:
        wide = self.has_class("-wide")
        seen = ("exchanges", "wire", self._kept, "findings") if wide else (self._front, "findings")
        self.query_one("#tabs", Bar).show([tab_line(self._focused, seen)])

    def show_keys(self) -> None:
        """The keys that are of use now."""
        search = f"/{clip(self.search, 20)}  " if self.search else ""
        line = key_line(keys.SEARCH if search else keys.SESSION, self.size.width, search)
        self.query_one("#keys", Bar).show([line])

    def on_resize(self) -> None:
        self._show_headline()
        self._show_tabs()
        self.show_keys()

    # Which pane is in front.

    def focus_pane(self, name: str) -> None:
        """Bring a pane to the front and give it the keys."""
        self._note_focus(name)
        self.query_one(f"#{name}", Pane).focus(scroll_visible=False)

    def bring_bytes_to_front(self) -> None:
        """Show the wire instead of the timeline where there is room for one of them only."""
        if self._front == "exchanges":
            self._front = "wire"
            self._arrange()

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

    def action_pane(self, step: int) -> None:
        names = [name for name, _ in PANES]
        self.focus_pane(names[(names.index(self._focused) + step) % len(names)])

    def action_show(self, name: str) -> None:
        self.focus_pane(name)

    def action_zoom(self) -> None:
        self.toggle_class("-zoom")
