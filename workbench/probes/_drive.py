"""Drives a tool loop inside of a probe: yields its requests and answers its calls with the probe's own tools."""

from __future__ import annotations

from collections.abc import Callable, Generator

from workbench.ir import Reasoning, Text, ToolCallIR
from workbench.lazy_dataclass import dataclass, replace
from workbench.probes._script import Ask, Sample, Subject, failed, unclear
from workbench.protocols import DecodedExchange
from workbench.send.loop import AnswerCall, CallResult, ConversationLoop, EndReason, Limits, LoopEnd, Send
from workbench.wire import Exchange, HttpRequest

FEW = Limits(turns=4)

Change = Callable[[int, HttpRequest], HttpRequest]
"""Index of the request (from zero) and the request → the request to send instead."""


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call with its result."""

    step: AnswerCall
    result: CallResult

    @property
    def call(self) -> ToolCallIR:
        """The call as the model made it."""
        return self.step.call


@dataclass(frozen=True, slots=True)
class PlayedConversation:
    """A conversation of a probe, from its first request to its end.

    Attributes:
        answers: every exchange, decoded.
        calls: every call, in order, with its result.
        ended: why there is no next step.
        loop: the loop at its end.
    """

    answers: tuple[DecodedExchange, ...]
    calls: tuple[AnsweredCall, ...]
    ended: LoopEnd
    loop: ConversationLoop

    @property
    def status(self) -> int:
        """HTTP status of the last exchange; 0 if there was no response."""
        response = self.answers[-1].exchange.response
        return response.status if response else 0

    @property
    def is_refused(self) -> bool:
        """The drive ended with a refusal."""
        return self.ended.reason is EndReason.REFUSED

    @property
    def is_cut(self) -> bool:
        """The last answer reached the token limit, so that missing content means nothing."""
        answer = self.answers[-1].response
        return answer is not None and answer.stop == "length"

    def before_results(self) -> ConversationLoop:
        """The conversation before the results of its last calls, to give other ones."""
        return replace(self.loop, results=(), limits=Limits(self.loop.turns + 1))

    def text(self, number: int = -1) -> str:
        """Text of an answer."""
        answer = self.answers[number].response
        return "\n".join(p.text for m in (answer.messages if answer else ()) for p in m.parts if isinstance(p, Text))

    def reasoning(self, number: int = -1) -> tuple[Reasoning, ...]:
        """Reasoning of an answer."""
        answer = self.answers[number].response
        return tuple(part for m in (answer.messages if answer else ()) for _, part in m.reasoning())


DriveSteps = Generator[Ask, Exchange, PlayedConversation]


def drive(
    subject: Subject,
    request: HttpRequest,
    title: str,
    run: Callable[[AnswerCall], CallResult],
    *,
    change: Change | None = None,
    limits: Limits = FEW,
) -> DriveSteps:
    """Send a request and continue until the model is done, refuses, or a limit ends it.

    Args:
        title: of the first request; later ones add ": tool results".
        run: returns the result of a call.
        change: replaces requests before they are sent.
    """
    return (yield from follow(subject.loop(request, limits), title, run, change=change))


def follow(
    loop: ConversationLoop, title: str, run: Callable[[AnswerCall], CallResult], *, change: Change | None = None
) -> DriveSteps:
    """Continue a conversation; as ``drive``."""
    answers, calls = list[DecodedExchange](), list[AnsweredCall]()
    while not isinstance(step := loop.step, LoopEnd):
        if isinstance(step, Send):
            sent = change(len(answers), step.request) if change else step.request
            exchange = yield Ask(title if not answers else f"{title}: tool results", sent, loop.protocol)
            loop = loop.after(exchange)
            answers.append(loop.decoded_exchange)
        elif isinstance(step, AnswerCall):
            calls.append(AnsweredCall(step, run(step)))
            loop = loop.after(calls[-1].result)
    return PlayedConversation(tuple(answers) or (loop.decoded_exchange,), tuple(calls), step, loop)


def without_call(subject: Subject, conversation: PlayedConversation) -> Generator[Ask, Exchange, Sample]:
    """Verdict if the first answer contains no call.

    A refusal counts as failure only if the same endpoint accepts a request without tools, which is tried.
    """
    if not conversation.is_refused:
        return unclear(
            "the response reached the token limit before any tool call"
            if conversation.is_cut
            else "the model made no tool call"
        )
    plain = subject.request("Say hello.")
    exchange = yield Ask("the same request without tools", plain, subject.protocol)
    answer = DecodedExchange(0, exchange, subject.protocol).answer
    if answer is None or answer.error:
        return unclear(f"the request without tools is also refused: {conversation.ended.text}")
    return failed(f"refused: {conversation.ended.text}")
