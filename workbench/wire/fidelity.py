"""How close the bytes of an exchange are to those that were on the wire.

The maker of a recording states it in ``Exchange.meta``; else it follows from the origin and the bodies.
"""

from __future__ import annotations

from enum import StrEnum

from workbench.wire.exchange import Exchange, Origin


class Fidelity(StrEnum):
    """Fidelity of an exchange, the best first."""

    EXACT = "exact bytes"
    RESERIALISED = "re-serialised"  # the JSON value was kept, its key order and whitespace were not
    REBUILT = "rebuilt"  # made from logged messages or a transcript
    CUT = "cut"  # the store has removed the middle or the end of a value
    SAMPLED = "sampled"  # the store has kept no body


KEY = "fidelity"
"""Member of ``Exchange.meta`` with the fidelity."""

CUTS = "cut"
"""Member of ``Exchange.meta`` with the JSON pointers of cut values, by side."""


_NAMES = frozenset(member.value for member in Fidelity)


def fidelity_of(exchange: Exchange) -> Fidelity:
    """The fidelity that the maker stated, or else the one that follows from origin and bodies."""
    stated = exchange.meta.get(KEY)
    if isinstance(stated, str) and stated in _NAMES:
        return Fidelity(stated)
    if exchange.origin is Origin.RECONSTRUCTED:
        return Fidelity.REBUILT
    bodies = [side.body for side in (exchange.request, exchange.response) if side is not None]
    return Fidelity.EXACT if all(body.is_raw for body in bodies) else Fidelity.RESERIALISED
