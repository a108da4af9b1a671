"""Closure: every call answered once, by id, in the place the protocol wants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from workbench.chain._call_lines import CallLine, CallState, Flaw, lines_of
from workbench.chain._pairing import REMEMBERED, REQUEST, RESPONSE, read
from workbench.chain._settled_calls import SettledCalls
from workbench.ir import Message, ModelRequest, ModelResponse, NodeRef
from workbench.protocols import HistoryPrefix
from workbench.terms import ClosureTerms

__all__ = ["CallLine", "CallState", "Closure", "Flaw", "NodeRef", "derive"]


@dataclass(frozen=True)
class Closure:
    """Every call and every result of a request's history and of its answer, in wire order."""

    lines: tuple[CallLine, ...] = ()
    _known_flawed: tuple[CallLine, ...] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def flawed_lines(self) -> Sequence[CallLine]:
        """The lines that are not simply closed: open calls, orphans, and calls with a flaw."""
        known = self._known_flawed
        return [line for line in self.lines if line.is_flawed] if known is None else known

    @cached_property
    def open_by_turn(self) -> Mapping[int, Sequence[str]]:
        """Message of the request → ids of the calls in it that a client still has to send results for."""
        found = defaultdict[int, list[str]](list)
        for line in self.flawed_lines:
            is_open = line.state is not CallState.CLOSED and not line.is_server
            if is_open and line.id and line.call and line.call.side == REQUEST:
                found[line.call.message].append(line.id)
        return found

    @property
    def closed_count(self) -> int:
        """Number of closed calls."""
        return sum(line.state is CallState.CLOSED for line in self.lines)

    @property
    def calls(self) -> int:
        """Number of calls, those that the provider runs included."""
        return sum(line.call is not None or line.is_remembered for line in self.lines)


def derive(
    request: ModelRequest | None,
    response: ModelResponse | None,
    terms: ClosureTerms,
    remembered: tuple[Message, ...] = (),
) -> Closure:
    """Pair every call of a history and its answer with its results.

    Args:
        request: None where it was not recorded.
        response: None where it was not recorded; its calls are pending by nature.
        terms: where results have to be, and how far ids have to be unique.
        remembered: messages of the answer that ``request.previous_id`` names, where it is known: its calls are held by
            the server and the request answers them.
    """
    messages = request.messages if request else ()
    answer = response.messages if response else ()
    itemized = bool((request and request.itemized) or (response and response.itemized))
    is_held = bool(request and request.previous_id)
    if isinstance(messages, HistoryPrefix) and not is_held and not remembered:
        return Closure(*messages.fold(SettledCalls, terms, itemized).lines(messages, answer))
    sides = ((REMEMBERED, remembered), (REQUEST, messages), (RESPONSE, answer))
    history = read(sides, terms, itemized=itemized)
    return Closure(tuple(lines_of(history, terms, is_held=is_held and not remembered)))
