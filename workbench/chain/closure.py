"""Closure: every call answered once, by id, in the place the protocol wants.

Everything that can change whether a call counts as closed lives in this file. It knows roles, ids and positions, and
no protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class NodeRef(NamedTuple):
    """A part by its place: ``side`` is "request" or "response"."""

    side: str
    message: int
    part: int


class CallState(StrEnum):
    """What became of a call, or what is wrong with a result."""

    CLOSED = "closed"
    PENDING = "pending"  # still open at the end: the client has yet to run it
    MISSING = "missing"  # the conversation went on without its result
    MISPLACED = "misplaced"  # answered, but not where the protocol wants it
    OUT_OF_ORDER = "out-of-order"  # the result stands before its call
    DUPLICATE = "duplicate"  # more than one result, or the id is used by two calls
    ORPHAN = "orphan"  # a result without a call


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call with its results, or one result without a call.

    Attributes:
        id, name: as sent.
        call: None for an orphan.
        results: every result that names this id.
        state: the worst thing true of it.
        note: in words, for people ("answered by message 4, message 3 stands between").
    """

    id: str | None
    name: str | None
    call: NodeRef | None
    results: tuple[NodeRef, ...]
    state: CallState
    note: str = ""


@dataclass(frozen=True, slots=True)
class Closure:
    """Every call and every result of a request's history and of its answer, in wire order."""

    lines: tuple[CallLine, ...] = ()

    @property
    def closed(self) -> int:
        """How many calls are closed."""
        return sum(line.state is CallState.CLOSED for line in self.lines)

    @property
    def calls(self) -> int:
        """How many calls there are."""
        return sum(line.call is not None for line in self.lines)
