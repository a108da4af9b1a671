"""Rules on the request by which a browser asks the server that signs clients in for a code.

It is that of RFC 6749, section 4.1, with the proof of RFC 7636 and the resource of RFC 8707; a refusal is sent back to
the client in the redirect, or shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.contracts import Finding
from workbench.ir import JsonValue
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import form_of, message_object
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.http import head_of, url_of
from workbench.rules.tool_hop.rules import AUTH, INFO, WARNING, make
from workbench.rules.tool_hop.tokens import REFUSALS, Issuer, fault_of_redirect, fault_of_resource, refusal_words
from workbench.wire import urls

_DECLINED = "access_denied"
_OF_SERVER = ("server_error", "temporarily_unavailable")
_NO_ENDPOINT = (404, 405, 501)


def of_authorization(decoded: DecodedExchange, issuer: Issuer) -> Iterator[Finding]:
    """Findings on a request for a code, and on its refusal.

    Args:
        issuer: what was said of the server before it.
    """
    form = form_of(urls.split_url(url_of(decoded.exchange)).query.encode())
    answer = _answer_of(decoded)
    response = decoded.exchange.response
    is_refused = "error" in answer or (response is not None and response.status >= 400)
    faults = [*_faults_of(form, issuer)]
    for text in faults:
        yield make(decoded, AUTH, REQUEST, "", text, refusal_words(answer), WARNING if is_refused else INFO)
    if is_refused and not faults and response is not None:
        yield _of_refused(decoded, issuer, form, answer, response.status)


def _answer_of(decoded: DecodedExchange) -> Mapping[str, JsonValue]:
    """Members of the redirect, or of the body; empty if there are none."""
    response = decoded.exchange.response
    location = (response.headers.get("location") or "") if response else ""
    found: Mapping[str, JsonValue] = {**form_of(urls.split_url(location).query.encode())}
    return found or message_object(decoded.response_text)


def _faults_of(form: Mapping[str, str], issuer: Issuer) -> Iterator[str]:
    if not form.get("code_challenge"):
        yield "code_challenge is missing: a client has to use PKCE (RFC 7636)"
    elif form.get("code_challenge_method") != "S256":
        method = form.get("code_challenge_method")
        yield f"code_challenge_method is {quote(method)}: clients have to use S256, and servers refuse others"
    yield from fault_of_redirect(form, issuer)
    yield from fault_of_resource(form.get("resource"), issuer)


def _of_refused(
    decoded: DecodedExchange, issuer: Issuer, form: Mapping[str, str], answer: Mapping[str, JsonValue], status: int
) -> Finding:
    error, server_words, evidence = str(answer.get("error", "")), refusal_words(answer), quote(head_of(decoded))
    if error == _DECLINED:
        return make(
            decoded, AUTH, RESPONSE, "", f"the user, or the server, declines: {quote(server_words)}", evidence, INFO
        )
    if not error and status in _NO_ENDPOINT:
        return make(
            decoded, AUTH, RESPONSE, "", f"the request for an authorization code was answered with {status}", evidence
        )
    if error in REFUSALS and not (error == "invalid_target" and issuer.resource):
        return make(decoded, AUTH, REQUEST, "", f"{REFUSALS[error]}: {quote(server_words)}", evidence)
    if error == "invalid_target":
        text = (
            f"the server refuses the resource {quote(form.get('resource'))}, although the tool server names this "
            "resource"
        )
        return make(decoded, AUTH, RESPONSE, "", text, evidence)
    side = RESPONSE if error in _OF_SERVER or not error else REQUEST
    text = f"the authorization server refuses the authorization request: {quote(server_words or status)}"
    return make(decoded, AUTH, side, "", text, evidence)
