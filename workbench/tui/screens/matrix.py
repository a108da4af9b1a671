"""Matrix screen: one request judged by every contract; who refuses it, where, and in which words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container

from workbench.tui import keys
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.models import matrix as lines
from workbench.tui.models.matrix import VerdictRow
from workbench.tui.models.tabs import TALL, TOO_SMALL
from workbench.tui.models.verdict_order import VerdictOrder
from workbench.tui.screens.tools import DetailPane
from workbench.tui.screens.worklist import ListPane, Worklist, WorklistScreen, WorklistSource
from workbench.tui.selection import SessionSpot
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.views import REQUEST, Line, Span, line

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange
    from workbench.rules import Inspector
    from workbench.send import MatrixHistory
    from workbench.tui.service import Job

NO_REQUEST = "no model request that a contract can check"


class MatrixSource(WorklistSource[str, VerdictRow]):
    """Judges a request by contracts, given by their labels.

    Args:
        index: index of the exchange.
        provider: label of the exchange's own contract, which comes first; None if unknown.
    """

    def __init__(self, index: int, provider: str | None) -> None:
        self._index, self._provider = index, provider
        self._history: MatrixHistory | None = None

    def subjects_in(self, inspector: Inspector) -> Sequence[str]:
        from workbench.errors import LocalProtocolError
        from workbench.send import matrix

        try:
            self._history = matrix.MatrixHistory(inspector, self._index)
        except LocalProtocolError:
            return ()
        here = self._provider or ""
        return sorted(matrix.labels(), key=lambda label: label != here)

    def judge(self, inspector: Inspector, subject: str) -> VerdictRow:
        assert self._history is not None
        row = self._history.row(subject)
        return VerdictRow(row, lines.said_of(row))


class MatrixScreen(WorklistScreen):
    """Contracts with their verdicts. Dismissed with the place of a fault in the request as sent, or None.

    Args:
        ask: puts a question to the inspector's thread.
        index: index of the exchange.
        provider: label of the exchange's own contract; None if unknown.
        branch: name of the shown branch, for the title; empty for the recorded request.
    """

    CSS_PATH = "matrix.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.MATRIX
    BINDINGS = keys.bindings(keys.MATRIX)

    contracts = getters.query_one("#contracts", ListPane)
    details = getters.query_one("#details", DetailPane)
    body = getters.query_one("#body", BodyPane)

    def __init__(self, ask: Callable[[Job], None], index: int, provider: str | None, branch: str) -> None:
        super().__init__(index, branch)
        self.worklist = Worklist(self, MatrixSource(index, provider), ask)
        self.provider = provider
        self.order = VerdictOrder()
        self._open_body: bytes | None = None

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="verdicts"):
            yield ListPane(id="contracts")
            yield DetailPane(id="details")
        yield BodyPane(id="body")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_FAULT, *keys.MATRIX])
        self.entitle(line(Span(f" Contracts on request {self.index + 1} …", "muted")))
        for pane, words in ((self.contracts, " Contracts "), (self.details, " Why "), (self.body, " Request ")):
            pane.title(line(words))
        self.contracts.focus()
        self.worklist.begin()

    # What is shown.

    def cursor_number(self) -> int:
        return self.order.contract_at(self.contracts.cursor)

    def show_subjects(self) -> None:
        self._show_list()
        self._show_contract()

    def show_judgement(self, number: int) -> None:
        self._show_list()
        if number == self.cursor_number():
            self._show_contract()

    def _show_list(self) -> None:
        work = self.worklist
        subjects = work.subjects or ()
        here = self.cursor_number()
        self.order.arrange(len(subjects), self._verdicts(), self._causes())
        self.contracts.show(len(self.order.rows), self._line, work.trouble or NO_REQUEST)
        if subjects:
            self.contracts.move_to(self.order.row_of(here))
        self.on_resize()

    def on_resize(self) -> None:
        """Count the verdicts in the title, in words where it has room for them."""
        if (subjects := self.worklist.subjects) is not None:
            rows = [judgement.row for judgement in self.worklist.judgements.values()]
            self.entitle(lines.headline(self.index + 1, len(subjects), rows, self.size.width))

    def _verdicts(self) -> dict[int, str]:
        """Verdicts so far, by number of the contract; one that cannot be judged is unknown."""
        work = self.worklist
        judged = {number: judgement.row.verdict.value for number, judgement in work.judgements.items()}
        return dict.fromkeys(work.troubles, "unknown") | judged

    def _causes(self) -> dict[int, str]:
        """What each verdict so far is due to, by number of the contract."""
        return {number: lines.cause(judgement.row) for number, judgement in self.worklist.judgements.items()}

    def _is_repeated(self, item: int) -> bool:
        """The row above has the same cause."""
        judged = self.worklist.judgements
        here, above = (judged.get(self.order.contract_at(n)) for n in (item, item - 1))
        return bool(item and here and above and lines.cause(here.row) == lines.cause(above.row) != "")

    def _accepting(self) -> list[str]:
        """Labels of the contracts behind the row of those that accept."""
        subjects = self.worklist.subjects or ()
        return [subjects[number] for number in self.order.accepting if subjects]

    def _line(self, item: int) -> Line:
        if self.order.is_folded_at(item):
            return lines.accepting_line(self._accepting(), has_names=self.size.height >= TALL)
        number = self.order.contract_at(item)
        label = self.worklist.subjects[number] if self.worklist.subjects else ""
        return lines.contract_line(
            label,
            self.worklist.judgements.get(number),
            self.contracts.text_width,
            is_here=label == self.provider,
            is_repeated=self._is_repeated(item),
        )

    def _show_contract(self) -> None:
        """Show the judgement of the contract under the cursor, and the request as its provider receives it."""
        judgement = self.worklist.judgement
        if judgement is None:
            self.details.show((), self.worklist.why_none("judging …"))
            return
        row = judgement.row
        if self.order.is_folded_at(self.contracts.cursor):
            self.details.show((), ", ".join(self._accepting()))
            self.details.title(line(" accepted by these contracts "))
        else:
            self.details.show(judgement.said, lines.nothing_to_say(row))
            self.details.title(line(f" {row.contract} · {row.verdict.value} "))
        if row.body != self._open_body:
            self._open_body = row.body
            self.body.show(row.body, (), "cannot be expressed in this protocol")
        self.body.title(lines.body_title(row))
        self.body.mark_range(self._spans())

    def _spans(self) -> tuple[tuple[int, int], ...]:
        detail = self.details.here()
        return detail.spans if detail else ()

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.contracts:
            self._show_contract()
            self.worklist.ask_next()
        elif message.view is self.details:
            self.body.mark_range(self._spans())

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        """Go to the bytes of the fault, in the session or in the converted request; or list those that accept."""
        judgement, detail = self.worklist.judgement, self.details.here()
        if message.view is self.contracts and self.order.is_folded_at(self.contracts.cursor):
            self.order.open()
            self._show_list()
            self._show_contract()
        elif judgement and judgement.row.is_converted:
            self._go_to(self.body)
            self.body.mark_range(self._spans())
        elif detail is None or detail.pointer is None:
            self.notify("no finding under the cursor", markup=False)
        else:
            index, pointer = self.index, detail.pointer

            def find(decoded: DecodedExchange) -> SessionSpot | None:
                spans = decoded.place(REQUEST, pointer).spans
                return SessionSpot(index, REQUEST, spans[0][0]) if spans else None

            self.worklist.leave_for(find)

    # Keys.

    def action_pane(self) -> None:
        """Go to the next pane; if there is little room it replaces another one."""
        panes: list[LineView] = [self.contracts, self.details, self.body]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        self._go_to(panes[(at + 1) % len(panes)])

    def _go_to(self, pane: LineView) -> None:
        self.set_class(pane is self.body, "-on-body")
        pane.focus()

    def action_refusal(self, step: int) -> None:
        """Go to the next contract that does not simply accept."""
        here, verdicts = self.contracts.cursor, self._verdicts()
        refusing = [n for n in range(len(self.order.rows)) if verdicts.get(self.order.contract_at(n)) in lines.REFUSALS]
        ahead = [n for n in refusing if (n > here if step > 0 else n < here)]
        if ahead:
            self.contracts.move_to(ahead[0] if step > 0 else ahead[-1])
            self._show_contract()
        else:
            self.notify(f"no {'further' if step > 0 else 'earlier'} refusal", markup=False)

    def action_contract(self) -> None:
        """Open the page of the contract."""
        from workbench.tui.screens.page import ContractPageScreen

        if self.order.is_folded_at(self.contracts.cursor):
            self.notify("enter: list these contracts, then open one", markup=False)
        elif label := self.worklist.subject:
            self.app.push_screen(ContractPageScreen(label))
