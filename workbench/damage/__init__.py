"""What happened to an exchange between two places where it was seen: before and behind a gateway, or in two files.

``between`` names each change by its kind, with where it is and the bytes that differ first. It says what happened and
not whether that matters: rules weigh it (``workbench.rules.gateway_hops``), ``compare`` and ``audit`` list it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from workbench.damage.bodies import Damage as Change
from workbench.damage.bodies import Deed, damages
from workbench.decode import REQUEST, RESPONSE, Decoded
from workbench.differences.wire import first_difference


class Kind(StrEnum):
    """What happened, in the words that are shown."""

    FIELD_DROPPED = "field dropped"
    FIELD_ADDED = "field added"
    VALUE_CHANGED = "value changed"
    RESHAPED = "reshaped"
    RESPELLED = "spelled anew"


@dataclass(frozen=True, slots=True)
class Damage:
    """One kind of change on one side, with every place where it happened.

    Attributes:
        side: "request" or "response".
        was: pointer (of a header: "/headers/NAME") where it was first seen, as it came in.
        at: the same, as it went on; of what was dropped, where it would stand.
        words: what happened there, for people.
        places: how many places there are.
        first: offset of the first byte that differs in the body as it went on, None where no byte of it does.
        is_same_meaning: a reader of the protocol notices nothing.
    """

    kind: Kind
    side: str
    was: str
    at: str
    words: str
    places: int = 1
    first: int | None = None
    is_same_meaning: bool = False


def between(before: Decoded, after: Decoded) -> tuple[Damage, ...]:
    """What happened between two sightings of one exchange, the first divergence first; () where nothing did.

    Args:
        before: nearer to whoever sent it: of a request the client's place, of an answer the upstream's. Which is
            which is told by the caller: ``before`` is the client's side of a gateway, ``after`` the upstream's.
    """
    found = []
    for side, olds, news in (
        (REQUEST, before.request_text, after.request_text),
        (RESPONSE, after.response_text, before.response_text),
    ):
        first = first_difference(olds, news)
        found += [_named(change, side, first) for change in damages(olds, news)]
    return tuple(found)


_KINDS = {
    Deed.DROPPED: Kind.FIELD_DROPPED,
    Deed.ADDED: Kind.FIELD_ADDED,
    Deed.ALTERED: Kind.VALUE_CHANGED,
    Deed.RESHAPED: Kind.RESHAPED,
    Deed.RESPELLED: Kind.RESPELLED,
}


def _named(change: Change, side: str, first: int | None) -> Damage:
    is_same = change.deed is Deed.RESPELLED
    return Damage(_KINDS[change.deed], side, change.was, change.at, change.words, 1, first, is_same)
