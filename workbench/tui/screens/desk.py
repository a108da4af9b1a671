"""The desk of the session screen: where its panes stand, and which of them has the keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events, getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.errors import WorkbenchError
from workbench.safetext import clip
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar, TabBar
from workbench.tui.models.headline import headline
from workbench.tui.models.tabs import PANES, TOO_SMALL, tab_line
from workbench.tui.panes.findings import FindingsPane
from workbench.tui.panes.pane import Pane
from workbench.tui.panes.timeline import TimelinePane
from workbench.tui.state import SessionState
from workbench.views.lines import Line

if TYPE_CHECKING:
    from workbench.tui.opened import ExchangeView
    from workbench.tui.panes.wire import WirePane

FEW = 5
"""Exchanges for which a small timeline does."""

SIDE_PANES = ("ir", "http", "reasoning", "closure")
"""Panes that share a place while there is no room for all."""


class Desk(Screen[WorkbenchError | OSError | None]):
    """Panes under a header, as many of them seen as there is room for; the style sheet says which."""

    CSS_PATH = "session.tcss"

    exchanges = getters.query_one("#exchanges", TimelinePane)
    findings = getters.query_one("#findings", FindingsPane)

    def __init__(self) -> None:
        super().__init__()
        self.state = SessionState()
        self.opened: ExchangeView | None = None
        self._focused = self._front = "exchanges"
        self._kept = "ir"
        self.search = ""
        self.is_following = False
        self.is_furnished = False
        self._why_not = ""

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        yield TabBar(id="tabs")
        with Container(id="body"):
            yield TimelinePane(self.state, id="exchanges")
        yield FindingsPane(self.state, id="findings")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.show_exchange(None)
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.show_keys()
        self.focus_pane("exchanges")

    async def furnish(self) -> None:
        """Add the panes of an exchange, once: the first paint goes without, and so does that of the list.

        Nothing is added to a screen that was left meanwhile: the one behind it calls back for it.
        """
        if self.is_furnished or self not in self.app.screen_stack:
            return
        self.is_furnished = True
        from workbench.tui.panes.exchange import ExchangePane
        from workbench.tui.panes.http import HttpPane
        from workbench.tui.panes.wire import WirePane

        await self.query_one("#body").mount(
            WirePane(id="wire"),
            ExchangePane(id="ir", is_accordion=False),
            HttpPane(id="http", is_accordion=True),
            ExchangePane(id="reasoning", is_accordion=True),
            ExchangePane(id="closure", is_accordion=True),
        )
        self.show_exchange(self.opened, self._why_not)
        self._arrange()

    @property
    def wire(self) -> WirePane:
        """The pane of the bytes, once it is there."""
        from workbench.tui.panes.wire import WirePane

        return self.query_one("#wire", WirePane)

    # What the panes show.

    def show_exchange(self, opened: ExchangeView | None, why_not: str = "opening …") -> None:
        """Show an exchange in every pane, or none and why."""
        self.opened, self._why_not = opened, why_not
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
        mode = self.state.mode(is_following=self.is_following)
        upstream = self.state.upstream(row.summary if row else None)
        lines = headline(self.state.name, row, self.size.width, self._standing(), mode, upstream, self.state.key())
        lines += self.banner()
        bar = self.query_one("#headline", Bar)
        bar.styles.height = len(lines)
        bar.show(lines)

    def banner(self) -> list[Line]:
        """What has to be seen at once, below the rest of the header."""
        return []

    def _standing(self) -> str:
        """How much of the session is shown, and known."""
        shown = self.state.shown_words(self.opened.index if self.opened else None)
        return " · ".join(f for f in (shown, self.state.progress(), clip(self.state.made(), 24)) if f)

    def _show_tabs(self) -> None:
        wide, zoomed = self.has_class("-wide"), self.has_class("-zoom")
        seen = ("exchanges", "wire", self._kept, "findings") if wide else (self._front, "findings")
        shown = () if zoomed else seen
        self.query_one("#tabs", Bar).show([tab_line(self._focused, shown, is_zoomed=zoomed)])

    def search_words(self) -> str:
        """How the search stands."""
        raise NotImplementedError

    def show_keys(self) -> None:
        """The keys that are of use now."""
        search = f"/{clip(self.search, 20)}  {self.search_words()}  " if self.search else ""
        self.query_one("#keys", KeyBar).show_keys(keys.SEARCH if search else self.keys_of_use(), search)

    def keys_of_use(self) -> Sequence[keys.Key]:
        """The keys of the screen, those first that are of use for what is shown."""
        return keys.SESSION

    def on_resize(self) -> None:
        self._show_headline()
        self._show_tabs()

    def on_tab_bar_chosen(self, message: TabBar.Chosen) -> None:
        self.focus_pane(message.name)

    # Which pane is in front.

    def focus_pane(self, name: str) -> None:
        """Bring a pane to the front and give it the keys, if it is there yet."""
        for pane in self.query(f"#{name}").results(Pane):
            self._note_focus(name)
            pane.focus(scroll_visible=False)

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
        if self._focused in ("ir", "http"):
            self.set_class(self._focused == "http", "-with-http")
        self._show_tabs()

    def action_pane(self, step: int) -> None:
        names = [name for name, _ in PANES]
        self.focus_pane(names[(names.index(self._focused) + step) % len(names)])

    def action_show(self, name: str) -> None:
        self.focus_pane(name)

    def action_zoom(self) -> None:
        self.toggle_class("-zoom")
        self._show_tabs()
