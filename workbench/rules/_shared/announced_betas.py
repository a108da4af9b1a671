"""The betas that a request announces, in its header or its body."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.globs import matches_glob
from workbench.rules._shared.body_values import values_at
from workbench.rules._shared.context import BETA, VERSION, RuleContext

_BETA_FIELDS = ("/anthropic_beta/*", "/betas/*", "/additionalModelRequestFields/anthropic_beta/*")
"""Pointer of the betas in a body: Bedrock has no header for them."""


def betas(case: RuleContext) -> Iterator[tuple[str, str]]:
    """(pointer, name) of every beta that the request announces, in its header or its body."""
    http = case.decoded.exchange.request
    for value in http.headers.all(BETA) if http else ():
        yield from ((f"/headers/{BETA}", name.strip()) for name in value.split(",") if name.strip())
    for place in _BETA_FIELDS:
        yield from ((at, name) for at, name in values_at(case.decoded, place) if isinstance(name, str))


def may_announce(case: RuleContext, glob: str, *, is_told: bool = True) -> bool:
    """The request announces a beta.

    Args:
        is_told: the provider is known to ask for it. Where types alone do, one that was answered may have announced
            it, and so may one whose headers were left out.
    """
    http = case.decoded.exchange.request
    has_headers = http is not None and http.headers.get(VERSION) is not None
    is_judged = is_told or (has_headers and not 0 < case.status < 400)
    return not is_judged or any(matches_glob(name, glob) for _, name in betas(case))
