"""Sending: one request to a target, its answer as it arrives, and the exchange that remains."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from random import random
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote, urljoin

from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue
from workbench.limits import ANSWER_SECONDS, MAX_RECORDED_BODY
from workbench.send.credentials import Signed, signed
from workbench.send.endpoint import Endpoint, in_words, is_certificate
from workbench.send.masking import Mask
from workbench.send.outgoing import Outgoing
from workbench.send.recalled import recalled
from workbench.send.retrying import MOST_TOLD_SECONDS, backoff, blames_request, is_for_now, told_wait
from workbench.send.target import origin
from workbench.simulator import Reply, ScriptedModel, Simulator
from workbench.wire.encoding import decode_partial, detect_encoding
from workbench.wire.exchange import Body, Chunk, Exchange, Headers, HttpRequest, HttpResponse, Origin, State
from workbench.wire.redaction import Redactor
from workbench.wire.secrets import is_placeholder
from workbench.wire.session import Session

if TYPE_CHECKING:
    import httpx

RETRIES = 3
"""Attempts after the first."""

MOST_LOOKED_AT = 64 * 1024
LOOK_SECONDS = 5.0
"""Bytes of a refusal that are read, and the time they have, to see whether it makes sense to send again."""

LEAST_SECRET = 8
"""Characters from which on what a key variable holds is looked for in answers; less is a word like ``none``."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The head of the answer came."""

    status: int
    headers: Headers
    at: float


@dataclass(frozen=True, slots=True)
class Arrived:
    """Bytes of the body came, ``at`` seconds after the request was sent. Keys that the server echoes are replaced."""

    data: bytes
    at: float


