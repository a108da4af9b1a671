"""Rules on HTTP to a tool server: headers, statuses, content types and sessions.

Statuses and headers are those of the specification, "Transports" of revision 2025-11-25.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from workbench import regex
from workbench.contracts import Finding
from workbench.ir import JsonValue
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import (
    BATCH,
    END,
    OVER_HTTP,
    STATELESS,
    STREAM,
    event_messages,
    request_object,
    response_object,
)
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import (
    FRAMING,
    HTTP,
    INFO,
    NO_ANSWER,
    RESPONSE_ID,
    SESSION_LOST,
    VERSION,
    WARNING,
    make,
    member,
)
from workbench.wire import Exchange, HttpRequest, HttpResponse, State

_JSON, _SSE = "application/json", "text/event-stream"
_SESSION, _REVISION = "mcp-session-id", "mcp-protocol-version"
_NEEDS_REVISION = "2025-06-18"
"""First revision in which every request but ``initialize`` states it."""

_FIRST_OVER_HTTP = "2025-03-26"
"""First revision with streamable HTTP."""

_ROUTING = (("mcp-method", ("method",)), ("mcp-name", ("params", "name")))
"""Header → member of the message that it repeats, from revision 2026-07-28 on."""

_LONG = 300
_VISIBLE = regex.compile(r"[\x21-\x7e]+")
"""A session id (specification, "Session Management")."""

_REFUSED_ORIGIN = regex.compile(
    r"(?i)(?<![\w-])origin(?![\w=-]| ?(?:server|web))|\bcross-origin request|\bhost header\b|\binvalid host\b"
)
"""Words of the refusal of where a request comes from; to a proxy, the server behind it is the origin server."""

_SCOPE = "insufficient_scope"
"""Error of a token that does not allow enough (RFC 6750, 3.1)."""

_STATUSES = {-32601: 404, -32020: 400, -32021: 400, -32022: 400}
"""Code of an error → its status since revision 2026-07-28 ("Streamable HTTP")."""


def url_of(exchange: Exchange) -> str:
    """URL of the HTTP request that carried a message."""
    return str(exchange.meta[OVER_HTTP][1])


def of_http(decoded: DecodedExchange, session: str, version: str) -> Iterator[Finding]:
    """Findings on what HTTP says about a message to a tool server.

    Args:
        session: id that the server gave last; empty if it gave none.
        version: that both sides agreed on; empty if that is unknown.
    """
    request, response = decoded.exchange.request, decoded.exchange.response
    assert request
    if str(decoded.exchange.meta[OVER_HTTP][0]) == "POST":
        yield from _of_accept(decoded, request, response)
        yield from _of_revision(decoded, request, version)
    if response is None:
        return
    yield from _of_session(decoded, request, response, session)
    yield from _of_given_session(decoded, response)
    yield from _of_origin(decoded, request, response)
    yield from _of_error_status(decoded, request, response)
    yield from _of_status(decoded, request, response)
    yield from _of_events(decoded)


def _of_accept(decoded: DecodedExchange, request: HttpRequest, response: HttpResponse | None) -> Iterator[Finding]:
    accept, kind = request.headers.get("accept"), request.headers.get("content-type")
    is_refused = response is not None and response.status == 406
    lacks = [each for each in (_JSON, _SSE) if each not in (accept or "").lower()]
    if lacks and (is_refused or (accept is not None and "*/*" not in accept)):
        subject = f"Accept is {quote(accept)}" if accept is not None else "Accept is missing"
        text = f"{subject}: a client has to accept both {_JSON} and {_SSE}, otherwise servers answer 406"
        yield make(decoded, HTTP, REQUEST, "", text)
    elif is_refused and accept is not None:
        text = f"the server answers 406, but the request accepts both {_JSON} and {_SSE}: a proxy may have changed it"
        yield make(decoded, HTTP, RESPONSE, "", text, quote(head_of(decoded)))
    if kind is not None and not kind.lower().startswith(_JSON):
        yield make(decoded, HTTP, REQUEST, "", f"Content-Type is {quote(kind)}, not {_JSON}: servers answer 415")
    elif response is not None and response.status == 415:
        yield _of_media_type(decoded, kind)


def _of_media_type(decoded: DecodedExchange, kind: str | None) -> Finding:
    """A refusal of the Content-Type, which is missing or right."""
    if kind is None:
        return make(decoded, HTTP, REQUEST, "", f"Content-Type is missing, not {_JSON}: servers answer 415")
    text = f"the server answers 415, but the Content-Type is {quote(kind)}: a proxy may have changed it"
    return make(decoded, HTTP, RESPONSE, "", text, quote(head_of(decoded)))


def _of_revision(decoded: DecodedExchange, request: HttpRequest, version: str) -> Iterator[Finding]:
    """The header with the revision, and those that repeat members of the message."""
    stated, message = request.headers.get(_REVISION), request_object(decoded)
    own = member(message, "params", "_meta", "io.modelcontextprotocol/protocolVersion")
    version_in_use = own if isinstance(own, str) else version
    if version_in_use and stated and stated != version_in_use:
        text = f"the header MCP-Protocol-Version is {quote(stated)}, but both sides agreed on {quote(version_in_use)}"
        yield make(decoded, VERSION, REQUEST, "", text)
    elif version_in_use >= _NEEDS_REVISION and not stated and request.method != "initialize":
        response = decoded.exchange.response
        severity = WARNING if response and response.status >= 400 else INFO
        text = f"the header MCP-Protocol-Version is missing: required in each request since revision {_NEEDS_REVISION}"
        yield make(decoded, VERSION, REQUEST, "", text, severity=severity)
    wanted = member(message, "params", "protocolVersion") if request.method == "initialize" else None
    if isinstance(wanted, str) and stated and stated != wanted:
        text = f"the header MCP-Protocol-Version is {quote(stated)}, but initialize asks for {quote(wanted)}"
        yield make(decoded, VERSION, REQUEST, "", f"{text}: servers that compare the two values answer 400")
    if request.method == "initialize" and decoded.exchange.response and decoded.exchange.response.status == 200:
        yield from _of_old_revision(decoded)
    old = stated or version_in_use
    for header in (header for header, _ in _ROUTING if request.headers.get(header) and old and old < STATELESS):
        text = f"the header {header} belongs to revision {STATELESS}, but the request uses revision {quote(old)}"
        yield make(decoded, HTTP, REQUEST, "", text)
    for header, path in _ROUTING if version_in_use >= STATELESS else ():
        value, expected = request.headers.get(header), member(message, *path)
        if isinstance(expected, str) and value != expected and not (value or "").startswith("=?"):
            problem = f"is {quote(value)}" if value else "is missing"
            yield make(
                decoded, HTTP, REQUEST, "", f"the header {header} {problem}, but the message has {quote(expected)}"
            )


def _of_old_revision(decoded: DecodedExchange) -> Iterator[Finding]:
    """A revision without this transport, in the response to a POST."""
    version = member(response_object(decoded), "result", "protocolVersion")
    if isinstance(version, str) and version < _FIRST_OVER_HTTP:
        text = f"revision {quote(version)} has no streamable HTTP: clients that follow this revision expect HTTP+SSE"
        yield make(decoded, VERSION, RESPONSE, "/result/protocolVersion", text, severity=INFO)


def _of_session(
    decoded: DecodedExchange, request: HttpRequest, response: HttpResponse, session: str
) -> Iterator[Finding]:
    if not session or request.method == "initialize" or request.headers.get(_SESSION):
        return
    is_error = isinstance(response_object(decoded).get("error"), dict)
    refusal = f"with {response.status}" if response.status >= 400 else "with a JSON-RPC error" if is_error else ""
    if refusal:
        text = (
            "the server answered initialize with the header Mcp-Session-Id, but this request does not send the header"
        )
        yield make(decoded, SESSION_LOST, REQUEST, "", f"{text}: the server refuses the request {refusal}")


def _of_given_session(decoded: DecodedExchange, response: HttpResponse) -> Iterator[Finding]:
    given = response.headers.get(_SESSION)
    if given is not None and not _VISIBLE.fullmatch(given):
        text = f"the session id {quote(given)} has characters that are not visible ASCII: clients cannot send it back"
        yield make(decoded, HTTP, RESPONSE, "", text)


def _of_origin(decoded: DecodedExchange, request: HttpRequest, response: HttpResponse) -> Iterator[Finding]:
    """A refusal of where a request comes from: browsers and desktop programs state it, others do not."""
    origin, words = request.headers.get("origin"), head_of(decoded)
    is_of_scope = _SCOPE in f"{words} {response.headers.get('www-authenticate')}".lower()
    if response.status in (403, 421) and _REFUSED_ORIGIN.search(words) and not is_of_scope:
        what = f"the Origin {quote(origin)}" if origin else "the Host of the request"
        hint = "allow this origin or host in the configuration of the server (protection against DNS rebinding)"
        yield make(decoded, HTTP, RESPONSE, "", f"the server refuses {what}: {hint}", quote(head_of(decoded)))


def _of_error_status(decoded: DecodedExchange, request: HttpRequest, response: HttpResponse) -> Iterator[Finding]:
    """Errors of the stateless revision, which have a status of their own."""
    code = member(response_object(decoded), "error", "code")
    status = _STATUSES.get(code) if isinstance(code, int) else None
    version = request.headers.get(_REVISION) or ""
    if status and response.status != status and version >= STATELESS:
        text = f"the error {code} was sent with the status {response.status}; revision {STATELESS} requires {status}"
        yield make(decoded, HTTP, RESPONSE, "", text, severity=INFO)


def of_lost_session(decoded: DecodedExchange, since: int) -> Finding:
    """A request of a session after the server had said that it does not know it.

    Args:
        since: index of the exchange with that refusal.
    """
    text = f"the server had answered 404 for this session in exchange {since + 1}: a client must start a new session"
    return make(decoded, SESSION_LOST, REQUEST, "", text)


def of_ended_session(decoded: DecodedExchange) -> Finding:
    """A request of a session that its client had ended, which the server answers all the same."""
    text = "the client had ended this session (DELETE), but the server still accepts the session: it must answer 404"
    return make(decoded, SESSION_LOST, RESPONSE, "", text)


def _of_status(decoded: DecodedExchange, request: HttpRequest, response: HttpResponse) -> Iterator[Finding]:
    status, kind = response.status, (response.headers.get("content-type") or "").lower()
    message = request_object(decoded)
    if 300 <= status < 400:
        where = quote(response.headers.get("location"))
        text = f"the server redirects to {where}: clients then send GET, or drop the body or the authorization"
        yield make(decoded, HTTP, RESPONSE, "", text)
    elif request.method == STREAM:
        yield from _of_stream(decoded, request, status, kind)
    elif request.method in (END, BATCH):
        return
    elif "id" not in message or "method" not in message:
        yield from _of_accepted(decoded, response, message)
    elif status == 202 and not decoded.response_text.strip() and request.headers.get(_REVISION):
        text = (
            f"{quote(message['method'])} is a request, but got only status 202; the recording contains no response "
            "to the request"
        )
        yield make(decoded, NO_ANSWER, RESPONSE, "", text, severity=INFO)
    elif status == 200 and decoded.response_text.strip() and kind and not kind.startswith((_JSON, _SSE)):
        text = f"the content type of the response is {quote(kind)}: a client reads only {_JSON} and {_SSE}"
        yield make(decoded, HTTP, RESPONSE, "", text, quote(head_of(decoded)))


def _of_stream(decoded: DecodedExchange, request: HttpRequest, status: int, kind: str) -> Iterator[Finding]:
    if status == 200 and kind and not kind.startswith(_SSE):
        text = f"a GET for the stream of the server is answered with {quote(kind)}, not with {_SSE}"
        yield make(decoded, HTTP, RESPONSE, "", text, quote(head_of(decoded)))
    elif status == 200 and _ends_at_once(decoded):
        text = "the stream of the server ends immediately, without an event: clients reopen the stream again and again"
        hint = "a server without a stream answers 405"
        yield make(decoded, HTTP, RESPONSE, "", text, hint, INFO)
    elif status >= 400 and status not in (401, 403, 405) and not (status == 404 and request.headers.get(_SESSION)):
        hint = _fault_of_client(request, status, head_of(decoded))
        text = f"the server answers the GET that opens its stream with status {status}: {hint or _NO_STREAM}"
        yield make(decoded, HTTP, REQUEST if hint else RESPONSE, "", text, quote(head_of(decoded)))


def _ends_at_once(decoded: DecodedExchange) -> bool:
    """The server closed a stream within a second, and sent nothing on it."""
    exchange = decoded.exchange
    is_over = exchange.state is State.COMPLETE and exchange.duration is not None
    return is_over and (exchange.duration or 0.0) < 1.0 and not decoded.response_text.strip()


_NO_STREAM = "a server without a stream answers 405; with a different status, some clients close the connection"


def _fault_of_client(request: HttpRequest, status: int, body_text: str) -> str:
    """Why a server refuses a stream, if it is the client's fault; else empty."""
    if status == 406 and _SSE not in (request.headers.get("accept") or "").lower():
        return f"its Accept header lacks {_SSE}"
    is_first = status == 400 and "session" in body_text.lower() and not request.headers.get(_SESSION)
    return (
        "the client opens a stream without a session: a client must first send initialize with POST" if is_first else ""
    )


