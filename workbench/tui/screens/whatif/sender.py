"""Sender of the what-if screen: sends batches of variants in a thread, and saves what was sent as branches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from textual.message import Message

from workbench.safetext import visible
from workbench.tui.models import send, whatif
from workbench.tui.service import in_words, is_open

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode, Workspace
    from workbench.send import Sender, Target
    from workbench.trials.whatif import RequestVariant, VariantOutcome
    from workbench.tui.dispatch import Dispatch
    from workbench.tui.screens.whatif.screen import WhatIfScreen
    from workbench.wire.session import Session

Batch = Sequence[tuple[int, Sequence[int]]]
"""Numbers of targets, each with the numbers of the variants to send to it."""


class OutcomeCame(Message):
    """One more outcome; ``place`` is the number of its variant and of its target."""

    def __init__(self, variant: int, target: int, outcome: VariantOutcome) -> None:
        super().__init__()
        self.place, self.outcome = (variant, target), outcome


class BatchOver(Message):
    """End of a batch, sent or cancelled; ``why`` is the error, empty if none."""

    def __init__(self, why: str = "") -> None:
        super().__init__()
        self.why = why


class VariantSender:
    """Sends batches of variants, one batch after the other.

    Attributes:
        known: session that simulators know; None until it is found.
        edits: branch of each variant that was sent, by its number.
        branches: branch of each outcome, by the numbers of variant and target.
    """

    def __init__(self, screen: WhatIfScreen) -> None:
        self.screen = screen
        self.known: Session | None = None
        self.edits: dict[int, BranchNode] = {}
        self.branches: dict[tuple[int, int], BranchNode] = {}
        self._waiting: list[Batch] = []
        self._pending: set[tuple[int, int]] = set()
        self._dispatch: Dispatch[None] | None = None

    @property
    def is_sending(self) -> bool:
        """Requests are being sent."""
        return bool(self._pending)

    def is_pending(self, variant: int, target: int) -> bool:
        """A variant is being sent to a target."""
        return (variant, target) in self._pending

    def send(self, batch: Batch) -> None:
        """Send a batch after those that wait."""
        self._waiting.append(batch)
        if not self.is_sending:
            self._next_batch()
        self.screen.show()

    def ask_and_send(self, batch: Batch) -> None:
        """Send a batch; to a real endpoint only if the person confirms the number of requests."""
        from workbench.send import is_set
        from workbench.tui.screens.questions import ConfirmScreen

        (number, rows), *_ = batch
        target = self.screen.targets[number]
        if target.is_simulator:
            self.send(batch)
            return
        key = send.key_words(target, is_set=is_set(target.key_variable, os.environ))
        question = whatif.question(target, urlsplit(target.url).netloc, len(rows), key)

        def send_if_confirmed(is_sure: bool | None) -> None:
            if is_sure:
                self.send(batch)

        self.screen.app.push_screen(ConfirmScreen(question, "send", "do not send"), send_if_confirmed)

    def _next_batch(self) -> None:
        from workbench.trials.whatif import run
        from workbench.tui.dispatch import Dispatch, InspectorQuestions

        screen, node = self.screen, self.screen.node
        if not self._waiting or not is_open(screen):
            return
        batch = self._waiting.pop(0)
        self._pending = {(v, t) for t, numbers in batch for v in numbers}
        ask = InspectorQuestions(screen.session.inspecting.do)
        columns = [(t, screen.targets[t], [(v, screen.variants[v]) for v in numbers]) for t, numbers in batch]

        async def send_column(
            sender: Sender, number: int, target: Target, rows: Sequence[tuple[int, RequestVariant]]
        ) -> None:
            numbers = {variant.name: v for v, variant in rows}
            async for outcome in run(ask, node.index, [variant for _, variant in rows], [target], sender, node.id):
                screen.post_message(OutcomeCame(numbers[outcome.variant.name], number, outcome))

        async def send_all(sender: Sender) -> None:
            import asyncio

            await asyncio.gather(*(send_column(sender, *column) for column in columns))

        dispatch = Dispatch(self.known, send_all)
        self._dispatch = dispatch
        screen.run_worker(lambda: self._run(dispatch), thread=True, group="what-if", exit_on_error=False)

    def _run(self, dispatch: Dispatch[None]) -> None:
        try:
            dispatch.run()
        except Exception as error:
            self.screen.post_message(BatchOver(in_words(error)))
        else:
            self.screen.post_message(BatchOver())

    def cancel(self) -> None:
        """Cancel the current batch, and drop those that wait."""
        self._waiting.clear()
        if self._dispatch:
            self._dispatch.cancel()

    # Results.

    def take(self, message: OutcomeCame) -> None:
        """Show an outcome, and save the exchange as a branch."""
        self._pending.discard(message.place)
        self.screen.outcomes[message.place] = message.outcome
        self._save(message.place, message.outcome)
        self.screen.show()

    def finish(self, message: BatchOver) -> None:
        """Send the next batch."""
        if message.why:
            self.screen.notify(visible(message.why), severity="error", markup=False)
        self._pending = set()
        self._next_batch()
        self.screen.show()

    def _save(self, place: tuple[int, int], outcome: VariantOutcome) -> None:
        """Save a branch for the variant, and on it the response; the current node does not change."""
        exchange, variant, node = outcome.exchange, outcome.variant, self.screen.node
        request = variant.request
        if exchange is None or request is None:
            return

        def question(workspace: Workspace) -> BranchNode:
            title = f"what if: {variant.title}"
            edit = self.edits.get(place[0]) or workspace.commit(node, request, title, is_trial=True)
            self.edits[place[0]] = edit
            return workspace.commit_response(edit, exchange, is_trial=True)

        def keep(branch: BranchNode) -> None:
            self.branches[place] = branch

        self.screen.session.branches.ask(question, keep)
