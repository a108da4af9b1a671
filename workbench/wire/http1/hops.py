"""Hop-by-hop headers, which are not sent on (RFC 9110 7.6.1, RFC 9112 9.3)."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.wire.http1.head import Head, HeaderField

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authentication-info",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"upgrade",
    }
)

_NOT_FOR_CONNECTION_TO_NAME = frozenset({b"content-length", b"host", b"transfer-encoding", b"trailer"})
"""Framing is forwarded unchanged, so a Connection header must not remove its headers."""


def end_to_end(head: Head) -> Sequence[HeaderField]:
    """Headers that are sent on."""
    dropped = _HOP_BY_HOP
    if named := set(head.tokens(b"connection")) - _NOT_FOR_CONNECTION_TO_NAME:
        dropped = dropped | named
    return [f for f in head.fields if f.key not in dropped]


def is_persistent(head: Head) -> bool:
    """True if the sender keeps the connection open. HTTP/1.0 is assumed to close it."""
    return head.version == b"HTTP/1.1" and b"close" not in head.tokens(b"connection")
