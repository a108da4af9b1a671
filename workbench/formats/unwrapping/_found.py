"""What is found in a text, and the exchanges it becomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from workbench.formats.unwrapping._values import plain
from workbench.ir import JsonValue
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, Origin
from workbench.wire.jsontext import dumps

REBUILT = "written anew from the value in a text: key order is kept, white space and number forms are not"
PASTED = "taken from a text that was pasted: no recorder vouches for it"
UNKNOWN_STATUS = 0


class Found(NamedTuple):
    """One thing in a text.

    Attributes:
        what: what it is, with its article ("a curl command").
        held: an exchange of which one side is there; or bytes that an importer reads.
        end: the character behind it.
        is_whole: it says by its form that it is an exchange, whatever is in it (a command, HTTP).
        is_assigned: the value of a variable, which a call may name.
    """

    what: str
    held: Exchange | bytes
    end: int
    is_whole: bool = False
    is_assigned: bool = False


@dataclass(slots=True)
class Torn(Exception):
    """What begins like an exchange and cannot be read as one: what it is, and why not, in words.

    ``end``: where reading continues; 0 for the next line.
    """

    what: str
    why: str
    end: int = 0


def asked(
    what: str,
    end: int,
    *,
    method: str = "POST",
    url: str = "",
    headers: Headers | None = None,
    body: bytes | None = None,
    value: object = None,
    version: str = "",
) -> Found:
    """A request: its ``body`` as it was sent, or the ``value`` that was."""
    held = Body(body) if body is not None else _rebuilt(value)
    request = HttpRequest(method=method.upper(), url=url, headers=headers or Headers(), body=held, http_version=version)
    return Found(
        what, Exchange("1", request=request, origin=Origin.PASTED, note=f"{what}: {PASTED}"), end, is_whole=True
    )


def answered(
    what: str,
    end: int,
    *,
    status: int,
    headers: Headers | None = None,
    body: Body | None = None,
    reason: str = "",
    version: str = "",
) -> Found:
    """A response."""
    response = HttpResponse(
        status=status, headers=headers or Headers(), body=body or Body(), reason=reason, http_version=version
    )
    return Found(
        what, Exchange("1", response=response, origin=Origin.PASTED, note=f"{what}: {PASTED}"), end, is_whole=True
    )


def _rebuilt(value: object) -> Body:
    if value is None:
        return Body()
    return Body(written(value), is_raw=False, note=REBUILT)


def written(value: object) -> bytes:
    """A value as JSON; a text as the text it is."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return to_bytes(value)
    return dumps(plain(value))


def to_bytes(text: str) -> bytes:
    """The bytes of a part of a text that was read with ``surrogateescape``."""
    return text.encode("utf-8", "surrogateescape" if _is_escaped(text) else "replace")


def _is_escaped(text: str) -> bool:
    return not any("\ud800" <= c <= "\udc7f" or "\udd00" <= c <= "\udfff" for c in text) if not text.isascii() else True


def header_text(value: JsonValue) -> str:
    """A header's name or value as the bytes of a wire, read as Latin-1."""
    word = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return word if word.isascii() else word.encode("utf-8", "replace").decode("latin-1")


def headers_of(value: object) -> Headers:
    """Headers of a mapping, or of a list of pairs."""
    if isinstance(value, dict):
        return Headers(tuple((header_text(n), header_text(v)) for n, v in value.items() if v is not None))
    if isinstance(value, list | tuple):
        pairs = [p for p in value if isinstance(p, list | tuple) and len(p) == 2]
        return Headers(tuple((header_text(n), header_text(v)) for n, v in pairs))
    return Headers()
