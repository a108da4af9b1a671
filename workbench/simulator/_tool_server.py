"""An MCP server that answers from a recording: what one recorded server listed and returned, and nothing else.

It is strict about the protocol, and no tool is ever run. A call that was not recorded is answered with an error result
that says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import UsageError, WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.protocols.mcp import ASKED_BY, ToolStreams, argument_key, as_tool_request, response_message, server_of
from workbench.wire import ExchangeKind, dumps, loads

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions with a handshake, the newest first (modelcontextprotocol.io, specification, "Versioning")."""

TOOL_FAULTS: Mapping[str, str] = {
    "no-answer": "tools/call gets no response",
    "twice": "the response is sent twice",
    "error": "a JSON-RPC error is sent instead of the result",
    "failure": "the result is marked as an error (isError)",
    "structured-only": "the result has only structured content",
    "text-only": "the result has no structured content",
    "cut": "the text parts of the result are truncated to half their length",
    "wrong-version": "initialize is answered with a protocol revision that does not exist",
    "list-changed": "after each call, the server sends a tools/list_changed notification",
    "noise": "a line that is not a message is sent before each response",
    "session-lost": "over HTTP: after a call, the server no longer knows the session",
}
"""Dials of the simulated server."""

_NOTHING = "workbench: nothing was recorded for this call: {} with {}"
_PARSE, _REQUEST, _METHOD, _PARAMS = -32700, -32600, -32601, -32602
_LISTS = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources"}

Json = dict[str, JsonValue]


@dataclass(slots=True)
class ToolRecording:
    """What was recorded of one server.

    Attributes:
        handshake: the result of initialize; empty if it was not recorded.
        lists: method → entries, pages joined.
        results: (method, name or URI, arguments) → the responses, in order, without their ids.
    """

    name: str
    handshake: Json = field(default_factory=dict)
    lists: dict[str, dict[str, JsonValue]] = field(default_factory=dict)
    results: dict[tuple[str, str, bytes], list[Json]] = field(default_factory=dict)

    @property
    def tools(self) -> dict[str, JsonValue]:
        """Tools by name: those of its list, and those that were called without one."""
        listed = self.lists.get("tools/list", {})
        names = {name for method, name, _ in self.results if method == "tools/call"}
        return {**{name: {"name": name, "inputSchema": {"type": "object"}} for name in sorted(names)}, **listed}

    @property
    def calls(self) -> list[tuple[str, Json, Json]]:
        """Name, arguments and response (``result`` or ``error``) of each recorded call; equal calls in their order."""
        called = ((key, responses) for key, responses in self.results.items() if key[0] == "tools/call")
        return [(name, _object(arguments), one) for (_, name, arguments), responses in called for one in responses]

    def take(self, decoded: DecodedExchange) -> None:
        """Learn from a request of the client with its response."""
        message, answered = _object(decoded.request_text), _object(response_message(decoded))
        method, params = str(message.get("method")), message.get("params")
        params, result = params if isinstance(params, dict) else {}, answered.get("result")
        if method == "initialize" and isinstance(result, dict):
            self.handshake = result
        elif method in _LISTS and isinstance(result, dict):
            entries = result.get(_LISTS[method])
            known = self.lists.setdefault(method, {})
            for entry in entries if isinstance(entries, list) else ():
                if isinstance(entry, dict):
                    known[str(entry.get("name") or entry.get("uri"))] = entry
        elif "result" in answered or "error" in answered:
            response: Json = {name: answered[name] for name in ("result", "error") if name in answered}
            self.results.setdefault(_key(method, params), []).append(response)


def recorded_servers(exchanges: Iterable[DecodedExchange]) -> dict[str, ToolRecording]:
    """Every server of a session, by name.

    Args:
        exchanges: all of the session, in order.
    """
    found: dict[str, ToolRecording] = {}
    for decoded in exchanges:
        http = decoded.exchange.request
        is_request = decoded.exchange.kind is ExchangeKind.MCP and decoded.exchange.meta.get(ASKED_BY) == "client"
        if http and is_request:
            name = server_of(http.url)
            found.setdefault(name, ToolRecording(name)).take(decoded)
    return found


