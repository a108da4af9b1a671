"""Requests by which a client signs in to a tool server: for metadata, to register itself, and for tokens.

The documents are those of RFC 9728 and 8414, the registration is that of RFC 7591, the request for tokens that of RFC
6749.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from workbench.errors import WireError
from workbench.wire import HttpRequest, loads, urls

SIGN_IN, REGISTRATION, TOKEN = "sign-in", "registration", "token request"
"""Methods of such requests: a GET for the metadata that say how to sign in, and the two POST requests that follow."""

SIGN_INS = (SIGN_IN, REGISTRATION, TOKEN)

_METADATA = (
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
)
"""Parts of the paths of such metadata."""

_GRANTS = ("authorization_code", "refresh_token", "client_credentials")
"""Grants of tool servers (specification, "Authorization"); other programs use further ones."""

_FORM = "application/x-www-form-urlencoded"


def sign_in_method(http: HttpRequest) -> str:
    """The purpose of a request, one of ``SIGN_INS``; empty if it is not for signing in."""
    if http.method == "GET":
        return SIGN_IN if _is_metadata(urls.split_url(http.url).path) else ""
    head = http.body.text.between(0, 1) if http.method == "POST" else b""
    if head == b"{":
        return REGISTRATION if _is_registration(http) else ""
    is_form = bool(head) and (http.headers.get("content-type") or "").lower().startswith(_FORM)
    return TOKEN if is_form and form_of(http.body.text.whole()).get("grant_type") in _GRANTS else ""


def _is_metadata(path: str) -> bool:
    return path.startswith(_METADATA) or path.endswith(_METADATA[1:])


def _is_registration(http: HttpRequest) -> bool:
    if b'"redirect_uris"' not in http.body.text.between(0, 4096):
        return False
    try:
        value = loads(http.body.text.whole())
    except WireError:
        return False
    return isinstance(value, dict) and isinstance(value.get("redirect_uris"), list)


def form_of(text: bytes) -> dict[str, str]:
    """Members of a form, the first of each name; those without a value are empty."""
    pairs = parse_qsl(text.decode("utf-8", "replace"), keep_blank_values=True)
    return dict(reversed(pairs))
