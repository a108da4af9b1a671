"""Edits of a request: by structure, by byte ranges, or as a whole; headers follow the body.

Only what is edited changes. An edited body is no longer content-encoded; Content-Length follows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from workbench import regex
from workbench.diff import common, common_end
from workbench.errors import LocalProtocolError, WireError
from workbench.lazy_dataclass import dataclass, replace
from workbench.named_tuple import NamedTuple
from workbench.wire import Body, Headers, HttpRequest, decode, decode_partial, loads, patch

_BYTE: Final = regex.compile(r"byte (\d+)")

HEADERS = "/headers/"
"""Prefix of pointers to headers: ``/headers/NAME``."""


@dataclass(frozen=True, slots=True)
class SetHeader:
    """Set a request header, present or not; None removes it."""

    name: str
    value: str | None


Change: TypeAlias = patch.Change | SetHeader


class Splice(NamedTuple):
    """Replacement of bytes: ``new`` for the range from ``start`` to ``end`` of the original text."""

    start: int
    end: int
    new: bytes


def text_of(http: HttpRequest) -> bytes:
    """The content-decoded body, as far as it can be decoded."""
    return decode_partial(http.body)[0]


def apply_changes(http: HttpRequest, text: bytes, changes: Sequence[Change | Splice]) -> HttpRequest:
    """Apply changes to a request.

    Args:
        text: its content-decoded body.
        changes: of its structure, or of byte ranges; all refer to the original text.

    Raises:
        LocalProtocolError: the changes do not fit the body, or are of both kinds.
    """
    headers = [c for c in changes if isinstance(c, SetHeader)]
    ranges = [c for c in changes if isinstance(c, Splice)]
    inside = [c for c in changes if not isinstance(c, SetHeader | Splice)]
    if ranges and inside:
        raise LocalProtocolError(
            "an edit can change values or byte ranges, but not both", hint="make the two changes in separate edits"
        )
    request = with_body(http, patch.apply(text, inside) if inside else apply_splices(text, ranges), text)
    items = request.headers.items
    for change in headers:
        items = tuple(_set_header(items, change))
    return replace(request, headers=Headers(items))


def with_body(http: HttpRequest, body: bytes, text: bytes | None = None) -> HttpRequest:
    """The request with another body; the same request if the body is the same.

    Args:
        body: any bytes, JSON or not.
        text: its content-decoded body now; None to decode it.
    """
    if body == (text_of(http) if text is None else text):
        return http
    redactions = tuple(r for r in http.redactions if r.where != "body")
    items = tuple(_fit_headers(http.headers.items, len(body)))
    return replace(http, headers=Headers(items), body=Body(raw=body), redactions=redactions)


def apply_splices(text: bytes, splices: Sequence[Splice]) -> bytes:
    """Replace every range; ranges refer to the original text and do not overlap.

    Raises:
        LocalProtocolError: a range is not in the text, or two overlap.
    """
    pieces, at = list[bytes](), 0
    for start, end, new in sorted(splices, key=lambda s: s[:2]):
        if not at <= start <= end <= len(text):
            raise LocalProtocolError("no such range, or ranges overlap", where=f"bytes {start}–{end} of {len(text)}")
        pieces += [text[at:start], new]
        at = end
    return b"".join((*pieces, text[at:]))


def inverse(text: bytes, splices: Sequence[Splice]) -> tuple[Splice, ...]:
    """Splices that undo others, as ranges of the text after them.

    Args:
        text: before the changes.
    """
    undo, moved = list[Splice](), 0
    for start, end, new in sorted(splices, key=lambda s: s[:2]):
        undo.append(Splice(start + moved, start + moved + len(new), text[start:end]))
        moved += len(new) - (end - start)
    return tuple(undo)


def diff_splices(before: bytes, after: bytes) -> tuple[Splice, ...]:
    """The single range in which two texts differ; empty if they are equal."""
    if before == after:
        return ()
    head = common(before, after)
    tail = common_end(before[head:], after[head:])
    return (Splice(head, len(before) - tail, after[head : len(after) - tail]),)


def json_problem(text: bytes) -> str:
    """Why a body is not JSON, in one line with line, column and byte; empty if it is JSON."""
    try:
        loads(text)
    except WireError as error:
        found = _BYTE.match(error.where or "")
        if not found:
            return str(error)
        at = int(found[1])
        line = text.rfind(b"\n", 0, at) + 1
        number, column = text.count(b"\n", 0, at) + 1, len(decode(text[line:at])) + 1
        where = f"line {number}, column {column}, byte {at}"
        return f"{where}: {error.what}" + (f"; {error.hint}" if error.hint else "")
    return ""


def _set_header(items: tuple[tuple[str, str], ...], change: SetHeader) -> list[tuple[str, str]]:
    named = [n for n, _ in items if n.lower() == change.name.lower()]
    rest = [(n, v) for n, v in items if n not in named]
    if change.value is None:
        return rest
    if not named:
        return [*items, (change.name, change.value)]
    at = next(k for k, (n, _) in enumerate(items) if n in named)
    return [*rest[:at], (named[0], change.value), *rest[at:]]


def _fit_headers(items: tuple[tuple[str, str], ...], length: int) -> list[tuple[str, str]]:
    """Headers that fit a body of this length without content encoding."""
    rest = [(n, v) for n, v in items if n.lower() != "content-encoding"]
    return [(n, str(length) if n.lower() == "content-length" else v) for n, v in rest]
