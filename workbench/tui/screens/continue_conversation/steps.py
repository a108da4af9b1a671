"""Steps of a continued conversation, as the inspector's thread sees them: what is next, and what came of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from workbench.send.loop import (
    AS_IT_COMES,
    DEFAULT_LIMITS,
    AnswerCall,
    CallResult,
    ConversationLoop,
    Limits,
    LoopEnd,
    RecordedResults,
    Send,
    refusal_result,
)
from workbench.tui.models.continuing import Done, Offer, Pending

if TYPE_CHECKING:
    from workbench.contracts import Judgement
    from workbench.probes.profiles import ProfileChoice
    from workbench.rules import Inspector
    from workbench.send import Target
    from workbench.wire import Exchange
    from workbench.wire.session import Session

NOT_RUN = CallResult("this call was not carried out", is_error=True)
"""What a call is answered by where nobody knows better."""


class StepSettings(NamedTuple):
    """What steps go by.

    Attributes:
        target: where requests go.
        choice: the measured profile that holds, and what is corrected because of it.
        earlier: what came before, where reasoning that was lost is to be put back.
    """

    target: Target
    choice: ProfileChoice
    earlier: tuple[Exchange, ...] = ()


def find_settings(
    inspector: Inspector, loop: ConversationLoop, target: Target, index: int, off: Collection[str]
) -> StepSettings:
    """What steps go by, the profile looked up anew.

    Args:
        index: of the exchange that is continued.
        off: names of the corrections that are switched off.
    """
    from workbench.probes.profiles import earlier
    from workbench.tui.preflight import chosen

    choice = chosen(target, loop.decoded, off)
    return StepSettings(target, choice, tuple(earlier(inspector, index, choice.decided)))


def apply_corrections(loop: ConversationLoop, choice: ProfileChoice, limits: Limits | None) -> ConversationLoop:
    """A loop that goes by these corrections alone, whatever it went by before.

    Args:
        limits: that people set, None for the usual ones and what was measured.
    """
    from workbench.probes.profiles import correct_loop

    policy = replace(AS_IT_COMES, schemas=loop.policy.schemas)  # what tools were declared as at first
    made = correct_loop(replace(loop, policy=policy, parser="", limits=DEFAULT_LIMITS), choice.decided)
    return made.with_limits(limits) if limits else made


def pending(loop: ConversationLoop, course: StepSettings, recording: RecordedResults, index: int) -> Pending:
    """The next step of a loop, with the results at hand for a call, and what would go to the target.

    Args:
        index: of the exchange that is continued.
    """
    step = loop.step
    if isinstance(step, Send):
        return leaving(step, course)
    if isinstance(step, LoopEnd):
        return Pending(step)
    offers = [Offer(NOT_RUN, "that it was not carried out")]
    if step.refusal:
        offers.insert(0, Offer(refusal_result(step.refusal), "the error that says why it cannot be run"))
    found = recording.of(step.call, index)
    if found:
        how = "the same id" if found.is_same_id else "the same arguments"
        others = f", {found.others} others differ" if found.others else ""
        told = Offer(found.result, f"as recorded in exchange {found.exchange + 1} ({how}{others})")
        offers.insert(1 if step.refusal else 0, told)
    return Pending(step, tuple(offers) if step.refusal or found else ())


def leaving(step: Send, course: StepSettings) -> Pending:
    """A request, and what would go to the target; or why nothing can."""
    from workbench.errors import WorkbenchError
    from workbench.probes.profiles import correct_send

    try:
        return Pending(step, leaving=correct_send(step, course.target, course.choice.decided, course.earlier))
    except WorkbenchError as error:
        return Pending(step, why=str(error))


def simulator_history(inspector: Inspector, index: int, exchanges: Sequence[Exchange]) -> Session:
    """What simulators take as given: the conversation of an exchange before it, and what it became.

    Args:
        exchanges: the exchange itself, and what was sent since.
    """
    from workbench.wire.session import MemorySession

    here = inspector.rows[index].conversation
    earlier = (row.index for row in inspector.rows[:index] if row.conversation == here is not None)
    answered = (exchange for exchange in exchanges if exchange.response)
    return MemorySession("continued", (*(inspector.session.exchange(n) for n in earlier), *answered))


def judge_last(exchanges: Sequence[Exchange], label: str) -> Judgement | None:
    """What the contract makes of the last of these exchanges, after the others."""
    from workbench.rules import Inspector, judge
    from workbench.wire.session import MemorySession

    inspector = Inspector(MemorySession("continued", tuple(exchanges)), label or None)
    row = inspector.run().rows[-1]
    return judge(row.findings, inspector.detail(row.index).contract) if row.protocol else None


def title(done: Sequence[Done]) -> str:
    """What a request adds to the one before, in one line."""
    results = 0
    for each in reversed(done):
        if not isinstance(each.pending.step, AnswerCall):
            break
        results += 1
    return f"continued with the answer and {results} result{'s' * (results != 1)}" if results else "continued"
