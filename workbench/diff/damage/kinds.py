"""The kinds of damage, and the value that names one."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from workbench.lazy_dataclass import dataclass


class DamageKind(StrEnum):
    """Kind of damage. Names and values are stable, JSON contains them; ``damage_words`` is for people."""

    # values of a body
    FIELD_DROPPED = "field dropped"
    FIELD_ADDED = "field added"
    FIELD_RENAMED = "field renamed"
    FIELD_MOVED = "field moved"
    EMPTY_DROPPED = "null or empty dropped"
    VALUE_CHANGED = "value changed"
    DUPLICATES_LOST = "duplicate key lost"
    ORDER_CHANGED = "items reordered"
    IDS_MAPPED = "ids mapped"  # renamed in every place alike
    CONTENT_SHAPE = "content shape changed"  # a text became a list of one, or the reverse
    RESHAPED = "reshaped"
    PROTOCOL_CHANGED = "another protocol"
    # texts
    TEXT_TRIMMED = "text trimmed"
    TEXT_CUT = "text cut"
    TEXTS_MERGED = "texts merged"
    TEXTS_SPLIT = "text split"
    UNICODE_NORMALISED = "Unicode normalised"
    UNICODE_DAMAGED = "characters damaged"
    ARGUMENTS_RESPELLED = "JSON in a text written anew"
    # the same value in other bytes
    KEY_ORDER = "key order"
    NUMBER_SPELLING = "number spelling"
    ESCAPES = "escapes"
    WHITESPACE = "whitespace"
    RESPELLED = "spelled anew"  # in another way than these
    CODING_CHANGED = "content coding changed"
    # streams
    EVENTS_RECUT = "events re-cut"
    EVENTS_DROPPED = "events dropped"
    EVENTS_ADDED = "events added"
    EVENTS_REORDERED = "events reordered"
    EVENT_NAMES_LOST = "event names lost"
    EVENT_IDS_LOST = "event ids lost"
    DELTAS_LOST = "deltas lost"
    DELTAS_REPEATED = "deltas repeated"
    FRAMING_CHANGED = "framing changed"
    STREAM_TO_BODY = "stream became one body"
    BODY_TO_STREAM = "body became a stream"
    BUFFERED = "buffered"
    # around the bodies
    TRUNCATED = "truncated"
    STATUS_CHANGED = "status changed"
    ERROR_REWRITTEN = "error rewritten"
    HEADER_DROPPED = "header dropped"
    HEADER_ADDED = "header added"
    HEADER_CHANGED = "header changed"
    METHOD_CHANGED = "method changed"
    PATH_CHANGED = "path changed"
    QUERY_CHANGED = "query changed"
    ANSWERED = "answered by the gateway"  # nothing went on
    ASKED = "asked by the gateway"  # nothing came in
    REPEATED = "repeated by the gateway"


_WORDS: Mapping[str, str] = {
    "field dropped": "dropped",
    "field added": "added",
    "error rewritten": "error changed",
    "text cut": "text truncated",
    "JSON in a text written anew": "JSON in a text rewritten",
    "spelled anew": "rewritten",
    "events re-cut": "events grouped differently",
    "no answer": "no response",
    "broken answer ended as whole": "incomplete response ended normally",
    "whole answer broken off": "complete response ended early",
    "hang-up not passed on": "client's disconnect not forwarded",
    "no JSON any more": "no longer valid JSON",
    "other bytes": "different bytes",
    "answer of another request": "response to another request",
}
"""Kind of damage, or of a fault that an audit sees → words for people, where the stable value is not plain."""


def damage_words(kind: str) -> str:
    """A kind of damage, or of a fault that an audit sees, in words for people."""
    return _WORDS.get(kind, str(kind))


@dataclass(frozen=True, slots=True)
class Damage:
    """One kind of change on one side, with every place where it happened.

    Attributes:
        side: "request" or "response".
        was: first place as received: a pointer into the body (into the accumulated message of a stream, or
            "/events/N/…"), of a header "/headers/NAME", "/method", "/path", "/query", "/status"; empty for the whole.
        at: the same as forwarded; for a dropped value, its pointer if it were there.
        words: description for people; contains untrusted text.
        places: number of places.
        first: offset, in the forwarded body, of the first byte that differs there; None if no byte of it does.
        is_same_meaning: a reader of the protocol notices nothing.
        first_was: the same offset in the received body.
        further: forwarded pointers of places beyond the first, the nearest few.
    """

    kind: DamageKind
    side: str
    was: str
    at: str
    words: str
    places: int = 1
    first: int | None = None
    is_same_meaning: bool = False
    first_was: int | None = None
    further: tuple[str, ...] = ()