@dataclass(frozen=True, slots=True)
class Retrying:
    """It was refused for now (429, 5xx, 529, no connection: status 0) and is sent again after ``wait`` seconds."""

    status: int
    attempt: int
    wait: float
    why: str


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Sending was cancelled: what came until then, as an aborted exchange. No event follows but ``CancelledError``."""

    exchange: Exchange


Event: TypeAlias = Answered | Arrived | Retrying | Interrupted
Heard: TypeAlias = Callable[[Event], None]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]


class Sender:
    """Sends requests, one after the other or at once. An async context manager.

    Args:
        known: the session that requests come from: simulators take what was answered in it as given, of a large one
            what came before the first that is sent. It is read in another thread, once for each simulator.
        environ: where keys are.
        model: what answers in simulators; None for one with which nothing goes wrong.
        retries: attempts after the first, for what is refused for now and connections that break before any answer.
        seconds: that an answer may take to begin, and to go on.
        sleep: waits between attempts; None for ``asyncio.sleep``.
        clock: seconds since the epoch.
        jitter: 0 … 1.

    ``send`` may be cancelled as any coroutine: the connection closes at once, and ``heard`` gets what came until then.
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
        self._endpoint = Endpoint(seconds)
        self._simulators: dict[str, Simulator] = {}
        self._lock = threading.Lock()

    async def __aenter__(self) -> Sender:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._simulators.clear()
        await self._endpoint.aclose()

    async def send(
        self, outgoing: Outgoing, heard: Heard = lambda event: None, *, parent: str | None = None
    ) -> Exchange:
        """Send a request and wait for the whole answer; the exchange holds no secret.

        A connection that breaks leaves an exchange that says so (``State.ABORTED`` and a note); nothing is raised for
        what the network does once the request is on its way.

        Raises:
            UsageError: a variable of the target is not set.
            LocalProtocolError: the request is none that HTTP can carry, or goes elsewhere than the target's host.
            OSError: the target cannot be reached.
        """
        import asyncio

        taken = _Taken(outgoing, parent, self._clock())
        try:
            if outgoing.target.is_simulator:
                await self._ask_simulator(taken, heard)
            else:
                await self._ask_endpoint(taken, heard)
        except asyncio.CancelledError:
            if taken.state is not State.ABORTED:
                taken.abort("interrupted")
            heard(Interrupted(self._redactor.exchange(taken.exchange())))
            raise
        return self._redactor.exchange(taken.exchange())

    # Simulators: they compute, so that they run beside the event loop.

    async def _ask_simulator(self, taken: _Taken, heard: Heard) -> None:
        import asyncio

        taken.begin(taken.outgoing.request, self._clock())
        simulator, reply = await asyncio.to_thread(self._reply, taken.outgoing, taken.parent)
        taken.request = replace(taken.request, url=simulator.url(taken.request.url))
        taken.answer(reply.status, Headers(tuple(reply.headers)), "HTTP/1.1", "")
        heard(Answered(reply.status, taken.headers, taken.age()))
        while (piece := await asyncio.to_thread(next, reply.pieces, None)) is not None:
            heard(Arrived(piece.data, taken.take(piece.data)))
        taken.finish()

    def _reply(self, outgoing: Outgoing, parent: str | None) -> tuple[Simulator, Reply]:
        label, asked = outgoing.target.contract, outgoing.request
        with self._lock:
            simulator = self._simulators.get(label)
            if simulator is None:
                known = recalled(self._known, parent) if self._known else None
                simulator = self._simulators[label] = Simulator(label, known=known, model=self._model)
        items = asked.headers.items
        return simulator, simulator.send(asked.method, asked.url, items, asked.body.raw)

    # Endpoints.

    async def _ask_endpoint(self, taken: _Taken, heard: Heard) -> None:
        key = self._remembered(signed(taken.outgoing, self._environ))
        attempt = 1
        while await self._attempt(taken, key, heard, attempt):
            attempt += 1

    async def _attempt(self, taken: _Taken, key: Signed, heard: Heard, attempt: int) -> bool:
        """Ask once; whether to ask again, the wait for it being over."""
        import httpx

        taken.begin(replace(taken.outgoing.request, headers=key.headers), self._clock())
        try:
            response = await self._endpoint.open(taken.outgoing.request, key.headers)
        except (httpx.LocalProtocolError, httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise LocalProtocolError(f"HTTP cannot carry this request: {self._said(in_words(error))}") from None
        except httpx.TransportError as error:
            why = self._said(in_words(error))
            is_over = isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout) or is_certificate(error)
            if not is_over and attempt <= self._retries:
                await self._wait(heard, Retrying(0, attempt, backoff(attempt, self._jitter()), why))
                return True
            if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
                scheme, host, port = origin(taken.request.url)
                raise ConnectionError(f"{scheme}://{host}:{port} cannot be reached: {why}") from None
            taken.abort(f"no answer: {why}")
            return False
        try:
            return await self._hear(taken, response, key, heard, attempt)
        finally:
            await response.aclose()

    async def _hear(self, taken: _Taken, response: httpx.Response, key: Signed, heard: Heard, attempt: int) -> bool:
        """Take an answer; whether to ask again, the wait for it being over."""
        items = ((n.decode("latin-1"), v.decode("latin-1")) for n, v in response.headers.raw)
        taken.answer(response.status_code, Headers(tuple(items)), response.http_version, response.reason_phrase)
        stream, first = response.aiter_raw(), list[bytes]()
        wait = self._wait_for(taken, attempt)
        if wait is not None and taken.status >= 500 and _is_short(taken.headers):
            first = await _looked_at(stream)
            wait = None if blames_request(b"".join(first)) else wait
        if wait is not None:
            why = f"{taken.status} {response.reason_phrase}".strip()
            await response.aclose()
            await self._wait(heard, Retrying(taken.status, attempt, wait, why))
            return True
        shown = self._redactor.exchange(Exchange("", response=HttpResponse(headers=taken.headers))).response
        heard(Answered(taken.status, shown.headers if shown else Headers(), taken.age()))
        if 300 <= taken.status < 400:
            taken.note = self._redirect(taken)
        await self._read(taken, _joined(first, stream), heard, Mask(self._redactor, key.secrets))
        return False

    async def _read(self, taken: _Taken, stream: AsyncIterator[bytes], heard: Heard, mask: Mask) -> None:
        import httpx

        try:
            async for data in stream:
                at = taken.take(data)
                if shown := mask.feed(data):
                    heard(Arrived(shown, at))
                if taken.size > MAX_RECORDED_BODY:
                    return taken.abort(f"the answer is longer than {MAX_RECORDED_BODY:,} bytes")
        except httpx.TransportError as error:
            taken.abort(f"the connection broke inside the answer: {self._said(in_words(error))}")
        else:
            taken.finish()
        if shown := mask.close():
            heard(Arrived(shown, taken.age()))

    def _wait_for(self, taken: _Taken, attempt: int) -> float | None:
        """Seconds until the next attempt, None for no other."""
        if not is_for_now(taken.status, taken.headers) or attempt > self._retries:
            return None
        told = told_wait(taken.headers, self._clock())
        if told is not None and told > MOST_TOLD_SECONDS:
            taken.note = f"asked to wait {told:.0f} s: it was not sent again"
            return None
        return backoff(attempt, self._jitter()) if told is None else told

    async def _wait(self, heard: Heard, event: Retrying) -> None:
        import asyncio

        heard(event)
        await (self._sleep or asyncio.sleep)(event.wait)

    def _remembered(self, key: Signed) -> Signed:
        """It with those of its secrets that are looked for in answers: also as a part of a URL."""
        real = [s for s in key.secrets if len(s) >= LEAST_SECRET and not is_placeholder(s.encode())]
        spelled = tuple(dict.fromkeys(form for s in real for form in (s, quote(s, safe=""))))
        self._redactor.seen |= {form.encode() for form in spelled}
        return key._replace(secrets=spelled)

    def _said(self, text: str) -> str:
        """What an error says, without secrets."""
        return self._redactor.text(text.encode())[0].decode("utf-8", "replace")

    def _redirect(self, taken: _Taken) -> str:
        place = taken.headers.get("location") or ""
        try:
            host = origin(urljoin(taken.request.url, place))[1]
        except ValueError:
            host = ""
        return f"redirected to {self._said(host) or 'nowhere'}, and not followed: a request goes to its target alone"


