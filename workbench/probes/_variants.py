"""Reasoning that is sent back otherwise than it came, in every carrier: missing, empty, altered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from workbench.errors import LocalProtocolError
from workbench.ir import JsonValue, Part, Reasoning
from workbench.whatif import Subject as Varied
from workbench.whatif import Variant
from workbench.whatif import reasoning as ways
from workbench.wire.exchange import HttpRequest

VARIANTS = ("missing", "empty", "altered")
"""What is done to it."""


def changed(request: HttpRequest, protocol: str) -> Mapping[str, HttpRequest | None]:
    """The request with its reasoning sent back in every other way; None for what cannot be said."""
    varied = _varied(request, protocol)
    if varied is None:
        return dict.fromkeys(VARIANTS)
    made: Mapping[str, Variant] = {v.name: v for way in (ways.dropped, ways.emptied) for v in way(varied)}
    return {
        "missing": made["reasoning=dropped"].request,
        "empty": made["reasoning=emptied"].request,
        "altered": varied.rewritten("", "", _altered, "").request,
    }


def rewritten(request: HttpRequest, protocol: str, change: Callable[[Part], Part]) -> HttpRequest | None:
    """The request with other values in its parts; None where that cannot be said, or changes nothing."""
    varied = _varied(request, protocol)
    return varied.rewritten("", "", change, "").request if varied else None


def _varied(request: HttpRequest, protocol: str) -> Varied | None:
    try:
        return Varied.alone(request, protocol)
    except LocalProtocolError:
        return None


def _altered(part: Part) -> Part:
    """Half of a text, and of an opaque proof where there is no text."""
    if not isinstance(part, Reasoning):
        return part
    if part.text:
        return replace(part, text=part.text[: len(part.text) // 2])
    return replace(part, data=_half(part.data), signature=_half(part.signature))


def _half(proof: JsonValue) -> JsonValue:
    return proof[: len(proof) // 2 // 4 * 4] if isinstance(proof, str) else proof
