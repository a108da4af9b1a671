"""What happened to an exchange between two places where it was seen: before and behind a gateway, or in two files.

``between`` names each change by its kind, with where it is and the bytes that differ first. It says what happened and
not whether that matters: rules weigh it (``workbench.rules.gateway_hops``), ``compare`` and ``audit`` list it.
"""

from __future__ import annotations

from workbench.damage.bodies import Damage as Change
from workbench.damage.bodies import Deed, damages
from workbench.damage.kinds import Damage, Kind
from workbench.decode import REQUEST, RESPONSE, Decoded
from workbench.differences.wire import first_difference

__all__ = ["Damage", "Kind", "between"]


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
