"""One exchange as seen at one hop, piece by piece, and the state that both ends of an audit share during a case.

A piece of a response is sent when the previous one has arrived at the client. So a gateway that forwards pieces at once
costs no time, and one that buffers them is detected without a clock.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from workbench.lazy_dataclass import dataclass, field
from workbench.recorder.audit.case import AuditCase, Theme, mark
from workbench.wire import (
    CLIENT_LEFT,
    Body,
    Chunk,
    Exchange,
    Headers,
    HttpRequest,
    HttpResponse,
    Origin,
    State,
    decode_partial,
    detect_encoding,
)
from workbench.wire.http1 import Request, Response


@dataclass(slots=True)
class BodySighting:
    """A body while it arrives or leaves."""

    pieces: list[bytes] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def add(self, data: bytes, at: float) -> None:
        """Add a piece and its time."""
        self.pieces.append(data)
        self.times.append(at)

    def body(self, start: float, label: str) -> Body:
        """The whole body, its chunks timed from the start of the exchange."""
        raw, end, chunks = b"".join(self.pieces), 0, list[Chunk]()
        for piece, at in zip(self.pieces, self.times, strict=True):
            end += len(piece)
            chunks.append(Chunk(end, max(0.0, at - start)))
        return Body(raw, detect_encoding(raw, label) if raw else "", tuple(chunks))


@dataclass(slots=True)
class Sighting:
    """One exchange as seen at one hop.

    Attributes:
        hop: name of the hop.
        url: absolute.
        began, ended: on the loop's clock; ``ended`` is None before that.
        is_cut: the connection ended before the response did.
        is_left: the client disconnected before the response had ended.
        is_late: the response was not complete in time.
    """

    hop: str
    method: str
    url: str
    headers: Headers
    began: float
    request_body: BodySighting = field(default_factory=BodySighting)
    response: Response | None = None
    response_body: BodySighting = field(default_factory=BodySighting)
    ended: float | None = None
    is_cut: bool = False
    is_left: bool = False
    is_late: bool = False
    note: str = ""

    @classmethod
    def from_head(cls, hop: str, base: str, head: Request, at: float) -> Sighting:
        """A new sighting of a request whose head has arrived."""
        return cls(hop, head.method.decode("latin-1"), base + head.target.decode("latin-1"), head.headers, at)

    def exchange(self, id: str, epoch: float) -> Exchange:
        """The sighting as an exchange of a session; ``epoch``: calendar seconds at zero of the loop's clock."""
        label = self.headers.get("content-encoding") or ""
        request = HttpRequest(
            self.method, self.url, self.headers, self.request_body.body(self.began, label), "HTTP/1.1"
        )
        is_whole = self.ended is not None and not (self.is_cut or self.is_left)
        return Exchange(
            id,
            request,
            self._answer(),
            State.COMPLETE if is_whole else State.ABORTED,
            origin=Origin.RECORDED,
            started_at=epoch + self.began,
            duration=None if self.ended is None else self.ended - self.began,
            hop=self.hop,
            note=self.note or (CLIENT_LEFT if self.is_left else ""),
        )

    def _answer(self) -> HttpResponse | None:
        head = self.response
        if head is None:
            return None
        body = self.response_body.body(self.began, head.headers.get("content-encoding") or "")
        return HttpResponse(head.status, head.headers, body, head.reason.decode("latin-1"), head.version.decode())


_LEAST = 0.05
"""Seconds that a piece is waited for at least, once a gateway has held something back."""

_SLOWER = 4
"""Once it has, pieces are waited for so many times as long as the slowest that came through took."""

_ENOUGH = 2
"""Pieces of one answer that are waited for in vain."""

_APART = 0.05
"""Seconds between further pieces where the case is about that: so the recorded times alone show it, too."""

_HALF = 0.02
"""Seconds that a piece which is no whole event is waited for: who passes on whole events only may hold it back."""


class PieceTimeout:
    """Time that a piece may take through the gateway before it counts as held back."""

    def __init__(self, seconds: float) -> None:
        self._whole = seconds
        self._slowest = 0.0
        self.is_whole = True

    @property
    def seconds(self) -> float:
        """Time to wait for the next piece."""
        return self._whole if self.is_whole else min(self._whole, max(_LEAST, _SLOWER * self._slowest))

    def record(self, seconds: float) -> None:
        """Record the time of a piece that came through."""
        self._slowest = max(self._slowest, seconds)

    def shorten(self) -> None:
        """Wait less from now on: a piece did not arrive in time."""
        self.is_whole = False


class CaseStage:
    """One case while it runs.

    Attributes:
        sightings: the requests of it that reached the audit's upstream, in order.
        pieces_held: how many pieces of the response did not arrive in time.
        is_over: the client has all it will get.
        is_settled: it is known whether the audit's upstream noticed the client's disconnect.
    """

    def __init__(self, case: AuditCase, patience: PieceTimeout) -> None:
        self.case = case
        self.sightings: list[Sighting] = []
        self.pieces_held = 0
        self.is_over = asyncio.Event()
        self.is_settled = asyncio.Event()
        self._patience = patience
        self._came = 0
        self._in_vain = 0
        self._sent_at: float | None = None
        self._news = asyncio.Event()

    @property
    def came(self) -> int:
        """Bytes of the response body that the client has."""
        return self._came

    def piece_sent(self, at: float) -> None:
        """Note that the audit's upstream sent a piece of the response."""
        self._sent_at = at

    def client_got(self, data: bytes, at: float) -> None:
        """Note a piece of the response body that reached the client."""
        self._came += len(data)
        if self._sent_at is not None:
            self._patience.record(at - self._sent_at)
            self._sent_at = None
        self._news.set()

    def client_over(self) -> None:
        """Note that nothing more reaches the client."""
        self.is_over.set()
        self._news.set()

    async def client_has_more(self, than: int) -> None:
        """Wait until the client has more than this; after the timeout the piece counts as held."""
        is_event = self.case.response.in_events
        if self._in_vain >= _ENOUGH:
            await asyncio.sleep(_APART if self.case.theme is Theme.BUFFERING else 0)
            return
        try:
            async with asyncio.timeout(self._patience.seconds if is_event else _HALF):
                while self._came <= than and not self.is_over.is_set():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            self._sent_at = None
            if is_event:
                self._in_vain += 1
                self.pieces_held += self._patience.is_whole
                self._patience.shorten()

    async def wait_for_hang_up(self, seconds: float) -> None:
        """Wait until it is known whether the disconnect arrived, at most this long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.is_settled.wait()

    def is_of_case(self, seen: Sighting) -> bool:
        """True if a request at the audit's upstream belongs to this case: by its mark, else as the first possible."""
        text, _ = decode_partial(seen.request_body.body(seen.began, seen.headers.get("content-encoding") or ""))
        words = mark(self.case.name)
        if words.encode() in text or words in seen.url:
            return True
        is_other = b"audit:" in text or "audit:" in seen.url
        if self.sightings and not text:  # asked again, as it was the first time
            return (seen.method, seen.url) == (self.sightings[0].method, self.sightings[0].url)
        if is_other or self.sightings:
            return False
        return seen.method == self.case.request.method or _last(seen.url) == _last(self.case.request.path)


def _last(path: str) -> str:
    """Last step of a path, without the query."""
    return path.partition("?")[0].rpartition("/")[2]
