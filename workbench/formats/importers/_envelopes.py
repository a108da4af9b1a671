"""Requests and responses in mappings of names and values, whatever recorder wrote them and however it names things.

Names are data (``_fields``); what a value is tells the rest: a body may be text, bytes, base64, a parsed tree, a list
of the chunks that came, or an object that says how it is encoded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from workbench.formats.importers._bare import SYNTHESISED
from workbench.formats.importers._fields import (
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
    text_of,
)
from workbench.formats.importers._http import (
    base64_body,
    body_of,
    header_text,
    headers_of,
    parsed_body,
    text_bytes,
    whole_text,
)
from workbench.formats.importers._packed import bytes_of_numbers, joined_chunks
from workbench.formats.importers._payloads import SYNTHESISED_NOTE, stream_of
from workbench.formats.importers._sides import RESPONSE, error_status, is_error, shape_of
from workbench.ir import NOTHING, JsonValue
from workbench.wire.exchange import Body, Headers, HttpRequest, HttpResponse
from workbench.wire.jsontext import dumps

_METHOD = re.compile(r"[A-Za-z]{3,10}")
_STATUS_IN_TEXT = re.compile(r"(?:Error code|status(?: code)?|HTTP(?:/[\d.]+)?)[:= ]{1,3}([45]\d\d)\b", re.IGNORECASE)
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


class Side(NamedTuple):
    """One side as far as it can be read.

    Attributes:
        http: the request or the response.
        meta: what is to be kept with the exchange.
        note: what is to be said of it.
        left_out: what the file says was there and is not in it.
    """

    http: HttpRequest | HttpResponse
    meta: Mapping[str, JsonValue] = NOTHING
    note: str = ""
    left_out: str = ""


class _Held(NamedTuple):
    body: Body
    content_type: str = ""


def is_request(held: JsonValue) -> bool:
    """A mapping that says where something was sent, or with which head."""
    if not isinstance(held, dict):
        return False
    found = fields(held)
    has_target = bool(text_of(first(found, (*URL, *PATH, *ORIGIN))))
    if _METHOD.fullmatch(text_of(first(found, METHOD))) and has_target:
        return True
    body = first(found, BODY)
    if has_target and (isinstance(body, dict) or (isinstance(body, str) and body.lstrip().startswith("{"))):
        return True
    has_head = _is_head(first(found, HEADERS))
    return has_head and (has_target or (body is not None and _status(found) is None))


def is_response(held: JsonValue) -> bool:
    """A mapping with a status and something else, a head and a body, or an answer or a failure as its body."""
    if not isinstance(held, dict) or (shape_of(held) == RESPONSE and not is_error(held)):
        return False
    found = fields(held)
    has_head, body = _is_head(first(found, HEADERS)), first(found, BODY)
    is_failure = found.get("isexception") is True
    if _status(found) is not None:
        return has_head or body is not None or is_failure or first(found, ELSEWHERE) is not None or len(found) == 1
    return (has_head and body is not None) or is_failure or _is_answer(body)


def has_body(held: Mapping[str, JsonValue]) -> bool:
    """What lies beside a request and has a member for a body is its answer, whatever that body is."""
    found = fields(held)
    return first(found, ("body", "payload")) is not None and len(found) > 1


def request_side(held: Mapping[str, JsonValue]) -> Side:
    """Raises LocalProtocolError for a body that JSON cannot say."""
    found = fields(held)
    headers = headers_of(first(found, HEADERS))
    method = text_of(first(found, METHOD)) or "POST"
    body = _body(found, headers, is_answer=False).body
    left = first(found, ELSEWHERE) if not body.raw else None
    request = HttpRequest(header_text(method).upper(), _url(found), headers, body)
    return Side(request, left_out=_moved("request", left))


def response_side(held: Mapping[str, JsonValue]) -> Side:
    """Raises LocalProtocolError for a body that JSON cannot say."""
    found = fields(held)
    headers = headers_of(first(found, HEADERS))
    body, content_type = _body(found, headers, is_answer=True)
    status = _status(found)
    failure = first(found, FAILURE)
    if not body.raw and failure is not None and failure is not False:
        body, told = _failure(failure)
        status = status or told
        return Side(HttpResponse(status or 0, headers, body), note="the client kept the error and not the answer")
    if content_type and not headers.get("content-type"):
        headers = Headers((*headers.items, ("content-type", content_type)))
    response = HttpResponse(status or 200, headers, body)
    left = _moved("response", first(found, ELSEWHERE) if not body.raw else None)
    if content_type:
        return Side(response, SYNTHESISED, SYNTHESISED_NOTE, left)
    return Side(response, left_out=left)


def body_in(value: JsonValue, *, is_answer: bool) -> Side:
    """A side of which only the body was kept. Raises LocalProtocolError."""
    return response_side({"body": value}) if is_answer else request_side({"body": value})


def whole_answer(value: Mapping[str, JsonValue]) -> Side:
    """An answer that is the object itself, whatever its members are called. Raises LocalProtocolError."""
    return Side(HttpResponse(body=parsed_body(value)))


def _moved(side: str, name: JsonValue) -> str:
    return f"the {side} body is in another file, {whole_text(name)[:80]!r}: give that" if isinstance(name, str) else ""


def _is_head(value: JsonValue) -> bool:
    return isinstance(value, dict | list) and (not value or bool(headers_of(value).items))


def _is_answer(value: JsonValue, depth: int = 0) -> bool:
    """A body that can only be an answer: one of a model, or a list of chunks."""
    if isinstance(value, list):
        return bool(value) and stream_of(value[:_DEEPEST]) is not None
    if not isinstance(value, dict):
        return False
    inner = _unwrapped(value) if depth < _DEEPEST else None
    return shape_of(value) == RESPONSE or (inner is not None and _is_answer(inner[0], depth + 1))


def _status(found: Mapping[str, JsonValue]) -> int | None:
    return next((n for n in (number_of(found.get(name)) for name in STATUS) if n is not None), None)


def _url(found: Mapping[str, JsonValue]) -> str:
    """An absolute URL where the host is known, else a path; a query that is kept apart is added."""
    said = text_of(first(found, URL))
    path = text_of(first(found, PATH))
    if not said:
        origin = text_of(first(found, ORIGIN))
        scheme = text_of(found.get("scheme")) or "https"
        if origin and "://" not in origin:
            origin = f"{scheme}://{origin}"
        said = origin.rstrip("/") + path if path.startswith("/") or not origin else f"{origin.rstrip('/')}/{path}"
    if said and "?" not in said:
        pairs = headers_of(first(found, QUERY)).items
        said += f"?{urlencode(pairs)}" if pairs else ""
    return whole_text(said)


def _body(found: Mapping[str, JsonValue], headers: Headers, *, is_answer: bool) -> _Held:
    name = next((name for name in BODY if found.get(name) is not None), "")
    encoded = name in _BASE64_NAMES or is_base64(found)
    value = found.get(name)
    if name in PIECES and isinstance(value, list):
        if len(value) == 1 and not (is_answer and isinstance(value[0], dict) and _says_stream(headers)):
            value = value[0]
        elif value and all(isinstance(piece, str) for piece in value):
            value = "".join(value)
    return _held(value, headers, encoded=encoded, is_answer=is_answer)


def _held(value: JsonValue, headers: Headers, *, encoded: bool, is_answer: bool, depth: int = 0) -> _Held:
    """A body of any form. ``encoded``: a text of it is base64."""
    numbers = bytes_of_numbers(value)
    if numbers is not None:
        return _Held(body_of(numbers, headers))
    if value is None or isinstance(value, str | bytes):
        return _Held(base64_body(value, headers) if encoded else _text_body(value, headers))
    if isinstance(value, list):
        if headers.get("content-encoding") and (chunks := joined_chunks(value)) is not None:
            return _Held(body_of(chunks, headers))
        stream = stream_of(value) if is_answer else None
        if stream:
            return _Held(Body(stream.raw, is_raw=False, note=SYNTHESISED_NOTE), stream.content_type)
        if len(value) == 1 and isinstance(value[0], dict) and _unwrapped(value[0]):
            value = value[0]
    inner = _unwrapped(value) if isinstance(value, dict) and depth < _DEEPEST else None
    if inner is None:
        return _Held(parsed_body(value))
    return _held(inner[0], headers, encoded=inner[1], is_answer=is_answer, depth=depth + 1)


def _says_stream(headers: Headers) -> bool:
    return (headers.get("content-type") or "").startswith("text/event-stream")


def _text_body(value: JsonValue, headers: Headers) -> Body:
    chunks = joined_chunks(value) if headers.get("content-encoding") else None
    return body_of(text_bytes(value) if chunks is None else chunks, headers)


def _unwrapped(value: dict[str, JsonValue]) -> tuple[JsonValue, bool] | None:
    """(body, whether it is base64) in an object that says how its body is kept; None for an object that is a body."""
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
    """The body of an error that a client raised, and its status as far as it tells."""
    if not isinstance(failure, dict):
        said = text_bytes(failure).decode("utf-8", "replace")
        found = _STATUS_IN_TEXT.search(said)
        return Body(dumps({"error": {"message": said}}), is_raw=False), int(found[1]) if found else None
    found_fields = fields(failure)
    message = text_of(first(found_fields, ("message", "errormessage", "detail")))
    told = _STATUS_IN_TEXT.search(message)
    status = _status(found_fields) or error_status({"error": failure}) or (int(told[1]) if told else None)
    inner = first(found_fields, ("body", "response"))
    if isinstance(inner, dict):
        body = inner if {"error", "detail"} & inner.keys() or inner.get("type") == "error" else {"error": inner}
        return Body(dumps(body), is_raw=False), status
    if isinstance(inner, str) and inner:
        return Body(text_bytes(inner), is_raw=False), status
    if "message" not in failure and message:  # a logger's names for what an error says
        kind = text_of(first(found_fields, ("errortype", "errorclass", "type")))
        failure = {"message": message, **({"type": kind} if kind else {})}
    return Body(dumps({"error": failure}), is_raw=False), status
