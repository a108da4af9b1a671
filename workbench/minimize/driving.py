"""Running a search against a target: what it yields is sent, and what came back is what it is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import TypeVar

from workbench import adapters
from workbench.decode import Decoded
from workbench.errors import WorkbenchError
from workbench.ir import ModelResponse
from workbench.wire.exchange import Exchange

T = TypeVar("T")

NO_ANSWER = frozenset((401, 402, 403, 407, 408, 429, 502, 503, 504, 529))
"""Statuses that say nothing about the request: whoever asks has no key, too many asked, nobody is there."""


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
    status = exchange.response.status if exchange.response else 0
    if not status or status in NO_ANSWER:
        what = f"it answered {status}" if status else "no answer came"
        raise Unanswered(f"the target did not judge the request: {what}", hint="check the key and try again later")
    known = protocol if protocol in adapters.protocols() else None
    return Asked(status, Decoded(0, exchange, known).response)


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