def _of_accepted(
    decoded: DecodedExchange, response: HttpResponse, message: Mapping[str, JsonValue]
) -> Iterator[Finding]:
    """The answer to what has no response: 202 without a body."""
    status, what = response.status, quote(message.get("method") or "a response")
    if status >= 400 and status not in (401, 403, 404):
        text = (
            f"{what} is answered with {status}: a server must answer with 202, otherwise clients close the connection"
        )
        yield make(decoded, HTTP, RESPONSE, "", text, quote(head_of(decoded)))
    elif 200 <= status < 300 and status != 202:
        text = f"{what} is answered with {status}, not with 202: some clients expect a message in the body"
        yield make(decoded, HTTP, RESPONSE, "", text, severity=INFO)


def _of_events(decoded: DecodedExchange) -> Iterator[Finding]:
    """Events of a stream: their names, and ids that two of them share."""
    names = {
        event.name for event in decoded.events if event.data and event.name not in (None, "", "message", "endpoint")
    }
    if names:
        text = f"the stream has events of the type {quote(min(map(str, names)))}: clients read only the type message"
        yield make(decoded, FRAMING, RESPONSE, "", text, severity=WARNING)
    if again := _again(repr(message.get("id")) for _, message in event_messages(decoded) if "method" not in message):
        text = f"the stream has two responses with the id {again}: a client reads only one of them"
        yield make(decoded, RESPONSE_ID, RESPONSE, "", text)
    if twice := _again(event.id for event in decoded.events if event.id):
        text = f"two events of the stream have the id {quote(twice)}: a client cannot resume after one of them"
        yield make(decoded, HTTP, RESPONSE, "", text)


def _again(names: Iterable[str]) -> str:
    """The first of some names that was there before; empty if each is there once."""
    known: set[str] = set()
    for name in names:
        if name in known:
            return name
        known.add(name)
    return ""


def head_of(decoded: DecodedExchange) -> str:
    """The beginning of a response, as evidence."""
    return decoded.response_text[:_LONG].decode("utf-8", "replace")
