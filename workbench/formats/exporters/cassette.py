"""Writes a cassette for vcrpy (YAML, version 1): a test suite replays the exchanges from it.

Text bodies are text, others ``!!binary``. A decoded body loses its Content-Encoding header, or the client that replays
it could not read it. Format: vcrpy, ``vcr/serialize.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from workbench.errors import LocalProtocolError
from workbench.formats.exporters import ExportResult, ExportSelection, one_file
from workbench.formats.exporters._secret_removal import utf8_header, utf8_text, without_secrets
from workbench.wire import Exchange, ExchangeKind, HttpRequest, HttpResponse, State

TITLE = "VCR cassette"
SUFFIX = ".yaml"

_OF_ITS_FRAMING: Final = ("content-length", "transfer-encoding")


def write(selection: ExportSelection) -> ExportResult:
    """Write the exchanges that have both sides into one cassette.

    Raises:
        LocalProtocolError: no exchange has a request and a response.
        SessionFormatError: an exchange cannot be read.
    """
    interactions: list[Any] = []
    notes: list[str] = []
    left_out: list[str] = []
    for index, exchange in without_secrets(selection):
        where = f"exchange {index + 1}"
        if missing := _missing(exchange):
            left_out.append(f"{where}: {missing}")
            continue
        interactions.append(_interaction(exchange))
        notes += (f"{where}: {note}" for note in _notes(exchange))
    if not interactions:
        raise LocalProtocolError(
            "no exchange has a request and a response",
            hint=("a cassette needs exchanges that have a request and a response"),
        )
    return one_file(_yaml({"interactions": interactions, "version": 1}), tuple(notes), tuple(left_out))


def _missing(exchange: Exchange) -> str:
    if exchange.kind is ExchangeKind.WEBSOCKET:
        return "a WebSocket connection; cassettes are HTTP only"
    if exchange.kind is ExchangeKind.MCP:
        return "traffic with a tool server; cassettes are HTTP only"
    if exchange.request is None:
        return "no request was recorded"
    return "" if exchange.response and exchange.response.status else "no response was recorded"


def _notes(exchange: Exchange) -> Iterator[str]:
    if exchange.state is not State.COMPLETE:
        yield f"the recorded response is incomplete ({exchange.state}); the replay ends there"
    if exchange.hop:
        yield f"the name of hop {exchange.hop!r} is not stored"
    if any(_is_decoded(side) for side in (exchange.request, exchange.response) if side):
        yield "a body is stored decoded, without its Content-Encoding header"


def _interaction(exchange: Exchange) -> Any:
    request, response = exchange.request, exchange.response
    assert request and response
    return {
        "request": {
            "body": _text(request.body.raw) if request.body.raw else None,
            "headers": _headers(request),
            "method": utf8_text(request.method),
            "uri": utf8_text(request.url),
        },
        "response": {
            "body": {"string": _text(response.body.raw)},
            "headers": _headers(response),
            "status": {"code": response.status, "message": utf8_text(response.reason)},
        },
    }


def _headers(side: HttpRequest | HttpResponse) -> dict[str, list[str]]:
    """Name → values. Names that differ only in case are one header to a client, and keep the first spelling."""
    dropped = {"content-encoding", *_OF_ITS_FRAMING} if _is_decoded(side) else set[str]()
    found: dict[str, list[str]] = {}
    for name, value in side.headers:
        if name.lower() not in dropped:
            found.setdefault(utf8_text(name), []).append(utf8_text(utf8_header(value)))
    return found


def _is_decoded(side: HttpRequest | HttpResponse) -> bool:
    """True if the header names a coding that the body does not have."""
    named = (side.headers.get("content-encoding") or "identity").strip().lower()
    return bool(side.body.raw) and named != "identity" and not side.body.encoding


def _text(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _yaml(value: Any) -> bytes:
    import yaml

    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    document: bytes = yaml.dump(value, Dumper=dumper, allow_unicode=True, encoding="utf-8", sort_keys=True, width=120)
    return document
