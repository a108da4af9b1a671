"""Links between the tool results of a model's requests and the requests to tool servers that they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from workbench.chain.passed_results import LostPart, lost_parts, text_for_model
from workbench.chain.waiting_outcomes import WaitingOutcomes
from workbench.fingerprint import ANSWERING
from workbench.ir import Media, Message, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST
from workbench.protocols.mcp import ToolOutcome, argument_key, tools_in, tools_meant
from workbench.undo_log import Journal

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange

MOST_WAITING, MOST_BYTES = 1 << 15, 1 << 27
"""Limits of requests to tool servers that wait for the tool result with their outcome, and of the bytes of their
responses; then the oldest is dropped."""

_NEAR = 256
"""Outcomes before a request to a tool server among which that of its gateway is."""

_EARLIER = 256
"""Number of messages before the last answer in which results are looked for: earlier ones were in earlier requests."""

MOST_KNOWN = 16
"""Number of known results in a row after which the search ends: an earlier request had those before them, too."""


@dataclass(frozen=True, slots=True)
class ToolLink:
    """A tool result in a request to a model, and the request to a tool server that carried out its call.

    Attributes:
        model_exchange: index of the first exchange whose request has the result.
        pointer: JSON pointer of the result in that request.
        call_id: id of the model's call.
        exchange: index of the ``tools/call``.
        server, tool: names of the tool server and its tool.
        is_stated: true if the client states which call it carried out; else the link is a guess.
        lost: parts of the server's result that did not reach the model.
    """

    model_exchange: int
    pointer: str
    call_id: str | None
    exchange: int
    server: str
    tool: str
    is_stated: bool
    lost: tuple[LostPart, ...] = ()

    @property
    def how(self) -> str:
        """The key by which call and request were matched, in words."""
        return (
            "by the tool call id that the client sent"
            if self.is_stated
            else "by tool name and arguments, which is a guess"
        )


class RequestToolResult(NamedTuple):
    """A result in a request.

    Attributes:
        pointer: JSON pointer of the result.
        has_media: true if an image or a file is in it or follows it.
        is_newest: true if no message of the model follows it.
    """

    pointer: str
    result: ToolResultIR
    has_media: bool
    is_newest: bool


class ToolLinks:
    """Links each tool result to the outcome of its ``tools/call``, in the order of the session.

    Args:
        journal: undo log; removes what was learned from exchanges that are inspected again.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._outcomes = WaitingOutcomes(journal)
        self._known: dict[str, float] = {}  # when the last of all outcomes ended, and the bytes of those that wait

    @property
    def waiting(self) -> tuple[ToolOutcome, ...]:
        """Outcomes that no tool result contains yet, in their order."""
        return tuple(self._outcomes)

    def take(self, outcome: ToolOutcome) -> None:
        """Remember the outcome of a ``tools/call`` until a request has it as a tool result."""
        if outcome.is_interim:
            return
        self._drop(outcome.exchange)
        self._outcomes.put(outcome)
        self._add(outcome.size)
        while len(self._outcomes) > MOST_WAITING or (len(self._outcomes) > 1 and self._known[_BYTES] > MOST_BYTES):
            self._drop(next(iter(self._outcomes)).exchange)
        if outcome.ended is not None and outcome.ended > self._known.get(_ENDED, 0.0):
            self._journal.put(self._known, _ENDED, outcome.ended)

    def _drop(self, exchange: int) -> None:
        found = self._outcomes.pop(exchange)
        if found is not None:
            self._add(-found.size)

    def _add(self, size: int) -> None:
        self._journal.put(self._known, _BYTES, self._known.get(_BYTES, 0.0) + size)

    def passer_of(self, outcome: ToolOutcome, *, is_alone: bool = False) -> ToolOutcome | None:
        """The request to a gateway that forwarded this one, begun earlier and ended later.

        It is the same call, or names it.

        Args:
            is_alone: no call of a model may be meant: then it is also the only one of that tool with arguments of the
                same names.
        """
        if outcome.ended is None or outcome.ended > self._known.get(_ENDED, 0.0):
            return None
        others = [one for one in islice(self._outcomes.from_last(), _NEAR) if outcome.is_within(one)]
        for one in others:
            if one.is_same_call(outcome) or outcome.is_passed_on_by(one):
                return one
        alike = [one for one in others if is_alone and one.has_members_of(outcome)]
        return alike[0] if len(alike) == 1 else None

    def links(self, decoded: DecodedExchange) -> tuple[ToolLink, ...]:
        """Links of the results that are new in a request, the last result first."""
        return tuple(self._links(decoded)) if self._outcomes else ()

    def _links(self, decoded: DecodedExchange) -> Iterator[ToolLink]:
        newest = newest_messages(decoded.messages(REQUEST))
        calls = _NewestCalls(newest)
        known = 0  # results in a row that an earlier request had
        for passed in request_tool_results(newest):
            if not self._outcomes or known > MOST_KNOWN:
                return  # what is before them was told in an earlier request
            known = 0 if passed.is_newest else known + 1
            id_ = passed.result.tool_call_id
            outcome = self._outcomes.of_id(id_) if id_ else None
            if outcome is None:
                outcome = self._outcome_of(passed, calls.of(id_))
            if outcome:
                known = 0
                self._drop(outcome.exchange)
                yield _link(decoded.index, passed, outcome)

    def _outcome_of(self, tool_result: RequestToolResult, call: ToolCallIR | None) -> ToolOutcome | None:
        """The outcome with the same arguments, else, for a result behind the last answer, the only one of that tool.

        Only those whose client does not state the id are meant.
        """
        name, arguments = (call.name, call.input) if call else (tool_result.result.name, None)
        tools, text = tools_meant(name, arguments), text_for_model(tool_result.result)
        equal = _best_of(self._outcomes.of_tools(tools, argument_key(arguments)), text)
        if equal or call is None or not tool_result.is_newest:
            return equal
        given = arguments.values() if isinstance(arguments, dict) and any(tools_in(arguments)) else ()
        inner = [value for value in given if isinstance(value, dict)] or [{}]
        alike = (one for value in inner for one in self._outcomes.of_tools(tools, argument_key(value)))
        equal = _best_of((one for one in alike if one.is_of(call.id, name, arguments)), text)
        return equal or _only(self._outcomes.of_tools(tools))


