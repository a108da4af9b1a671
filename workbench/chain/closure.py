"""Closure: whether every call is answered once, by id, where the protocol requires it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property

from workbench.chain._call_lines import CallLine, CallState, Flaw, first_ref, lines_of
from workbench.chain._pairing import REMEMBERED, REQUEST, RESPONSE, pairing_terms, read
from workbench.chain._settled_calls import SettledCalls
from workbench.ir import Message, ModelRequest, ModelResponse, NodeRef
from workbench.lazy_dataclass import dataclass, field
from workbench.protocols import HistoryPrefix
from workbench.terms import ClosureTerms

__all__ = ["CallLine", "CallState", "Closure", "Flaw", "NodeRef", "derive"]


@dataclass(frozen=True)
class Closure:
    """Every call and every result of a request's history and of its response, in wire order.

    Attributes:
        settled: number of messages at the beginning whose lines are those of the request that this one continues.
    """

    lines: tuple[CallLine, ...] = ()
    _known_flawed: tuple[CallLine, ...] | None = field(default=None, repr=False, compare=False)
    settled: int = field(default=0, repr=False, compare=False)

    @cached_property
    def flawed_lines(self) -> Sequence[CallLine]:
        """The lines that are not simply closed: open calls, orphans, and calls with a flaw."""
        known = self._known_flawed
        return [line for line in self.lines if line.is_flawed] if known is None else known

    def lines_from(self, message: int) -> Sequence[CallLine]:
        """The lines that begin in a message of the request, after it, or in the response."""
        return self.lines[_first_in(self.lines, message) :] if message else self.lines

    def flawed_lines_from(self, message: int) -> Sequence[CallLine]:
        """The same lines, without those that are simply closed."""
        return self.flawed_lines[_first_in(self.flawed_lines, message) :] if message else self.flawed_lines

    def line_of(self, call: NodeRef) -> CallLine | None:
        """The line of a call."""
        at = bisect_left(self.lines, call, key=first_ref)
        return next((line for line in self.lines[at : at + 2] if line.call == call), None)

    def open_in(self, message: int) -> Sequence[str]:
        """Ids of the calls in a message of the request for which a client still has to send results."""
        flawed = self.flawed_lines
        here = flawed[_first_in(flawed, message) : _first_in(flawed, message + 1)]
        is_open = (line for line in here if line.state is not CallState.CLOSED and not line.is_server)
        return [line.id for line in is_open if line.id and line.call and line.call.side == REQUEST]

    @property
    def closed_count(self) -> int:
        """Number of closed calls."""
        return sum(line.state is CallState.CLOSED for line in self.lines)

    @property
    def calls(self) -> int:
        """Number of calls, including those that the provider runs."""
        return sum(line.call is not None or line.is_remembered for line in self.lines)


def _first_in(lines: Sequence[CallLine], message: int) -> int:
    """Number of the lines that begin before a message of the request."""
    return bisect_left(lines, NodeRef(REQUEST, message, 0), key=first_ref)


def derive(
    request: ModelRequest | None,
    response: ModelResponse | None,
    terms: ClosureTerms,
    remembered: tuple[Message, ...] = (),
    *,
    is_continued: bool = True,
) -> Closure:
    """Pair every call of a history and its response with its results.

    Args:
        request: None if it was not recorded.
        response: None if it was not recorded; its calls are always pending.
        terms: the contract's terms on where results have to be, and where ids have to be unique.
        remembered: messages of the response that ``request.previous_id`` names, if it is known: the server has its
            calls, and the request answers them.
        is_continued: later requests may begin with the same messages, so that it is noted which of them are settled.
    """
    messages = request.messages if request else ()
    answer = response.messages if response else ()
    itemized = bool((request and request.itemized) or (response and response.itemized))
    is_held = bool(request and request.previous_id)
    if isinstance(messages, HistoryPrefix) and not is_held and not remembered:
        settled = messages.fold(SettledCalls, terms, itemized)
        return Closure(*settled.lines(messages, answer, is_continued=is_continued))
    sides = ((REMEMBERED, remembered), (REQUEST, messages), (RESPONSE, answer))
    history = read(sides, pairing_terms(terms, itemized=itemized))
    return Closure(tuple(lines_of(history, terms, is_held=is_held and not remembered)))
