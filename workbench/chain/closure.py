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


class Flaw(StrEnum):
    """One thing that is wrong with a line: what a rule asks for."""

    NOT_ADJACENT = "not-adjacent"  # something stands between the calls and the result
    RESULT_NOT_FIRST = "result-not-first"  # other content stands before or between the results
    CALL_ROLE = "call-role"  # the call is in a message of the wrong role
    RESULT_ROLE = "result-role"  # a result is in a message of the wrong role
    DUPLICATE_ID = "duplicate-id"  # an earlier call has the same id
    DUPLICATE_RESULT = "duplicate-result"  # more than one result
    ID_MISMATCH = "id-mismatch"  # call and result fit by position, but the ids differ
    BY_POSITION = "by-position"  # the result names no id and was paired by its place


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call with its results, or one result without a call.

    Attributes:
        id, name: as sent.
        call: None for an orphan.
        results: every result that names this id.
        state: the worst thing true of it.
        note: in words, for people ("answered by message 4, message 3 stands between").
        flaws: what is wrong, as values of ``Flaw``: several can be true at once, ``state`` names the worst.
        between: index of the first request message that stands between the calls and their result.
        before: first part that stands before or between the results of its turn although results come first.
        twin: the earlier call with the same id (``Flaw.DUPLICATE_ID``).
        stands_for: of an orphan, the unanswered call it answers by position (``Flaw.ID_MISMATCH``).
        is_remembered: the call stands in an answer that only the server holds: ``call`` is None and it is no orphan.
    """

    id: str | None
    name: str | None
    call: NodeRef | None
    results: tuple[NodeRef, ...]
    state: CallState
    note: str = ""
    flaws: tuple[Flaw, ...] = ()
    between: int | None = None
    before: NodeRef | None = None
    twin: NodeRef | None = None
    stands_for: NodeRef | None = None
    is_remembered: bool = False


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
        return sum(line.call is not None or line.is_remembered for line in self.lines)
