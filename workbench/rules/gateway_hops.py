"""Parts that a gateway dropped, changed or reshaped between two places where one turn was recorded.

Requests are judged where they continued (the place nearer to the model), answers where the client got them.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.contracts import Finding
from workbench.protocols import DecodedExchange
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.hop_rules import ALTERED, DROPPED, RESHAPED

RULES = (DROPPED, ALTERED, RESHAPED)


def check(case: RuleContext) -> Iterator[Finding]:
    """Against the same turn one place nearer to the client, and nearer to the model."""
    hops = case.hops
    if hops.is_alone or (hops.outer is None and hops.inner is None):
        return
    outer, inner = hops.outer, hops.inner
    from workbench.rules._shared import hop_damage  # and all of the comparison: few sessions have two hops

    if outer is not None and not is_meant(case.decoded, outer):
        yield from hop_damage.check_request(case, outer)
    is_over = inner is not None and not case.decoded.is_arriving and not inner.is_arriving
    if inner is not None and is_over and not is_meant(case.decoded, inner):
        yield from hop_damage.check_answer(case, inner)


def is_meant(one: DecodedExchange, other: DecodedExchange) -> bool:
    """One was made from the other by somebody who said so: an edit at a breakpoint, another protocol."""
    derived = one.exchange.parent == other.exchange.id and one.exchange.branch
    return bool(derived or (other.exchange.parent == one.exchange.id and other.exchange.branch))
