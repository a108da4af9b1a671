"""Stepper of a continued conversation: finds the pending step and does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy_dataclass import replace
from workbench.safetext import visible
from workbench.send import Target
from workbench.send.loop import AnswerCall, ConversationLoop, EndReason, Limits, LoopEnd, RecordedResults, Send
from workbench.tui.models.continuing import Offer, Pending, StepRecord
from workbench.tui.screens.continue_conversation import steps as stepping
from workbench.tui.screens.continue_conversation.sender import StepSender
from workbench.tui.screens.continue_conversation.steps import StepSettings
from workbench.tui.service import JobAnswer as Delivery
from workbench.tui.service import guard, is_open

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.rules import Inspector
    from workbench.tui.screens.continue_conversation.screen import ContinuingScreen
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire import Exchange


class Stepper:
    """Finds the next step of a conversation and does it; the screen shows it.

    Args:
        session: session of the exchange.
        node: exchange or edit to continue.
        target: receiver of the requests.

    Attributes:
        start: node that the conversation continues from.
        loop: state of the conversation.
        done: steps so far.
        pending: next step; None until it is known.
        offers: tool results on offer for a pending call; ``offer_number`` is the chosen one.
        runs_on: steps follow one another until the person has to decide.
        settings: target and corrections of the steps; None until they are known.
        off: names of the corrections that are switched off.
        limits: limits set by the person; None for the default ones.
        sender: sends pending requests.
    """

    def __init__(self, screen: ContinuingScreen, session: SessionScreen, node: BranchNode, target: Target) -> None:
        self.screen = screen
        self.session, self.start, self.node, self.target = session, node, node, target
        row = session.state.rows[node.index]
        self.loop = ConversationLoop(node.exchange, row.protocol or "", target.contract or row.provider or "")
        self.done: list[StepRecord] = []
        self.pending: Pending | None = None
        self.offer_number = 0
        self.offers: list[Offer] = []
        self.settings: StepSettings | None = None
        self.off: frozenset[str] = frozenset()
        self.limits: Limits | None = None
        self.runs_on = False
        self._asked = 0
        self._recording: RecordedResults | None = None
        self.sender = StepSender(screen, self)

    @property
    def offer(self) -> Offer | None:
        """Chosen tool result for the pending call; None if there is none."""
        return self.offers[self.offer_number] if self.offers else None

    @property
    def exchanges(self) -> list[Exchange]:
        """The continued exchange, and those sent since."""
        found = [*(done.loop.exchange for done in self.done), self.loop.exchange]
        return [each for n, each in enumerate(found) if n == 0 or each is not found[n - 1]]

    def say(self, why: str) -> None:
        """Stop a run and show an error."""
        self.runs_on = False
        if is_open(self.screen):
            self.screen.notify(visible(why), severity="error", markup=False)

    # The pending step, found in the inspector's thread.

    def look(self, *, is_first: bool = False) -> None:
        """Find the pending step."""
        self._asked += 1
        number, loop, target, index = self._asked, self.loop, self.target, self.node.index
        known_settings, off, limits = self.settings, self.off, self.limits
        self.pending, self.offers, self.offer_number = None, [], 0

        def job(inspector: Inspector) -> Delivery:
            start = loop.retry() if is_first else loop
            if self._recording is None:
                self._recording = RecordedResults(inspector.session)
            settings = known_settings or stepping.find_settings(inspector, start, target, index, off)
            corrected = start if known_settings else stepping.apply_corrections(start, settings.choice, limits)
            pending = stepping.pending(corrected, settings, self._recording, index)
            return Delivery(lambda: self._show_pending(number, corrected, settings, pending))

        self.screen.show_steps()
        self.session.inspecting.do(guard(job, self.say))

    def _show_pending(self, number: int, loop: ConversationLoop, settings: StepSettings, pending: Pending) -> None:
        if not is_open(self.screen) or number != self._asked:
            return
        self.loop, self.settings, self.pending, self.offers = loop, settings, pending, list(pending.offers)
        self.screen.show_steps()
        if self.runs_on:
            self._run_on()

    def steer(self, target: Target, off: frozenset[str] = frozenset()) -> None:
        """Use another target, or other corrections."""
        self.target, self.off, self.settings = target, off, None
        self.look()

    # Doing it.

    def run(self) -> None:
        """Do step after step, until the person has to decide."""
        self.runs_on = True
        self._run_on()

    def _run_on(self) -> None:
        pending = self.pending
        if pending is None or self.sender.is_sending:
            return
        is_stuck = isinstance(pending.step, LoopEnd) or (isinstance(pending.step, AnswerCall) and self.offer is None)
        if is_stuck or pending.why:
            self.runs_on = False
            self.screen.show_steps()
        else:
            self.do()

    def do(self) -> None:
        """Do the pending step."""
        pending = self.pending
        if pending is None or self.sender.is_sending:
            return
        if isinstance(pending.step, Send):
            self.sender.send(pending)
        elif isinstance(pending.step, LoopEnd):
            self._go_on(pending.step)
        elif self.offer:
            self.advance(self.loop.after(self.offer.result), StepRecord(self.loop, self.node, pending, self.offer))
        else:
            self.screen.editor.write()

    def _go_on(self, step: LoopEnd) -> None:
        if step.reason.is_limit:
            self.screen.ask_limits()
        elif step.reason in (EndReason.DONE, EndReason.TEXT_CALL):
            self.screen.editor.write()
        else:
            self.screen.notify(visible(f"{step.text} · u: undo"), markup=False)

    def advance(self, loop: ConversationLoop, record: StepRecord) -> None:
        """Note a step that is done, and find the next one."""
        if not is_open(self.screen):
            return
        self.done.append(record)
        self.loop = loop
        self.look()

    # Stopping and changing it.

    def break_off(self) -> None:
        """Cancel a run or a request; what was received is saved."""
        self.runs_on = False
        self.sender.cancel()

    def undo(self) -> None:
        """Go one step back; requests that were sent stay in the tree of branches."""
        if self.sender.is_sending:
            self.screen.notify("a request is being sent · esc: cancel", markup=False)
        elif self.done:
            last = self.done.pop()
            self.runs_on = False
            self.loop, self.node, self.settings = last.loop, last.node, None
            self.session.branches.go(self.node)
            self.look()
        else:
            self.screen.notify("this is the first step", markup=False)

    def limit(self, limits: Limits) -> None:
        """Set other limits."""
        self.limits, self.loop = limits, self.loop.with_limits(limits)
        self.look()

    def aim(self, target: Target | None) -> None:
        """Send to another target, unless a request is being sent."""
        if target and not self.sender.is_sending:
            self.loop = replace(self.loop, contract=target.contract)
            self.steer(target)

    def leave(self) -> None:
        """Go back; a request that is being sent is cancelled, and saved first."""
        self.sender.is_leaving = True
        self.break_off()
        if not self.sender.is_sending:
            self.screen.dismiss(None)
