"""Rules on registrations of clients and requests for tokens (RFC 7591, 6749, 7636 and 8707).

What the specification demands of them is in "Authorization" of revision 2025-11-25. A fault of a request is a warning
where the server refuses it, else a note: servers of earlier revisions do not ask for all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from workbench import regex
from workbench.contracts import Finding
from workbench.ir import NOTHING, JsonValue
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import form_of, message_object, request_object
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.http import head_of
from workbench.rules.tool_hop.rules import AUTH, INFO, WARNING, make
from workbench.wire import HttpRequest, urls

_BASIC, _POST, _NO_SECRET = "client_secret_basic", "client_secret_post", "none"
_METHOD = "token_endpoint_auth_method"
_NO_ENDPOINT = (404, 405, 501)
_FORM = "application/x-www-form-urlencoded"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")

# fmt: off
_CLIENT_METADATA = frozenset((
    "redirect_uris", "token_endpoint_auth_method", "grant_types", "response_types", "client_name", "client_uri",
    "logo_uri", "scope", "contacts", "tos_uri", "policy_uri", "jwks_uri", "jwks", "software_id", "software_version",
    "software_statement", "application_type", "sector_identifier_uri", "subject_type", "default_max_age",
    "require_auth_time", "initiate_login_uri", "request_uris", "post_logout_redirect_uris",
    "id_token_signed_response_alg", "token_endpoint_auth_signing_alg", "default_acr_values",
))
# fmt: on
"""Members of a registration (RFC 7591, section 2; OpenID Connect Dynamic Client Registration 1.0, section 2)."""

_OF_TOKENS = ("grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier", "refresh_token",
              "resource", "scope")  # fmt: skip
_VERIFIER = regex.compile(r"[A-Za-z0-9._~-]{43,128}")
"""A code_verifier (RFC 7636, section 4.1)."""

_WORD = regex.compile(r"\w+")


class Issuer(NamedTuple):
    """What was said by an authorization server, and of it, before a request.

    Attributes:
        metadata: its document; empty if it was not seen.
        resource: the tool server whose metadata name this server; empty if unknown.
        methods: client id → how that client authenticates, and whether its registration said so.
        codes: authorization code → index of the exchange that gave it for a token.
        redirect_uris: client id → the addresses that it is registered with.
        asked: members of the last request for a code; empty if none was seen, which browsers send.
    """

    metadata: Mapping[str, JsonValue] = NOTHING
    resource: str = ""
    methods: Mapping[str, tuple[str, bool]] = NOTHING
    codes: Mapping[str, int] = NOTHING
    redirect_uris: Mapping[str, tuple[str, ...]] = NOTHING
    asked: Mapping[str, str] = NOTHING

    def after_registration(
        self, request_body: Mapping[str, JsonValue], response_body: Mapping[str, JsonValue]
    ) -> Issuer:
        """The same, once a client is registered."""
        client = response_body.get("client_id")
        if not isinstance(client, str):
            return self
        method = response_body.get(_METHOD) or request_body.get(_METHOD) or _BASIC
        given = response_body.get("redirect_uris") or request_body.get("redirect_uris")
        uris = tuple(map(str, given)) if isinstance(given, list) else ()
        methods = {**self.methods, client: (str(method), _METHOD in request_body)}
        return self._replace(methods=methods, redirect_uris={**self.redirect_uris, client: uris})

    def after_token(self, form: Mapping[str, str], index: int) -> Issuer:
        """The same, once a code was given for a token."""
        code = form.get("code")
        return self._replace(codes={**self.codes, code: index}) if code and code not in self.codes else self


# To register a client.


def of_registration(decoded: DecodedExchange, issuer: Issuer) -> Iterator[Finding]:
    """Findings on the registration of a client."""
    request_body, response_body = request_object(decoded), message_object(decoded.response_text)
    response = decoded.exchange.response
    uris = request_body.get("redirect_uris")
    for number, uri in enumerate(uris if isinstance(uris, list) else ()):
        found = urls.split_url(str(uri))
        if found.scheme == "http" and found.hostname not in _LOOPBACK:
            text = f"the redirect URI {quote(uri)} is neither https nor on this machine: servers must refuse the URI"
            yield make(decoded, AUTH, REQUEST, f"/redirect_uris/{number}", text)
    if response is not None and response.status >= 400:
        yield _of_refused_registration(decoded, issuer, request_body, response_body, response.status)
    elif response is not None:
        yield from _of_registered(decoded, request_body, response_body)


def _of_refused_registration(
    decoded: DecodedExchange,
    issuer: Issuer,
    request_body: Mapping[str, JsonValue],
    response_body: Mapping[str, JsonValue],
    status: int,
) -> Finding:
    error_text, excerpt = refusal_words(response_body), quote(head_of(decoded))
    if status in _NO_ENDPOINT:
        is_guess = bool(issuer.metadata) and not issuer.metadata.get("registration_endpoint")
        text = (
            "the metadata has no registration_endpoint: the server does not register clients; the client guessed a URL"
            if is_guess
            else f"the registration of a client was answered with {status}"
        )
        return make(decoded, AUTH, REQUEST if is_guess else RESPONSE, "", text, excerpt)
    words = frozenset(_WORD.findall(error_text))
    foreign = next((name for name in request_body if name in words and name not in _CLIENT_METADATA), "")
    if foreign:
        text = f"{quote(foreign)} does not belong in a registration (RFC 7591), and this server refuses it"
        return make(decoded, AUTH, REQUEST, f"/{foreign}", text, excerpt)
    if response_body.get("error") == "invalid_redirect_uri":
        return make(decoded, AUTH, REQUEST, "/redirect_uris", "the server refuses the redirect URI", excerpt)
    if name := _unsupported_member(request_body, issuer.metadata):
        text = f"{name} is {quote(request_body.get(name))}, which the server's metadata does not offer"
        return make(decoded, AUTH, REQUEST, f"/{name}", text, excerpt)
    text = f"the server refuses a registration that the protocol allows (status {status}): {quote(error_text)}"
    return make(decoded, AUTH, RESPONSE, "/error" if "error" in response_body else "", text, excerpt)


def _unsupported_member(request_body: Mapping[str, JsonValue], metadata: Mapping[str, JsonValue]) -> str:
    """A member of a registration whose value the server does not offer; empty if there is none."""
    for name, offer in ((_METHOD, f"{_METHOD}s_supported"), ("grant_types", "grant_types_supported")):
        value, supported = request_body.get(name), metadata.get(offer)
        values = value if isinstance(value, list) else [value]
        if value is not None and isinstance(supported, list) and any(each not in supported for each in values):
            return name
    return ""


def _of_registered(
    decoded: DecodedExchange, request_body: Mapping[str, JsonValue], response_body: Mapping[str, JsonValue]
) -> Iterator[Finding]:
    method = response_body.get(_METHOD) or request_body.get(_METHOD) or _BASIC
    if not response_body.get("client_id"):
        text = "the response to the registration has no client_id: the client cannot request a token"
        yield make(decoded, AUTH, RESPONSE, "", text, quote(head_of(decoded)))
    elif method in (_BASIC, _POST) and not response_body.get("client_secret"):
        text = f"the client is registered with {quote(method)}, but gets no client_secret"
        yield make(decoded, AUTH, RESPONSE, "", text)


# To get a token.


def of_token(decoded: DecodedExchange, issuer: Issuer) -> Iterator[Finding]:
    """Findings on a request for a token."""
    request, response = decoded.exchange.request, decoded.exchange.response
    assert request
    form, response_body = form_of(decoded.request_text), message_object(decoded.response_text)
    is_refused = response is not None and (response.status >= 400 or "error" in response_body)
    faults = [*_faults_of_grant(form, issuer), *_faults_of_client(form, request, issuer)]
    for text in faults:
        yield make(decoded, AUTH, REQUEST, "", text, refusal_words(response_body), WARNING if is_refused else INFO)
    if response is not None and response.status < 400 and "error" in response_body:
        yield make(decoded, AUTH, RESPONSE, "/error", "an error has status 200: clients treat the response as a token")
    elif is_refused and not faults:
        yield _of_refused(decoded, issuer, form, request, response_body)
    elif response is not None and not is_refused:
        yield from _of_granted(decoded, response_body)


def _faults_of_grant(form: Mapping[str, str], issuer: Issuer) -> Iterator[str]:
    code, verifier, resource = form.get("code"), form.get("code_verifier"), form.get("resource")
    if form["grant_type"] == "authorization_code" and not verifier:
        yield "code_verifier is missing: a client has to use PKCE (RFC 7636)"
    elif verifier and not _VERIFIER.fullmatch(verifier):
        yield f"code_verifier has {len(verifier)} characters: it must have 43 to 128 (letters, digits, '-._~')"
    if code and code in issuer.codes:
        yield (
            f"the code was already exchanged for a token in exchange {issuer.codes[code] + 1}: a code can be used "
            "only once"
        )
    asked, uri = issuer.asked.get("redirect_uri"), form.get("redirect_uri")
    if code and asked and asked != uri:
        what = f"is {quote(uri)}" if uri else "is missing"
        yield f"redirect_uri {what}: the authorization request had {quote(asked)} (RFC 6749, section 4.1.3)"
    yield from fault_of_resource(resource, issuer)


def fault_of_redirect(form: Mapping[str, str], issuer: Issuer) -> Iterator[str]:
    """The redirect URI of a request, in words, if its client is registered with others. Ports of this machine vary."""
    uri, known = form.get("redirect_uri"), issuer.redirect_uris.get(form.get("client_id", ""))
    if uri and known and _without_port(uri) not in map(_without_port, known):
        yield f"redirect_uri is {quote(uri)}, but the client is registered with {quote(known[0])}"


def _without_port(uri: str) -> str:
    """A URI; of this machine without its port, which may differ each time (RFC 8252, section 7.3)."""
    found = urls.split_url(uri)
    return f"{found.scheme}://{found.hostname}{found.path}" if found.hostname in _LOOPBACK else uri


def fault_of_resource(resource: str | None, issuer: Issuer) -> Iterator[str]:
    """What is wrong with the resource of a request, in words, if the tool server names another."""
    if issuer.resource and not resource:
        yield f"resource is missing: its value must be {quote(issuer.resource)}, as in the tool server's metadata"
    elif issuer.resource and resource and resource.rstrip("/") != issuer.resource.rstrip("/"):
        yield f"resource is {quote(resource)}, but the tool server's metadata has {quote(issuer.resource)}"


def _faults_of_client(form: Mapping[str, str], request: HttpRequest, issuer: Issuer) -> Iterator[str]:
    """How the client authenticates, against what it is registered with."""
    if not (request.headers.get("content-type") or _FORM).lower().startswith(_FORM):
        yield f"the members are sent as {quote(request.headers.get('content-type'))}: a token request must be {_FORM}"
    is_basic = (request.headers.get("authorization") or "").lower().startswith("basic ")
    has_secret = bool(form.get("client_secret"))
    method, is_stated = issuer.methods.get(form.get("client_id", ""), ("", True))
    if is_basic and has_secret:
        yield "the client authenticates twice: in the header Authorization, and with client_secret in the form"
    elif method == _NO_SECRET and (is_basic or has_secret):
        yield "the client is registered without a secret, but authenticates with a secret"
    elif method in (_BASIC, _POST) and not (is_basic or has_secret):
        why = "" if is_stated else ", because its registration does not have token_endpoint_auth_method (none)"
        yield f"the client is registered with {quote(method)}{why}, but does not authenticate here"


REFUSALS = {
    "invalid_target": "the server refuses the resource that the client names",
    "invalid_client": "the server refuses the client, or how it authenticates",
    "unauthorized_client": "the client may not use this grant",
    "invalid_scope": "the server refuses the scope",
}
"""Error of RFC 6749 or RFC 8707 → what it says of a request."""


_UNSEEN = (
    "the authorization request, sent by the browser, is not in this recording: its redirect_uri, code_challenge and "
    "resource must match those of this request"
)
"""What a recording between client and servers lacks."""


def _of_refused(
    decoded: DecodedExchange,
    issuer: Issuer,
    form: Mapping[str, str],
    request: HttpRequest,
    response_body: Mapping[str, JsonValue],
) -> Finding:
    error, error_text, excerpt = (
        str(response_body.get("error", "")),
        refusal_words(response_body),
        quote(head_of(decoded)),
    )
    grants = issuer.metadata.get("grant_types_supported")
    if not isinstance(response_body.get("error"), str):
        text = 'the refusal does not have the form {"error": …}: clients cannot read why they got no token'
        return make(decoded, AUTH, RESPONSE, "/error" if "error" in response_body else "", text, excerpt)
    if error == "invalid_grant":
        what = "the refresh token" if "refresh_token" in form else "the code, or its code_verifier"
        text = f"the server refuses {what}: {quote(error_text)}"
        unseen = "" if "refresh_token" in form or issuer.asked else f"; {_UNSEEN}"
        return make(decoded, AUTH, REQUEST, "", text + unseen, excerpt)
    if error == "invalid_target" and issuer.resource:
        text = (
            f"the authorization server refuses the resource {quote(issuer.resource)}, although the tool server names it"
        )
        return make(decoded, AUTH, RESPONSE, "/error", text, excerpt)
    if error in REFUSALS:
        return make(decoded, AUTH, REQUEST, "", f"{REFUSALS[error]}: {quote(error_text)}", excerpt)
    if error == "unsupported_grant_type" and not (isinstance(grants, list) and form["grant_type"] in grants):
        return make(decoded, AUTH, REQUEST, "", f"the server does not support the grant {form['grant_type']}", excerpt)
    token_names = [name for name in _OF_TOKENS if name in _WORD.findall(error_text)]
    absent = [name for name in token_names if not form.get(name)]
    if absent and (len(absent) == len(token_names) or request.headers.get("authorization") is None):
        return make(decoded, AUTH, REQUEST, "", f"{', '.join(absent)} is missing, which this server requires", excerpt)
    text = f"the server refuses a token request that the protocol allows: {quote(error_text)}"
    return make(decoded, AUTH, RESPONSE, "/error", text, excerpt)


def _of_granted(decoded: DecodedExchange, response_body: Mapping[str, JsonValue]) -> Iterator[Finding]:
    kind = response_body.get("token_type")
    if not response_body.get("access_token"):
        text = "the response to a token request has no access_token"
        yield make(decoded, AUTH, RESPONSE, "", text, quote(head_of(decoded)))
    elif not isinstance(kind, str) or kind.lower() != "bearer":
        text = f"token_type is {quote(kind)}, not Bearer: clients that check the type do not use the token"
        yield make(decoded, AUTH, RESPONSE, "/token_type" if "token_type" in response_body else "", text)


def refusal_words(response_body: Mapping[str, JsonValue]) -> str:
    """The words of a refusal; empty if it has none."""
    return ": ".join(str(response_body[name]) for name in ("error", "error_description") if response_body.get(name))
