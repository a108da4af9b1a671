"""Reads requests and responses from mappings of any recorder, under any key names.

Names are data (``_values``); the value decides the rest: a body may be text, bytes, base64, parsed JSON, a list of
chunks, or an object that states its encoding.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlencode

from workbench import regex
from workbench.formats.importers._http import (
    base64_body,
    bytes_of_numbers,
    header_text,
    headers_of,
    joined_chunks,
    parsed_body,
    stored_body,
    text_bytes,
    whole_text,
)
from workbench.formats.importers._side_of_value import (
    RESPONSE,
    SYNTHESISED,
    SYNTHESISED_NOTE,
    error_status,
    is_error,
    shape_of,
    stream_of,
)
from workbench.formats.importers._values import (
    BODY,
    ELSEWHERE,
    FAILURE,
    HEADERS,
    METHOD,
    ORIGIN,
    PATH,
    PIECES,
    QUERY,
    STATUS,
    URL,
    fields,
    first,
    is_base64,
    number_of,
    text_within,
)
from workbench.ir import NOTHING, JsonValue
from workbench.named_tuple import NamedTuple
from workbench.wire import Body, Headers, HttpRequest, HttpResponse, dumps

_METHOD = regex.compile(r"[A-Za-z]{3,10}")
_STATUS_IN_TEXT = regex.compile(
    r"(?:Error code|status(?: code)?|HTTP(?:/[\d.]+)?)[:= ]{1,3}([45]\d\d)\b", re.IGNORECASE
)
_WRAPPED = ("string", "base64string", "base64bytes", "raw", "text", "equaltojson", "equalto", "exact", "value", "json")
_WRAPPED_TOO = ("data", "body", "content")
_BASE64_NAMES = ("base64string", "base64bytes", "base64body", "bodybase64")
_ABOUT = frozenset(
    {
        *("encoding", "mimetype", "contenttype", "type", "mode", "matcher", "format", "size", "options", "params"),
        *("ignorearrayorder", "ignoreextraelements", "isbase64encoded", "length", "matchtype", "class"),
    }
)
_DEEPEST = 4


class MessageSide(NamedTuple):
    """One side of an exchange, as far as it can be read.

    Attributes:
        http: the request or the response.
        meta: for ``Exchange.meta``.
        note: for ``Exchange.note``.
        left_out: content that the file mentions but does not contain.
    """

    http: HttpRequest | HttpResponse
    meta: Mapping[str, JsonValue] = NOTHING
    note: str = ""
    left_out: str = ""


class _TypedBody(NamedTuple):
    body: Body
    content_type: str = ""


def is_request(value: JsonValue) -> bool:
    """True for a mapping with a target, or with headers and a request body."""
    if not isinstance(value, dict):
        return False
    found = fields(value)
    has_target = bool(text_within(first(found, (*URL, *PATH, *ORIGIN))))
    if _METHOD.fullmatch(text_within(first(found, METHOD))) and has_target:
        return True
    body = first(found, BODY)
    if has_target and (isinstance(body, dict) or (isinstance(body, str) and body.lstrip().startswith("{"))):
        return True
    has_head = _is_head(first(found, HEADERS))
    return has_head and (has_target or (body is not None and _status(found) is None))


def is_response(value: JsonValue) -> bool:
    """True for a mapping with a status and more, with headers and a body, or with a response or failure as body."""
    if not isinstance(value, dict) or (shape_of(value) == RESPONSE and not is_error(value)):
        return False
    found = fields(value)
    has_head, body = _is_head(first(found, HEADERS)), first(found, BODY)
    is_failure = found.get("isexception") is True
    if _status(found) is not None:
        return has_head or body is not None or is_failure or first(found, ELSEWHERE) is not None or len(found) == 1
    return (has_head and body is not None) or is_failure or _is_answer(body)


def has_body(members: Mapping[str, JsonValue]) -> bool:
    """True if a mapping next to a request has a body field; it is then the response, whatever the body is."""
    found = fields(members)
    return first(found, ("body", "payload")) is not None and len(found) > 1


def request_side(members: Mapping[str, JsonValue]) -> MessageSide:
    """Read a request. Raises LocalProtocolError for a body that JSON cannot express."""
    found = fields(members)
    headers = headers_of(first(found, HEADERS))
    method = text_within(first(found, METHOD)) or "POST"
    body = _body(found, headers, is_answer=False).body
    elsewhere = first(found, ELSEWHERE) if not body.raw else None
    request = HttpRequest(header_text(method).upper(), _url(found), headers, body)
    return MessageSide(request, left_out=_missing_body("request", elsewhere))


def response_side(members: Mapping[str, JsonValue]) -> MessageSide:
    """Read a response. Raises LocalProtocolError for a body that JSON cannot express."""
    found = fields(members)
    headers = headers_of(first(found, HEADERS))
    body, content_type = _body(found, headers, is_answer=True)
    status = _status(found)
    failure = first(found, FAILURE)
    if not body.raw and failure is not None and failure is not False:
        body, error_code = _failure(failure)
        status = status or error_code
        return MessageSide(
            HttpResponse(status or 0, headers, body), note=("the client stored the error, not the response")
        )
    if content_type and not headers.get("content-type"):
        headers = Headers((*headers.items, ("content-type", content_type)))
    response = HttpResponse(status or 200, headers, body)
    left_out = _missing_body("response", first(found, ELSEWHERE) if not body.raw else None)
    if content_type:
        return MessageSide(response, SYNTHESISED, SYNTHESISED_NOTE, left_out)
    return MessageSide(response, left_out=left_out)


def body_in(value: JsonValue, *, is_answer: bool) -> MessageSide:
    """A side of which only the body was kept. Raises LocalProtocolError."""
    return response_side({"body": value}) if is_answer else request_side({"body": value})


def whole_answer(value: Mapping[str, JsonValue]) -> MessageSide:
    """A response that is the object itself, with any key names. Raises LocalProtocolError."""
    return MessageSide(HttpResponse(body=parsed_body(value)))


def _missing_body(side: str, name: JsonValue) -> str:
    return (
        f"the {side} body is in another file, {whole_text(name)[:80]!r}: open that file"
        if isinstance(name, str)
        else ""
    )


def _is_head(value: JsonValue) -> bool:
    return isinstance(value, dict | list) and (not value or bool(headers_of(value).items))


def _is_answer(value: JsonValue, depth: int = 0) -> bool:
    """True for a body that can only be a model's response, or a list of its chunks."""
    if isinstance(value, list):
        return bool(value) and stream_of(value[:_DEEPEST]) is not None
    if not isinstance(value, dict):
        return False
    inner = _unwrap(value) if depth < _DEEPEST else None
    return shape_of(value) == RESPONSE or (inner is not None and _is_answer(inner[0], depth + 1))


