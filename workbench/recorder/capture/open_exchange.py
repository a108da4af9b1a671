"""One exchange while it arrives: what is known of it, and what of that is not written yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, islice, takewhile
from typing import NamedTuple

from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols.clients import client_of
from workbench.recorder.capture.open_socket import OpenSocket
from workbench.recorder.capture.queued_events import (
    BytesLost,
    RequestPieces,
    RequestsSkipped,
    ResponsePieces,
    memory_of,
)
from workbench.recorder.capture.redaction_guard import BodyGuard
from workbench.recorder.events import (
    Event,
    ExchangeEnded,
    RequestBytes,
    RequestEnded,
    RequestStarted,
    ResponseBytes,
    ResponseHead,
    ResponseStarted,
)
from workbench.wire import (
    TOOL_HOP,
    UPSTREAM,
    Body,
    Chunk,
    Exchange,
    ExchangeKind,
    HttpRequest,
    HttpResponse,
    Origin,
    Redactor,
    State,
    detect_encoding,
    to_meta,
)


@dataclass(slots=True)
class _BodySoFar:
    """A body so far: ``lost`` bytes followed ``pieces`` and were not kept."""

    pieces: list[bytes] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    size: int = 0
    lost: int = 0

    def add(self, data: bytes, sizes: Iterable[int], times: Iterable[float]) -> None:
        """Add pieces that are joined, each with its time since the start."""
        ends = islice(accumulate(sizes, initial=self.size), 1, None)
        self.pieces.append(data)
        self.chunks += map(Chunk, ends, times)
        self.size += len(data)

    def body(self, label: str) -> Body:
        raw = b"".join(self.pieces)
        return Body(raw, detect_encoding(raw, label) if raw else "", tuple(self.chunks))

    def mark(self, body: Body) -> Body:
        """The redacted body with a note on the bytes that are missing."""
        if not self.lost:
            return body
        note = f"{self.lost:,} more bytes were forwarded but not recorded: the recorder could not keep up"
        total = self.size + self.lost
        return replace(body, note=_join_notes(body.note, note), original_length=total, original_digest=None)


class WrittenPart(NamedTuple):
    """The part of an exchange that is in the file.

    Attributes:
        seq: its position there.
        request, answer: the whole request, the head of the response.
        body_bytes, chunk_count: bytes of the response body, and chunks.
        frames, turns: of a WebSocket; ``positions`` are (number, position) of those that are not over.
    """

    seq: int
    request: bool
    answer: bool
    body_bytes: int = 0
    chunk_count: int = 0
    frames: int = 0
    turns: int = 0
    positions: Sequence[tuple[int, int]] = ()


class OpenExchange:
    """An exchange from its first byte to its last.

    Attributes:
        end: how it ended; None before that.
        memory: bytes of memory that it takes, roughly.
        socket: the WebSocket that it became with a 101 response; None for HTTP.
        written_part: its part that is in the file; None if nothing is.
    """

    def __init__(self, run: str, start: RequestStarted, *, epoch: float, hop: str, client: str) -> None:
        head = start.head
        self.id = f"{run}-{start.key}"
        self.written_part: WrittenPart | None = None
        self.end: ExchangeEnded | None = None
        self.memory = 0
        self.socket: OpenSocket | None = None
        self.is_request_complete = False
        self._head = head
        self._at = start.at
        self._epoch = epoch
        self._hop = head.hop or hop
        self._meta = {UPSTREAM: start.upstream} if self._hop == TOOL_HOP else {}
        self._parent = f"{run}-{head.parent}" if head.parent else None
        self._client = client_of(head.headers.get("user-agent") or "", client)
        self._request_body = _BodySoFar()
        self._response_body = _BodySoFar()
        self._request: HttpRequest | None = None
        self._response: ResponseHead | None = None
        self._duration: float | None = None
        self._guard: BodyGuard | None = None
        self._guarded = 0
        self._ready = b""
        self._safe_response: HttpResponse | None = None
        self._skipped = 0

    @property
    def has_response(self) -> bool:
        """The head of the response has arrived."""
        return self._response is not None

    def is_young(self, until: float) -> bool:
        """True if it began after a time, is not over, and nothing of it is written."""
        return self._at > until and self.end is None and self.written_part is None

    def apply(self, event: Event | BytesLost | RequestsSkipped | RequestPieces | ResponsePieces) -> None:
        """Apply one event of this exchange; events come in their order."""
        self.memory += memory_of(event)
        match event:
            case ResponsePieces() | RequestPieces():  # first: most are
                self._add(isinstance(event, RequestPieces), event.data, event.sizes, event.times)
            case ResponseBytes() | RequestBytes():
                self._add(isinstance(event, RequestBytes), event.data, (len(event.data),), (event.at,))
            case RequestEnded():
                self.is_request_complete = True
            case ResponseStarted():
                self._response = event.head
                if event.head.status == 101:
                    self.socket = OpenSocket(self._handshake())
            case BytesLost(side="request"):
                self._request_body.lost += event.amount
            case BytesLost():
                self._response_body.lost += event.amount
            case RequestsSkipped():
                self._skipped = event.amount
            case ExchangeEnded():
                self.end, self._duration = event, event.at - self._at

    def _add(self, is_request: bool, data: bytes, sizes: Iterable[int], times: Iterable[float]) -> None:
        """Add pieces of one side, which are joined."""
        since = [at - self._at for at in times]
        if self.socket is None:
            (self._request_body if is_request else self._response_body).add(data, sizes, since)
            return
        start = 0
        for size, at in zip(sizes, since, strict=True):
            self.socket.feed("sent" if is_request else "received", data[start : start + size], at)
            start += size

    def first_state(self, redactor: Redactor) -> Exchange:
        """The exchange as it is written first: with the head of its request at least."""
        if not self.is_request_complete:
            return redactor.exchange(replace(self._frame(), request=self._http_request(Body()), state=State.OPEN))
        request = self.request(redactor)  # first: a secret of its head may be echoed
        answer = self.response_head(redactor) if self.has_response else None
        return replace(redactor.exchange(self._frame()), request=request, response=answer, state=State.OPEN)

    def request(self, redactor: Redactor) -> HttpRequest:
        """The request, redacted once; only for a complete request."""
        if self._request is None:
            raw = self._http_request(self._request_body.body(self._head.headers.get("content-encoding") or ""))
            safe = redactor.exchange(Exchange(self.id, raw)).request
            assert safe
            self._request = replace(safe, body=self._request_body.mark(safe.body))
            self._request_body.pieces.clear()
        return self._request

    def response_head(self, redactor: Redactor) -> HttpResponse:
        """The head of the response, redacted once, with a body that is still to grow."""
        if self._safe_response is None:
            safe = redactor.exchange(Exchange(self.id, response=self._http_response(Body(b"", self._label())))).response
            assert safe
            self._safe_response, self._guard = safe, BodyGuard(redactor, self._label())
        return self._safe_response

    def writable_bytes(self, stands: WrittenPart) -> tuple[bytes, Sequence[Chunk]]:
        """Response bytes (and their chunks) that are safe to write and not yet in the file."""
        assert self._guard
        fresh = b"".join(islice(self._response_body.pieces, self._guarded, None))
        self._guarded = len(self._response_body.pieces)
        self._ready += self._guard.feed(fresh) if fresh else b""
        body_bytes = stands.body_bytes + len(self._ready)
        return self._ready, list(
            takewhile(lambda c: c.end <= body_bytes, islice(self._response_body.chunks, stands.chunk_count, None))
        )

    def mark_written(self, stands: WrittenPart) -> int:
        """Note how much is in the file now; returns the bytes of memory that are free by that."""
        self._ready = self._ready[stands.body_bytes - (self.written_part.body_bytes if self.written_part else 0) :]
        self.written_part = stands
        if self.socket is None:
            return 0
        self.socket.drop_written(stands.frames)
        free, self.memory = (0, self.memory) if self.socket.has_messages else (self.memory, 0)
        return free

    def final_state(self, redactor: Redactor) -> Exchange:
        """The whole exchange as it stays in the file; only after its end."""
        request = self.request(redactor)
        response = None
        if self._response is not None:
            response = self._final_response(redactor)
            response = replace(response, body=self._response_body.mark(response.body))
        end = self.end
        assert end
        is_cut = bool(self._request_body.lost or self._response_body.lost)
        note = _join_notes(self._note(), end.reason, "not recorded completely" if is_cut else "")
        state = State.INCOMPLETE if is_cut else end.state
        meta = {**to_meta(end.digests), **self._meta}
        frame = redactor.exchange(replace(self._frame(), note=note, state=state, duration=self._duration))
        whole = replace(frame, request=request, response=response, meta=meta)
        return self.socket.close(whole) if self.socket else whole

    def _final_response(self, redactor: Redactor) -> HttpResponse:
        """The whole response. Of a stream that grew in the file only the rest has to be searched."""
        body, head = self._response_body.body(self._label()), self._safe_response
        rest = b"".join(islice(self._response_body.pieces, self._guarded, None))
        done = self._guard.finish(rest, body.raw) if self._guard else None
        if head is None or done is None:
            safe = redactor.exchange(Exchange(self.id, response=self._http_response(body))).response
            assert safe
            return safe
        if done.found:
            body = replace(body, raw=body.raw[: done.settled] + done.text)
        return replace(head, body=body, redactions=(*head.redactions, *done.found))

    def _handshake(self) -> Exchange:
        return replace(self._frame(), request=self._http_request(Body()), response=self._http_response(Body()))

    def _frame(self) -> Exchange:
        return Exchange(
            self.id,
            kind=ExchangeKind.WEBSOCKET if self.socket else ExchangeKind.HTTP,
            origin=Origin.RECORDED,
            started_at=self._epoch + self._at,
            hop=self._hop,
            parent=self._parent,
            branch=self._head.branch,
            client=self._client,
            note=self._note(),
            meta=self._meta,
        )

    def _note(self) -> str:
        return f"{self._skipped:,} requests before this one were not recorded" if self._skipped else ""

    def _http_request(self, body: Body) -> HttpRequest:
        head = self._head
        return HttpRequest(head.method, head.url, head.headers, body, head.http_version)

    def _http_response(self, body: Body) -> HttpResponse:
        head = self._response
        assert head
        return HttpResponse(head.status, head.headers, body, head.reason, head.http_version)

    def _label(self) -> str:
        return (self._response.headers.get("content-encoding") or "") if self._response else ""


def _join_notes(*notes: str) -> str:
    return "; ".join(filter(None, notes))
