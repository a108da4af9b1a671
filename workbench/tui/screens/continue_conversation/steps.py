"""Work on a continued conversation in the inspector's thread: finds the pending step, judges what was received."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.lazy_dataclass import replace
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
from workbench.tui.models.continuing import Offer, Pending, StepRecord
from workbench.views import count

if TYPE_CHECKING:
    from workbench.contracts import Judgement
    from workbench.probes.profiles import ProfileChoice
    from workbench.rules import Inspector
    from workbench.send import Target
    from workbench.wire import Exchange
    from workbench.wire.session import Session

NOT_RUN = CallResult("this call was not run", is_error=True)
"""Tool result for a call without a recorded one."""


class StepSettings(NamedTuple):
    """Target and corrections of the steps.

    Attributes:
        target: receiver of the requests.
        choice: the capability profile that applies, and the corrections decided because of it.
        earlier: exchanges before, to restore lost reasoning from; empty unless a correction needs them.
    """

    target: Target
    choice: ProfileChoice
    earlier: tuple[Exchange, ...] = ()


def find_settings(
    inspector: Inspector, loop: ConversationLoop, target: Target, index: int, off: Collection[str]
) -> StepSettings:
    """Look up the capability profile of the target, and decide the corrections.

    Args:
        index: index of the continued exchange.
        off: names of the corrections that are switched off.
    """
    from workbench.probes.profiles import earlier
    from workbench.tui.preflight import choose_contract

    choice = choose_contract(target, loop.decoded_exchange, off)
    return StepSettings(target, choice, tuple(earlier(inspector, index, choice.decided)))


def apply_corrections(loop: ConversationLoop, choice: ProfileChoice, limits: Limits | None) -> ConversationLoop:
    """Loop with these corrections and no earlier ones.

    Args:
        limits: limits set by the person; None for the default and measured ones.
    """
    from workbench.probes.profiles import correct_loop

    policy = replace(AS_IT_COMES, schemas=loop.policy.schemas)  # as the tools were declared at first
    corrected = correct_loop(replace(loop, policy=policy, parser="", limits=DEFAULT_LIMITS), choice.decided)
    return corrected.with_limits(limits) if limits else corrected


def pending(loop: ConversationLoop, settings: StepSettings, recording: RecordedResults, index: int) -> Pending:
    """Pending step of a loop: a request as it would be sent, or a call with the tool results on offer.

    Args:
        index: index of the continued exchange.
    """
    step = loop.step
    if isinstance(step, Send):
        return leaving(step, settings)
    if isinstance(step, LoopEnd):
        return Pending(step)
    offers = [Offer(NOT_RUN, "the call was not run")]
    if step.refusal:
        offers.insert(0, Offer(refusal_result(step.refusal), "an error that explains why the call cannot be run"))
    found = recording.of(step.call, index)
    if found:
        how = "the same id" if found.is_same_id else "the same arguments"
        verb = "differs" if found.others == 1 else "differ"
        others = f"; {count(found.others, 'other recorded result')} {verb}" if found.others else ""
        recorded = Offer(found.result, f"as recorded in exchange {found.exchange + 1} ({how}{others})")
        offers.insert(1 if step.refusal else 0, recorded)
    return Pending(step, tuple(offers) if step.refusal or found else ())


def leaving(step: Send, settings: StepSettings) -> Pending:
    """A request as it would be sent; the reason if it cannot be."""
    from workbench.errors import WorkbenchError
    from workbench.probes.profiles import correct_send

    try:
        return Pending(step, leaving=correct_send(step, settings.target, settings.choice.decided, settings.earlier))
    except WorkbenchError as error:
        return Pending(step, why=str(error))


def simulator_history(inspector: Inspector, index: int, exchanges: Sequence[Exchange]) -> Session:
    """Session that simulators know: the conversation before an exchange, then what was sent since.

    Args:
        exchanges: the exchange itself, and those sent since.
    """
    from workbench.wire.session import MemorySession

    here = inspector.rows[index].conversation
    earlier = (row.index for row in inspector.rows[:index] if row.conversation == here is not None)
    answered = (exchange for exchange in exchanges if exchange.response)
    return MemorySession("continued", (*(inspector.session.exchange(n) for n in earlier), *answered))


def judge_last(exchanges: Sequence[Exchange], label: str) -> Judgement | None:
    """Judgement of the last exchange, read after the others; None if its protocol is unknown."""
    from workbench.rules import Inspector, judge
    from workbench.wire.session import MemorySession

    inspector = Inspector(MemorySession("continued", tuple(exchanges)), label or None)
    row = inspector.run().rows[-1]
    return judge(row.findings, inspector.detail(row.index).contract) if row.protocol else None


def title(records: Sequence[StepRecord]) -> str:
    """Title of a request: the tool results that it adds."""
    results = 0
    for each in reversed(records):
        if not isinstance(each.pending.step, AnswerCall):
            break
        results += 1
    return f"continued with {results} tool result{'s' * (results != 1)}" if results else "continued"
