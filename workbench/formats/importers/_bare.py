"""Exchanges of which only one body is known."""

from __future__ import annotations

from typing import Any

from workbench.formats.importers._sides import REQUEST, error_status, is_error
from workbench.ir import JsonValue
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse

UNKNOWN_STATUS = 0
SYNTHESISED = {"framing": "synthesised"}
"""``Exchange.meta`` of a stream whose framing is ours: what the framing lacks is no fault of the provider."""


def request_only(number: int, body: bytes, note: str = "a request body by itself") -> Exchange:
    """An exchange with a request and nothing else."""
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
    """An exchange with a response and nothing else. ``status`` 0: it is not known."""
    headers = Headers((("content-type", content_type),)) if content_type else Headers()
    return Exchange(
        str(number),
        response=HttpResponse(status=status, headers=headers, body=Body(raw=body)),
        note=note,
        meta=meta or {},
    )


def body_only(number: int, side: str, body: bytes, value: JsonValue) -> Exchange:
    """An exchange with one JSON body. The status of an answer is 200, of an error what its body says."""
    if side == REQUEST:
        return request_only(number, body)
    if is_error(value):
        return response_only(number, body, "an error body by itself", status=error_status(value) or UNKNOWN_STATUS)
    return response_only(number, body, "a response body by itself")
