"""The desk of the edit screen: its panes, and what they show of an edited request."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar, TabBar
from workbench.tui.models import edit
from workbench.tui.models.diff import Compared
from workbench.tui.models.tabs import TOO_SMALL, tab_line
from workbench.tui.panes.body import BodyPane
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.outline import ChainPane, OutlinePane
from workbench.tui.screens.diff import ChangesPane, HunksPane
from workbench.tui.screens.tools import DetailPane
from workbench.tui.service import Answer, guarded
from workbench.views.lines import Span, line

if TYPE_CHECKING:
    from workbench.edits.branches import Node
    from workbench.rules.inspection import Inspector
    from workbench.tui.models.studied import Studied
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire.exchange import HttpRequest


def encoded(text: str | None) -> bytes | None:
    """A text as bytes, those that are no UTF-8 as they came; None where there is none, or it has no bytes."""
    try:
        return None if text is None else text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None


NAMES = tuple(name for name, _ in edit.PANES)
TOLD = NAMES[2:]
"""Panes that share a place while there is no room for all."""


class EditDesk(Screen[None]):
    """Panes of an edited request, which is judged off the screen's thread whenever it is another one.

    Args:
        session: whose exchange it is.
        node: where the person stands.
        pointer: where in the request the cursor begins.
    """

    CSS_PATH = "edit.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.EDIT
    BINDINGS = keys.bindings(keys.EDIT)

    outline = getters.query_one("#outline", OutlinePane)
    value = getters.query_one("#value", BodyPane)
    verdict = getters.query_one("#verdict", DetailPane)
    chain = getters.query_one("#chain", ChainPane)
    meaning = getters.query_one("#meaning", ChangesPane)
    hunks = getters.query_one("#bytes", HunksPane)

    def __init__(self, session: SessionScreen, node: Node, pointer: str = "") -> None:
        super().__init__()
        self.session = session
        self.node = node
        self.index = node.index
        self.contract = ""
        self.studied: Studied | None = None
        self.said = Span("")
        self._focused, self._kept, self._told = "outline", "value", "verdict"
        self.pointer: str | None = pointer
        self.waiting: list[Callable[[Studied], object]] = []
        self._wanted: tuple[HttpRequest, str] | None = None
        self._asked: tuple[HttpRequest, str] | None = None

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        yield TabBar(edit.PANES, id="tabs")
        with Container(id="desk"):
            yield OutlinePane(id="outline")
            with Container(id="sides-of-edit"):
                with Container(id="values"):
                    yield BodyPane(id="value")
                with Container(id="told"):
                    yield DetailPane(id="verdict")
                    yield ChainPane(id="chain")
                    yield ChangesPane(id="meaning")
                    yield HunksPane(id="bytes")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.show_keys()
        for name, words in edit.PANES:
            self._entitle(name, words)
        self.focus_pane("outline")

    def show_keys(self, instead: str = "") -> None:
        """The keys that are of use now, or other words in their place."""
        self.query_one("#keys", KeyBar).show_keys(() if instead else keys.EDIT, instead)

    # What is judged.

    def judge(self, request: HttpRequest) -> None:
        """Study a request; what was not begun yet is left out."""
        self._wanted = (request, self.contract)
        self._go_on()

    def _go_on(self) -> None:
        if self._asked or self._wanted is None:
            return
        self._asked, self._wanted = self._wanted, None
        request, contract = self._asked

        def job(inspector: Inspector) -> Answer:
            from workbench.tui.models.studied import study

            found = study(inspector, self.index, request, contract)
            return Answer(partial(self._judged, found))

        self.session.inspecting.do(guarded(job, self._not_judged))

    def _judged(self, studied: Studied) -> None:
        self._asked = None
        if self.is_attached:
            self.show(studied)
            self._go_on()

    def _not_judged(self, why: str) -> None:
        self._asked = None
        if self.is_attached:
            self.say(f"it cannot be judged: {why}", "error")
            self._go_on()

    @property
    def is_settled(self) -> bool:
        """What is shown is the request of the node."""
        studied = self.studied
        return studied is not None and studied.request == self.node.exchange.request and self._wanted is None

    # What the panes show.

    def show(self, studied: Studied) -> None:
        """Show what is known of a request."""
        self.studied = studied
        compared = Compared(self.index, self.index, studied.difference)
        self.verdict.show(edit.said(studied), f"nothing is wrong with it under {studied.contract}")
        self.chain.show(studied)
        self.meaning.show(compared, studied.places)
        self.hunks.show(compared, studied.places)
        found = studied.difference
        self._entitle("verdict", "Verdict", studied.told.verdict.value)
        self._entitle("chain", "Chain", *self.chain.facts)
        self._entitle("meaning", "Meaning", f"{len(self.meaning.changes):,}")
        self._entitle("bytes", "Bytes", f"{len(found.hunks):,}")
        if self.is_settled:
            self.outline.show(studied, self.pointer)
            self.pointer = None
            self.show_value()
        self.show_headline()

    def show_value(self) -> None:
        """Show the value of the row under the cursor."""
        row, studied = self.outline.here, self.studied
        if row is None or studied is None:
            return
        body = encoded(studied.text_of(row.element))
        self.value.show(studied.value(row.pointer) if body is None else body, why="it is empty")
        if not row.pointer and studied.broken_at is not None:
            self.value.mark_range(((studied.broken_at, studied.broken_at + 1),))
        self._entitle("value", "Value", row.name)

    def say(self, words: str, style: str = "muted") -> None:
        """A sentence of the moment."""
        self.said = Span(f" {words}", style)
        self.show_headline()

    def show_headline(self) -> None:
        """That it is an edit, of what, under which contract, and how that judges it."""
        shown = edit.headline(self.index + 1, self.node, self.studied, self.said, self.size.width)
        self.query_one("#headline", Bar).show(shown)

    def _entitle(self, name: str, *facts: str) -> None:
        words = " · ".join(fact for fact in facts if fact)
        self.query_one(f"#{name}", LineView).title(line(f" {NAMES.index(name) + 1} {words} "))

    # Which pane is in front.

    def focus_pane(self, name: str) -> None:
        """Bring a pane to the front and give it the keys."""
        self._note_focus(name)
        self.query_one(f"#{name}", LineView).focus(scroll_visible=False)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, LineView) and event.widget.id in NAMES:
            self._note_focus(event.widget.id)

    def _note_focus(self, name: str) -> None:
        self._focused = name
        if name != "outline":
            self._kept = name
        if name in TOLD:
            self._told = name
        for pane in self.query(LineView):
            pane.set_class(pane.id in ("value", self._told), "-kept")
        self.set_class(name == "outline", "-on-outline")
        self.set_class(self._kept == "value", "-on-value")
        self._show_tabs()

    def _show_tabs(self) -> None:
        """Name the panes, those that are seen in full strength."""
        is_wide, is_tall = self.has_class("-wide"), self.has_class("-tall")
        beside = ("value", self._told) if is_tall else (self._kept,)
        seen = ("outline", *beside) if is_wide else (self._focused,)
        self.query_one("#tabs", Bar).show([tab_line(self._focused, seen, panes=edit.PANES)])

    def on_resize(self) -> None:
        self.show_headline()
        self._show_tabs()

    def on_tab_bar_chosen(self, message: TabBar.Chosen) -> None:
        self.focus_pane(message.name)

    def action_pane(self, step: int) -> None:
        self.focus_pane(NAMES[(NAMES.index(self._focused) + step) % len(NAMES)])

    def action_show(self, name: str) -> None:
        self.focus_pane(name)
