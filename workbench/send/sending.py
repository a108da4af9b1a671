"""Sending one request to a target: its response as it arrives, and the finished exchange."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from random import random
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote, urljoin

from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.limits import ANSWER_SECONDS, MAX_RECORDED_BODY
from workbench.send.credentials import AuthenticatedHeaders, SecretMask, authenticate
from workbench.send.endpoint import (
    MOST_REQUESTED_SECONDS,
    HttpEndpoint,
    backoff,
    blames_request,
    describe_error,
    is_retryable,
    is_tls_error,
    requested_wait,
)
from workbench.send.outgoing import Outgoing
from workbench.send.target import origin
from workbench.simulator import ScriptedModel, SimulatedReply, Simulator, simulator_history
from workbench.wire import (
    Body,
    Chunk,
    Exchange,
    Headers,
    HttpRequest,
    HttpResponse,
    Origin,
    Redactor,
    State,
    decode_partial,
    detect_encoding,
)
from workbench.wire.secrets import is_placeholder
from workbench.wire.session import Session

if TYPE_CHECKING:
    import httpx

RETRIES = 3
"""Attempts after the first."""

MOST_LOOKED_AT = 64 * 1024
LOOK_SECONDS = 5.0
"""Most bytes of a refusal that are read, and the time limit, to decide whether to retry."""

LEAST_SECRET = 8
"""Shortest key that is masked in responses; shorter ones are words like ``none``."""


@dataclass(frozen=True, slots=True)
class HeadReceived:
    """The head of the response arrived."""

    status: int
    headers: Headers
    at: float


@dataclass(frozen=True, slots=True)
class BodyReceived:
    """Bytes of the body, ``at`` seconds after the request. Keys that the server echoes are replaced."""

    data: bytes
    at: float


@dataclass(frozen=True, slots=True)
class RetryWait:
    """A temporary failure (429, 5xx, 529; status 0 for no connection); sent again after ``wait`` seconds."""

    status: int
    attempt: int
    wait: float
    why: str


@dataclass(frozen=True, slots=True)
class SendInterrupted:
    """Sending was cancelled: the partial exchange, marked aborted. Only ``CancelledError`` follows."""

    exchange: Exchange


Event: TypeAlias = HeadReceived | BodyReceived | RetryWait | SendInterrupted
OnEvent: TypeAlias = Callable[[Event], None]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]


class Sender:
    """Sends requests, sequentially or concurrently. An async context manager.

    Args:
        known: the session that requests come from: simulators treat its responses as their own; of a large session
            only those before the first sent request. It is read in another thread, once for each simulator.
        environ: variables with the keys.
        model: scripted model of simulators; None for one without faults.
        retries: attempts after the first, for temporary failures.
        seconds: timeout for the response to begin, and for each pause in it.
        sleep: waits between attempts; None for ``asyncio.sleep``.
        clock: seconds since the epoch.
        jitter: 0 … 1.

    ``send`` may be cancelled like any coroutine: the connection closes at once, and ``heard`` gets the partial
    exchange.
    """

    def __init__(
        self,
        *,
        known: Session | None = None,
        environ: Mapping[str, str] = os.environ,
        model: ScriptedModel | None = None,
        retries: int = RETRIES,
        seconds: float = ANSWER_SECONDS,
        sleep: Sleep | None = None,
        clock: Callable[[], float] = time.time,
        jitter: Callable[[], float] = random,
    ) -> None:
        self._known, self._environ, self._model, self._retries = known, environ, model, retries
        self._sleep, self._clock, self._jitter = sleep, clock, jitter
        self._redactor = Redactor()
        self._endpoint = HttpEndpoint(seconds)
        self._simulators: dict[str, Simulator] = {}
        self._lock = threading.Lock()

    async def __aenter__(self) -> Sender:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._simulators.clear()
        await self._endpoint.aclose()

    async def send(
        self, outgoing: Outgoing, notify: OnEvent = lambda event: None, *, parent: str | None = None
    ) -> Exchange:
        """Send a request and wait for the complete response; the exchange contains no secret.

        If the connection breaks, the exchange is marked ``State.ABORTED`` with a note; network failures after the
        request was sent raise nothing.

        Raises:
            UsageError: a variable of the target is not set.
            LocalProtocolError: HTTP cannot carry the request, or it goes to another host than the target's.
            OSError: the target cannot be reached.
        """
        import asyncio

        draft = _PendingExchange(outgoing, parent, self._clock())
        try:
            if outgoing.target.is_simulator:
                await self._ask_simulator(draft, notify)
            else:
                await self._ask_endpoint(draft, notify)
        except asyncio.CancelledError:
            if draft.state is not State.ABORTED:
                draft.abort("interrupted")
            notify(SendInterrupted(self._redactor.exchange(draft.exchange())))
            raise
        return self._redactor.exchange(draft.exchange())

    # Simulators compute, so they run in another thread than the event loop.

    async def _ask_simulator(self, draft: _PendingExchange, notify: OnEvent) -> None:
        import asyncio

        draft.begin(draft.outgoing.request, self._clock())
        simulator, reply = await asyncio.to_thread(self._reply, draft.outgoing, draft.parent)
        draft.request = replace(draft.request, url=simulator.url(draft.request.url))
        draft.answer(reply.status, Headers(tuple(reply.headers)), "HTTP/1.1", "")
        notify(HeadReceived(reply.status, draft.headers, draft.age()))
        while (piece := await asyncio.to_thread(next, reply.pieces, None)) is not None:
            notify(BodyReceived(piece.data, draft.take(piece.data)))
        draft.finish()

    def _reply(self, outgoing: Outgoing, parent: str | None) -> tuple[Simulator, SimulatedReply]:
        label, request = outgoing.target.contract, outgoing.request
        with self._lock:
            simulator = self._simulators.get(label)
            if simulator is None:
                known = simulator_history(self._known, parent) if self._known else None
                simulator = self._simulators[label] = Simulator(label, known=known, model=self._model)
        items = request.headers.items
        return simulator, simulator.send(request.method, request.url, items, request.body.raw)

    # Endpoints.

    async def _ask_endpoint(self, draft: _PendingExchange, notify: OnEvent) -> None:
        key = self._with_masked_secrets(authenticate(draft.outgoing, self._environ))
        attempt = 1
        while await self._attempt(draft, key, notify, attempt):
            attempt += 1

    async def _attempt(self, draft: _PendingExchange, key: AuthenticatedHeaders, notify: OnEvent, attempt: int) -> bool:
        """Send once; True to try again, after the wait."""
        import httpx

        draft.begin(replace(draft.outgoing.request, headers=key.headers), self._clock())
        try:
            response = await self._endpoint.open(draft.outgoing.request, key.headers)
        except (httpx.LocalProtocolError, httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise LocalProtocolError(f"HTTP cannot carry this request: {self._redact(describe_error(error))}") from None
        except httpx.TransportError as error:
            why = self._redact(describe_error(error))
            is_over = isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout) or is_tls_error(error)
            if not is_over and attempt <= self._retries:
                await self._wait(notify, RetryWait(0, attempt, backoff(attempt, self._jitter()), why))
                return True
            if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
                scheme, host, port = origin(draft.request.url)
                raise ConnectionError(f"{scheme}://{host}:{port} cannot be reached: {why}") from None
            draft.abort(f"no response: {why}")
            return False
        try:
            return await self._receive(draft, response, key, notify, attempt)
        finally:
            await response.aclose()

    async def _receive(
        self,
        draft: _PendingExchange,
        response: httpx.Response,
        key: AuthenticatedHeaders,
        notify: OnEvent,
        attempt: int,
    ) -> bool:
        """Receive a response; True to try again, after the wait."""
        items = ((n.decode("latin-1"), v.decode("latin-1")) for n, v in response.headers.raw)
        draft.answer(response.status_code, Headers(tuple(items)), response.http_version, response.reason_phrase)
        stream, first = response.aiter_raw(), list[bytes]()
        wait = self._wait_for(draft, attempt)
        if wait is not None and draft.status >= 500 and _is_short(draft.headers):
            first = await _peek(stream)
            wait = None if blames_request(b"".join(first)) else wait
        if wait is not None:
            why = f"{draft.status} {response.reason_phrase}".strip()
            await response.aclose()
            await self._wait(notify, RetryWait(draft.status, attempt, wait, why))
            return True
        safe_response = self._redactor.exchange(Exchange("", response=HttpResponse(headers=draft.headers))).response
        notify(HeadReceived(draft.status, safe_response.headers if safe_response else Headers(), draft.age()))
        if 300 <= draft.status < 400:
            draft.note = self._redirect(draft)
        await self._read(draft, _chain(first, stream), notify, SecretMask(self._redactor, key.secrets))
        return False

    async def _read(
        self, draft: _PendingExchange, stream: AsyncIterator[bytes], notify: OnEvent, mask: SecretMask
    ) -> None:
        import httpx

        try:
            async for data in stream:
                at = draft.take(data)
                if safe_data := mask.feed(data):
                    notify(BodyReceived(safe_data, at))
                if draft.size > MAX_RECORDED_BODY:
                    return draft.abort(f"the response is longer than {MAX_RECORDED_BODY:,} bytes")
        except httpx.TransportError as error:
            draft.abort(f"the connection was lost during the response: {self._redact(describe_error(error))}")
        else:
            draft.finish()
        if safe_data := mask.close():
            notify(BodyReceived(safe_data, draft.age()))

    def _wait_for(self, draft: _PendingExchange, attempt: int) -> float | None:
        """Seconds until the next attempt; None for no retry."""
        if not is_retryable(draft.status, draft.headers) or attempt > self._retries:
            return None
        seconds = requested_wait(draft.headers, self._clock())
        if seconds is not None and seconds > MOST_REQUESTED_SECONDS:
            draft.note = f"not retried: the server requests a wait of {seconds:.0f} s"
            return None
        return backoff(attempt, self._jitter()) if seconds is None else seconds

    async def _wait(self, notify: OnEvent, event: RetryWait) -> None:
        import asyncio

        notify(event)
        await (self._sleep or asyncio.sleep)(event.wait)

    def _with_masked_secrets(self, key: AuthenticatedHeaders) -> AuthenticatedHeaders:
        """Select the secrets to mask in responses, also in their URL-encoded form."""
        real = [s for s in key.secrets if len(s) >= LEAST_SECRET and not is_placeholder(s.encode())]
        spelled = tuple(dict.fromkeys(form for s in real for form in (s, quote(s, safe=""))))
        self._redactor.seen |= {form.encode() for form in spelled}
        return key._replace(secrets=spelled)

    def _redact(self, text: str) -> str:
        """An error text without secrets."""
        return self._redactor.text(text.encode())[0].decode("utf-8", "replace")

    def _redirect(self, draft: _PendingExchange) -> str:
        place = draft.headers.get("location") or ""
        try:
            host = origin(urljoin(draft.request.url, place))[1]
        except ValueError:
            host = ""
        return f"redirect to {self._redact(host) or 'nowhere'} not followed: requests are sent only to their target"


def bound_body(body: Body) -> Body:
    """A body as received; a compressed one that decodes to more than the limit is dropped, with a note."""
    if not body.encoding or len(decode_partial(body, MAX_RECORDED_BODY + 1)[0]) <= MAX_RECORDED_BODY:
        return body
    why = f"the decoded response exceeds {MAX_RECORDED_BODY:,} bytes and was not kept"
    digest = sha256(body.raw).hexdigest()
    return Body(is_raw=False, note=why, original_length=len(body.raw), original_digest=digest)


def _is_short(headers: Headers) -> bool:
    """The body is short enough to read before the decision to retry."""
    length = headers.get("content-length") or ""
    return length.isdecimal() and len(length) < 6 and int(length) <= MOST_LOOKED_AT


async def _peek(stream: AsyncIterator[bytes]) -> list[bytes]:
    """A short body, as far as it arrives in time."""
    import asyncio

    import httpx

    first = list[bytes]()
    with suppress(httpx.TransportError, TimeoutError):
        async with asyncio.timeout(LOOK_SECONDS):
            async for data in stream:
                first.append(data)
    return first


async def _chain(first: Sequence[bytes], rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    for data in first:
        yield data
    async for data in rest:
        yield data


@dataclass(slots=True)
class _PendingExchange:
    """The state of an exchange while it is sent and received."""

    outgoing: Outgoing
    parent: str | None
    started: float
    request: HttpRequest = field(default_factory=HttpRequest)
    status: int = 0
    headers: Headers = field(default_factory=Headers)
    version: str = ""
    reason: str = ""
    state: State = State.OPEN
    note: str = ""
    attempts: int = 0
    size: int = 0
    pieces: list[bytes] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    duration: float = 0.0

    def begin(self, request: HttpRequest, now: float) -> None:
        """Begin a new attempt; forget the previous one."""
        self.request, self.started, self.began = request, now, time.monotonic()
        self.status, self.headers, self.state, self.note, self.size = 0, Headers(), State.OPEN, "", 0
        self.pieces, self.chunks, self.attempts = [], [], self.attempts + 1

    def answer(self, status: int, headers: Headers, version: str, reason: str) -> None:
        self.status, self.headers, self.version, self.reason = status, headers, version, reason

    def age(self) -> float:
        return time.monotonic() - self.began

    def take(self, data: bytes) -> float:
        self.pieces.append(data)
        self.size += len(data)
        self.chunks.append(Chunk(self.size, self.age()))
        return self.chunks[-1].at

    def finish(self) -> None:
        self.state, self.duration = State.COMPLETE, self.age()

    def abort(self, why: str) -> None:
        self.state, self.duration = State.ABORTED, self.age()
        self.note = "; ".join(filter(None, (self.note, why)))

    def exchange(self) -> Exchange:
        """The exchange so far, with its secrets."""
        raw = b"".join(self.pieces)
        body = bound_body(
            Body(raw, detect_encoding(raw, self.headers.get("content-encoding") or ""), tuple(self.chunks))
        )
        if body.note:
            self.state, self.note = State.ABORTED, "; ".join(filter(None, (self.note, body.note)))
        response = HttpResponse(self.status, self.headers, body, self.reason, self.version) if self.status else None
        meta: dict[str, JsonValue] = {"target": self.outgoing.target.name}
        if self.attempts > 1:
            meta["attempts"] = self.attempts
        if self.outgoing.is_converted:
            meta["converted"] = self.outgoing.protocol
        return Exchange(
            uuid.uuid4().hex[:12],
            replace(self.request, http_version=self.version or self.request.http_version),
            response,
            state=self.state,
            origin=Origin.RESENT,
            parent=self.parent,
            started_at=self.started,
            duration=self.duration,
            note=self.note,
            meta=meta,
        )
