"""The what-if screen: a request sent again with one difference, to several targets at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.safetext import visible
from workbench.send import Target, resolve
from workbench.tui import keys
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.models import send, whatif
from workbench.tui.models.tabs import ROOMY, TALL, TOO_SMALL
from workbench.tui.screens.whatif.outcome_panes import OutcomePanes
from workbench.tui.screens.whatif.sender import BatchOver, OutcomeCame, VariantSender
from workbench.tui.screens.worklist import ListPane
from workbench.tui.service import JobAnswer, guard, is_open
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.text import TextLinesPane
from workbench.views import Line, Span, line, wrap

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.rules import Inspector
    from workbench.trials.whatif import RequestVariant, VariantOutcome
    from workbench.tui.preflight import PreparedRequest
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire.session import Session

MOST_AT_FIRST = 3
"""Targets at the beginning at most: simulators of one provider."""

MOST_LISTED = 60
"""Percent of the rows of a tall window in which all variants are listed if they fit; as in the style sheet."""


def targets_of(label: str) -> tuple[Target, ...]:
    """Simulators of a contract and of its nearest variants."""
    from workbench import contracts

    name = label.partition(":")[0]
    labels = dict.fromkeys([label, *(contracts.variants(name) if name in contracts.names() else ())])
    return tuple(resolve(f"sim:{each}") for each in tuple(labels)[:MOST_AT_FIRST])


def begin(session: SessionScreen, node: BranchNode) -> None:
    """Vary the request of a node."""
    session.app.push_screen(WhatIfScreen(session, node))


class WhatIfScreen(Screen[None]):
    """Matrix of variants (rows) and targets (columns); simulators are sent to at once.

    Args:
        session: session of the exchange.
        node: node of the request.

    Attributes:
        variants: variants of the request; empty until they are known.
        targets: targets; ``column`` is the number of the chosen one.
        outcomes: outcomes by the numbers of variant and target.
        rows: variants by row.
        trouble: reason that there are no variants; empty if there are.
    """

    CSS_PATH = "whatif.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.WHAT_IF
    BINDINGS = keys.bindings(keys.WHAT_IF)

    table = getters.query_one("#variants", ListPane)
    cell = getters.query_one("#outcome", TextLinesPane)
    response = getters.query_one("#response", TextLinesPane)

    def __init__(self, session: SessionScreen, node: BranchNode) -> None:
        super().__init__()
        self.session, self.node = session, node
        self.variants: Sequence[RequestVariant] = ()
        self.targets: list[Target] = []
        self.outcomes: dict[tuple[int, int], VariantOutcome] = {}
        self.column = 0
        self.trouble = ""
        self.rows = whatif.VariantRows()
        self.sender = VariantSender(self)
        self.beside = OutcomePanes(self)

    def compose(self) -> ComposeResult:
        yield Headline()
        yield Bar(id="columns")
        yield ListPane(id="variants")
        with Container(id="below"):
            yield TextLinesPane(id="outcome")
            yield TextLinesPane(id="response")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_CELL, *keys.WHAT_IF])
        self.cell.title(line(" Outcome "))
        self.response.title(line(" Response "))
        self.table.focus()
        node = self.node
        self.show()
        self.session.branches.ask(lambda workspace: workspace.as_branch_session(node), self._look, self._show_trouble)

    def _look(self, known: Session) -> None:
        """Find the variants, the first targets, and the session that simulators know."""
        node = self.node

        def job(inspector: Inspector) -> JobAnswer:
            from workbench.trials.whatif import variants
            from workbench.tui.dispatch import known_to

            found = variants(inspector, node.index, node.exchange.request)
            targets = targets_of(inspector.detail(node.index).contract.label)
            session = known_to(inspector, known, node.index)
            return JobAnswer(lambda: self._show_variants(found, targets, session))

        self.session.inspecting.do(guard(job, self._show_trouble))

    def _show_trouble(self, why: str) -> None:
        self.trouble = why
        self.show()

    def _show_variants(self, variants: Sequence[RequestVariant], targets: Sequence[Target], session: Session) -> None:
        if is_open(self):
            self.variants, self.sender.known = variants, session
            self.targets = list(targets)
            self.rows.sort(variants, self.outcomes, len(targets))
            self.sender.send([(n, self.sendable()) for n in range(len(targets))])

    def sendable(self) -> list[int]:
        """Numbers of the variants that have a request."""
        return [n for n, variant in enumerate(self.variants) if variant.request is not None]

    @property
    def here(self) -> int | None:
        """Number of the variant under the cursor; None on the row that stands for the others."""
        return self.rows.variant(self.table.cursor)

    def on_unmount(self) -> None:
        self.sender.cancel()

    def on_resize(self) -> None:
        self.set_class(self.size.width < ROOMY, "-brief")  # no room for both panes below the variants
        self.show()

    def on_outcome_came(self, message: OutcomeCame) -> None:
        self.sender.take(message)

    def on_batch_over(self, message: BatchOver) -> None:
        self.sender.finish(message)
        if not self.sender.is_sending:
            self.rows.sort(self.variants, self.outcomes, len(self.targets))
            self.show()

    # What is shown.

    def show(self) -> None:
        """Paint everything again."""
        if not is_open(self):
            return
        width = self.table.text_width
        self.rows.fit(self.size.height * MOST_LISTED // 100 if self.size.height >= TALL else 0)
        count = self.rows.count() if self.targets else 0
        why = self.trouble or ("looking for variants …" if not self.variants else "no target yet · T: add one")
        self.table.show(count, self._line, why)
        self.query_one("#columns", Bar).show([whatif.columns(self.targets, self.column, width)])
        self.beside.show()
        self._entitle()

    def _line(self, item: int) -> Line:
        number = self.rows.variant(item)
        if number is None:
            return whatif.folded_line([self.variants[n] for n in self.rows.hidden], has_names=self.size.height >= TALL)
        width = self.table.text_width
        visible = whatif.visible_targets(len(self.targets), self.column, width)
        column = self.column if item == self.table.cursor else None
        outcomes = [self.outcome(number, n) for n in range(len(self.targets))]
        return whatif.row(self.variants[number], outcomes, column, visible, width)

    def outcome(self, variant: int, target: int) -> VariantOutcome | bool:
        """Outcome of a cell; True while it is being sent, False if it was not sent."""
        return self.sender.is_pending(variant, target) or self.outcomes.get((variant, target), False)

    def _entitle(self) -> None:
        from workbench.send import is_set

        is_sending = self.sender.is_sending
        self.query_one("#keys", KeyBar).run(is_sending)
        if self.trouble:
            words: Line = tuple(wrap(self.trouble, 400, "error")[0])
        else:
            words = whatif.summary(len(self.sendable()) * len(self.targets), self.outcomes.values())
        if is_sending:
            words = (*words, Span(" · esc: cancel", "accent"))
        target = next((t for t in self.targets if not t.is_simulator), Target("simulators"))
        title = f"What if · request {self.node.index + 1}{send.request_name(self.node)}"
        lines = send.headline(title, words, target, self.size, is_set=is_set(target.key_variable, os.environ))
        self.query_one("#headline", Bar).show(lines)

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.table:
            self.beside.show()

    # Keys.

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        """Compare the exchange of a cell with the recorded one."""
        if self.here is None:
            self.rows.unfold()
            self.show()
            return
        place = (self.here, self.column)
        outcome, branch, edit = (
            self.outcomes.get(place),
            self.sender.branches.get(place),
            self.sender.edits.get(place[0]),
        )
        if outcome is None or branch is None or edit is None:
            self.notify("this variant was not sent to this target", markup=False)
            return
        variant, target = outcome.variant, outcome.target

        def job(inspector: Inspector) -> JobAnswer:
            from workbench.tui.preflight import preview_request

            sent = preview_request(inspector, edit, target, variant.protocol, variant.stream)
            return JobAnswer(lambda: self._open(edit, sent, branch))

        report = partial(self.notify, severity="error", markup=False)
        self.session.inspecting.do(guard(job, lambda why: report(visible(f"cannot be shown: {why}"))))

    def _open(self, edit: BranchNode, prepared: PreparedRequest, branch: BranchNode) -> None:
        from workbench.tui.screens.send_answer.screen import AnswerScreen

        if self.is_active:
            further = partial(self.session.request_screens.edit_further, self.node.index)
            self.app.push_screen(AnswerScreen(self.session, edit, prepared, branch), further)

    def action_column(self, step: int) -> None:
        """Choose the next target."""
        if self.targets:
            self.column = (self.column + step) % len(self.targets)
            self.show()

    def action_pane(self) -> None:
        """Go to the next pane."""
        panes: list[LineView] = [self.table, self.cell, self.response]
        at = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        pane = panes[(at + 1) % len(panes)]
        self.set_class(pane is self.response, "-on-response")
        pane.focus()

    def action_target(self) -> None:
        """Ask for one more target."""
        from workbench.tui.screens.target_choice import TargetScreen

        row = self.session.state.rows[self.node.index]
        screen = TargetScreen("Send variants to", row.provider or "generic", row.protocol or "")
        self.app.push_screen(screen, self._add)

    def _add(self, target: Target | None) -> None:
        """Add a target; a simulator is sent to at once, a real endpoint only on a key, as it may cost money."""
        if target is None:
            return
        if target in self.targets:
            self.column = self.targets.index(target)
        else:
            self.targets.append(target)
            self.column = len(self.targets) - 1
            if target.is_simulator:
                self.sender.send([(self.column, self.sendable())])
        self.show()

    def action_send(self) -> None:
        """Send the cell under the cursor, again if it was sent before."""
        if self.targets and self.here in self.sendable():
            self.sender.ask_and_send([(self.column, [self.here])])
        else:
            self.notify("nothing to send here", markup=False)

    def action_send_all(self) -> None:
        """Send every cell of the column that was not sent yet."""
        missing = [n for n in self.sendable() if not self.outcome(n, self.column)] if self.targets else []
        if missing:
            self.sender.ask_and_send([(self.column, missing)])
        else:
            self.notify("all variants were sent", markup=False)

    def action_leave(self) -> None:
        """Cancel what is being sent; outcomes stay. Else go back."""
        if self.sender.is_sending:
            self.sender.cancel()
        else:
            self.dismiss(None)

    def action_back(self) -> None:
        self.dismiss(None)
