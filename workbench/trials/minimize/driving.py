"""Running a search against a target: what it yields is sent, and what came back is what it is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

from workbench import protocols
from workbench.errors import WorkbenchError
from workbench.ir import ModelResponse
from workbench.protocols import refusals
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Exchange

T = TypeVar("T")

_HINT = "check the key and try again later"


class Unanswered(WorkbenchError):
    """The target did not judge the request."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a target made of a body.

    Attributes:
        status: HTTP status.
        response: the answer, None where it cannot be read.
    """

    status: int
    response: ModelResponse | None = None


def outcome(exchange: Exchange, protocol: str) -> Asked:
    """What an exchange with a target says of its request.

    Raises:
        Unanswered: it says nothing of it.
    """
    response = exchange.response
    if response is None or not response.status:
        raise Unanswered("the target did not judge the request: no answer came", hint=_HINT)
    known = protocol if protocol in protocols.protocols() else None
    decoded = DecodedExchange(0, exchange, known)
    refusal = refusals.of_exchange(response.status, response.headers, decoded.response_text)
    if refusal and refusal.is_unjudged:
        what = f"it answered {response.status}: {refusal.says()}"
        raise Unanswered(f"the target did not judge the request: {what}", hint=_HINT)
    return Asked(response.status, decoded.response)


async def drive(
    steps: Generator[bytes | None, Asked | None, T],
    ask: Callable[[bytes], Awaitable[Asked]],
    stepped: Callable[[], None] = lambda: None,
) -> T:
    """Run a search to its end.

    Args:
        ask: has the target judge a body.
        stepped: is told of every step.

    Raises:
        Unanswered: and whatever ``ask`` raises; the search then keeps what it has.
    """
    from asyncio import sleep

    reply: Asked | None = None
    while True:
        try:
            wanted = steps.send(reply)
        except StopIteration as done:
            value: T = done.value
            return value
        reply = await ask(wanted) if wanted is not None else None
        await sleep(0)
        stepped()