def _status(found: Mapping[str, JsonValue]) -> int | None:
    return next((n for n in (number_of(found.get(name)) for name in STATUS) if n is not None), None)


def _url(found: Mapping[str, JsonValue]) -> str:
    """An absolute URL if the host is known, else a path; a separate query is appended."""
    url = text_within(first(found, URL))
    path = text_within(first(found, PATH))
    if not url:
        origin = text_within(first(found, ORIGIN))
        scheme = text_within(found.get("scheme")) or "https"
        if origin and "://" not in origin:
            origin = f"{scheme}://{origin}"
        url = origin.rstrip("/") + path if path.startswith("/") or not origin else f"{origin.rstrip('/')}/{path}"
    if url and "?" not in url:
        pairs = headers_of(first(found, QUERY)).items
        url += f"?{urlencode(pairs)}" if pairs else ""
    return whole_text(url)


def _body(found: Mapping[str, JsonValue], headers: Headers, *, is_answer: bool) -> _TypedBody:
    name = next((name for name in BODY if found.get(name) is not None), "")
    encoded = name in _BASE64_NAMES or is_base64(found)
    value = found.get(name)
    if name in PIECES and isinstance(value, list):
        if len(value) == 1 and not (is_answer and isinstance(value[0], dict) and _says_stream(headers)):
            value = value[0]
        elif value and all(isinstance(piece, str) for piece in value):
            value = "".join(value)
    return _read_body(value, headers, encoded=encoded, is_answer=is_answer)