def choose_server(servers: Mapping[str, ToolRecording], name: str | None) -> ToolRecording:
    """The server of a name; without one the only server. Raises UsageError."""
    if not servers:
        raise UsageError("the session has no tool server traffic", hint="record one: workbench record --mcp")
    if name is None and len(servers) > 1:
        raise UsageError(f"the session has several servers: {', '.join(servers)}", hint="choose a server with --server")
    if name is not None and name not in servers:
        raise UsageError(f"the session has no server {name!r}; available: {', '.join(servers)}")
    return servers[name] if name is not None else next(iter(servers.values()))


def recorded_response(exchanges: Iterable[Any], message: bytes) -> bytes:
    """The response that a session has for the same request, with the id of this one.

    Args:
        exchanges: of the session; the last response that one of them has is taken.
        message: the request.

    Raises:
        UsageError: the session has no response to such a request.
    """
    request = _object(message)
    params = request.get("params")
    key = _key(str(request.get("method")), params if isinstance(params, dict) else {})
    found = [
        response
        for recording in recorded_servers(decoded_of(list(exchanges))).values()
        for response in recording.results.get(key, ())
    ]
    if not found:
        raise UsageError(f"no response to {key[1] or key[0]} with these arguments is recorded")
    return _message(request.get("id"), found[-1])


def _key(method: str, params: Json) -> tuple[str, str, bytes]:
    name = params.get("name") or params.get("uri") or ""
    return method, str(name), argument_key(params.get("arguments"))


def _object(text: bytes) -> Json:
    try:
        value = loads(text) if text.strip() else None
    except WireError:
        value = None
    return value if isinstance(value, dict) else {}


