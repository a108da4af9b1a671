"""Streams of a tool server over HTTP: responses that come on another one than their request opened, and resumption.

The response to a POST comes on the stream of a GET in the older transport; and where a stream of its own broke, or was
closed by the server for the client to poll, on the GET that resumes it with ``Last-Event-ID`` (specification,
"Resumability and Redelivery"; SEP-1699).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from workbench.lazy_dataclass import replace
from workbench.protocols.mcp.http import (
    OVER_HTTP,
    STREAM,
    as_tool_request,
    id_of_post,
    is_over_http,
    messages_of_events,
)
from workbench.wire import Body, Exchange, HttpResponse, SseEvent, Summary, decode_partial, read_stream, urls

RESUMED = "resumed"
"""Key of ``Exchange.meta``: the response came on a stream that resumed that of the request."""

_LAST_EVENT = "last-event-id"
_ACCEPTED = 202
"""Status of a request whose response comes on a stream; servers put a word into the body."""

Key = tuple[str, str]


def events_of(exchange: Exchange) -> Sequence[SseEvent]:
    """Events of the response, if it is a stream; those of another stream are not among them."""
    response = exchange.response
    kind = (response.headers.get("content-type") or "").lower() if response else ""
    if response is None or not kind.startswith("text/event-stream"):
        return ()
    body, _ = decode_partial(response.body)
    return read_stream(body, kind).events


def last_event_of(exchange: Exchange) -> str | None:
    """Id with which a request resumes a stream; None if it resumes none."""
    request = exchange.request
    return request.headers.get(_LAST_EVENT) if request else None


class LaterStreams:
    """Finds the streams by which a client resumed that of a request.

    Args:
        summaries: of every exchange of the session.
        read: reads one of them.
    """

    def __init__(self, summaries: Callable[[], Sequence[Summary]], read: Callable[[int], Exchange]) -> None:
        self._summaries, self._read = summaries, read
        self._indexed = 0
        self._unread: dict[str, list[int]] = {}
        self._by_last: dict[tuple[str, str, str], list[int]] = {}

    def resuming(self, exchange: Exchange, ids: set[str]) -> Iterator[Exchange]:
        """Streams that began after a request and resume it behind one of these ids, or behind one of their own."""
        url, began = str(exchange.meta[OVER_HTTP][1]), exchange.started_at or 0.0
        self._index(url)
        waiting = list(ids)
        while waiting:
            for index in self._by_last.get((url, _stated_session(exchange), waiting.pop()), ()):
                stream = as_tool_request(self._read(index))
                if (stream.started_at or 0.0) >= began:
                    more = {event.id for event in events_of(stream) if event.id} - ids
                    ids |= more
                    waiting += more
                    yield stream

    def _index(self, url: str) -> None:
        """Read the last event ids of the streams of an address that were not read yet: each once, however many ask."""
        rows = self._summaries()
        for row in rows[self._indexed :]:
            if row.method == "GET" and row.started_at is not None:
                self._unread.setdefault(row.url, []).append(row.index)
        self._indexed = len(rows)
        for index in self._unread.pop(url, ()):
            stream = self._read(index)
            if (last := last_event_of(stream)) is not None:
                self._by_last.setdefault((url, _stated_session(stream), last), []).append(index)


class ToolStreams:
    """Responses that came on a separate stream, matched to their requests.

    Args:
        later: finds streams that a session has behind a request; None to know only those that were taken.
    """

    def __init__(self, later: LaterStreams | None = None) -> None:
        self._later = later
        self._responses: dict[Key, bytes] = {}
        self._waiting: dict[Key, int] = {}

    def take(self, exchange: Exchange) -> frozenset[int]:
        """Read a stream that a GET has opened; the places that were given to ``wait`` of what it answers."""
        if exchange.request is None or exchange.request.method != STREAM or exchange.response is None:
            return frozenset()
        body, _ = decode_partial(exchange.response.body)
        keys = []
        for data, message in messages_of_events(read_stream(body, "text/event-stream").events):
            if "method" not in message:
                keys.append((_session(exchange), repr(message.get("id"))))
                self._responses[keys[-1]] = data
        return frozenset(self._waiting.pop(key) for key in keys if key in self._waiting)

    def wait(self, exchange: Exchange, place: int) -> None:
        """Remember where a request is whose response is still to come on a stream."""
        key = self._owed(exchange)
        if key and key not in self._responses:
            self._waiting[key] = place

    def complete(self, exchange: Exchange) -> Exchange:
        """A request whose own answer has no response, with the one that came on a stream."""
        key = self._owed(exchange)
        if key and key not in self._responses and self._later:
            ids = {event.id for event in events_of(exchange) if event.id}
            for stream in self._later.resuming(exchange, ids) if ids else ():
                self.take(stream)
        found = self._responses.get(key) if key else None
        return exchange if found is None else _with_response(exchange, found)

    def _owed(self, exchange: Exchange) -> Key | None:
        """Session and id of a request whose response is still to come on another stream; None for other exchanges."""
        request, response = exchange.request, exchange.response
        if request is None or request.method == STREAM or not is_over_http(exchange):
            return None
        if response is not None and response.status != _ACCEPTED and response.body.text.size and not _may_owe(response):
            return None
        id_, events = id_of_post(request), events_of(exchange)
        is_over = id_ is None or (bool(events) and (not _has_ids(events) or has_response(events, id_)))
        return None if is_over else (_session(exchange), repr(id_))


def _may_owe(response: HttpResponse) -> bool:
    """A look at the bytes: a stream with ids of events, and no response; or nothing at all."""
    body, _ = decode_partial(response.body)
    is_stream = body.startswith(b"id:") or b"\nid:" in body
    return not body.strip() or (is_stream and b'"result"' not in body and b'"error"' not in body)


def _has_ids(events: Sequence[SseEvent]) -> bool:
    return any(event.id for event in events)


def has_response(events: Sequence[SseEvent], id_: object) -> bool:
    """One of the events is a response to the request with this id, or to an unknown one."""
    found = (message for _, message in messages_of_events(events))
    return any("method" not in each and each.get("id", id_) == id_ for each in found)


def _with_response(exchange: Exchange, found: bytes) -> Exchange:
    """The exchange with a response; behind what its own stream had, where it had one."""
    response = exchange.response or HttpResponse(0)
    if _has_ids(events_of(exchange)):
        own, _ = decode_partial(response.body)
        body = Body(own + b"data: " + found + b"\n\n", is_raw=False, note="completed from the stream that resumed it")
        exchange = replace(exchange, meta={**exchange.meta, RESUMED: True})
    else:
        body = Body(found, is_raw=False, note="received on the stream that a GET had opened")
    return replace(exchange, response=replace(response, body=body))


def _stated_session(exchange: Exchange) -> str:
    """Id of the session; empty if the request has none."""
    return (exchange.request.headers.get("mcp-session-id") if exchange.request else None) or ""


def _session(exchange: Exchange) -> str:
    """Id of the session; the host where there is none."""
    return _stated_session(exchange) or urls.split_url(str(exchange.meta.get(OVER_HTTP, ["", ""])[1])).netloc
