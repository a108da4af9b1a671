"""Builds exchanges from a single body."""

from __future__ import annotations

from typing import Any

from workbench.formats.importers._sides import REQUEST, error_status, is_error
from workbench.ir import JsonValue
from workbench.wire import Body, Exchange, Headers, HttpRequest, HttpResponse

UNKNOWN_STATUS = 0
SYNTHESISED = {"framing": "synthesised"}
"""``Exchange.meta`` of a stream with framing added by the importer: gaps in it are no fault of the provider."""


def request_only(number: int, body: bytes, note: str = "only a request body") -> Exchange:
    """An exchange with a request only."""
    return Exchange(str(number), request=HttpRequest(body=Body(raw=body)), note=note)


def response_only(
    number: int,
    body: bytes,
    note: str,
    *,
    status: int = 200,
    content_type: str = "",
    meta: dict[str, Any] | None = None,
) -> Exchange:
    """An exchange with a response only. ``status`` is 0 if unknown."""
    headers = Headers((("content-type", content_type),)) if content_type else Headers()
    return Exchange(
        str(number),
        response=HttpResponse(status=status, headers=headers, body=Body(raw=body)),
        note=note,
        meta=meta or {},
    )


def body_only(number: int, side: str, body: bytes, value: JsonValue) -> Exchange:
    """An exchange with one JSON body. A response gets status 200, an error the status in its body."""
    if side == REQUEST:
        return request_only(number, body)
    if is_error(value):
        return response_only(number, body, "only an error body", status=error_status(value) or UNKNOWN_STATUS)
    return response_only(number, body, "only a response body")
