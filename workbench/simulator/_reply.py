"""Response of a simulator, and its log entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench.contracts import Finding, Verdict
from workbench.lazy_dataclass import dataclass


class ReplyPiece(NamedTuple):
    """Bytes of a response, and the seconds to wait before them."""

    delay: float
    data: bytes


@dataclass(frozen=True, slots=True, repr=False)
class ServedRequest:
    """A request and how it was answered. Printed as its ``line()``, with unprintable characters escaped.

    Attributes:
        verdict: of the contract; None if no model was requested.
        finding: reason of the refusal; if it was accepted, the worst finding.
        note: explanation of the response, in one line; empty if there is none.
        body: of the request, as received.
        number: of its exchange in the memory; None if it was not judged.
    """

    method: str
    target: str
    status: int
    verdict: Verdict | None = None
    finding: Finding | None = None
    note: str = ""
    body: bytes = b""
    number: int | None = None

    @property
    def is_refused(self) -> bool:
        """The request was refused."""
        return self.status >= 400

    def line(self) -> str:
        """Format as ``POST /v1/messages 400 closure.missing-result /messages/1: …``."""
        if self.finding is None:
            return " ".join(filter(None, (self.method, self.target, str(self.status), self.note)))
        word = "" if self.is_refused else f"({self.note or self.verdict}) "
        where = self.finding.pointer or "/"
        said = self.finding.refusal if self.is_refused and self.finding.refusal else self.finding.message
        return f"{self.method} {self.target} {self.status} {word}{self.finding.rule} {where}: {said}"

    def __repr__(self) -> str:
        shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in self.line())
        return "".join(shown)


@dataclass(frozen=True, slots=True)
class SimulatedReply:
    """A response. ``pieces`` can be read once; ``is_cut``: the connection breaks after them."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: Iterator[ReplyPiece]
    served: ServedRequest
    is_cut: bool = False

    def body(self) -> bytes:
        """The whole body, without delays."""
        return b"".join(piece.data for piece in self.pieces)
