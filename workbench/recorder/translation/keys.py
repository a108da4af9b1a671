"""API keys in a translation: the client's own, in the header that the upstream's protocol uses.

If the upstream is a target with a key variable that is set, its key replaces the client's: clients often refuse to
start without some key. A key that shows its provider is sent to no other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from workbench import contracts, regex
from workbench.send import Outgoing, credentials, key_header, with_headers
from workbench.wire import Headers

KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_QUERY = "key"
_BEARER = regex.compile(r"Bearer +(.*)", re.IGNORECASE | re.DOTALL)


OWN_KEY = "the API key comes from "
"""Note of an exchange whose key the recorder put in; the name of the variable follows."""

_OWN_KEYS = regex.compile(rf"(?:{OWN_KEY}|the key is that of )([A-Za-z_]\w*)")
"""The same in recordings of every version."""


class KeyedHeaders(NamedTuple):
    """Headers with a key.

    Attributes:
        note: about the key; empty if there is nothing to note.
        is_own: the headers are the upstream's own.
    """

    headers: Headers
    note: str = ""
    is_own: bool = False


def own_key(note: str) -> str:
    """Variable of the key that the recorder used, by the note of a recorded exchange; empty if it was the client's."""
    found = _OWN_KEYS.search(note)
    return found[1] if found else ""


def client_key(headers: Headers, url: str) -> str:
    """The key that a client sent; empty if none."""
    for name in KEY_HEADERS:
        value = headers.get(name)
        if value:
            bearer = _BEARER.fullmatch(value)
            return (bearer[1] if bearer else value).strip()
    return dict(parse_qsl(urlsplit(url).query)).get(_QUERY, "")


def with_key(outgoing: Outgoing, client_headers: Headers, url: str, environ: Mapping[str, str]) -> KeyedHeaders:
    """Headers of a request with the upstream's own key, else the client's.

    Args:
        client_headers, url: headers and URL of the client's request.

    Raises:
        UsageError, LocalProtocolError: as ``credentials.authenticate``.
    """
    variable = outgoing.target.key_variable
    if outgoing.target.headers or (variable and credentials.is_set(variable, environ)):
        return KeyedHeaders(
            credentials.authenticate(outgoing, environ).headers,
            f"{OWN_KEY}{variable}" if variable else "",
            is_own=True,
        )
    key, header = client_key(client_headers, url), key_header(outgoing.protocol)
    if not key:
        return KeyedHeaders(outgoing.request.headers)
    if owner := _foreign_owner(key, outgoing.request.url):
        return KeyedHeaders(outgoing.request.headers, f"the client's key is not forwarded: it is a key for {owner}")
    value = f"Bearer {key}" if header == "authorization" else key
    return KeyedHeaders(with_headers(outgoing.request.headers, ((header, value),)))


def _foreign_owner(key: str, url: str) -> str:
    """Provider of a key that would go to another provider; empty if unknown, or the same."""
    known = contracts.endpoint(url)
    owner = contracts.key_owner(key)
    return owner if known and owner and known[0] != owner else ""
