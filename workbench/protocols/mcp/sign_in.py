"""Requests by which a client signs in to a tool server: for metadata, to register itself, for a code and for tokens.

The documents are those of RFC 9728 and 8414, the registration is that of RFC 7591, the requests for a code and for
tokens are those of RFC 6749.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from workbench.errors import WireError
from workbench.wire import HttpRequest, loads, urls

SIGN_IN, REGISTRATION, TOKEN = "sign-in", "registration", "token request"
"""Methods of such requests: a GET for the metadata that say how to sign in, and the two POST requests that follow."""

AUTHORIZATION = "authorization request"
"""Method of the GET with which a browser asks for the code."""

SIGN_INS = (SIGN_IN, REGISTRATION, AUTHORIZATION, TOKEN)

_METADATA = (
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
)
"""Parts of the paths of such metadata."""

_GRANTS = ("authorization_code", "refresh_token", "client_credentials")
"""Grants of tool servers (specification, "Authorization"); other programs use further ones."""

_FORM = "application/x-www-form-urlencoded"
_OF_CLIENTS = ("code_challenge", "resource")
_HEAD = 4096
"""Bytes of a body of JSON in which its members are looked for."""


def sign_in_method(http: HttpRequest) -> str:
    """The purpose of a request, one of ``SIGN_INS``; empty if it is not for signing in."""
    if http.method == "GET":
        url = urls.split_url(http.url)
        return SIGN_IN if _is_metadata(url.path) else AUTHORIZATION if _is_authorization(url.query) else ""
    head = http.body.text.between(0, 1) if http.method == "POST" else b""
    if head == b"{" and _is_registration(http):
        return REGISTRATION
    is_form = bool(head) and (http.headers.get("content-type") or "").lower().startswith(_FORM)
    is_json = head == b"{" and b'"grant_type"' in http.body.text.between(0, _HEAD)
    return TOKEN if (is_form or is_json) and form_of(http.body.text.whole()).get("grant_type") in _GRANTS else ""


def _is_metadata(path: str) -> bool:
    return path.startswith(_METADATA) or path.endswith(_METADATA[1:])


def _is_authorization(query: str) -> bool:
    """A request for a code, with a proof or for a resource: those of other programs have neither."""
    if "response_type=" not in query:
        return False
    form = form_of(query.encode())
    return form.get("response_type") == "code" and "client_id" in form and not form.keys().isdisjoint(_OF_CLIENTS)


def _is_registration(http: HttpRequest) -> bool:
    if b'"redirect_uris"' not in http.body.text.between(0, _HEAD):
        return False
    try:
        value = loads(http.body.text.whole())
    except WireError:
        return False
    return isinstance(value, dict) and isinstance(value.get("redirect_uris"), list)


def form_of(text: bytes) -> dict[str, str]:
    """Members of a form, the first of each name; those without a value are empty. Some clients send it as JSON."""
    if text[:1] == b"{":
        return _texts_of(text)
    pairs = parse_qsl(text.decode("utf-8", "replace"), keep_blank_values=True)
    return dict(reversed(pairs))


def _texts_of(text: bytes) -> dict[str, str]:
    try:
        value = loads(text)
    except WireError:
        return {}
    return {k: v for k, v in value.items() if isinstance(v, str)} if isinstance(value, dict) else {}
