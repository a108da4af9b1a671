"""Sending: one request to a target, its answer as it arrives, and the exchange that remains."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.targets.outgoing import Outgoing
from workbench.targets.simulator import Simulator
from workbench.wire.exchange import Body, Chunk, Exchange, Headers, HttpResponse, Origin
from workbench.wire.redaction import Redactor
from workbench.wire.session import Session


@dataclass(frozen=True, slots=True)
class Answered:
    """The head of the answer came."""

    status: int
    headers: Headers
    at: float


@dataclass(frozen=True, slots=True)
class Arrived:
    """Bytes of the body came, ``at`` seconds after the request was sent."""

    data: bytes
    at: float


@dataclass(frozen=True, slots=True)
class Retrying:
    """It was refused for now (429, 5xx, 529, no connection) and is sent again after ``wait`` seconds."""

    status: int
    attempt: int
    wait: float
    why: str


Event: TypeAlias = Answered | Arrived | Retrying
Heard: TypeAlias = Callable[[Event], None]


class Sender:
    """Sends requests, one after the other or at once. An async context manager.

    Args:
        known: the session that requests come from: simulators take what was answered in it as given.
        environ: where keys are.

    ``send`` may be cancelled (as any coroutine): what came until then is lost to the caller but for what was heard.
    """

    def __init__(self, *, known: Session | None = None, environ: Mapping[str, str] = os.environ) -> None:
        self._known, self._environ = known, environ
        self._redactor = Redactor()
        self._simulators: dict[str, Simulator] = {}

    async def __aenter__(self) -> Sender:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._simulators.clear()

    async def send(
        self, outgoing: Outgoing, heard: Heard = lambda event: None, *, parent: str | None = None
    ) -> Exchange:
        """Send a request and wait for the whole answer; the exchange holds no secret.

        A connection that breaks leaves an exchange that says so (``State.ABORTED`` and a note); nothing is raised for
        what the network does once the request is on its way.

        Raises:
            UsageError: the key variable of the target is not set.
            OSError: the target cannot be reached.
        """
        label = outgoing.target.contract
        simulator = self._simulators.get(label)
        if simulator is None:
            simulator = self._simulators[label] = Simulator(label, known=self._known)
        asked = outgoing.request
        started, began = time.time(), time.monotonic()
        reply = simulator.send(asked.method, asked.url, asked.headers.items, asked.body.raw)
        headers = Headers(tuple(reply.headers))
        heard(Answered(reply.status, headers, time.monotonic() - began))
        pieces, chunks, size = list[bytes](), list[Chunk](), 0
        for piece in reply.pieces:
            pieces.append(piece.data)
            size += len(piece.data)
            chunks.append(Chunk(size, time.monotonic() - began))
            heard(Arrived(piece.data, chunks[-1].at))
        exchange = Exchange(
            uuid.uuid4().hex[:12],
            replace(asked, url=simulator.url(asked.url)),
            HttpResponse(reply.status, headers, Body(b"".join(pieces), chunks=tuple(chunks)), http_version="HTTP/1.1"),
            origin=Origin.RESENT,
            parent=parent,
            started_at=started,
            duration=time.monotonic() - began,
            meta={"target": outgoing.target.name},
        )
        return self._redactor.exchange(exchange)
