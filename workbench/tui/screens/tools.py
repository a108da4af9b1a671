"""Tools screen: every declared tool, the dialects of JSON Schema that accept it, and what to declare instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container

from workbench.tui import keys
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.models import tools
from workbench.tui.models.rowtable import StyledSpans
from workbench.tui.models.tabs import ROOMY, TALL, TOO_SMALL
from workbench.tui.models.tools import DialectRow, ToolDeclaration, ToolJudgement
from workbench.tui.screens.worklist import ELSEWHERE, ListPane, Worklist, WorklistScreen, WorklistSource
from workbench.tui.selection import SessionSpot
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.views import REQUEST, Line, Span, line, wrap

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange
    from workbench.rules import Inspector, JudgedSchema
    from workbench.tui.service import Job

TOO_LARGE = 256 * 1024
"""Bytes from which on a schema is not judged: eight dialects would take seconds."""

LEAST_ELSE = 12
"""Rows of the header, the footer, the borders and the schemas beside the lists, at least."""

NO_TOOLS = f"the request declares no tools\n\n{ELSEWHERE}"


class DetailPane(LineView):
    """Details of a judgement; the line under the cursor in full."""

    is_accordion = True
    rows: Sequence[DialectRow] = ()
    why = ""

    def show(self, rows: Sequence[DialectRow], why: str) -> None:
        """Show other details; ``why`` is shown if there are none."""
        if rows != self.rows:
            self.cursor = 0
        self.rows, self.why = rows, why
        self.reload()

    def count(self) -> int:
        return len(self.rows)

    def head(self, item: int, width: int) -> Line:
        row = self.rows[item]
        return tools.open_head(row.head, row.text, width) if item in self.lines_of.further else row.head

    def further(self, item: int, width: int) -> list[Line]:
        return tools.body(self.rows[item], width)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted")

    def here(self) -> DialectRow | None:
        """Row under the cursor."""
        return self.rows[self.cursor] if self.rows else None


class ToolsSource(WorklistSource[ToolDeclaration, ToolJudgement]):
    """Judges the declared tools of a request by every dialect.

    Args:
        index: index of the exchange.
        provider: label of its contract, whose dialects come first; None if unknown.
    """

    def __init__(self, index: int, provider: str | None) -> None:
        self._index, self._provider = index, provider

    def subjects_in(self, inspector: Inspector) -> Sequence[ToolDeclaration]:
        from workbench.rules import schema_check

        decoded = inspector.detail(self._index).decoded
        declared = decoded.request.tools if decoded.request else ()
        return [ToolDeclaration(tool, schema_check.pointer_of(decoded, tool)) for tool in declared]

    def judge(self, inspector: Inspector, subject: ToolDeclaration) -> ToolJudgement:
        from workbench.rules import schema_check
        from workbench.wire import JsonIndex, dumps

        tool = subject.tool
        if tool.schema is None or tool.kind != "client":
            kinds = {"server": "run by the provider: no schema", "custom": "accepts free text: no schema"}
            return ToolJudgement(why=kinds.get(tool.kind, "declares no schema"))
        body = dumps(tool.schema)
        if len(body) > TOO_LARGE:
            return ToolJudgement(body=body, why="too large to check here; use workbench schema")
        schema_as_sent = schema_check.schema_as_sent(inspector.detail(self._index).decoded, tool)
        judged = [
            schema_check.judge(tool.name or "", tool.schema, *dialect, schema_as_sent)
            for dialect in schema_check.dialects()
        ]
        judged.sort(key=lambda one: (not tools.is_own(one, self._provider), tools.ORDER.index(one.verdict)))
        named = {i.pointer for one in judged for i in one.issues} | {
            s.pointer for one in judged for s in one.lowered.steps
        }
        index = JsonIndex(body)
        spans = {pointer: span for pointer in named if (span := index.span(pointer))}
        return ToolJudgement(tuple(judged), body, tuple(tools.rows_of(one, spans) for one in judged))


class ToolsScreen(WorklistScreen):
    """Tools, dialects and schemas. Dismissed with the place of a declaration, or None.

    Args:
        ask: puts a question to the inspector's thread.
        index: index of the exchange.
        provider: label of the exchange's contract; None if unknown.
        pointer: selected place in the request; its tool is shown first.
        why_none: text to show if there are no tools.
        branch: name of the shown branch, for the title; empty for the recorded request.
    """

    CSS_PATH = "tools.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.TOOLS
    BINDINGS = keys.bindings(keys.TOOLS)

    declared = getters.query_one("#tools", ListPane)
    dialects = getters.query_one("#dialects", ListPane)
    details = getters.query_one("#details", DetailPane)
    before = getters.query_one("#declared", BodyPane)
    after = getters.query_one("#lowered", BodyPane)

    def __init__(
        self, ask: Callable[[Job], None], index: int, provider: str | None, pointer: str, why_none: str, branch: str
    ) -> None:
        super().__init__(index, branch)
        self.worklist = Worklist(self, ToolsSource(index, provider), ask)
        self.provider, self.pointer, self.why_none = provider, pointer, why_none
        self.rows = tools.DialectRows()
        self._open_place: tuple[int, int] | None = None
        self._first_number: int | None = None

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="lists"):
            with Container(id="choices"):
                yield ListPane(id="tools")
                yield ListPane(id="dialects")
            yield DetailPane(id="details")
        with Container(id="schemas"):
            yield BodyPane(id="declared")
            yield BodyPane(id="lowered")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_DECLARATION, *keys.TOOLS])
        self.entitle(line(Span(f" Tools of request {self.index + 1} …", "muted")))
        for pane, words in ((self.declared, " Tools "), (self.dialects, " Providers "), (self.details, " Why ")):
            pane.title(line(words))
        self.declared.focus()
        self.worklist.begin()

    # What is shown.

    def cursor_number(self) -> int:
        return self.declared.cursor

    def show_subjects(self) -> None:
        self._show_tools()
        subjects = self.worklist.subjects or ()
        under = [n for n, subject in enumerate(subjects) if _holds(subject.tool.pointer, self.pointer)]
        if under:
            self.declared.move_to(under[0], center=True)
        self._show_tool()

    def show_judgement(self, number: int) -> None:
        self._show_tools()
        if number == self.cursor_number():
            self._show_tool()

    def _show_tools(self) -> None:
        work = self.worklist
        subjects = work.subjects or ()
        self.declared.show(len(subjects), self._tool_line, work.trouble or self.why_none)
        self.entitle(tools.headline(self.index + 1, len(subjects), len(work.judgements), self.provider))

    def _tool_line(self, item: int) -> Line:
        work = self.worklist
        return tools.tool_line(work.subjects[item], work.judgements.get(item)) if work.subjects else ()

    def _show_tool(self) -> None:
        """Show the dialects of the tool under the cursor."""
        lens = self.worklist.judgement
        if lens is None:
            self.dialects.show_none(self.worklist.why_none("judging …"))
        else:
            judged = lens.judged
            self.rows.arrange(judged, self.provider, self._room())

            def row(item: int) -> Line:
                if self.rows.is_folded_at(item):
                    names = [one.dialect.name for one in judged[self.rows.listed :]]
                    return tools.accepting_line(names, self.rows.listed, has_names=self.size.height >= TALL)
                is_here = tools.is_own(judged[item], self.provider)
                return tools.dialect_line(judged[item], self.dialects.text_width, is_here=is_here)

            self.dialects.show(self.rows.count(), row, lens.why)
            self._begin_at_trouble(judged)
        self._show_dialect()

    def _room(self) -> int:
        """Rows for the dialects beside the tools and the least of the schemas; 0 in a window that is not tall."""
        least = self.declared.count() + LEAST_ELSE
        return self.size.height - least if self.size.height >= TALL else 0

    def on_resize(self) -> None:
        if self.worklist.judgement:
            self._show_tool()

    def _begin_at_trouble(self, judged: Sequence[JudgedSchema]) -> None:
        """Put the cursor on the first dialect that does not accept the tool, once for each tool."""
        if self._first_number != self.cursor_number():
            self._first_number = self.cursor_number()
            self.dialects.move_to(next((n for n, one in enumerate(judged) if one.verdict != "accepted"), 0))

    def _show_dialect(self) -> None:
        """Show the judgement of the dialect under the cursor."""
        lens, number = self.worklist.judgement, self.dialects.cursor
        if lens is None or not lens.judged:
            self.details.show((), "")
            self.details.title(line(" Why "))
            for pane in (self.before, self.after):
                pane.show(lens.body if lens and pane is self.before else b"")
                pane.title(line(""))
            return
        judged = lens.judged[number]
        if self.rows.is_folded_at(number):
            self.details.show((), ", ".join(one.dialect.name for one in lens.judged[number:]))
            self.details.title(line(" accepted unchanged by these providers "))
        else:
            self.details.show(lens.rows[number], "nothing is refused or ignored")
            words = tools.verdict_words(judged, is_short=self.details.text_width < ROOMY)
            self.details.title(line(f" {judged.dialect.name} · {words} "))
        self._show_schemas(lens, number)

    def _show_schemas(self, judgement: ToolJudgement, number: int) -> None:
        from workbench.wire import dumps

        if self._open_place != (self.cursor_number(), number):
            self._open_place = (self.cursor_number(), number)
            judged = judgement.judged[number]
            lowered = dumps(judged.lowered.schema)
            faults = tuple(sorted({span for row in judgement.rows[number] for span in row.spans if row.is_keyword}))
            self.before.show(judgement.body, (StyledSpans("doubtful", faults),))
            self.after.show(lowered, (StyledSpans("related", tools.new_ranges(judgement.body, lowered)),))
            self.before.title(tools.declared_title(judgement))
            self.after.title(tools.lowered_title(judged, lowered, judgement.body))
        row = self.details.here()
        self.before.mark_range(row.spans if row else ())

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.declared:
            self._show_tool()
            self.worklist.ask_next()
        elif message.view is self.dialects:
            self._show_dialect()
        elif message.view is self.details and (row := self.details.here()):
            self.before.mark_range(row.spans)

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        """Go to the bytes of the keyword under the cursor, else of the schema; or list those that accept."""
        if message.view is self.dialects and self.rows.is_folded_at(self.dialects.cursor):
            self.rows.open()
            self._show_tool()
            return
        subject = self.worklist.subject
        if subject is None:
            return
        row = self.details.here() if message.view is self.details else None
        inside = row.pointer if row and row.pointer else ""
        index, places = self.index, (subject.pointer + inside, subject.pointer, subject.tool.pointer)

        def find(decoded: DecodedExchange) -> SessionSpot | None:
            spans = next((found for pointer in places if (found := decoded.place(REQUEST, pointer).spans)), ())
            return SessionSpot(index, REQUEST, spans[0][0]) if spans else None

        self.worklist.leave_for(find)

    # Keys.

    def action_pane(self, step: int) -> None:
        """Go to the next pane; if there is little room a schema replaces the details."""
        panes: list[LineView] = [self.declared, self.dialects, self.details, self.before, self.after]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        pane = panes[(at + step) % len(panes)]
        self.set_class(pane in (self.before, self.after), "-on-schema")
        for schema in (self.before, self.after):
            schema.set_class(schema is pane, "-front")
        pane.focus()


def _holds(outer: str, pointer: str) -> bool:
    return pointer == outer or pointer.startswith(f"{outer}/")
