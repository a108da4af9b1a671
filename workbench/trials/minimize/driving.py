"""Driving a search: send the bodies that it yields, and return the target's verdicts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar

from workbench import protocols
from workbench.errors import WorkbenchError
from workbench.ir import ModelResponse
from workbench.lazy_dataclass import dataclass
from workbench.protocols import DecodedExchange, refusals
from workbench.wire import Exchange

T = TypeVar("T")

_HINT = "check the key and try again later"


class UnansweredError(WorkbenchError):
    """The target gave no verdict on the request."""


@dataclass(frozen=True, slots=True)
class TargetVerdict:
    """A target's response to a body.

    Attributes:
        status: HTTP status.
        response: decoded; None if it cannot be read.
    """

    status: int
    response: ModelResponse | None = None


def target_verdict(exchange: Exchange, protocol: str) -> TargetVerdict:
    """Verdict of a target, from the exchange with it.

    Raises:
        UnansweredError: the exchange contains no verdict.
    """
    response = exchange.response
    if response is None or not response.status:
        raise UnansweredError("the target gave no verdict on the request: no response", hint=_HINT)
    known = protocol if protocol in protocols.protocols() else None
    decoded = DecodedExchange(0, exchange, known)
    refusal = refusals.of_exchange(response.status, response.headers, decoded.response_text)
    if refusal and refusal.is_unjudged:
        what = f"the target answered {response.status}: {refusal.says()}"
        raise UnansweredError(f"the target gave no verdict on the request: {what}", hint=_HINT)
    return TargetVerdict(response.status, decoded.response)


async def drive(
    steps: Generator[bytes | None, TargetVerdict | None, T],
    ask: Callable[[bytes], Awaitable[TargetVerdict]],
    stepped: Callable[[], None] = lambda: None,
) -> T:
    """Run a search to its end.

    Args:
        ask: sends a body to the target.
        stepped: called after every step.

    Raises:
        UnansweredError: or what ``ask`` raises; the search keeps its result so far.
    """
    from asyncio import sleep

    reply: TargetVerdict | None = None
    while True:
        try:
            body = steps.send(reply)
        except StopIteration as done:
            value: T = done.value
            return value
        reply = await ask(body) if body is not None else None
        await sleep(0)
        stepped()
