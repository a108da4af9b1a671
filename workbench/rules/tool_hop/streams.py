"""Rules on streams of a tool server that end, and on those that resume them.

The specification, "Resumability and Redelivery" of revision 2025-11-25: an id of an event belongs to one stream of a
session; a client resumes a stream that broke with ``Last-Event-ID``, not before the time that ``retry`` names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench.contracts import Finding
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import RESUMED, STREAM, event_messages, last_event_of, response_message
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import HTTP, INFO, make
from workbench.undo_log import Journal
from workbench.wire import State

_EARLY = 0.05
"""Seconds by which a client may come too early: clocks, and the time that a closed connection needs to be noticed."""


class _EndedStream(NamedTuple):
    """A stream that ended before its client had all of it.

    Attributes:
        exchange: index of its request.
        last: id of its last event.
        at: when it ended, in seconds since the epoch.
        retry: seconds that the server asks the client to wait.
    """

    exchange: int
    last: str
    at: float
    retry: float


class Resumptions:
    """Checks the streams of each session in order.

    Args:
        journal: undo log; removes what was learned from exchanges that are inspected again.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._ids: dict[tuple[str, str], int] = {}
        self._ended: dict[str, tuple[_EndedStream, ...]] = {}

    def check(self, decoded: DecodedExchange, connection: str) -> Iterator[Finding]:
        """Findings on an exchange of a connection, which may open, resume or end a stream."""
        exchange, last = decoded.exchange, last_event_of(decoded.exchange)
        ended, began = self._ended.get(connection, ()), exchange.started_at
        if last is not None:
            yield from self._of_resumption(decoded, connection, last)
            yield from _of_haste(decoded, [one for one in ended if one.last == last])
            self._keep(connection, tuple(one for one in ended if one.last != last))
        elif ended and began is not None and exchange.request and exchange.request.method == STREAM:
            missed = [one for one in ended if one.at <= began]
            yield from (_of_new_stream(decoded, one) for one in missed[-1:])
            self._keep(connection, tuple(one for one in ended if one not in missed))
        yield from self._of_ids(decoded, connection)
        if (over := _ended_stream(decoded, last)) is not None:
            self._keep(connection, (*self._ended.get(connection, ()), over))

    def _keep(self, connection: str, ended: tuple[_EndedStream, ...]) -> None:
        if ended != self._ended.get(connection, ()):
            self._journal.put(self._ended, connection, ended)

    def _of_resumption(self, decoded: DecodedExchange, connection: str, last: str) -> Iterator[Finding]:
        """A request with ``Last-Event-ID``: of a known event, and answered by a stream."""
        response = decoded.exchange.response
        is_known = (connection, last) in self._ids
        if not is_known and (connection, "") in self._ids:
            text = f"Last-Event-ID is {quote(last)}, but no event of this session had this id"
            yield make(decoded, HTTP, REQUEST, "", text)
        elif is_known and response is not None and response.status == 405:
            text = "the server gave ids to its events, but does not let the client resume the stream (405)"
            yield make(decoded, HTTP, RESPONSE, "", text)

    def _of_ids(self, decoded: DecodedExchange, connection: str) -> Iterator[Finding]:
        """Ids of events that an earlier stream had."""
        again: list[tuple[str, int]] = []
        for event in decoded.events:
            if not event.id:
                continue
            first = self._ids.get((connection, event.id), decoded.index)
            if first == decoded.index:
                self._journal.put(self._ids, (connection, event.id), decoded.index)
                self._journal.put(self._ids, (connection, ""), decoded.index)
            elif event.data:
                again.append((event.id, first))
        for id_, first in again[:1]:
            more = f" ({len(again):,} such events)" if len(again) > 1 else ""
            text = f"the event {quote(id_)} was already sent in exchange {first + 1}{more}"
            yield make(decoded, HTTP, RESPONSE, "", text, "an event id must be unique within a session", INFO)


def _of_new_stream(decoded: DecodedExchange, ended: _EndedStream) -> Finding:
    text = (
        f"the client opens a new stream, but the stream of exchange {ended.exchange + 1} had ended after event "
        f"{quote(ended.last)}: without Last-Event-ID the server cannot send what the client missed"
    )
    return make(decoded, HTTP, REQUEST, "", text)


def _of_haste(decoded: DecodedExchange, ended: list[_EndedStream]) -> Iterator[Finding]:
    began = decoded.exchange.started_at
    for one in ended[-1:]:
        if began is not None and began - one.at < one.retry - _EARLY:
            waited, asked = f"{max(0.0, began - one.at):.2f} s", f"{one.retry:.2f} s"
            text = (
                f"the client resumes exchange {one.exchange + 1} after {waited}; the server requires a wait of {asked}"
            )
            yield make(decoded, HTTP, REQUEST, "", text, severity=INFO)


def _ended_stream(decoded: DecodedExchange, last: str | None) -> _EndedStream | None:
    """The stream of an exchange, if it is over, can be resumed, and does not have the response to its request."""
    exchange, events = decoded.exchange, decoded.events
    ids = [event.id for event in events if event.id] or ([last] if last else [])
    if not ids or exchange.state is State.OPEN or exchange.started_at is None or _is_done(decoded):
        return None
    retry = next((event.retry for event in reversed(events) if event.retry is not None), 0)
    return _EndedStream(decoded.index, ids[-1], exchange.started_at + (exchange.duration or 0.0), retry / 1000)


def _is_done(decoded: DecodedExchange) -> bool:
    """A stream that was opened for a response, and has it; or no stream at all."""
    exchange = decoded.exchange
    if exchange.request is None or exchange.response is None or exchange.response.status != 200:
        return True
    if exchange.request.method == STREAM:
        is_resumed = last_event_of(exchange) is not None
        return is_resumed and any("method" not in message for _, message in event_messages(decoded))
    return RESUMED not in exchange.meta and bool(response_message(decoded))
