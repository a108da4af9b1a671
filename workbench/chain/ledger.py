"""The reasoning ledger: what came in, in which carrier, who owes it, what was really sent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from workbench.chain.closure import NodeRef


class Sent(StrEnum):
    """What a request did with a piece of reasoning."""

    SENT = "sent"  # byte for byte as received (or: nothing is known of how it was received)
    MISSING = "missing"
    EMPTY = "empty"
    ALTERED = "altered"
    NOT_OWED = "not owed"  # absent, and nobody asks for it


@dataclass(frozen=True, slots=True)
class Entry:
    """One assistant turn's reasoning as seen by one request.

    Attributes:
        turn: ordinal of the assistant message among the assistant messages of the history, from zero.
        message: index of that message in the request; None when the request does not hold the turn at all.
        received_in: exchange (from zero) whose answer brought it; None when only a history shows it.
        received_events: blocks of that answer's stream it came in.
        carrier: how it came in (or is sent); None when no reasoning of this turn is known.
        text, signature: as received, where known.
        sent_part: where it stands in this request.
        owed: this request has to carry it.
        sent: what happened.
        why: why it is owed, or when the debt ended ("ended by the user message 5"), in words.
        sent_text: readable reasoning as this request sends it; None where it sends none.
        call_ids: ids of the turn's calls.
        differs: of an altered or empty entry, what differs at ``sent_part``: IR field ``"text"``, ``"signature"`` or
            ``"data"``; ``"order"`` (same blocks, other order); ``"count"`` (a block is lost or added).
    """

    turn: int
    message: int | None
    received_in: int | None
    received_events: tuple[int, ...]
    carrier: str | None
    text: str | None
    signature: str | None
    sent_part: NodeRef | None
    owed: bool
    sent: Sent
    why: str = ""
    sent_text: str | None = None
    call_ids: tuple[str, ...] = ()
    differs: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger of one request, one entry a turn, and what its answer brought in."""

    entries: tuple[Entry, ...] = ()
    came_in: tuple[NodeRef, ...] = ()
