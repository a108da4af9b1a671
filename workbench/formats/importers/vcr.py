"""Importer for VCR cassettes in YAML or JSON: vcrpy and its serialisers, go-vcr, R vcr and Ruby VCR.

They share one outer shape (``interactions`` or ``http_interactions``, a list of request and response), which is read by
its keys and not by tool. Formats: vcrpy ``serialize.py`` (version 1), go-vcr ``cassette.go`` (version 2), Ruby VCR and
R vcr ``recorded_with``. LangChain's serialiser of vcrpy writes ``requests`` and ``responses``, in the same order
(``langchain_tests/conftest.py``).

Reads non-HTTP entries of cassettes: WebSocket frames (``kind: message``), gRPC samples (``request_sample``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from workbench import regex
from workbench.config import safeyaml
from workbench.errors import LocalProtocolError, UnreadableInput
from workbench.formats.importers._envelopes import MessageSide, request_side, response_side
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import (
    base64_body,
    epoch,
    header_text,
    headers_of,
    parsed_body,
    stored_body,
    text_bytes,
    whole,
    whole_text,
)
from workbench.formats.importers._values import fields, is_base64
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import with_turns
from workbench.wire import Body, Exchange, ExchangeKind, Frame, HttpRequest, HttpResponse, State, dumps, loads
from workbench.wire.session import MemorySession

NAME = "vcr"
TITLE = "VCR cassette"

_YAML = regex.compile(
    rb"(?:\A|\n)(?:[\"']?(?:http_)?interactions[\"']?:\s|requests:\r?\n-[ ](?:body|headers|method|uri):\s)", re.ASCII
)
_JSON = regex.compile(
    rb'\A\s*\{(?:\s*"(?:version|name|recorded_with)"\s*:\s*(?:"[^"]{0,200}"|\d+)\s*,)*'
    rb'\s*"(?:http_)?interactions"\s*:\s*\['
)
_DURATION = regex.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def sniff(head: bytes) -> float:
    """The key with the interactions, at the top level."""
    return 0.95 if _YAML.search(head) or _JSON.match(head) else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """All interactions in order, model calls or not. Raises UnreadableInput, WireError."""
    is_json = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"
    interactions = _interactions(loads(data) if is_json else safeyaml.load(data, name=name))
    damage = ImportDamage()
    exchanges: list[Exchange] = []
    if any(is_frame(i) for i in interactions):
        exchanges.append(connection(interactions))
    for number, interaction in enumerate(interactions, 1):
        if is_frame(interaction):
            continue
        try:
            exchanges.append(_exchange(str(len(exchanges) + 1), interaction, damage))
        except (UnreadableInput, LocalProtocolError) as error:
            damage.add(f"interaction {number}: {error.what}")
    if not exchanges:
        raise damage.refuse("the cassette has no interactions")
    return MemorySession(name, tuple(with_turns(exchanges)), damage.as_lines(), format=TITLE)


def _interactions(cassette: JsonValue) -> Sequence[JsonValue]:
    if isinstance(cassette, dict):
        for key in ("interactions", "http_interactions"):
            if isinstance(cassette.get(key), list):
                found: list[JsonValue] = cassette[key]
                return found
        requests, responses = cassette.get("requests"), cassette.get("responses")
        if isinstance(requests, list) and isinstance(responses, list):
            return [{"request": request, "response": answer} for request, answer in zip_longest(requests, responses)]
    raise UnreadableInput("no list of interactions at the top level")


def _exchange(number: str, interaction: JsonValue, damage: ImportDamage) -> Exchange:
    if not isinstance(interaction, dict):
        raise UnreadableInput("not a mapping")
    if is_sample(interaction):
        return sample(number, interaction)
    plain, reply = interaction.get("request"), interaction.get("response")
    if not isinstance(plain, dict):
        raise UnreadableInput("no request")
    request, response = _request(plain), _response(reply) if isinstance(reply, dict) else None
    for side in (request, response):
        if side and side.left_out:
            damage.add(f"interaction {number}: {side.left_out}")
    assert isinstance(request.http, HttpRequest)
    return Exchange(
        number,
        request=request.http,
        response=response.http if response and isinstance(response.http, HttpResponse) else None,
        state=State.COMPLETE if response else State.INCOMPLETE,
        started_at=epoch(interaction.get("recorded_at")),
        duration=_duration(reply.get("duration")) if isinstance(reply, dict) else None,
        note=response.note if response else "the cassette contains no response",
        meta=response.meta if response else NOTHING,
    )


def _request(plain: dict[str, JsonValue]) -> MessageSide:
    body = _body(plain)
    if body is None:
        side = request_side(plain)
        return side._replace(http=replace(side.http, http_version=_version(plain)))
    request = HttpRequest(
        method=header_text(plain.get("method", "POST")).upper(),
        url=whole_text(plain.get("uri") or plain.get("url")),
        headers=headers_of(plain.get("headers")),
        body=body,
        http_version=_version(plain),
    )
    return MessageSide(request)


def _response(plain: dict[str, JsonValue]) -> MessageSide:
    own = _body(plain)
    side = response_side(plain) if own is None else None
    body, headers = (side.http.body, side.http.headers) if side else (own or Body(), headers_of(plain.get("headers")))
    status, reason = _status(plain)
    response = HttpResponse(status=status, headers=headers, body=body, reason=reason, http_version=_version(plain))
    return side._replace(http=response) if side else MessageSide(response)


def _status(plain: dict[str, JsonValue]) -> tuple[int, str]:
    """Status from ``{code, message}`` (vcrpy, Ruby), a number (R), ``"200 OK"`` next to ``code`` (Go)."""
    status = plain.get("status")
    if isinstance(status, dict):
        return whole(status.get("code")), header_text(status.get("message"))
    if isinstance(status, str):
        code, _, reason = status.partition(" ")
        return whole(plain.get("code"), whole(code)), reason
    return whole(plain.get("code"), whole(status, whole(plain.get("status_code")))), ""  # vcrpy of httpx, until 2024


def _version(plain: dict[str, JsonValue]) -> str:
    proto = plain.get("proto")
    return proto if isinstance(proto, str) else ""


def _body(plain: dict[str, JsonValue]) -> Body | None:
    """Body from ``parsed_body`` (a tree), ``body`` as text or bytes, or ``body`` with ``string`` or ``base64_string``.

    None for other forms, which are read as other recorders store them.
    """
    headers = headers_of(plain.get("headers"))
    if "parsed_body" in plain:
        return parsed_body(plain["parsed_body"])
    body = plain.get("body")
    if isinstance(body, str | bytes):
        return None if is_base64(fields(plain)) else stored_body(text_bytes(body), headers)
    if not isinstance(body, dict) or not {"string", "base64_string"} & body.keys():
        return None
    if body.get("base64_string") is not None:
        return base64_body(body["base64_string"], headers)
    if body.get("encoding") == "base64" or isinstance(body.get("string"), dict | list):
        return None
    result = stored_body(text_bytes(body.get("string")), headers)
    encoding = body.get("encoding")
    if isinstance(encoding, str) and encoding.upper() not in ("", "UTF-8", "ASCII-8BIT", "US-ASCII"):
        return replace(result, is_raw=False, note=f"the recording tool stored the body as text in {encoding[:40]}")
    return result


def _duration(value: JsonValue) -> float | None:
    """Seconds of a Go duration ("1m2.5s") or a number of seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if 0 < value < 1e6 else None
    found = _DURATION.findall(value[:64]) if isinstance(value, str) else []
    return sum(float(n) * _UNITS[unit] for n, unit in found) if found else None


def is_frame(interaction: JsonValue) -> bool:
    """True for an entry with one WebSocket message."""
    return isinstance(interaction, dict) and interaction.get("kind") == "message" and "direction" in interaction


def connection(interactions: Sequence[JsonValue]) -> Exchange:
    """Build one connection from the frames of a cassette. Raises LocalProtocolError."""
    frames = tuple(_frame(i) for i in interactions if is_frame(i))
    note = "WebSocket messages; the cassette has no handshake or times, and only parsed JSON"
    return Exchange("1", kind=ExchangeKind.WEBSOCKET, frames=frames, note=note)


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
    messages = {side: message for side, message in samples.items() if isinstance(message, dict)}
    return Exchange(
        number,
        request=HttpRequest(body=_message(messages["request"])) if "request" in messages else None,
        response=HttpResponse(body=_message(messages["response"])) if "response" in messages else None,
        note="a gRPC call: protobuf messages without HTTP, not decoded",
        meta={"grpc": {side: message.get("json") for side, message in messages.items()}},
    )


def _message(members: dict[str, JsonValue]) -> Body:
    return Body(text_bytes(members.get("raw")), is_raw=isinstance(members.get("raw"), bytes))
