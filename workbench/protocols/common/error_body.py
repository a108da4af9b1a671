"""Error bodies of every envelope seen in the wild: the innermost message, however often it was wrapped.

Shapes: ``{"type":"error","error":{…},"request_id"}``, ``{"error":{…}}`` with or without type, ``{"error":"…"}``, the
bare inner object (Mistral, Z.AI, Bedrock), ``{"detail":…}`` (FastAPI), ``{"errors":[…]}``, a list around any of them,
and relays that put the upstream's body as JSON text into ``message`` or ``metadata.raw``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from workbench import regex
from workbench.errors import ProtocolMismatch, WireError
from workbench.ir import ApiError, JsonValue, ModelResponse
from workbench.lazy_dataclass import replace
from workbench.wire import SseEvent, aws_message, dumps, loads

MAX_WRAPPING = 8
"""Steps inward, two for an envelope in the message of another: relays of relays were seen three deep."""

_MESSAGE_KEYS = ("error", "detail", "errors", "message", "Message", "msg")
_SAID_OTHERWISE = frozenset((*_MESSAGE_KEYS, "type", "code", "param", "status", "request_id", "object"))

_TITLE = regex.compile(r"<title[^>]*>([^<]*)", re.IGNORECASE)


def read_error(value: JsonValue) -> ApiError | None:
    """The error that a parsed body or event holds; None where it holds none."""
    error = _read(value, MAX_WRAPPING)
    return error and replace(error, raw=value)


def read_error_text(body: bytes) -> ApiError:
    """The error of a body that is not JSON: the title of an HTML page, else the text unchanged."""
    text = body.decode("utf-8", "replace").strip()
    title = _TITLE.search(text) if text.startswith("<") else None
    return ApiError(title.group(1).strip() if title else text, raw=text)


def error_under_key(body: Mapping[str, JsonValue]) -> ApiError:
    """The error in a body or chunk that has the key ``error``, together with any other keys."""
    return read_error({"error": body.get("error")}) or verbatim(body.get("error"))


def verbatim(value: JsonValue) -> ApiError:
    """A body that is an error and has no known shape."""
    return ApiError(value if isinstance(value, str) else dumps(value).decode("utf-8", "replace"), raw=value)


ReadAnswer: TypeAlias = Callable[[JsonValue], "ModelResponse | None"]
"""The answer that a parsed body is; None where it is none."""


def read_answer_body(
    body: bytes,
    status: int,
    protocol: str,
    read: ReadAnswer,
    expected: str,
    failure: Callable[[JsonValue], ApiError | None] = read_error,
) -> ModelResponse:
    """The answer in a whole body, or the error in its place.

    Args:
        body: content-decoded.
        status: HTTP status; from status 400 on, every body that is not a response is an error.
        protocol: whose answer it is.
        read: reads an answer.
        expected: the key that every answer has, in words.
        failure: reads an error.

    Raises:
        WireError: not JSON, with a status that promises an answer.
        ProtocolMismatch: JSON, but neither an answer or an error.
    """
    try:
        value = loads(body)
    except WireError:
        if status < 400:
            raise
        return ModelResponse(protocol, error=read_error_text(body))
    answer = read(value)
    if answer is not None:
        return answer
    error = failure(value) or (verbatim(value) if status >= 400 else None)
    if error is None:
        raise ProtocolMismatch(f"not a response of this protocol: expected {expected} or an error")
    return ModelResponse(protocol, error=error)


def _read(value: JsonValue, depth: int, pointer: str = "") -> ApiError | None:
    if isinstance(value, list) and len(value) == 1:
        value, pointer = value[0], f"{pointer}/0"
    if not isinstance(value, dict):
        return None
    for key in _MESSAGE_KEYS:
        error = _read_node(value, value.get(key), depth, f"{pointer}/{key}")
        if error:
            return error
    node = value.get("error")
    return _error(node, value, "", f"{pointer}/error") if isinstance(node, dict) else None


def _read_node(outer: Mapping[str, JsonValue], node: JsonValue, depth: int, pointer: str) -> ApiError | None:
    """The error that ``node``, found at ``pointer`` under a key of ``outer``, describes."""
    if isinstance(node, str) and node:
        return _unwrap(_error(outer, outer, node, pointer), depth)
    if isinstance(node, list) and node:
        return _error({}, outer, "; ".join(_validation(item) for item in node), pointer)
    if not isinstance(node, dict) or not depth:
        return None
    inner = _read(node, depth - 1, pointer)
    if inner is None:
        return None
    relayed = node.get("metadata")
    raw = relayed.get("raw") if isinstance(relayed, dict) else None
    error = _merge_errors(inner, _error(node, outer, inner.message, inner.pointer))
    if isinstance(raw, str) and raw.strip():
        error = replace(error, message=raw.strip(), pointer=f"{pointer}/metadata/raw")
    return _unwrap(error, depth)


def _unwrap(error: ApiError, depth: int) -> ApiError:
    """Follow the message into the JSON it carries."""
    inner = _read(_find_json(error.message), depth - 1) if depth else None
    return _merge_errors(replace(inner, pointer=error.pointer), error) if inner and inner.message else error


def _find_json(text: str) -> JsonValue:
    """The JSON object inside a text, escaped or not; None where there is none."""
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return None
    found = text[start : end + 1]
    for candidate in (found, f'"{found}"'):
        try:
            value = loads(candidate.encode("utf-8", "replace"))
            return loads(value.encode("utf-8", "replace")) if isinstance(value, str) else value
        except WireError:
            continue
    return None


def _error(node: Mapping[str, JsonValue], envelope: Mapping[str, JsonValue], message: str, pointer: str) -> ApiError:
    details = node.get("details")
    code = node.get("code")
    if code is None and isinstance(details, dict):
        code = details.get("error_code")
    kind = node.get("type") if node.get("type") != "error" else None
    return ApiError(
        message=message,
        type=_text(kind if kind is not None else node.get("status")),
        code=_text(code),
        param=_text(node.get("param")) or _validator_place(node.get("loc")),
        request_id=_text(envelope.get("request_id")),
        details={k: v for k, v in node.items() if isinstance(v, str) and v and k not in _SAID_OTHERWISE},
        pointer=pointer,
    )


def _merge_errors(inner: ApiError, outer: ApiError) -> ApiError:
    """The inner error, plus the keys that only the outer one has."""
    return ApiError(
        message=inner.message,
        type=inner.type or outer.type,
        code=inner.code or outer.code,
        param=inner.param or outer.param,
        request_id=inner.request_id or outer.request_id,
        details={**outer.details, **inner.details},
        pointer=inner.pointer,
    )


def _validation(item: JsonValue) -> str:
    """One entry of a list of errors: ``body.messages.0: Field required``."""
    if not isinstance(item, dict):
        return str(item)
    place = item.get("loc")
    text = str(item.get("msg") or item.get("message") or dict(item))
    return f"{'.'.join(map(str, place))}: {text}" if isinstance(place, list) else text


def _validator_place(place: JsonValue) -> str | None:
    """The place of a validator's entry, as it says it in sentences: ``["body", "messages", 1]`` → messages.1."""
    steps = [str(step) for step in place if step != "body"] if isinstance(place, list) else []
    return ".".join(steps) or None


def _text(value: JsonValue) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


EXCEPTIONS = (
    "internalServerException",
    "modelStreamErrorException",
    "modelTimeoutException",
    "serviceUnavailableException",
    "throttlingException",
    "validationException",
)


def read_exception(event: SseEvent) -> ApiError:
    """The error that an exception message of a stream says; its name is the type."""
    try:
        value = loads(event.data or b"null")
    except WireError:
        value = None
    text = b" ".join(event.comments).decode("utf-8", "replace")
    error = read_error(value) or ApiError(text, raw=value)
    return replace(error, type=event.name)


def write_exception(error: ApiError) -> bytes:
    """The message of an error; one of another type than the service knows becomes its general one."""
    kind = error.type if error.type in EXCEPTIONS else EXCEPTIONS[0]
    return aws_message(kind, dumps({"message": error.message}), kind="exception")


def as_in_body(before: ModelResponse, response: ModelResponse) -> ModelResponse:
    """An answer to be written without the type of its error where only a header names it."""
    if before.error and response.error and before.error.type is None:
        return replace(response, error=replace(response.error, type=None))
    return response