def bounded(body: Body) -> Body:
    """A body as it came; of a compressed one that grows beyond what is kept of any other, only what it was."""
    if not body.encoding or len(decode_partial(body, MAX_RECORDED_BODY + 1)[0]) <= MAX_RECORDED_BODY:
        return body
    why = f"the answer grows beyond {MAX_RECORDED_BODY:,} bytes when it is decoded, and was not kept"
    digest = sha256(body.raw).hexdigest()
    return Body(is_raw=False, note=why, original_length=len(body.raw), original_digest=digest)


def _is_short(headers: Headers) -> bool:
    """A body that is no work to look at before it is decided whether to ask again."""
    length = headers.get("content-length") or ""
    return length.isdecimal() and len(length) < 6 and int(length) <= MOST_LOOKED_AT


async def _looked_at(stream: AsyncIterator[bytes]) -> list[bytes]:
    """A short body, as far as it comes at once."""
    import asyncio

    import httpx

    first = list[bytes]()
    with suppress(httpx.TransportError, TimeoutError):
        async with asyncio.timeout(LOOK_SECONDS):
            async for data in stream:
                first.append(data)
    return first


async def _joined(first: Sequence[bytes], rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    for data in first:
        yield data
    async for data in rest:
        yield data


@dataclass(slots=True)
class _Taken:
    """What there is of an exchange so far."""

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
        """A new attempt: what came of the one before is forgotten."""
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
        """It as an exchange, with the secrets that are in it."""
        raw = b"".join(self.pieces)
        body = bounded(Body(raw, detect_encoding(raw, self.headers.get("content-encoding") or ""), tuple(self.chunks)))
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
