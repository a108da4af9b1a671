"""One exchange as seen at one hop: raw bytes, and when each piece arrived or left."""

from __future__ import annotations

from dataclasses import field

from workbench.lazy_dataclass import dataclass
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
        is_cut: the response was broken off.
        is_left: the client disconnected before the response had ended.
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
