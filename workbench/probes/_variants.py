"""Reasoning that is sent back otherwise than it came: by the variants of ``whatif`` and one of our own."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.inspection import Inspector
from workbench.wire.exchange import Exchange, HttpRequest
from workbench.wire.session import MemorySession

VARIANTS: Mapping[str, str] = {
    "missing": "reasoning=dropped",
    "empty": "reasoning=emptied",
    "altered": "reasoning=trimmed",
}
"""What is done to it → the variant of a request that does it."""


def changed(request: HttpRequest, protocol: str, name: str) -> HttpRequest:
    """The request with its reasoning sent back in another way; the same request where that cannot be done."""
    from workbench import whatif

    inspector = Inspector(MemorySession("probe", (Exchange("probe", request),)), protocol=protocol)
    wanted = VARIANTS[name]
    found = next((v for v in whatif.variants(inspector, 0) if v.name == wanted), None)
    return found.request if found and found.request else request
