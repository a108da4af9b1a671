"""Sending of requests in a thread of their own: progress while a response arrives, and cancellation."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Coroutine
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from textual.message import Message

from workbench.send import BodyReceived, Event, HeadReceived, RetryWait, Sender, SendInterrupted, bound_body
from workbench.tui.service import JobAnswer
from workbench.tui.service import is_open as is_open
from workbench.wire import Body, Chunk, Exchange, Headers, HttpResponse, Origin, Redactor, State

if TYPE_CHECKING:
    import asyncio

    from workbench.rules import Inspector
    from workbench.send import Outgoing
    from workbench.simulator import ScriptedModel
    from workbench.tui.service import Job
    from workbench.wire.session import Session

Done = TypeVar("Done")

BROKEN_OFF = "cancelled by the user"
MOST_KNOWN = 64 * 1024 * 1024
"""Bytes of bodies of a session that simulators are given whole; of a larger one they get the conversation."""


class Dispatch(Generic[Done]):
    """Work with a sender, in an event loop of its own: call ``run`` in a thread, ``cancel`` from any other one.

    Args:
        session: session that simulators take as the history.
        work: the work.
        model: model of the simulators; None for one without faults.
    """

    def __init__(
        self,
        session: Session | None,
        work: Callable[[Sender], Coroutine[Any, Any, Done]],
        model: ScriptedModel | None = None,
    ) -> None:
        self._known, self._work, self._model = session, work, model
        self._lock = Lock()
        self._is_cancelled = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Done] | None = None

    def run(self) -> Done | None:
        """Do the work; returns None if it was cancelled. Raises what the work raises."""
        import asyncio

        with asyncio.Runner() as runner:
            try:
                return runner.run(self._all())
            except asyncio.CancelledError:
                return None
            finally:
                with self._lock:
                    self._loop = None

    def cancel(self) -> None:
        """Cancel the work; no effect if it has ended."""
        with self._lock:
            self._is_cancelled = True
            if self._loop and self._task:
                self._loop.call_soon_threadsafe(self._task.cancel)

    async def _all(self) -> Done:
        import asyncio

        async with Sender(known=self._known, model=self._model) as sender:
            with self._lock:
                self._loop = asyncio.get_running_loop()
                self._task = asyncio.ensure_future(self._work(sender))
                if self._is_cancelled:
                    self._task.cancel()
            return await self._task


class ResponseGrew(Message):
    """More of the response has arrived."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ResponseGrew)


class SendEnd(Message):
    """End of a send: the exchange, or the reason that there is none."""

    def __init__(self, number: int, exchange: Exchange | None, why: str = "") -> None:
        super().__init__()
        self.number, self.exchange, self.why = number, exchange, why


class IncomingResponse:
    """A response while it arrives. One thread writes it, another reads it.

    Attributes:
        retries: waits before a retry, in order: one for each temporary refusal.
    """

    def __init__(self, outgoing: Outgoing, started_at: float) -> None:
        self.outgoing, self.started_at = outgoing, started_at
        self.retries: list[RetryWait] = []
        self._lock = Lock()
        self._interrupted: Exchange | None = None
        self._status, self._headers = 0, Headers()
        self._body = bytearray()
        self._chunks: list[Chunk] = []
        self._at = 0.0

    def add(self, event: Event) -> None:
        """Add an event of the sender."""
        with self._lock:
            match event:
                case HeadReceived(status, headers, at):
                    self._status, self._headers, self._at = status, headers, at
                case BodyReceived(data, at):
                    self._body += data
                    self._chunks.append(Chunk(len(self._body), at))
                    self._at = at
                case SendInterrupted(exchange):
                    self._interrupted = exchange
                case RetryWait():
                    self.retries.append(event)
                    self._status = 0
                    self._body.clear()
                    self._chunks.clear()

    @property
    def size(self) -> int:
        """Bytes of the body so far."""
        return len(self._body)

    def exchange(self, state: State = State.OPEN, note: str = "") -> Exchange:
        """The response so far, with its request, as an exchange."""
        with self._lock:
            body = Body(bytes(self._body), self._headers.get("content-encoding") or "", tuple(self._chunks))
            status, headers, at = self._status, self._headers, self._at
        answer = HttpResponse(status, headers, bound_body(body)) if status else None
        return Exchange(
            uuid.uuid4().hex[:12],
            self.outgoing.request,
            answer,
            state,
            origin=Origin.RESENT,
            started_at=self.started_at,
            duration=at,
            note=note,
            meta={"target": self.outgoing.target.name},
        )

    def aborted_exchange(self) -> Exchange:
        """The exchange up to the point where it was cancelled, redacted."""
        return self._interrupted or Redactor().exchange(self.exchange(State.ABORTED, BROKEN_OFF))


def known_to(inspector: Inspector, session: Session, index: int) -> Session:
    """Session that simulators take as the history; of a large one, only the conversation of an exchange.

    Args:
        session: the inspector's exchanges up to ``index``, then those sent since.
    """
    from workbench.wire.session import MemorySession

    if sum(s.request_bytes + s.response_bytes for s in session.summaries()) <= MOST_KNOWN:
        return session
    here = inspector.rows[index].conversation
    same_conversation = (
        n for n in range(len(session)) if n >= index or inspector.rows[n].conversation == here is not None
    )
    return MemorySession(session.name, tuple(session.exchange(n) for n in same_conversation))


class InspectorQuestions:
    """Questions to the inspector's thread, awaited in the loop of a dispatch."""

    def __init__(self, ask: Callable[[Job], None]) -> None:
        self._ask = ask

    async def __call__(self, job: Callable[[Inspector], Done]) -> Done:
        import asyncio

        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Done] = loop.create_future()

        def question(inspector: Inspector) -> JobAnswer:
            with suppress(RuntimeError):  # the loop is closed: it was broken off
                try:
                    loop.call_soon_threadsafe(_tell, answer, job(inspector))
                except Exception as error:
                    loop.call_soon_threadsafe(_fail, answer, error)
            return JobAnswer(lambda: None)

        self._ask(question)
        return await answer


def _tell(answer: asyncio.Future[Done], result: Done) -> None:
    if not answer.done():
        answer.set_result(result)


def _fail(answer: asyncio.Future[Done], error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
