"""Reads non-HTTP entries of cassettes: WebSocket frames (``kind: message``), gRPC samples (``request_sample``)."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.formats.importers._http import text_bytes
from workbench.ir import JsonValue
from workbench.wire import Body, Exchange, Frame, HttpRequest, HttpResponse, Kind, dumps


def is_frame(interaction: JsonValue) -> bool:
    """True for an entry with one WebSocket message."""
    return isinstance(interaction, dict) and interaction.get("kind") == "message" and "direction" in interaction


def connection(interactions: Sequence[JsonValue]) -> Exchange:
    """Build one connection from the frames of a cassette. Raises LocalProtocolError."""
    frames = tuple(_frame(i) for i in interactions if is_frame(i))
    note = "WebSocket messages; the cassette has no handshake, no times, and only parsed JSON"
    return Exchange("1", kind=Kind.WEBSOCKET, frames=frames, note=note)


def _frame(entry: dict[str, JsonValue]) -> Frame:
    data = entry.get("data")
    direction = "sent" if entry.get("direction") == "sent" else "received"
    if isinstance(data, bytes):
        return Frame(direction, "binary", data)
    return Frame(direction, "text", text_bytes(data) if isinstance(data, str) else dumps(data))


def is_sample(interaction: dict[str, JsonValue]) -> bool:
    """True for an entry with one gRPC call."""
    return "request_sample" in interaction or "response_sample" in interaction


def sample(number: str, interaction: dict[str, JsonValue]) -> Exchange:
    """A gRPC call: the serialised messages as bodies, their parsed trees in ``meta``."""
    samples = {side: interaction.get(f"{side}_sample") for side in ("request", "response")}
    messages = {side: held for side, held in samples.items() if isinstance(held, dict)}
    return Exchange(
        number,
        request=HttpRequest(body=_message(messages["request"])) if "request" in messages else None,
        response=HttpResponse(body=_message(messages["response"])) if "response" in messages else None,
        note="a gRPC call: protobuf messages without HTTP, not decoded",
        meta={"grpc": {side: held.get("json") for side, held in messages.items()}},
    )


def _message(held: dict[str, JsonValue]) -> Body:
    return Body(text_bytes(held.get("raw")), is_raw=isinstance(held.get("raw"), bytes))
