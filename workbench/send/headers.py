"""Request headers for a target: those of the recording that may be forwarded, and those a protocol requires.

Headers of the connection, keys, cookies, account ids, and all headers with a secret or its stand-in are removed: they
were meant for the recorded recipient.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from workbench import __version__, protocols, regex
from workbench.send.send_note import NoteKind, SendNote
from workbench.wire import Exchange, Headers, HttpRequest, Redactor
from workbench.wire.secrets import is_header

TOKEN: Final = regex.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
"""Syntax of a header name."""

LEFT_OUT: Final = frozenset((
    "connection", "content-encoding", "content-length", "expect", "forwarded", "host", "http2-settings", "keep-alive",
    "te", "trailer", "transfer-encoding", "upgrade", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
    "x-real-ip",
))  # fmt: skip
"""Headers of one connection, or of the route of a request."""

_ACCOUNTS: Final = frozenset(("openai-organization", "openai-project", "x-goog-user-project", "chatgpt-account-id"))
_PLAIN: Final = ("accept-encoding", "identity")
"""Responses are requested uncompressed, so that streams can be shown as they arrive."""


def forwarded_headers(http: HttpRequest, protocol: str, *, is_converted: bool) -> tuple[Headers, tuple[SendNote, ...]]:
    """Headers of a recorded request for a target, in order, and notes on what was removed.

    Args:
        protocol: of the outgoing request; empty if unknown.
        is_converted: it was recorded in another protocol, whose headers do not apply.
    """
    notes = list[SendNote]()
    items = [] if is_converted else list(_recorded_headers(http, notes))
    if http.body.encoding and not is_converted:
        items.append(("content-encoding", http.body.encoding))
    for name, value in _required_headers(protocol):
        if name not in {known.lower() for known, _ in items}:
            items.append((name, value))
    return Headers(tuple(_PLAIN if n.lower() == _PLAIN[0] else (n, v) for n, v in items)), tuple(notes)


def key_header(protocol: str) -> str:
    """Name of the header that carries the API key in a protocol."""
    known = protocol in protocols.protocols()
    return protocols.get(protocol).capabilities.request.key_header if known else "authorization"


def with_headers(headers: Headers, more: tuple[tuple[str, str], ...]) -> Headers:
    """The headers with others set: each replaces one of its name, or is appended."""
    for name, value in more:
        rest = [item for item in headers if item[0].lower() != name.lower()]
        at = next((k for k, item in enumerate(headers) if item[0].lower() == name.lower()), len(rest))
        headers = Headers((*rest[:at], (name, value), *rest[at:]))
    return headers


def _required_headers(protocol: str) -> Iterator[tuple[str, str]]:
    if protocol in protocols.protocols():
        yield from protocols.get(protocol).capabilities.request.headers.items()
    yield "content-type", "application/json"
    yield "accept", "*/*"
    yield _PLAIN
    yield "user-agent", f"workbench/{__version__}"


def _recorded_headers(http: HttpRequest, notes: list[SendNote]) -> Iterator[tuple[str, str]]:
    bare = Exchange("", HttpRequest(headers=http.headers))
    found = Redactor(salt=b"headers").exchange(bare).request
    marks = (*http.redactions, *(found.redactions if found else ()))
    secret = {r.where.partition(":")[2].lower() for r in marks if r.where.startswith("header:")}
    hops = {word.strip().lower() for value in http.headers.all("connection") for word in value.split(",")}
    removed_names = list[str]()
    for name, value in http.headers:
        low = name.lower()
        if low in LEFT_OUT or low in hops or low.startswith(("proxy-", ":", "sec-", "x-amz-", "cf-")):
            continue
        if low in secret or low in _ACCOUNTS or is_header(name):
            removed_names.append(low)
        elif TOKEN.fullmatch(name) and not any(c in value for c in "\r\n\0"):
            yield name, value.strip()
        else:
            notes.append(SendNote(f"invalid HTTP header removed: {name[:40]!r}"))
    if names := tuple(dict.fromkeys(removed_names)):
        text = f"headers removed (secret or account-specific): {', '.join(names)}"
        notes.append(SendNote(text, NoteKind.HEADERS, *names))
