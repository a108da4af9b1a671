"""What a simulator answers, and what it says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from workbench.contracts import Finding, Verdict


class ReplyPiece(NamedTuple):
    """Bytes of an answer, and the seconds to wait before them."""

    delay: float
    data: bytes


@dataclass(frozen=True, slots=True, repr=False)
class ServedRequest:
    """A request and what became of it. Printed as its ``line()``, with escapes for what does not print.

    Attributes:
        verdict: of the contract, None where no model was asked.
        finding: the fault it was refused for; where it went through, the worst that was found.
        note: in one line, why it was answered so; "" where that is all.
        body: of the request, as it came.
        number: of its exchange in the memory, None where no rule was asked.
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
        """It was not answered."""
        return self.status >= 400

    def line(self) -> str:
        """``POST /v1/messages 400 closure.missing-result /messages/1: …``."""
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
    """An answer. ``pieces`` goes once; ``is_cut``: the connection breaks behind them."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: Iterator[ReplyPiece]
    served: ServedRequest
    is_cut: bool = False

    def body(self) -> bytes:
        """All of it, without waiting."""
        return b"".join(piece.data for piece in self.pieces)
