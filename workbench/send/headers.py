"""Request headers on their way to a target: what of a recording may go on, and what a protocol needs.

What belongs to one connection, keys, cookies, whatever holds a secret or the stand-in of one, and accounts stay behind:
they were meant for whom the request went to when it was recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from workbench import __version__, protocols
from workbench.wire.exchange import Exchange, Headers, HttpRequest
from workbench.wire.redaction import Redactor
from workbench.wire.secrets import is_header

TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
"""The name of a header."""

LEFT_OUT: Final = frozenset((
    "connection", "content-encoding", "content-length", "expect", "forwarded", "host", "http2-settings", "keep-alive",
    "te", "trailer", "transfer-encoding", "upgrade", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
    "x-real-ip",
))  # fmt: skip
"""Headers of one connection, or of the way that a request took."""

_ACCOUNTS: Final = frozenset(("openai-organization", "openai-project", "x-goog-user-project", "chatgpt-account-id"))
_PLAIN: Final = ("accept-encoding", "identity")
"""Answers are asked for as they are: what streams can be shown as it comes."""


def carried(asked: HttpRequest, protocol: str, *, is_converted: bool) -> tuple[Headers, tuple[str, ...]]:
    """The headers of a recorded request as they go to a target, in order, and a line on what is left out.

    Args:
        protocol: that it is sent in; "" where nobody knows.
        is_converted: it was recorded in another one: its headers are that one's.
    """
    notes = list[str]()
    items = [] if is_converted else list(_kept(asked, notes))
    if asked.body.encoding and not is_converted:
        items.append(("content-encoding", asked.body.encoding))
    for name, value in _needed(protocol):
        if name not in {known.lower() for known, _ in items}:
            items.append((name, value))
    return Headers(tuple(_PLAIN if n.lower() == _PLAIN[0] else (n, v) for n, v in items)), tuple(notes)


def key_header(protocol: str) -> str:
    """The header that carries the key of a protocol."""
    known = protocol in protocols.protocols()
    return protocols.get(protocol).capabilities.request.key_header if known else "authorization"


def with_headers(headers: Headers, more: tuple[tuple[str, str], ...]) -> Headers:
    """The headers with others, each in the place of one of its name, or behind all."""
    for name, value in more:
        rest = [item for item in headers if item[0].lower() != name.lower()]
        at = next((k for k, item in enumerate(headers) if item[0].lower() == name.lower()), len(rest))
        headers = Headers((*rest[:at], (name, value), *rest[at:]))
    return headers


def _needed(protocol: str) -> Iterator[tuple[str, str]]:
    if protocol in protocols.protocols():
        yield from protocols.get(protocol).capabilities.request.headers.items()
    yield "content-type", "application/json"
    yield "accept", "*/*"
    yield _PLAIN
    yield "user-agent", f"workbench/{__version__}"


def _kept(asked: HttpRequest, notes: list[str]) -> Iterator[tuple[str, str]]:
    bare = Exchange("", HttpRequest(headers=asked.headers))
    found = Redactor(salt=b"headers").exchange(bare).request
    marks = (*asked.redactions, *(found.redactions if found else ()))
    secret = {r.where.partition(":")[2].lower() for r in marks if r.where.startswith("header:")}
    hops = {word.strip().lower() for value in asked.headers.all("connection") for word in value.split(",")}
    left = list[str]()
    for name, value in asked.headers:
        low = name.lower()
        if low in LEFT_OUT or low in hops or low.startswith(("proxy-", ":", "sec-", "x-amz-", "cf-")):
            continue
        if low in secret or low in _ACCOUNTS or is_header(name):
            left.append(low)
        elif TOKEN.fullmatch(name) and not any(c in value for c in "\r\n\0"):
            yield name, value.strip()
        else:
            notes.append(f"a header that HTTP does not allow is left out: {name[:40]!r}")
    if left:
        notes.append(f"left out, since they are secret or of an account: {', '.join(dict.fromkeys(left))}")
