"""Runner of the sample on the step screen: sends one request at a time, in a thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.tui.dispatch import Dispatch, is_open
from workbench.tui.models import lab
from workbench.tui.probing import in_memory
from workbench.tui.screens.lab.probe_sample import ProbeSample
from workbench.tui.service import in_words

if TYPE_CHECKING:
    from workbench.probes import Ask
    from workbench.send import Sender
    from workbench.tui.screens.lab.probe_sample import SampleState
    from workbench.tui.screens.lab.step import StepScreen
    from workbench.wire import Exchange


class SampleUpdate(Message):
    """New state of the sample."""

    def __init__(self, state: SampleState) -> None:
        super().__init__()
        self.state = state


class SampleFailure(Message):
    """Reason that the state of the sample did not change."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why


class SampleRunner:
    """Does one operation after the other on a sample.

    Attributes:
        sampling: the sample; None before it starts.
        is_busy: an operation is in progress.
        is_sending: the operation sends a request.
        runs_on: requests follow one another without a key.
    """

    def __init__(self, screen: StepScreen) -> None:
        self.screen = screen
        self.sampling: ProbeSample | None = None
        self.is_busy = True
        self.is_sending = self.runs_on = False
        self._dispatch: Dispatch[Exchange] | None = None

    def stop(self) -> None:
        """Cancel a request: the screen is closed."""
        if self._dispatch:
            self._dispatch.cancel()

    def do(self, job: Callable[[], object]) -> None:
        """Run an operation on the sample, then show its state; ignored while busy."""
        if not self.is_busy:
            self.is_busy = True
            self.begin(job)

    def begin(self, job: Callable[[], object] = lambda: None) -> None:
        """Run an operation on the sample in a thread, even while busy."""
        self.screen.run_worker(partial(self._do, job), thread=True, group="step", exit_on_error=False)

    def _do(self, job: Callable[[], object]) -> None:
        try:
            if self.sampling is None:
                self.sampling = ProbeSample(self.screen.probe, self.screen.column.subject)
            job()
            self.screen.post_message(SampleUpdate(self.sampling.state()))
        except Exception as error:
            self.screen.post_message(SampleFailure(in_words(error)))

    def take(self, message: SampleUpdate) -> None:
        """Show the state of the sample; in a run send the next request."""
        self.is_busy = self.is_sending = False
        self._dispatch = None
        self.screen.editor.forget()
        if not is_open(self.screen):
            return
        self.screen.state = message.state
        self.runs_on &= message.state.ask is not None
        self.screen.view.show_steps()
        if self.runs_on:
            self.send()

    async def fail(self, message: SampleFailure) -> None:
        """Show why an operation failed; a rejected edit is opened again."""
        self.is_busy = self.is_sending = self.runs_on = False
        self._dispatch = None
        if is_open(self.screen):
            self.screen.say(message.why)
            self.screen.view.show_state()
            await self.screen.editor.again()

    # Sending.

    def run(self) -> None:
        """Send request after request, to the end."""
        self.runs_on = True
        self.send()

    def send(self) -> None:
        """Send the pending request; ask first if the endpoint is real."""
        state, subject = self.screen.state, self.screen.column.subject
        if self.is_busy or state is None:
            return
        if state.ask is None:
            self.screen.say("the sample has ended · a: start again · u: undo · o: open the exchanges")
        elif subject.target.is_simulator or self.screen.column.is_agreed:
            self._go(state.ask)
        else:
            from workbench.tui.screens.questions import ConfirmScreen

            estimate = lab.estimate((self.screen.probe,), 1)
            question = lab.question(subject.target, estimate, subject.model, is_set=self.screen.is_key_set)
            self.screen.app.push_screen(
                ConfirmScreen(question, "send", "do not send"), partial(self._take_consent, state.ask)
            )

    def _take_consent(self, ask: Ask, is_agreed: bool | None) -> None:
        self.screen.column.is_agreed = bool(is_agreed)
        if is_agreed:
            self._go(ask)
        else:
            self.runs_on = False
            self.screen.view.show_state()

    def _go(self, ask: Ask) -> None:
        self.is_sending = True
        self.screen.view.show_state()
        self.do(lambda: self._ask(ask))

    def _ask(self, ask: Ask) -> None:
        """Send a request and wait for its response, in a thread."""
        from workbench import probes

        sampling = self.sampling
        assert sampling

        async def ask_probe(sender: Sender) -> Exchange:
            return await probes.send(ask, sampling.subject, sender)

        model = probes.scripted_model(self.screen.column.dials.split())
        self._dispatch = Dispatch(in_memory("probe", sampling.exchanges), ask_probe, model)
        exchange = self._dispatch.run()
        if exchange is not None:  # None: cancelled, the request is still pending
            sampling.after(exchange)

    def undo(self) -> None:
        """Undo the change of the pending request, else the last sent request."""
        self.runs_on = False
        self.do(self._undo)

    def _undo(self) -> None:
        assert self.sampling
        self.sampling.undo()

    def again(self) -> None:
        """Start another sample."""
        if not self.is_busy:
            self.sampling, self.runs_on = None, False
            self.do(lambda: None)

    def leave(self) -> None:
        """Cancel the request that is being sent; else go back."""
        self.runs_on = False
        if self.is_sending and self._dispatch:
            self._dispatch.cancel()
        else:
            self.screen.dismiss(None)