def _read_body(value: JsonValue, headers: Headers, *, encoded: bool, is_answer: bool, depth: int = 0) -> _TypedBody:
    """A body of any form. ``encoded``: its text is base64."""
    numbers = bytes_of_numbers(value)
    if numbers is not None:
        return _TypedBody(stored_body(numbers, headers))
    if value is None or isinstance(value, str | bytes):
        return _TypedBody(base64_body(value, headers) if encoded else _text_body(value, headers))
    if isinstance(value, list):
        if headers.get("content-encoding") and (chunks := joined_chunks(value)) is not None:
            return _TypedBody(stored_body(chunks, headers))
        stream = stream_of(value) if is_answer else None
        if stream:
            return _TypedBody(Body(stream.raw, is_raw=False, note=SYNTHESISED_NOTE), stream.content_type)
        if len(value) == 1 and isinstance(value[0], dict) and _unwrap(value[0]):
            value = value[0]
    inner = _unwrap(value) if isinstance(value, dict) and depth < _DEEPEST else None
    if inner is None:
        return _TypedBody(parsed_body(value))
    return _read_body(inner[0], headers, encoded=inner[1], is_answer=is_answer, depth=depth + 1)


def _says_stream(headers: Headers) -> bool:
    return (headers.get("content-type") or "").startswith("text/event-stream")


def _text_body(value: JsonValue, headers: Headers) -> Body:
    chunks = joined_chunks(value) if headers.get("content-encoding") else None
    return stored_body(text_bytes(value) if chunks is None else chunks, headers)


def _unwrap(value: dict[str, JsonValue]) -> tuple[JsonValue, bool] | None:
    """(body, is base64) of an object that states how its body is stored; None for an object that is the body."""
    if not value or len(value) > len(_ABOUT) or shape_of(value):
        return None
    found = fields(value)
    name = next((n for n in (*_WRAPPED, *_WRAPPED_TOO) if found.get(n) is not None), None)
    if name is None or not _ABOUT.issuperset(found.keys() - {name}):
        return None
    if len(found) == 1 and name in ("text", "value") and not isinstance(found[name], str):
        return None
    return found[name], name in _BASE64_NAMES or is_base64(found)


def _failure(failure: JsonValue) -> tuple[Body, int | None]:
    """Body and status of an error that a client raised; the status is None if unknown."""
    if not isinstance(failure, dict):
        message_text = text_bytes(failure).decode("utf-8", "replace")
        found = _STATUS_IN_TEXT.search(message_text)
        return Body(dumps({"error": {"message": message_text}}), is_raw=False), int(found[1]) if found else None
    found_fields = fields(failure)
    message = text_within(first(found_fields, ("message", "errormessage", "detail")))
    status_match = _STATUS_IN_TEXT.search(message)
    status = (
        _status(found_fields) or error_status({"error": failure}) or (int(status_match[1]) if status_match else None)
    )
    inner = first(found_fields, ("body", "response"))
    if isinstance(inner, dict):
        body = inner if {"error", "detail"} & inner.keys() or inner.get("type") == "error" else {"error": inner}
        return Body(dumps(body), is_raw=False), status
    if isinstance(inner, str) and inner:
        return Body(text_bytes(inner), is_raw=False), status
    if "message" not in failure and message:  # a logger's own names for the error's fields
        kind = text_within(first(found_fields, ("errortype", "errorclass", "type")))
        failure = {"message": message, **({"type": kind} if kind else {})}
    return Body(dumps({"error": failure}), is_raw=False), status
