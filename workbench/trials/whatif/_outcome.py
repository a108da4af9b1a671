"""Sending variants to targets, and their outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from workbench.contracts import Finding, Severity, Verdict
from workbench.edits.variants import RequestVariant
from workbench.errors import WorkbenchError
from workbench.lazy_dataclass import dataclass
from workbench.protocols import RESPONSE, DecodedExchange, refusals
from workbench.rules import CheckedVariant, Inspector
from workbench.wire import Exchange

if TYPE_CHECKING:
    from workbench.send import Outgoing, Sender, Target

Done = TypeVar("Done")

AT_ONCE = 4
"""Concurrent requests: providers limit more, and more bring nothing on one machine."""


@dataclass(frozen=True, slots=True)
class VariantOutcome:
    """Outcome of one variant at one target.

    Attributes:
        verdict: refuses if the target did; suspicious if it answered and the rules find a break in the request or the
            response; unknown if it was not sent or not answered.
        exchange: request and response; None if nothing was sent.
        text: the target's error text; the finish reason; or the reason why there is no response.
        finding: the worst one on the request or the response, under the target's contract.
        calls: names of the tool calls in the response.
        losses: number of conversion losses.
        decoded: the exchange, decoded; None if nothing was sent.
    """

    variant: RequestVariant
    target: Target
    verdict: Verdict
    text: str = ""
    exchange: Exchange | None = None
    finding: Finding | None = None
    calls: tuple[str, ...] = ()
    losses: int = 0
    decoded: DecodedExchange | None = None

    @property
    def status(self) -> int | None:
        """The HTTP status; None if there was no response."""
        response = self.exchange.response if self.exchange else None
        return response.status or None if response else None


class InspectorAccess(Protocol):
    """Runs a job with the inspector: at once, or in the thread that owns it."""

    async def __call__(self, job: Callable[[Inspector], Done]) -> Done: ...


async def run(
    ask: InspectorAccess,
    index: int,
    variants: Sequence[RequestVariant],
    targets: Sequence[Target],
    sender: Sender,
    parent: str | None = None,
) -> AsyncIterator[VariantOutcome]:
    """Send every variant to every target; yields outcomes as they complete.

    Args:
        ask: reaches the inspector of the session.
        index: of the exchange whose place the variants take.
        parent: id of the exchange that is sent again.

    Closing the generator cancels pending requests.
    """
    gate = asyncio.Semaphore(AT_ONCE)
    tasks = [
        asyncio.ensure_future(_send_one(ask, index, v, t, sender, parent, gate)) for v in variants for t in targets
    ]
    try:
        for done in asyncio.as_completed(tasks):
            yield await done
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _send_one(
    ask: InspectorAccess,
    index: int,
    variant: RequestVariant,
    target: Target,
    sender: Sender,
    parent: str | None,
    gate: asyncio.Semaphore,
) -> VariantOutcome:
    from workbench.send import prepare

    request = variant.request
    if request is None:
        return VariantOutcome(variant, target, Verdict.UNKNOWN, variant.why_not)

    def outgoing_of(inspector: Inspector) -> Outgoing:
        decoded = inspector.trial(index, request).decoded
        return prepare(decoded, target, protocol=variant.protocol, stream=variant.stream)

    async with gate:
        try:
            outgoing = await ask(outgoing_of)
            exchange = await sender.send(outgoing, parent=parent)
            return await ask(partial(_outcome, variant, outgoing, exchange, index))
        except (WorkbenchError, OSError) as error:
            return VariantOutcome(variant, target, Verdict.UNKNOWN, str(error))


def _outcome(
    variant: RequestVariant, outgoing: Outgoing, exchange: Exchange, index: int, inspector: Inspector
) -> VariantOutcome:
    """Outcome of a finished exchange."""
    request, response = exchange.request, exchange.response
    assert request
    label, protocol = outgoing.target.contract, outgoing.protocol or None
    trial = inspector.trial(index, request, provider=label, protocol=protocol, response=response)
    answer, losses = trial.decoded.response, len(outgoing.losses)
    calls = tuple(call.name or "" for m in (answer.messages if answer else ()) for _, call in m.tool_calls())
    verdict, finding = _verdict(trial, response.status if response else 0)
    words = _text(trial, exchange)
    return VariantOutcome(variant, outgoing.target, verdict, words, exchange, finding, calls, losses, trial.decoded)


def _verdict(trial: CheckedVariant, status: int) -> tuple[Verdict, Finding | None]:
    """The target's verdict first; findings count if it did not refuse."""
    judgement = trial.judgement
    if not 200 <= status < 300:
        return (Verdict.REFUSES if _is_refused(trial, status) else Verdict.UNKNOWN), judgement.finding
    wrong = [f for f in trial.findings if f.severity is Severity.ERROR and f.side == RESPONSE]
    finding = judgement.finding or next(iter(wrong), None)
    is_broken = wrong or judgement.verdict in (Verdict.REFUSES, Verdict.SUSPICIOUS)
    return (Verdict.SUSPICIOUS if is_broken else Verdict.ACCEPTS), finding


def _is_refused(trial: CheckedVariant, status: int) -> bool:
    """The target refused the request itself."""
    http = trial.decoded.exchange.response
    refusal = refusals.of_exchange(status, http.headers, trial.decoded.response_text) if http else None
    is_unjudged = refusal is not None and refusal.is_unjudged and refusal.kind.at != "model"
    return 400 <= status < 500 and not is_unjudged


def _text(trial: CheckedVariant, exchange: Exchange) -> str:
    answer = trial.decoded.response
    if answer and answer.error:
        return answer.error.message
    return (answer.finish_reason if answer else None) or exchange.note