class ToolServer:
    """One connection to the simulated server. It has no socket: lines in, lines out.

    Args:
        recorded: what it answers from.
        fault: one of ``TOOL_FAULTS``; empty for none.
    """

    def __init__(self, recorded: ToolRecording, fault: str = "") -> None:
        self._recorded, self._fault = recorded, fault
        self._is_open = False
        self._used: dict[tuple[str, str, bytes], int] = {}

    def answer(self, line: bytes) -> list[bytes]:
        """What the server writes after a line of the client: messages, each without its line break."""
        if not line.strip():
            return []
        try:
            message = loads(line)
        except WireError:
            return [_error(None, _PARSE, "Parse error: the line is not JSON")]
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return [_error(None, _REQUEST, 'Invalid request: a message must be an object with "jsonrpc": "2.0"')]
        if "id" not in message or not isinstance(message.get("method"), str):
            return []  # notifications, and responses to requests that this server never makes
        return list(self._respond(message))

    def _respond(self, message: Json) -> Iterator[bytes]:
        method, id_, params = str(message["method"]), message["id"], message.get("params", {})
        if id_ is None or isinstance(id_, bool) or not isinstance(id_, str | int | float):
            yield _error(None, _REQUEST, "Invalid request: an id must be a string or a number")
        elif not isinstance(params, dict):
            yield _error(id_, _PARAMS, "Invalid params: an object is required")
        elif method == "initialize":
            yield self._initialize(id_, params)
        elif method == "ping":
            yield _result(id_, {})
        elif method == "server/discover" or not self._is_known(method):
            yield _error(id_, _METHOD, f"Method not found: {method}")
        elif not self._is_open:
            yield _error(id_, _REQUEST, f"Invalid request: initialize must come before {method}")
        elif method in _LISTS:
            tools = self._recorded.tools if method == "tools/list" else self._recorded.lists.get(method, {})
            yield _result(id_, {_LISTS[method]: list(tools.values())})
        else:
            yield from self._from_recording(method, id_, params)

    def _is_known(self, method: str) -> bool:
        return method in ("tools/list", "tools/call") or any(
            method == each for each in (*self._recorded.lists, *(known for known, _, _ in self._recorded.results))
        )

    def _initialize(self, id_: JsonValue, params: Json) -> bytes:
        client_version = params.get("protocolVersion")
        if not isinstance(client_version, str):
            return _error(id_, _PARAMS, "Invalid params: protocolVersion is required")
        self._is_open = True
        version = client_version if client_version in VERSIONS else VERSIONS[0]
        handshake = self._recorded.handshake
        about: Json = {"name": self._recorded.name, "version": "recorded"}
        result: Json = {"capabilities": {"tools": {}}, "serverInfo": about, **handshake, "protocolVersion": version}
        if self._fault == "wrong-version":
            result["protocolVersion"] = "1999-01-01"
        return _result(id_, result)

    def _from_recording(self, method: str, id_: JsonValue, params: Json) -> Iterator[bytes]:
        key = _key(method, params)
        if method == "tools/call" and key[1] not in self._recorded.tools:
            yield _error(id_, _PARAMS, f"Unknown tool: {key[1]}")
            return
        found = self._recorded.results.get(key, [])
        number = self._used[key] = self._used.get(key, -1) + 1
        if found:
            answer = dict(found[min(number, len(found) - 1)])
        else:
            text = _NOTHING.format(key[1] or method, key[2].decode("utf-8", "replace"))
            answer = {"result": {"content": [{"type": "text", "text": text}], "isError": True}}
        yield from self._with_fault(id_, answer) if method == "tools/call" else (_message(id_, answer),)

    def _with_fault(self, id_: JsonValue, answer: Json) -> Iterator[bytes]:
        fault, result = self._fault, answer.get("result")
        if fault == "no-answer":
            return
        if fault == "noise":
            yield b"workbench: a line that is no message"
        if fault == "error":
            answer = {"error": {"code": -32000, "message": "workbench: the requested fault"}}
        elif isinstance(result, dict) and fault in _CHANGES:
            answer = {"result": _CHANGES[fault](result)}
        yield _message(id_, answer)
        if fault == "twice":
            yield _message(id_, answer)
        if fault == "list-changed":
            yield dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})


def _only_structured(result: Json) -> Json:
    structured = result.get("structuredContent")
    return {**result, "content": [], "structuredContent": {"value": "recorded"} if structured is None else structured}


def _cut_texts(result: Json) -> Json:
    def cut(part: Any) -> Any:
        text = part.get("text") if isinstance(part, dict) else None
        return {**part, "text": text[: len(text) // 2]} if isinstance(text, str) else part

    content = result.get("content")
    return {**result, "content": [cut(part) for part in content] if isinstance(content, list) else content}


_CHANGES = {
    "failure": lambda result: {**result, "isError": True},
    "structured-only": _only_structured,
    "text-only": lambda result: {name: value for name, value in result.items() if name != "structuredContent"},
    "cut": _cut_texts,
}


def _message(id_: JsonValue, answer: Mapping[str, JsonValue]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, **answer}, ensure_ascii=False, separators=(",", ":")).encode()


def _result(id_: JsonValue, result: JsonValue) -> bytes:
    return _message(id_, {"result": result})


def _error(id_: JsonValue, code: int, text: str) -> bytes:
    return _message(id_, {"error": {"code": code, "message": text}})


def decoded_of(exchanges: Sequence[Any]) -> Iterator[DecodedExchange]:
    """Exchanges with tool servers, decoded; others are left out."""
    from workbench.protocols import DecodedExchange

    streams, requests = ToolStreams(), [as_tool_request(exchange) for exchange in exchanges]
    for exchange in requests:
        streams.take(exchange)
    for index, exchange in enumerate(requests):
        if exchange.kind is ExchangeKind.MCP:
            yield DecodedExchange(index, streams.complete(exchange))
