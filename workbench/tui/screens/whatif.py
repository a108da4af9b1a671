"""The what-if screen: a request sent again with one thing different, to several targets at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from textual import getters, work
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import Screen

from workbench.safetext import visible
from workbench.send import Target, resolve
from workbench.tui import keys
from workbench.tui.bars import Bar, KeyBar
from workbench.tui.models import send, whatif
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.panes.lineview import LineView
from workbench.tui.screens.worklist import ListPane
from workbench.tui.service import Answer, guarded, in_words, is_open
from workbench.views import Line, Span, line, wrap

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode, Workspace
    from workbench.rules import Inspector
    from workbench.trials.whatif import RequestVariant, VariantOutcome
    from workbench.tui.dispatch import Dispatch
    from workbench.tui.preflight import Preflight
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire.session import Session

MOST_AT_FIRST = 3
"""Targets that are asked without being chosen: simulators of one provider."""

Batch = Sequence[tuple[int, Sequence[int]]]
"""Numbers of targets, each with those of the variants that are sent to it."""


class OutcomeCame(Message):
    """One more outcome: its variant and target by number."""

    def __init__(self, variant: int, target: int, outcome: VariantOutcome) -> None:
        super().__init__()
        self.place, self.outcome = (variant, target), outcome


class BatchOver(Message):
    """All of a batch is sent, or it was broken off; ``why`` where it failed."""

    def __init__(self, why: str = "") -> None:
        super().__init__()
        self.why = why


def targets_of(label: str) -> tuple[Target, ...]:
    """The simulator of a contract, and those of its nearest variants."""
    from workbench import contracts

    name = label.partition(":")[0]
    labels = dict.fromkeys([label, *(contracts.variants(name) if name in contracts.names() else ())])
    return tuple(resolve(f"sim:{each}") for each in tuple(labels)[:MOST_AT_FIRST])


def begin(session: SessionScreen, node: BranchNode) -> None:
    """Vary the request of a node."""
    session.app.push_screen(WhatIfScreen(session, node))


class WhatIfScreen(Screen[None]):
    """Variants are rows, targets are columns; simulators are asked at once.

    Args:
        session: whose exchange it is.
        node: whose request is varied.
    """

    CSS_PATH = "whatif.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.WHAT_IF
    BINDINGS = keys.bindings(keys.WHAT_IF)

    table = getters.query_one("#variants", ListPane)
    cell = getters.query_one("#outcome", ListPane)

    def __init__(self, session: SessionScreen, node: BranchNode) -> None:
        super().__init__()
        self.session, self.node = session, node
        self.variants: Sequence[RequestVariant] = ()
        self.targets: list[Target] = []
        self.outcomes: dict[tuple[int, int], VariantOutcome] = {}
        self.column = 0
        self.trouble = ""
        self._waiting: list[Batch] = []
        self._on_its_way: set[tuple[int, int]] = set()
        self._dispatch: Dispatch[None] | None = None
        self._known: Session | None = None
        self._edits: dict[int, BranchNode] = {}
        self._kept: dict[tuple[int, int], BranchNode] = {}

    @property
    def is_sending(self) -> bool:
        """Something is on its way."""
        return bool(self._on_its_way)

    def compose(self) -> ComposeResult:
        yield Bar(id="headline")
        yield Bar(id="columns")
        yield ListPane(id="variants")
        yield ListPane(id="outcome")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_CELL, *keys.WHAT_IF])
        self.cell.title(line(" VariantOutcome "))
        self.table.focus()
        node = self.node
        self._show()
        self.session.branches.ask(lambda workspace: workspace.as_branch_session(node), self._look, self._show_trouble)

    def _look(self, known: Session) -> None:
        """Find the variants, the targets to begin with, and what simulators take as given."""
        node = self.node

        def job(inspector: Inspector) -> Answer:
            from workbench.trials.whatif import variants
            from workbench.tui.dispatch import known_to

            made = variants(inspector, node.index, node.exchange.request)
            targets = targets_of(inspector.detail(node.index).contract.label)
            session = known_to(inspector, known, node.index)
            return Answer(lambda: self._show_variants(made, targets, session))

        self.session.inspecting.do(guarded(job, self._show_trouble))

    def on_unmount(self) -> None:
        self._waiting.clear()
        if self._dispatch:
            self._dispatch.cancel()

    def on_resize(self) -> None:
        self._show()

    def _show_trouble(self, why: str) -> None:
        self.trouble = why
        self._show()

    def _show_variants(self, made: Sequence[RequestVariant], targets: Sequence[Target], known: Session) -> None:
        if is_open(self):
            self.variants, self._known = made, known
            self.targets = list(targets)
            self._send([(n, self._possible()) for n in range(len(targets))])

    def _possible(self) -> list[int]:
        return [n for n, variant in enumerate(self.variants) if variant.request is not None]

    # Sending.

    def _send(self, batch: Batch) -> None:
        """Send, after what is on its way."""
        self._waiting.append(batch)
        if not self.is_sending:
            self._next_batch()
        self._show()

    def _next_batch(self) -> None:
        from workbench.send import Sender
        from workbench.tui.dispatch import Dispatch, InspectorQuestions

        if not self._waiting or not is_open(self):
            return
        batch = self._waiting.pop(0)
        self._on_its_way = {(v, t) for t, numbers in batch for v in numbers}
        ask, index, parent = InspectorQuestions(self.session.inspecting.do), self.node.index, self.node.id
        work = [(t, self.targets[t], [(v, self.variants[v]) for v in numbers]) for t, numbers in batch]

        async def column(
            sender: Sender, number: int, target: Target, rows: Sequence[tuple[int, RequestVariant]]
        ) -> None:
            from workbench.trials.whatif import run

            numbers = {variant.name: v for v, variant in rows}
            async for outcome in run(ask, index, [variant for _, variant in rows], [target], sender, parent):
                self.post_message(OutcomeCame(numbers[outcome.variant.name], number, outcome))

        async def all_columns(sender: Sender) -> None:
            import asyncio

            await asyncio.gather(*(column(sender, *each) for each in work))

        self._dispatch = Dispatch(self._known, all_columns)
        self._run(self._dispatch)

    @work(thread=True, group="what-if", exit_on_error=False)
    def _run(self, dispatch: Dispatch[None]) -> None:
        try:
            dispatch.run()
        except Exception as error:
            self.post_message(BatchOver(in_words(error)))
        else:
            self.post_message(BatchOver())

    def on_outcome_came(self, message: OutcomeCame) -> None:
        """Show it, and keep what was sent as a branch."""
        self._on_its_way.discard(message.place)
        self.outcomes[message.place] = message.outcome
        self._keep(message.place, message.outcome)
        self._show()

    def on_batch_over(self, message: BatchOver) -> None:
        if message.why:
            self.notify(visible(message.why), severity="error", markup=False)
        self._on_its_way = set()
        self._next_batch()
        self._show()

    def _keep(self, place: tuple[int, int], outcome: VariantOutcome) -> None:
        """A branch for each variant, and what each target answered to it; where the person stands does not change."""
        exchange, variant, node = outcome.exchange, outcome.variant, self.node
        request = variant.request
        if exchange is None or request is None:
            return

        def question(workspace: Workspace) -> BranchNode:
            title = f"what if: {variant.title}"
            edit = self._edits.get(place[0]) or workspace.commit(node, request, title, is_trial=True)
            self._edits[place[0]] = edit
            return workspace.commit_response(edit, exchange, is_trial=True)

        self.session.branches.ask(question, lambda sent: self._kept.__setitem__(place, sent))

    # What is shown.

    def _show(self) -> None:
        if not is_open(self):
            return
        width = self.table.text_width
        count = len(self.variants) if self.targets else 0
        why = self.trouble or ("looking for variants …" if not self.variants else "no target is chosen: T chooses one")
        self.table.show(count, self._line, why)
        self.query_one("#columns", Bar).show([whatif.columns(self.targets, self.column, width)])
        self._show_cell()
        self._entitle()

    def _line(self, item: int) -> Line:
        width = self.table.text_width
        shown = whatif.seen(len(self.targets), self.column, width)
        chosen = self.column if item == self.table.cursor else None
        outcomes = [self._outcome(item, n) for n in range(len(self.targets))]
        return whatif.row(self.variants[item], outcomes, chosen, shown, whatif.cell_width(width, shown))

    def _outcome(self, variant: int, target: int) -> VariantOutcome | bool:
        place = (variant, target)
        return place in self._on_its_way or self.outcomes.get(place, False)

    def _show_cell(self) -> None:
        lines = [] if not self.variants or not self.targets else self._details()
        self.cell.show(len(lines), lambda item: lines[item])

    def _details(self) -> list[Line]:
        at = self.table.cursor
        outcome = self._outcome(at, self.column)
        return whatif.details(self.variants[at], self.targets[self.column], outcome, self.cell.text_width)

    def _entitle(self) -> None:
        from workbench.send import is_set

        self.query_one("#keys", KeyBar).run(self.is_sending)
        if self.trouble:
            told: Line = tuple(wrap(self.trouble, 400, "error")[0])
        else:
            told = whatif.summary(len(self._possible()) * len(self.targets), self.outcomes.values())
        if self.is_sending:
            told = (*told, Span(" · esc stops", "accent"))
        target = next((t for t in self.targets if not t.is_simulator), Target("simulators"))
        title = f"What if · request {self.node.index + 1}{send.made(self.node)}"
        lines = send.headline(title, told, target, self.size.width, is_set=is_set(target.key_variable, os.environ))
        self.query_one("#headline", Bar).show(lines)

    def on_line_view_moved(self, message: LineView.Moved) -> None:
        if message.view is self.table:
            self._show_cell()

    # Keys.

    def on_line_view_entered(self, message: LineView.Entered) -> None:
        """The exchange of a cell beside the original."""
        place = (self.table.cursor, self.column)
        outcome, sent, edit = self.outcomes.get(place), self._kept.get(place), self._edits.get(place[0])
        if outcome is None or sent is None or edit is None:
            self.notify("nothing was sent here", markup=False)
            return
        variant, target = outcome.variant, outcome.target

        def job(inspector: Inspector) -> Answer:
            from workbench.tui.preflight import look

            shown = look(inspector, edit, target, variant.protocol, variant.stream)
            return Answer(lambda: self._open(edit, shown, sent))

        self.session.inspecting.do(guarded(job, partial(self._say, "it cannot be shown")))

    def _open(self, edit: BranchNode, shown: Preflight, sent: BranchNode) -> None:
        from workbench.tui.screens.send import edit_further
        from workbench.tui.screens.send_answer import AnswerScreen

        if self.is_active:
            further = partial(edit_further, self.session, self.node.index)
            self.app.push_screen(AnswerScreen(self.session, edit, shown, sent), further)

    def _say(self, what: str, why: str) -> None:
        self.notify(visible(f"{what}: {why}"), severity="error", markup=False)

    def action_column(self, step: int) -> None:
        """The next target."""
        if self.targets:
            self.column = (self.column + step) % len(self.targets)
            self._show()

    def action_pane(self) -> None:
        """The other pane."""
        (self.cell if self.table.has_focus else self.table).focus()

    def action_target(self) -> None:
        """One more target."""
        from workbench.tui.screens.target_choice import TargetScreen

        row = self.session.state.rows[self.node.index]
        self.app.push_screen(
            TargetScreen("What if it goes to", row.provider or "generic", row.protocol or ""), self._add
        )

    def _add(self, target: Target | None) -> None:
        """A simulator is asked at once; what costs money is asked when somebody says so."""
        if target is None:
            return
        if target in self.targets:
            self.column = self.targets.index(target)
        else:
            self.targets.append(target)
            self.column = len(self.targets) - 1
            if target.is_simulator:
                self._send([(self.column, self._possible())])
        self._show()

    def action_send(self) -> None:
        """The cell under the cursor, once more where it was sent already."""
        if self.targets and self.table.cursor in self._possible():
            self._ask_and_send([(self.column, [self.table.cursor])])
        else:
            self.notify("there is nothing to send here", markup=False)

    def action_send_all(self) -> None:
        """Every cell of the column that was not sent yet."""
        missing = [n for n in self._possible() if not self._outcome(n, self.column)] if self.targets else []
        if missing:
            self._ask_and_send([(self.column, missing)])
        else:
            self.notify("all of it is sent", markup=False)

    def _ask_and_send(self, batch: Batch) -> None:
        """To an endpoint only after a yes: it says how many requests there are."""
        from workbench.send import is_set
        from workbench.tui.screens.confirm import ConfirmScreen

        (number, rows), *_ = batch
        target = self.targets[number]
        if target.is_simulator:
            self._send(batch)
            return
        key = send.key_words(target, is_set=is_set(target.key_variable, os.environ))
        asked = whatif.question(target, urlsplit(target.url).netloc, len(rows), key)
        self.app.push_screen(
            ConfirmScreen(asked, "send them", "send nothing"), lambda yes: self._send(batch) if yes else None
        )

    def action_leave(self) -> None:
        """Stop what is on its way; what came stays. Else back."""
        if self.is_sending and self._dispatch:
            self._waiting.clear()
            self._dispatch.cancel()
        else:
            self.dismiss(None)

    def action_back(self) -> None:
        self.dismiss(None)
