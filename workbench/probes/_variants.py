"""Changed replays of reasoning, in every carrier: missing, empty, altered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from workbench import protocols
from workbench.edits import with_body
from workbench.errors import LocalProtocolError, ProtocolMismatch, WireError
from workbench.ir import JsonValue, Part, Reasoning
from workbench.trials.whatif import VariedRequest as Varied
from workbench.trials.whatif import reasoning as ways
from workbench.wire import HttpRequest

VARIANTS = ("missing", "empty", "altered")
"""The changes."""


def replay_variants(request: HttpRequest, protocol: str) -> Mapping[str, HttpRequest | None]:
    """The request with its reasoning changed in every way; None if it cannot be encoded."""
    try:
        missing = next(iter(ways.drop_reasoning(Varied.alone(request, protocol)))).request
    except LocalProtocolError:
        missing = None
    empty, altered = (rewrite_parts(request, protocol, change) for change in (_empty, _alter))
    return {"missing": missing, "empty": empty, "altered": altered}


def rewrite_parts(request: HttpRequest, protocol: str, change: Callable[[Part], Part]) -> HttpRequest | None:
    """The request with changed parts; None if they cannot be encoded, or nothing changes."""
    adapter, text = protocols.get(protocol), request.body.raw
    try:
        meant = adapter.decode_request(text)
        messages = tuple(replace(m, parts=tuple(map(change, m.parts))) for m in meant.messages)
        if messages == meant.messages:
            return None
        return with_body(request, adapter.encode_request(replace(meant, messages=messages), text), text)
    except (LocalProtocolError, WireError, ProtocolMismatch):
        return None


def _empty(part: Part) -> Part:
    return replace(part, text="") if isinstance(part, Reasoning) and part.text else part


def _alter(part: Part) -> Part:
    """Cut a text in half, or an opaque proof if there is no text."""
    if not isinstance(part, Reasoning):
        return part
    if part.text:
        return replace(part, text=part.text[: len(part.text) // 2])
    return replace(part, data=_half(part.data), signature=_half(part.signature))


def _half(proof: JsonValue) -> JsonValue:
    return proof[: len(proof) // 2 // 4 * 4] if isinstance(proof, str) else proof
