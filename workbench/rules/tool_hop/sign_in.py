"""Rules on how a client signs in to a tool server: refusals that say where, and metadata that say how.

They are those of the specification, "Authorization" of revision 2025-11-25, and of RFC 9728 and RFC 8414.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench import regex
from workbench.contracts import Finding
from workbench.ir import JsonValue
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import (
    AUTHORIZATION,
    REGISTRATION,
    SIGN_INS,
    TOKEN,
    form_of,
    message_object,
    request_object,
)
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.authorization import of_authorization
from workbench.rules.tool_hop.http import head_of, url_of
from workbench.rules.tool_hop.rules import AUTH, INFO, make
from workbench.rules.tool_hop.tokens import Issuer, of_registration, of_token
from workbench.undo_log import Journal
from workbench.wire import Exchange, HttpResponse, urls

_STATED = regex.compile(r'resource_metadata\s*=\s*"?([^",\s]+)')
_RESOURCE = "oauth-protected-resource"
_IN_QUERY = "access_token"


class SignIns:
    """Checks the requests by which clients sign in, each by what was said before it.

    Args:
        journal: undo log; removes what was learned from exchanges that are inspected again.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._metadata_urls: dict[str, tuple[str, str]] = {}
        self._issuers: dict[str, Issuer] = {}

    def check(self, decoded: DecodedExchange) -> Iterator[Finding]:
        """Findings on an exchange over HTTP with a tool server, or with the server that signs its clients in."""
        request, response = decoded.exchange.request, decoded.exchange.response
        url = url_of(decoded.exchange)
        host = urls.split_url(url).netloc
        if _IN_QUERY in form_of(urls.split_url(url).query.encode()):
            text = "the access token is in the URL: a client has to send it in the Authorization header"
            yield make(decoded, AUTH, REQUEST, "", text)
        if request is None or request.method not in SIGN_INS:
            if response and response.status == 401:
                self._journal.put(self._metadata_urls, host, (_stated_metadata(decoded.exchange), url))
                yield from _of_challenge(decoded, response)
            return
        issuer = self._issuers.get(host, Issuer())
        if request.method == REGISTRATION:
            yield from of_registration(decoded, issuer)
        elif request.method == TOKEN:
            yield from of_token(decoded, issuer)
        elif request.method == AUTHORIZATION:
            yield from of_authorization(decoded, issuer)
            form = form_of(urls.split_url(url).query.encode())
            self._journal.put(self._issuers, host, issuer._replace(asked=form))
            return
        else:
            yield from _of_metadata(decoded, self._metadata_urls.get(host, ("", "")))
        self._take(decoded, request.method, host, issuer)

    def _take(self, decoded: DecodedExchange, method: str, host: str, issuer: Issuer) -> None:
        """Remember what an exchange says of the server that signs in."""
        body = message_object(decoded.response_text)
        if method == TOKEN:
            issuer = issuer.after_token(form_of(decoded.request_text), decoded.index)
        elif method == REGISTRATION:
            issuer = issuer.after_registration(request_object(decoded), body)
        elif _RESOURCE not in url_of(decoded.exchange):
            issuer = issuer._replace(metadata=body)
        else:
            servers, resource = body.get("authorization_servers"), body.get("resource")
            for server in servers if isinstance(servers, list) and isinstance(resource, str) else ():
                named = urls.split_url(str(server)).netloc
                known = self._issuers.get(named, Issuer())
                self._journal.put(self._issuers, named, known._replace(resource=str(resource)))
            return
        self._journal.put(self._issuers, host, issuer)


def _stated_metadata(exchange: Exchange) -> str:
    """URL of the metadata that a refusal names; empty if it names none."""
    challenge = exchange.response.headers.get("www-authenticate") if exchange.response else None
    found = _STATED.search(challenge or "")
    return found[1] if found else ""


