"""The views of ``show`` as JSON values."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING

from workbench.cli._show import as_arguments, as_textcalls
from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse, Part
from workbench.protocols import REQUEST, RESPONSE
from workbench.rules import Detail
from workbench.wire import HttpRequest, HttpResponse, digests, seen_frames

if TYPE_CHECKING:
    from workbench.protocols.clients import ClientGroup


def view(name: str, detail: Detail, parser: str | None = None) -> dict[str, JsonValue]:
    """One view of one exchange. ``parser``: the format that the view ``textcalls`` reads texts as."""
    row = detail.row
    head = {
        "index": row.index,
        "protocol": row.protocol,
        "provider": row.provider,
        "conversation": row.conversation,
        "problems": list(row.problems),
    }
    if name == "textcalls":
        return head | as_textcalls.as_json(detail, parser)
    return head | {
        "wire": wire,
        "ir": ir,
        "arguments": as_arguments.as_json,
        "closure": closure,
        "reasoning": reasoning,
        "events": events,
    }[name](detail)


def wire(detail: Detail) -> dict[str, JsonValue]:
    """Both sides as sent."""
    exchange = detail.decoded.exchange
    passed = digests.read_digests(exchange)
    return {
        "state": exchange.state.value,
        "note": exchange.note,
        "request": _http(exchange.request, detail.decoded.request_text),
        "response": _http(exchange.response, detail.decoded.response_text),
        "digests": {side: {**each.as_meta, "equal": each.is_equal} for side, each in passed.items()} or None,
        "frames": [[f.direction, f.opcode, f.data.decode("utf-8", "replace")] for f in exchange.frames],
    }


def start_line(http: HttpRequest | HttpResponse) -> str:
    """``POST /v1/messages`` or ``400 Bad Request``."""
    if isinstance(http, HttpRequest):
        return f"{http.method} {http.url} {http.http_version}".strip()
    return f"{http.status} {http.reason}".strip()


def _http(http: HttpRequest | HttpResponse | None, body: bytes) -> JsonValue:
    if http is None:
        return None
    try:
        text, encoded = body.decode(), None
    except UnicodeDecodeError:
        text, encoded = None, base64.b64encode(body).decode()
    return {
        "line": start_line(http),
        "headers": [list(h) for h in http.headers],
        "body": text,
        "body_base64": encoded,
        "bytes": len(http.body.raw),
        "encoding": http.body.encoding,
        "note": http.body.note,
    }


def ir(detail: Detail) -> dict[str, JsonValue]:
    """Both sides decoded."""
    decoded = detail.decoded
    return {REQUEST: _side(decoded.request), RESPONSE: _side(decoded.response)}


def _side(model: ModelRequest | ModelResponse | None) -> JsonValue:
    if model is None:
        return None
    plain = {f.name: _plain(getattr(model, f.name)) for f in fields(model) if f.name not in ("messages", "system")}
    plain["messages"] = [_message(m) for m in model.messages]
    if isinstance(model, ModelRequest):
        top = Message("system", model.system)
        plain["system"] = [_part(top, p) for p in model.system]
    return plain


def _message(message: Message) -> JsonValue:
    parts = [_part(message, p) for p in message.parts]
    return {"role": message.role, "pointer": message.pointer, "parts": parts, "extra": _plain(message.extra)}


def _part(message: Message, part: Part) -> JsonValue:
    plain = {f.name: _plain(getattr(part, f.name)) for f in fields(part) if f.name not in ("source", "content")}
    head: dict[str, JsonValue] = {"part": type(part).__name__, "pointer": message.absolute(part)}
    if part.source.events:
        head["events"] = list(part.source.events)
    content = getattr(part, "content", None)
    return head | plain | ({"content": [_part(message, p) for p in content]} if content is not None else {})


def _plain(value: JsonValue) -> JsonValue:
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | frozenset):
        return [_plain(v) for v in value]
    return value


def closure(detail: Detail) -> dict[str, JsonValue]:
    """The closure lines."""
    lines = [
        {
            "id": line.id,
            "name": line.name,
            "state": line.state.value,
            "note": line.note,
            "call": _ref(detail, line.call),
            "results": [_ref(detail, r) for r in line.results],
        }
        for line in detail.closure.lines
    ]
    return {"calls": detail.closure.calls, "closed": detail.closure.closed_count, "lines": lines}


def _ref(detail: Detail, ref: JsonValue) -> JsonValue:
    if ref is None:
        return None
    message = detail.decoded.messages(ref.side)[ref.message]
    return {"side": ref.side, "pointer": message.absolute(message.parts[ref.part])}


def reasoning(detail: Detail) -> dict[str, JsonValue]:
    """The reasoning ledger."""
    entries = [
        {
            "turn": e.turn,
            "pointer": detail.decoded.messages(REQUEST)[e.message].pointer if e.message is not None else None,
            "carrier": e.carrier,
            "received_in": e.received_in,
            "received_events": list(e.received_events),
            "text": e.text,
            "signature": e.signature,
            "owed": e.owed,
            "sent": e.sent.value,
            "sent_text": e.sent_text,
            "why": e.why,
            "calls": list(e.call_ids),
        }
        for e in detail.ledger.entries
    ]
    return {"entries": entries, "came_in": [_ref(detail, r) for r in detail.ledger.came_in]}


def events(detail: Detail) -> dict[str, JsonValue]:
    """Events of the stream, what each adds, and what the usual SDKs build from them."""
    from workbench.protocols.clients import Effects, where_they_differ

    effects = Effects(detail.decoded.response, detail.decoded.events)
    return {
        "frames": [
            {
                "number": f.number,
                "direction": f.direction,
                "type": f.type,
                "bytes": f.size,
                "value": f.value,
                "text": f.text,
            }
            for f in seen_frames(detail.decoded.exchange)
        ],
        "events": [
            {
                "number": e.number,
                "event": e.name,
                "data": None if e.data is None else e.data.decode("utf-8", "replace"),
                "bytes": [e.start, e.end],
                "at": detail.decoded.arrival(e),
                "terminated": e.terminated,
                "did": [deed.words for deed in effects.of(e.number)],
                "anomalies": [anomaly.message for anomaly in effects.anomalies.get(e.number, ())],
            }
            for e in detail.decoded.events
        ],
        "clients": [_clients(group) for group in where_they_differ(detail.decoded)],
    }


def _clients(group: ClientGroup) -> dict[str, JsonValue]:
    return {
        "names": list(group.policies),
        "written_after": list(group.packages),
        "agree": group.agrees,
        "event": group.event,
        "differences": [{"part": d.part, "event": d.event, "what": d.words} for d in group.differences],
        "raises": group.stopped
        and {"event": group.stopped.event, "error": group.stopped.kind, "why": group.stopped.words},
        "notes": list(group.notes),
    }
