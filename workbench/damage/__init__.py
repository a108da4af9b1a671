"""What happened to an exchange between two places where it was seen: before and behind a gateway, or in two files.

``between`` names each change by its kind, with where it is and the bytes that differ first. It says what happened and
not whether that matters: rules weigh it (``workbench.rules.gateway_hops``), ``compare`` and ``audit`` list it.
"""

from __future__ import annotations

from workbench.damage.bodies import of_bodies
from workbench.damage.kinds import Damage, Kind
from workbench.decode import REQUEST, RESPONSE, Decoded

__all__ = ["Damage", "Kind", "between"]


def between(before: Decoded, after: Decoded) -> tuple[Damage, ...]:
    """What happened between two sightings of one exchange, the first divergence first; () where nothing did.

    Args:
        before: nearer to whoever sent it: of a request the client's place, of an answer the upstream's. Which is
            which is told by the caller: ``before`` is the client's side of a gateway, ``after`` the upstream's.
    """
    asked = of_bodies(REQUEST, before.request_text, after.request_text)
    return (*asked, *of_bodies(RESPONSE, after.response_text, before.response_text))
