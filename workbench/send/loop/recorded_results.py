"""Recorded results of the same call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

from workbench.ir import Message, Text, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange, KnownMessages
from workbench.provenance import scalars
from workbench.send.loop.steps import BUILT_IN, CallResult
from workbench.wire import loads, value_at
from workbench.wire.session import Session, exchanges_of


def call_key(call: ToolCallIR) -> str:
    """Key that is equal for calls of one tool with the same arguments, in any spelling and any process."""
    if call.error is not None:
        arguments: object = (call.raw or "").strip()
    else:
        arguments = sorted((pointer, repr(value)) for pointer, value in scalars(call.input))
    return sha256(repr((call.name, arguments)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """A recorded result.

    Attributes:
        exchange: index of the first exchange whose request contains it.
        call_id: of the call that it answered there; None if it had none.
        is_same_id: it answered the call with this id; else one with the same name and arguments.
        others: number of different results of the same call.
    """

    result: CallResult
    exchange: int
    call_id: str | None = None
    is_same_id: bool = False
    others: int = 0


class RecordedResults:
    """The results in a session, read once on first use. ``protocol`` as for ``Inspector``."""

    def __init__(self, session: Session, protocol: str | None = None) -> None:
        self._session, self._protocol = session, protocol

    def of(self, call: ToolCallIR, exchange: int | None = None) -> RecordedResult | None:
        """The result of the same call: with the same id and name, else with the same name and arguments.

        Of several, the latest one before the exchange counts, else the first one after it. For a call without an id it
        is
        the other way round: the next result is its own.

        Args:
            exchange: index of the exchange with the call; None if it is after the end of the session.
        """
        key = call_key(call)
        own = {id for id in (call.id, call.extra.get("id")) if id}  # clients may use the id of the call's item
        by_id = [r for k, name, r in self._results if r.call_id in own and name == call.name]
        same = [r for k, _, r in self._results if k == key]
        exact = [r for r in by_id if r in same] or by_id
        found = exact or same
        if not found:
            return None
        before = [r for r in found if exchange is None or r.exchange <= exchange]
        after = [r for r in found if r not in before] if call.id is None else []
        best = after[0] if after else before[-1] if before else found[0]
        others = len({repr(r.result) for r in found} - {repr(best.result)})
        return RecordedResult(best.result, best.exchange, best.call_id, bool(exact), others)

    @cached_property
    def _results(self) -> list[tuple[str, str | None, RecordedResult]]:
        """(call key, tool name, result), without duplicates, in order."""
        found: dict[Any, tuple[str, str | None, RecordedResult]] = {}
        known, answered = KnownMessages(), dict[str, ToolCallIR]()
        for index, exchange in enumerate(exchanges_of(self._session)):
            decoded = DecodedExchange(index, exchange, self._protocol, known=known)
            for call, result, message in _pairs(decoded, answered):
                reply, key = _result(result), call_key(call)
                if call.format == BUILT_IN:
                    reply = replace(reply, element=value_at(loads(decoded.request_text), message.pointer))
                found.setdefault((key, call.id, repr(reply)), (key, call.name, RecordedResult(reply, index, call.id)))
            answered |= {c.id: c for m in decoded.messages(RESPONSE) for _, c in m.tool_calls() if c.id}
        return list(found.values())


def _pairs(
    decoded: DecodedExchange, answered: Mapping[str, ToolCallIR]
) -> Iterator[tuple[ToolCallIR, ToolResultIR, Message]]:
    """Results of a request, each with its call (by id, also of an earlier answer; else by name) and its message."""
    by_id, waiting = dict(answered), list[ToolCallIR]()
    for message in decoded.messages(REQUEST):
        for _, call in message.tool_calls():
            waiting.append(call)
            if call.id:
                by_id[call.id] = call
        for _, result in message.tool_results():
            of = by_id.get(result.tool_call_id) if result.tool_call_id else None
            of = of or next((c for c in waiting if not c.id and result.name in (None, c.name)), None)
            if of is not None:
                waiting = [c for c in waiting if c is not of]
                yield of, result, message


def _result(result: ToolResultIR) -> CallResult:
    texts = [part.text for part in result.content if isinstance(part, Text)]
    is_plain = len(texts) == len(result.content)
    return CallResult("\n".join(texts) if is_plain else "", bool(result.is_error), () if is_plain else result.content)
