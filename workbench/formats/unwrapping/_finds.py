"""Finds in a text, and the exchanges made from them."""

from __future__ import annotations

from typing import NamedTuple

from workbench.formats.unwrapping._values import json_types
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.wire import Body, Exchange, Headers, HttpRequest, HttpResponse, Origin, dumps

REBUILT = "re-serialised from a value in text: key order is kept; whitespace and number formatting are not"
PASTED = "pasted text, not a recording"
UNKNOWN_STATUS = 0


class Find(NamedTuple):
    """One find in a text.

    Attributes:
        what: its kind, with article ("a curl command").
        content: an exchange with one side; or bytes for an importer.
        end: offset after it.
        is_whole: its form shows that it is an exchange, whatever its content (a command, HTTP).
        is_assigned: the value of a variable that a later call may use.
        is_rebuilt: the bytes are not in the text: they were written from a value that is not JSON there.
    """

    what: str
    content: Exchange | bytes
    end: int
    is_whole: bool = False
    is_assigned: bool = False
    is_rebuilt: bool = False


@dataclass(slots=True)
class UnreadableFind(Exception):
    """Raised for text that starts like an exchange but cannot be read as one, with its kind and the reason.

    ``end``: where reading continues; 0 for the next line.
    """

    what: str
    why: str
    end: int = 0


def request_find(
    what: str,
    end: int,
    *,
    method: str = "POST",
    url: str = "",
    headers: Headers | None = None,
    body: bytes | None = None,
    value: object = None,
    version: str = "",
) -> Find:
    """A request with its ``body`` as sent, or the ``value`` that was sent."""
    content = Body(body) if body is not None else _body_of(value)
    request = HttpRequest(
        method=method.upper(), url=url, headers=headers or Headers(), body=content, http_version=version
    )
    return Find(
        what, Exchange("1", request=request, origin=Origin.PASTED, note=f"{what}: {PASTED}"), end, is_whole=True
    )


def response_find(
    what: str,
    end: int,
    *,
    status: int,
    headers: Headers | None = None,
    body: Body | None = None,
    reason: str = "",
    version: str = "",
) -> Find:
    """A response."""
    response = HttpResponse(
        status=status, headers=headers or Headers(), body=body or Body(), reason=reason, http_version=version
    )
    return Find(
        what, Exchange("1", response=response, origin=Origin.PASTED, note=f"{what}: {PASTED}"), end, is_whole=True
    )


def _body_of(value: object) -> Body:
    if value is None:
        return Body()
    return Body(json_bytes(value), is_raw=False, note=REBUILT)


def json_bytes(value: object) -> bytes:
    """A value as JSON; a text unchanged."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return to_bytes(value)
    return dumps(json_types(value))


def to_bytes(text: str) -> bytes:
    """Bytes of a part of a text that was read with ``surrogateescape``."""
    return text.encode("utf-8", "surrogateescape" if _is_escaped(text) else "replace")


def _is_escaped(text: str) -> bool:
    return not any("\ud800" <= c <= "\udc7f" or "\udd00" <= c <= "\udfff" for c in text) if not text.isascii() else True


def pasted_header(value: JsonValue) -> str:
    """Name or value of a header in pasted text, as its UTF-8 bytes read as Latin-1."""
    word = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return word if word.isascii() else word.encode("utf-8", "replace").decode("latin-1")


def pasted_headers(value: object) -> Headers:
    """Headers of a call in pasted text: a mapping or a list of pairs. A name without a value is left out."""
    if isinstance(value, dict):
        return Headers(tuple((pasted_header(n), pasted_header(v)) for n, v in value.items() if v is not None))
    if isinstance(value, list | tuple):
        pairs = [p for p in value if isinstance(p, list | tuple) and len(p) == 2]
        return Headers(tuple((pasted_header(n), pasted_header(v)) for n, v in pairs))
    return Headers()
