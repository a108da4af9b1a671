"""Tool results screen: what a tool server returned beside what the model received, with the difference marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container

from workbench.tui import keys
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.models.rowtable import StyledSpans
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.worklist import ListPane, Worklist, WorklistScreen, WorklistSource
from workbench.tui.selection import SessionSpot
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.views import (
    REQUEST,
    RESPONSE,
    Span,
    ToolPassage,
    count,
    line,
    links_of,
    passage_facts,
    passage_line,
    passage_of,
)

if TYPE_CHECKING:
    from workbench.chain import ToolLink
    from workbench.rules import Inspector
    from workbench.tui.service import Job

NONE = """\
no tool result of this conversation comes from a recorded tool server

This screen shows what a tool server (MCP) returned, what the model received of it, and what was lost in between.
Record the servers with the model: workbench record --mcp -- CLIENT
or only one server: workbench mcp-tap NAME -o FILE -- COMMAND"""


class PassageSource(WorklistSource["ToolLink", ToolPassage]):
    """Finds the tool results of an exchange or its conversation, and reads both ends of each.

    Args:
        index: index of the exchange.
    """

    def __init__(self, index: int) -> None:
        self._index = index

    def subjects_in(self, inspector: Inspector) -> Sequence[ToolLink]:
        inspector.detail(self._index)
        return links_of(inspector.rows, self._index)

    def judge(self, inspector: Inspector, subject: ToolLink) -> ToolPassage:
        return passage_of(
            subject, inspector.detail(subject.exchange).decoded, inspector.detail(subject.model_exchange).decoded
        )


class PassagesScreen(WorklistScreen):
    """Results of tool servers and what the model received. Dismissed with a place in either, or None.

    Args:
        ask: puts a question to the inspector's thread.
        index: index of the exchange.
        wanted: ids of the selected calls; the first result of one of them is shown first.
        branch: name of the shown branch, for the title; empty for the recorded request.
    """

    CSS_PATH = "passages.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.PASSAGES
    BINDINGS = keys.bindings(keys.PASSAGES)

    results = getters.query_one("#results", ListPane)
    facts = getters.query_one("#facts", ListPane)
    returned = getters.query_one("#returned", BodyPane)
    told = getters.query_one("#told", BodyPane)

    def __init__(self, ask: Callable[[Job], None], index: int, wanted: frozenset[str | None], branch: str) -> None:
        super().__init__(index, branch)
        self.worklist = Worklist(self, PassageSource(index), ask)
        self.wanted = wanted

    def compose(self) -> ComposeResult:
        yield Headline()
        yield ListPane(id="results", is_whole=True)
        yield ListPane(id="facts", is_whole=True)
        with Container(id="sides"):
            yield BodyPane(id="returned")
            yield BodyPane(id="told")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_PASSAGE, *keys.PASSAGES])
        self.entitle(line(Span(f" Tool results of exchange {self.index + 1} …", "muted")))
        self.results.title(line(" Results "))
        self.facts.title(line(" From the server to the model "))
        self.results.focus()
        self.worklist.begin()

    # What is shown.

    def cursor_number(self) -> int:
        return self.results.cursor

    def show_subjects(self) -> None:
        links = self.worklist.subjects or ()
        lossy = sum(bool(link.lost) for link in links)
        words = f"   {count(len(links), 'result')} of tool servers, {lossy} incomplete" if links else ""
        self.entitle(line(Span(f" Tool results around exchange {self.index + 1}", "strong"), Span(words, "muted")))
        self.results.show(len(links), lambda item: passage_line(links[item]), self.worklist.trouble or NONE)
        self.set_class(not links, "-none")
        if not links:
            self.query_one("#keys", KeyBar).show_keys([key for key in keys.PASSAGES if key.word == "back"])
        self.results.move_to(self._first(links), center=True)
        self._show_passage()

    def _first(self, links: Sequence[ToolLink]) -> int:
        """Number of the result to begin with: of a selected call, else of this exchange, lossy ones first."""
        order = sorted(
            range(len(links)),
            key=lambda n: (
                links[n].call_id not in self.wanted,
                self.index not in (links[n].model_exchange, links[n].exchange),
                not links[n].lost,
            ),
        )
        return order[0] if order else 0

    def show_judgement(self, number: int) -> None:
        if number == self.cursor_number():
            self._show_passage()

    def _show_passage(self) -> None:
        passage, why = self.worklist.judgement, self.worklist.why_none("reading …")
        facts = list(passage_facts(passage)) if passage else []
        self.facts.show(len(facts), facts.__getitem__, why)
        lost = passage.lost if passage else ()
        self.returned.show(passage.received if passage else b"", (StyledSpans("doubtful", lost),), "no response")
        self.told.show(passage.result if passage else b"", (), why)
        if lost:
            self.returned.reveal(lost[0][0])
        words = " · what was lost is marked" if lost else ""
        self.returned.title(line(f" The server returned{words} "))
        self.told.title(line(" The model received "))

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.results:
            self._show_passage()
            self.worklist.ask_next()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        """Go to the bytes of the server's response, or of what the model received."""
        passage = self.worklist.judgement
        if passage is None:
            return
        if message.view is self.told:
            self.dismiss(SessionSpot(passage.link.model_exchange, REQUEST, passage.result_at))
        else:
            first = passage.received_at + (passage.lost[0][0] if passage.lost else 0)
            self.dismiss(SessionSpot(passage.link.exchange, RESPONSE, first))

    # Keys.

    def action_pane(self, step: int) -> None:
        """Go to the next pane."""
        panes: list[LineView] = [self.results]
        if not self.has_class("-none"):
            panes += [self.facts, self.returned, self.told]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        pane = panes[(at + step) % len(panes)]
        self.set_class(pane is self.told, "-on-told")
        pane.focus()
