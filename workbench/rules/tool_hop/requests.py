"""Rules on one request to a tool server and its response."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from workbench import regex
from workbench.contracts import Finding
from workbench.ir import JsonValue
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.protocols.mcp import (
    ASKED_BY,
    BATCH,
    CANCELLED,
    END,
    OVER_HTTP,
    SIGN_INS,
    STATELESS,
    STREAM,
    ChannelFacts,
    ServerFacts,
    fault_of_line,
    is_known_method,
    is_named,
    is_over_http,
    needed_capability,
    request_object,
    response_message,
    response_object,
)
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.call_results import INVALID_INPUT, LONG_TEXT, UNKNOWN_TOOL, is_failure, of_call_result
from workbench.rules.tool_hop.rules import (
    CANCELLED_END,
    CAPABILITY,
    FRAMING,
    INFO,
    LIFECYCLE,
    MESSAGE,
    NAME,
    NO_ANSWER,
    PROTOCOL_ERROR,
    RESPONSE_ID,
    SESSION_LOST,
    TIMEOUT,
    TOOL_MISSING,
    VERSION,
    WARNING,
    make,
    member,
    texts_of,
)
from workbench.wire import Exchange, State

_MUST_RESULT = ("initialize", "tools/list", "tools/call")
"""Methods whose JSON-RPC error breaks tool use; for others an error is a normal response (``resources/read``), or a
probe."""

_MEMBERS: dict[str, tuple[tuple[str, type], ...]] = {
    "tools/list": (("tools", list),),
    "tools/call": (("content", list),),
}
"""Method → members that its result must have, and their types (specification, schema of each revision)."""

_NEGOTIATION = (-32020, -32021, -32022, -32042)
"""Codes with which a server asks the client for something: another version, a capability, a page to open."""

_NO_REQUESTS = (*SIGN_INS, END, STREAM, BATCH, "response")
"""Methods of what HTTP carries that is no request of JSON-RPC."""

_NO_METHOD = -32601
"""Code of JSON-RPC for a method that is not known."""

_OF_JSON_RPC = (-32700, *range(-32603, -32599))
"""Codes of JSON-RPC itself: the request was not understood, and no tool has run."""

_MAY_WAIT = ("subscriptions/listen", "server/discover", "ping", "tasks/result")
"""Methods whose response comes late, or never from older servers."""

_TIMED_OUT = regex.compile(r"time[d ]*[- ]?out|-32001|deadline", re.IGNORECASE)
_UNSUPPORTED = regex.compile(r"not (?:supported|implemented)|unsupported|method not found", re.IGNORECASE)
_NO_HANDLER = regex.compile(
    r"(?:missing|no|without) (?:a )?(?:registered )?handler|unknown method|method \S+ not found"
    r"|not implemented|unsupported",
    re.IGNORECASE,
)
"""Words of servers for a method that they do not know, with other codes than that of JSON-RPC."""

_NO_SESSION = regex.compile(
    r"session (?:id )?(?:\S+ )?(?:not found|expired|terminated|unknown|invalid|does not exist|is closed)"
    r"|(?:unknown|invalid|no valid|missing|expired|no such) (?:mcp[- ])?session"
    r"|(?:server|session|connection|transport) (?:is |was )?not (?:yet )?initiali[sz]ed",
    re.IGNORECASE,
)
"""Words for a session that a server does not know."""

_REVISION = regex.compile(r"\d{4}-\d{2}-\d{2}|(?i:draft)\S*")
"""A version; that of a draft has another form."""

_FIRST = "2024-10-07"
"""The oldest revision that clients accept: a preview that the official SDKs know."""

_NO_SESSION_STATUS = (400, 404)
"""Statuses for a request without a valid session; the error may have no id."""

_NEED_SESSION = ("tools/list", "tools/call")
"""Methods that a client of a revision with sessions sends after its handshake."""

_VERSION = "io.modelcontextprotocol/protocolVersion"
_AUTH = (401, 403)
"""Statuses with which a server asks the client to sign in."""


def request_findings(decoded: DecodedExchange, facts: ServerFacts, channel: ChannelFacts | None) -> Iterator[Finding]:
    """Findings on a request of either side.

    Args:
        facts: what both sides declared before it.
        channel: facts of the whole connection, once it is over; None if unknown.
    """
    exchange, http = decoded.exchange, decoded.exchange.request
    if http is None:
        return
    asked_by = str(exchange.meta.get(ASKED_BY))
    missing = facts.lacks(http.method, asked_by)
    if missing:
        other = "server" if asked_by == "client" else "client"
        where = f" in exchange {facts.place + 1}" if facts.place >= 0 else ""
        text = f"{quote(http.method)} needs the capability {missing!r}, which the {other} did not declare{where}"
        yield make(decoded, CAPABILITY, REQUEST, "/method", text)
    if asked_by == "client":
        yield from _of_client(decoded, http.method, facts, channel)
    elif not missing:
        yield from _of_server(decoded, needed_capability(http.method, asked_by) if facts.client is not None else "")


def _of_server(decoded: DecodedExchange, declared: str) -> Iterator[Finding]:
    """Findings on a request of the server that needs a capability which the client declared."""
    http, error = decoded.exchange.request, member(response_object(decoded), "error")
    if http and http.method == "ping" and error is not None:
        text = "ping was answered with an error: the answer must be an empty result, otherwise servers disconnect"
        yield make(decoded, PROTOCOL_ERROR, RESPONSE, "/error", text)
    is_unknown = member(error, "code") == _NO_METHOD or _UNSUPPORTED.search(str(member(error, "message") or ""))
    if declared and is_unknown:
        text = f"the client declared the capability {declared!r}, but does not support this method"
        yield make(decoded, CAPABILITY, RESPONSE, "/error", text)


def _of_client(
    decoded: DecodedExchange, method: str, facts: ServerFacts, channel: ChannelFacts | None
) -> Iterator[Finding]:
    exchange = decoded.exchange
    if CANCELLED in exchange.meta:
        yield from _given_up(decoded, method)
    if is_over_http(exchange) and exchange.response:
        yield from _over_http(decoded, method)
    if is_early := _is_before_session(decoded, method, facts):
        text = (
            f"{quote(method)} is sent without a session, but the server requires one: the client must send "
            "initialize first"
        )
        yield make(decoded, LIFECYCLE, REQUEST, "", text)
    if exchange.response is None:
        if exchange.state is State.ABORTED and CANCELLED not in exchange.meta and method not in _MAY_WAIT:
            text = f"{quote(method)} got no response before the connection ended"
            yield make(decoded, NO_ANSWER, RESPONSE, "", text)
        return
    request, response = request_object(decoded), response_object(decoded)
    if is_over_http(exchange) and exchange.response.status < 400 and _is_of_another(request, response):
        text = f"{quote(method)} got no response: the only message received has the id of another request"
        yield make(decoded, NO_ANSWER, RESPONSE, "", text)
        return
    if method == "tools/list" and (contradiction := _of_declared(decoded, method, facts)):
        yield contradiction
    elif method in _MUST_RESULT:
        is_elsewhere = is_early or exchange.response.status in _AUTH or is_unknown_session(exchange)
        yield from () if is_elsewhere else _error(decoded, method, response.get("error"))
        yield from _shape(decoded, method, response.get("result"), facts.version)
    else:
        yield from _refused_method(decoded, method, facts)
    if method == "initialize":
        yield from _version(decoded, request, response, channel)
        yield from _of_initialize(decoded, response)
    if method == "tools/list" and facts.has_declared("tools") and member(response, "result") == {"tools": []}:
        text = "the server declares tools, but lists none"
        yield make(decoded, TOOL_MISSING, RESPONSE, "/result/tools", text, severity=INFO)
    if method == "tools/call":
        yield from _tool_name(decoded, request.get("params"), facts)
        yield from of_call_result(decoded, request.get("params"), response, facts)


def _of_unknown_method(decoded: DecodedExchange, method: str) -> Finding:
    text = f"no revision of the protocol defines the method {quote(method)}"
    return make(decoded, MESSAGE, REQUEST, "/method", text)


def _refusal_of(decoded: DecodedExchange) -> tuple[JsonValue, str] | None:
    """Code and words of a refusal: those of JSON-RPC, else what HTTP says; None if the request was not refused."""
    error, http = response_object(decoded).get("error"), decoded.exchange.response
    if isinstance(error, dict):
        return error.get("code"), str(error.get("message"))
    is_refused = is_over_http(decoded.exchange) and http is not None and http.status >= 400 and http.status not in _AUTH
    body = decoded.response_text[:LONG_TEXT].decode("utf-8", "replace")
    return (None, str(error or body)) if is_refused else None


def _over_http(decoded: DecodedExchange, method: str) -> Iterator[Finding]:
    """Findings on what HTTP itself says: lost sessions, refused versions, no message."""
    http, request = decoded.exchange.response, decoded.exchange.request
    assert http and request
    body = decoded.response_text[:LONG_TEXT].decode("utf-8", "replace")
    error = member(response_object(decoded), "error")
    error_text = str(member(error, "message") or error or body)
    url = str(decoded.exchange.meta[OVER_HTTP][1]).lower()
    yield from _of_id(decoded, http.status)
    version = request.headers.get("mcp-protocol-version") or ""
    if version and not _REVISION.fullmatch(version) and http.status < 400:
        text = f"the header MCP-Protocol-Version is {quote(version)}, which is not a version; a server must answer 400"
        yield make(decoded, VERSION, REQUEST, "", text)
    has_session = bool(request.headers.get("mcp-session-id")) or "sessionid=" in url
    is_unknown = http.status == 404 or (not _has_result(decoded) and _NO_SESSION.search(error_text))
    if has_session and method == "initialize" and is_unknown:
        text = (
            f"initialize has the id of an earlier session and is answered with {http.status}: a client must leave "
            "out the session id"
        )
        yield make(decoded, SESSION_LOST, REQUEST, "", text, quote(error_text))
    elif has_session and method != END and is_unknown:
        severity = INFO if http.status == 404 else WARNING
        how = "" if http.status == 404 else "; only status 404 makes a client start a new session"
        text = f"the server answered {http.status} for an unknown session{how}"
        yield make(decoded, SESSION_LOST, RESPONSE, "", text, quote(error_text), severity)
    elif http.status >= 400 and method == "initialize" and "version" in error_text.lower():
        text = (
            f"the server refused the version with status {http.status}; versions are negotiated in the "
            "response, not by an HTTP error"
        )
        yield make(decoded, VERSION, RESPONSE, "", text, quote(error_text))
    elif http.status >= 400 and http.status not in _AUTH and method in _MUST_RESULT and not isinstance(error, dict):
        text = f"{method} was answered with status {http.status}"
        if method == "initialize" and http.status == 400 and not version:
            text += "; clients send MCP-Protocol-Version only after initialize, so a server must not require it earlier"
        yield make(decoded, PROTOCOL_ERROR, RESPONSE, "", text, quote(error_text))
    elif http.status == 200 and body.lstrip()[:1] == "{" and "event-stream" in (http.headers.get("content-type") or ""):
        text = "the content type is text/event-stream, but the body is plain JSON: clients find no event in the body"
        yield make(decoded, FRAMING, RESPONSE, "", text)
    elif http.status == 200 and method in _MUST_RESULT and _is_cut(decoded):
        text = f"the stream ends inside the response to {method}"
        yield make(decoded, FRAMING, RESPONSE, "", text, quote(body[-60:]))
    elif (
        http.status == 200
        and method not in SIGN_INS
        and body.strip()
        and not decoded.events
        and fault_of_line(decoded.response_text)
    ):
        fault = fault_of_line(decoded.response_text)
        text = f"the response to {method} is {fault}"
        yield make(decoded, FRAMING, RESPONSE, "", text, quote(body), WARNING if "JSON, but" in fault else None)
    elif http.status == 200 and _has_nothing(decoded, method):
        text = f"the response to {method} ended without its message"
        yield make(decoded, NO_ANSWER, RESPONSE, "", text)
    elif method in _MUST_RESULT and decoded.events and not decoded.events[-1].terminated:
        text = f"no blank line ends the event with the response to {method}: clients keep waiting, or drop the event"
        yield make(decoded, NO_ANSWER, RESPONSE, "", text)


def _of_id(decoded: DecodedExchange, status: int) -> Iterator[Finding]:
    """A response whose id is not that of its request."""
    request, response = request_object(decoded), response_object(decoded)
    if response.keys().isdisjoint(("result", "error")):
        return
    request_id, response_id = request.get("id"), response.get("id")
    if "id" not in request:
        if status < 400 and "method" in request:
            text = (
                f"{quote(request['method'])} has no id: so it is a notification, which a server answers only with 202"
            )
            yield make(decoded, RESPONSE_ID, RESPONSE, "", text)
    elif response_id is None and status not in _NO_SESSION_STATUS:
        text = (
            f"the response has the id null, not {quote(request_id)}: a client may wait for the response to its request"
        )
        yield make(decoded, RESPONSE_ID, RESPONSE, "", text, severity=INFO)
    elif response_id is not None and (response_id != request_id or type(response_id) is not type(request_id)):
        ids = f"{quote(response_id)}, not {quote(request_id)}"
        text = f"the response has the id {ids}: a client drops the response and keeps waiting"
        yield make(decoded, RESPONSE_ID, RESPONSE, "", text)


def _is_of_another(request: Mapping[str, JsonValue], response: Mapping[str, JsonValue]) -> bool:
    """A response with an id that is not that of its request, whatever its type."""
    answered_id = response.get("id")
    return "id" in request and answered_id is not None and str(answered_id) != str(request["id"])


def _is_before_session(decoded: DecodedExchange, method: str, facts: ServerFacts) -> bool:
    """A use of tools over HTTP that the server refuses for want of a session, before any handshake was seen.

    A request of the stateless revision has none; clients send it to servers of older ones to see which they are.
    """
    exchange, refusal = decoded.exchange, _refusal_of(decoded)
    if method not in _NEED_SESSION or not is_over_http(exchange) or facts.server is not None or refusal is None:
        return False
    assert exchange.request
    is_stateless = member(request_object(decoded), "params", "_meta", _VERSION) is not None
    has_session = bool(exchange.request.headers.get("mcp-session-id")) or is_stateless
    return not has_session and bool(_NO_SESSION.search(refusal[1]))


def is_unknown_session(exchange: Exchange) -> bool:
    """A request of a session that its server does not know: it answers 404, and the client begins a new one."""
    has_session = bool(exchange.request and exchange.request.headers.get("mcp-session-id"))
    return has_session and is_over_http(exchange) and bool(exchange.response and exchange.response.status == 404)


def _has_nothing(decoded: DecodedExchange, method: str) -> bool:
    """No response to a request: none in a stream, or no body at all."""
    is_empty = not decoded.response_text.strip() and "id" in request_object(decoded) and method not in SIGN_INS
    return is_empty or (method in _MUST_RESULT and not response_message(decoded).strip())


def _is_cut(decoded: DecodedExchange) -> bool:
    """The stream ends within an event that has a beginning of JSON."""
    last = decoded.events[-1] if decoded.events else None
    return bool(last and not last.terminated and fault_of_line(last.data or b""))


def _has_result(decoded: DecodedExchange) -> bool:
    return "result" in response_object(decoded)


def _given_up(decoded: DecodedExchange, method: str) -> Iterator[Finding]:
    """A call that the client cancelled: because it had waited too long, or for another reason."""
    reason = str(decoded.exchange.meta[CANCELLED])
    response = response_object(decoded)
    came = "; the response arrived too late" if response else ""
    if _TIMED_OUT.search(reason):
        token = member(request_object(decoded), "params", "_meta", "progressToken")
        hint = "" if token is not None else "; without a progressToken the server cannot report progress"
        yield make(
            decoded, TIMEOUT, REQUEST, "/params", f"the client gave up {quote(method)}{came}{hint}", quote(reason)
        )
    elif method == "tools/call" and isinstance(response.get("result"), dict) and not is_failure(response["result"]):
        text = "the client cancelled this call, but the server carried it out anyway"
        yield make(decoded, CANCELLED_END, RESPONSE, "/result", text, quote(reason), INFO)


def _error(decoded: DecodedExchange, method: str, error: JsonValue) -> Iterator[Finding]:
    if not isinstance(error, dict) or error.get("code") in _NEGOTIATION:
        return
    code, message = error.get("code"), str(error.get("message"))
    code_text = str(code) if isinstance(code, int) else quote(code, 20)
    text = f"{method} was answered with error {code_text}: {quote(message)}"
    if method == "initialize" and ("version" in message.lower() or member(error, "data", "supported")):
        text += "; a server that does not support the version should respond with a version that it supports"
        yield make(decoded, VERSION, RESPONSE, "/error", text)
        return
    if method == "tools/call" and code not in _OF_JSON_RPC:
        text += "; report a failed tool as a result with isError, which clients show to the model"
    yield make(decoded, PROTOCOL_ERROR, RESPONSE, "/error", text)


def _refused_method(decoded: DecodedExchange, method: str, facts: ServerFacts) -> Iterator[Finding]:
    """An error to a request that its receiver has to answer: to ping, or with a capability that it declared."""
    refusal = _refusal_of(decoded)
    if not is_known_method(method) and method not in _NO_REQUESTS and "result" not in response_object(decoded):
        yield _of_unknown_method(decoded, method)
    elif refusal is None:
        return
    elif method == "ping":
        text = f"ping was answered with an error: {quote(refusal[1])}; the answer must be an empty result"
        yield make(decoded, PROTOCOL_ERROR, RESPONSE, "/error", text)
    elif contradiction := _of_declared(decoded, method, facts):
        yield contradiction
    elif INVALID_INPUT.search(refusal[1]):
        yield make(decoded, PROTOCOL_ERROR, RESPONSE, "/error", f"{quote(method)} was refused: {quote(refusal[1])}")


def _of_declared(decoded: DecodedExchange, method: str, facts: ServerFacts) -> Finding | None:
    """A method of a capability that the server declared, which it does not know."""
    needed, refusal = needed_capability(method, "client"), _refusal_of(decoded)
    if refusal is None or not facts.has_declared(needed):
        return None
    if refusal[0] != _NO_METHOD and not _NO_HANDLER.search(refusal[1]):
        return None
    text = f"the server declared the capability {needed!r}, but does not know {quote(method)}"
    pointer = "/error" if "error" in response_object(decoded) else ""
    return make(decoded, CAPABILITY, RESPONSE, pointer, text, quote(refusal[1]))


def _of_initialize(decoded: DecodedExchange, response: dict[str, JsonValue]) -> Iterator[Finding]:
    if member(response, "result", "capabilities") == {}:
        text = "the server declares no capabilities: clients never ask it for tools, prompts or resources"
        yield make(decoded, CAPABILITY, RESPONSE, "/result/capabilities", text, severity=INFO)


def _shape(decoded: DecodedExchange, method: str, result: JsonValue, version: str) -> Iterator[Finding]:
    """A result without the members that clients read.

    Args:
        version: that both sides agreed on; empty if that is unknown. Only the newest may leave the content out beside
            structured content (``CallToolResult``; refused by rmcp, modelcontextprotocol/rust-sdk#750).
    """
    if not isinstance(result, dict) or "task" in result or result.get("resultType", "complete") != "complete":
        return
    for name, kind in _MEMBERS.get(method, ()):
        is_free = name == "content" and "structuredContent" in result and not "" < version < STATELESS
        is_missing = name not in result and not is_free
        if is_missing or (name in result and not isinstance(result[name], kind)):
            what = "has no" if is_missing else "has a wrong"
            text = f"the result of {method} {what} {quote(name)}: clients refuse the result"
            yield make(decoded, PROTOCOL_ERROR, RESPONSE, "/result" if is_missing else f"/result/{name}", text)
            return


def _tool_name(decoded: DecodedExchange, params: JsonValue, facts: ServerFacts) -> Iterator[Finding]:
    """A name that the server does not have, but for its beginning, or at all."""
    response = response_object(decoded)
    failure = response.get("result") if is_failure(response.get("result")) else None
    refusal = " ".join((*texts_of(failure), str(member(response, "error", "message") or "")))[:LONG_TEXT]
    name = member(params, "name")
    if not isinstance(name, str) or name in facts.tools:
        return
    if similar := next((tool for tool in facts.tools if is_named(name, tool)), ""):
        text = f"the server lists {quote(similar)}, but no tool {quote(name)}"
        yield make(decoded, NAME, REQUEST, "/params/name", text)
    elif facts.tools and UNKNOWN_TOOL.search(refusal):
        text = f"the server lists no tool {quote(name)}, but refuses the call"
        yield make(decoded, NAME, REQUEST, "/params/name", text, quote(refusal))


def _version(
    decoded: DecodedExchange,
    request: dict[str, JsonValue],
    response: dict[str, JsonValue],
    channel: ChannelFacts | None,
) -> Iterator[Finding]:
    """Versions are dates: a later one than the client asked for is one that it may not know."""
    client_version, server_version = (
        member(request, "params", "protocolVersion"),
        member(response, "result", "protocolVersion"),
    )
    for side, pointer, who, value in (
        (REQUEST, "/params/protocolVersion", "client asked for", client_version),
        (RESPONSE, "/result/protocolVersion", "server answered with", server_version),
    ):
        if isinstance(value, str) and not _REVISION.fullmatch(value):
            text = f"the {who} {quote(value)}, which is not a version: versions are dates"
            yield make(decoded, VERSION, side, pointer, text)
            return
    if not isinstance(client_version, str) or not isinstance(server_version, str):
        return
    if server_version >= STATELESS:
        text = (
            f"the server agreed to {quote(server_version)}, a revision that starts with server/discover instead of "
            "initialize"
        )
        yield make(decoded, VERSION, RESPONSE, "/result/protocolVersion", text)
    if server_version == client_version:
        return
    text = f"the client asked for {quote(client_version)}, but the server answered with {quote(server_version)}"
    if server_version > client_version and server_version < STATELESS:
        yield make(decoded, VERSION, RESPONSE, "/result/protocolVersion", f"{text}, a later version")
    elif server_version < _FIRST:
        text += ", which is older than every revision: a client must end the connection"
        yield make(decoded, VERSION, RESPONSE, "/result/protocolVersion", text)
    elif channel is not None and not channel.is_used:
        yield make(decoded, VERSION, RESPONSE, "/result/protocolVersion", f"{text}; the client ended the connection")