class _NewestCalls:
    """Calls of the model in messages, read from the last one on, as far as they are asked for."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._unread = reversed(messages)
        self._calls: dict[str | None, ToolCallIR] = {}

    def of(self, id_: str | None) -> ToolCallIR | None:
        """The last call with an id; None if there is none."""
        while id_ not in self._calls and (message := next(self._unread, None)):
            for _, call in message.tool_calls():
                self._calls.setdefault(call.id, call)
        return self._calls.get(id_)


_ENDED, _BYTES = "ended", "bytes"


def _link(index: int, passed: RequestToolResult, outcome: ToolOutcome) -> ToolLink:
    """The link of a result in the request of an exchange."""
    result = outcome.result if outcome.state == "answered" else {}
    lost_content = lost_parts(result, text_for_model(passed.result), has_media=passed.has_media)
    stated = bool(outcome.call_id)
    where = (index, passed.pointer, passed.result.tool_call_id)
    return ToolLink(*where, outcome.exchange, outcome.server, outcome.tool, stated, tuple(lost_content))


def newest_messages(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages behind the last answer, however many, and some before it."""
    first = len(messages)
    while first and messages[first - 1].role not in ANSWERING:
        first -= 1
    return messages[max(0, first - _EARLIER) :]


def _best_of(equal: Iterator[ToolOutcome], text: str) -> ToolOutcome | None:
    """Of equal requests, the last one first, the first whose result the model got, else the first; None of none."""
    first, second = next(equal, None), next(equal, None)
    if first is None or second is None:
        return first
    told = (one for one in chain((first, second), equal) if not any(lost_parts(one.result, text, has_media=True)))
    return next(told, first)


def _only(outcomes: Iterator[ToolOutcome]) -> ToolOutcome | None:
    """The outcome if there is one alone."""
    first, second = next(outcomes, None), next(outcomes, None)
    return first if second is None else None


def request_tool_results(messages: Sequence[Message]) -> Iterator[RequestToolResult]:
    """Tool results of the client in messages of a request, the last one first."""
    has_media, is_newest = False, True
    for message in reversed(messages):
        results = [part for part in message.parts if isinstance(part, ToolResultIR) and not part.is_server]
        parts = (*message.parts, *(inner for result in results for inner in result.content))
        has_media = has_media or any(isinstance(part, Media) for part in parts)
        for result in reversed(results):
            yield RequestToolResult(message.absolute(result), result, has_media, is_newest)
        is_newest = is_newest and message.role not in ANSWERING