def _of_challenge(decoded: DecodedExchange, response: HttpResponse) -> Iterator[Finding]:
    challenge = response.headers.get("www-authenticate")
    if challenge is None:
        text = "status 401 without the header WWW-Authenticate: a client cannot find out where to sign in"
        yield make(decoded, AUTH, RESPONSE, "", text)
    elif "resource_metadata" not in challenge:
        text = "WWW-Authenticate does not name resource_metadata: a client must guess the address of the metadata"
        yield make(decoded, AUTH, RESPONSE, "", text, quote(challenge), INFO)


def _of_metadata(decoded: DecodedExchange, metadata: tuple[str, str]) -> Iterator[Finding]:
    """Findings on a document that says where, and how, to sign in (RFC 9728, RFC 8414)."""
    stated_url, refused = metadata
    response, url = decoded.exchange.response, url_of(decoded.exchange)
    if stated_url and _RESOURCE in url and url != stated_url:
        text = f"the server named {quote(stated_url)} in WWW-Authenticate, but the client fetches a different URL"
        yield make(decoded, AUTH, REQUEST, "", text, quote(url), INFO)
    if response is None or response.status != 200:
        if response is not None and url == stated_url:
            text = f"the request for the metadata that WWW-Authenticate names was answered with {response.status}"
            yield make(decoded, AUTH, RESPONSE, "", text, quote(head_of(decoded)))
        return
    body = message_object(decoded.response_text)
    if not body:
        text = "the metadata for signing in is not a JSON object"
        yield make(decoded, AUTH, RESPONSE, "", text, quote(head_of(decoded)))
    elif _RESOURCE in url:
        yield from _of_resource(decoded, url, body, refused)
    else:
        yield from _of_issuer(decoded, url, body)


def _of_resource(decoded: DecodedExchange, url: str, body: Mapping[str, JsonValue], refused: str) -> Iterator[Finding]:
    resource, servers = body.get("resource"), body.get("authorization_servers")
    if not servers or not isinstance(servers, list):
        text = "the metadata of the resource has no authorization_servers"
        yield make(decoded, AUTH, RESPONSE, "", text)
    if isinstance(resource, str) and not _is_same_resource(resource, url):
        text = (
            f"the metadata is for {quote(resource)}, not for the server that it was fetched from: clients refuse "
            "the metadata"
        )
        yield make(decoded, AUTH, RESPONSE, "/resource", text)
    elif isinstance(resource, str) and refused and resource != refused and resource.rstrip("/") == refused.rstrip("/"):
        text = (
            f"the metadata is for {quote(resource)}, but the client asked for {quote(refused)}: some clients "
            "refuse the metadata"
        )
        yield make(decoded, AUTH, RESPONSE, "/resource", text, severity=INFO)


def _is_same_resource(resource: str, url: str) -> bool:
    """The metadata's URL is that of the resource with a well-known path before its own."""
    one, other = urls.split_url(resource), urls.split_url(url)
    path = other.path.partition("/oauth-protected-resource")[2].rstrip("/")
    return one.netloc.lower() == other.netloc.lower() and (not path or one.path.rstrip("/") == path)


def _of_issuer(decoded: DecodedExchange, url: str, body: Mapping[str, JsonValue]) -> Iterator[Finding]:
    issuer, methods = body.get("issuer"), body.get("code_challenge_methods_supported")
    missing = [name for name in ("issuer", "authorization_endpoint", "token_endpoint") if not body.get(name)]
    if missing:
        text = f"{', '.join(map(quote, missing))} is missing from the metadata of the authorization server"
        yield make(decoded, AUTH, RESPONSE, "", text)
    elif isinstance(issuer, str) and urls.split_url(issuer).netloc.lower() != urls.split_url(url).netloc.lower():
        text = (
            f"the issuer {quote(issuer)} is not the server that the metadata was fetched from: clients refuse the "
            "metadata"
        )
        yield make(decoded, AUTH, RESPONSE, "/issuer", text)
    if not isinstance(methods, list) or "S256" not in methods:
        text = "code_challenge_methods_supported does not contain S256: clients have to refuse to sign in"
        yield make(decoded, AUTH, RESPONSE, "", text)
