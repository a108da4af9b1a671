"""Importer for claude-trace logs (``.claude-trace/log-*.jsonl``): one HTTP exchange a line, parsed JSON bodies."""

from __future__ import annotations

from workbench import regex
from workbench.errors import LocalProtocolError
from workbench.formats.importers._files import ImportDamage, Line, objects
from workbench.formats.importers._http import (
    epoch,
    header_text,
    headers_of,
    parsed_body,
    stored_body,
    text_bytes,
    whole,
)
from workbench.ir import JsonValue
from workbench.wire import Body, Exchange, Headers, HttpRequest, HttpResponse, State
from workbench.wire.session import MemorySession

NAME = "claude-trace"
TITLE = "claude-trace log"

_PAIR = regex.compile(rb'\A\s*\{\s*"request"\s*:\s*\{\s*"timestamp"\s*:\s*\d')


def sniff(head: bytes) -> float:
    """A first line that starts with a request and its time."""
    return 0.95 if _PAIR.match(head) else 0.0


def read(data: bytes, name: str) -> MemorySession:
    """One exchange a line. Raises UnreadableInput if no line is usable."""
    damage = ImportDamage()
    exchanges: list[Exchange] = []
    for line in objects(data, damage):
        if not isinstance(line.value.get("request"), dict):
            damage.add(f"line {line.number}: no request")
            continue
        try:
            exchanges.append(_exchange(str(len(exchanges) + 1), line))
        except LocalProtocolError as error:
            damage.add(f"line {line.number}: {error.what}")
    if not exchanges:
        raise damage.refuse("the log has no exchanges")
    return MemorySession(name, tuple(exchanges), damage.as_lines(), format=TITLE)


def _exchange(number: str, line: Line) -> Exchange:
    request, response, note = line.value["request"], line.value.get("response"), line.value.get("note")
    started = epoch(request.get("timestamp"))
    ended = epoch(response.get("timestamp")) if isinstance(response, dict) else None
    return Exchange(
        number,
        request=_request(request),
        response=_response(response) if isinstance(response, dict) else None,
        state=State.COMPLETE if isinstance(response, dict) else State.ABORTED,
        started_at=started,
        duration=ended - started if ended is not None and started is not None and ended >= started else None,
        note=note if isinstance(note, str) else "",
    )


def _request(plain: dict[str, JsonValue]) -> HttpRequest:
    headers = headers_of(plain.get("headers"))
    url = plain.get("url")
    return HttpRequest(
        method=header_text(plain.get("method", "POST")),
        url=url if isinstance(url, str) else "",
        headers=headers,
        body=_body(plain, headers),
    )


def _response(plain: dict[str, JsonValue]) -> HttpResponse:
    headers = headers_of(plain.get("headers"))
    return HttpResponse(status=whole(plain.get("status_code")), headers=headers, body=_body(plain, headers))


def _body(plain: dict[str, JsonValue], headers: Headers) -> Body:
    if plain.get("body_raw") is not None:
        return stored_body(text_bytes(plain["body_raw"]), headers)
    body = plain.get("body")
    if body is None:
        return Body()
    return stored_body(text_bytes(body), headers) if isinstance(body, str) else parsed_body(body)
