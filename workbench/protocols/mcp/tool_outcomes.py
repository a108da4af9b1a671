"""Results of tools, and the model's calls that they belong to.

Two clients say which call of the model a request carries out (read from their traffic, November 2026): Claude Code in
``_meta["claudecode/toolUseId"]``, Codex in ``_meta.callId``. Others are matched by name and arguments. Clients put the
server's name before the tool's and replace characters that providers refuse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.wire import ExchangeKind, dumps, loads

if TYPE_CHECKING:
    from workbench.protocols.decode import DecodedExchange

_KEYS = ("claudecode/toolUseId", "callId")
_OTHERS = regex.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A ``tools/call`` with its result.

    Attributes:
        exchange: index in the session.
        call_id: id of the model's call, as the client states it; empty if it does not.
        tool: its name at the server.
        arguments: as sent.
        result: as received.
    """

    exchange: int
    call_id: str
    tool: str
    arguments: JsonValue
    result: dict[str, JsonValue]

    def is_of(self, call_id: str | None, name: str | None, arguments: JsonValue) -> bool:
        """The model's call is the one that was carried out; a guess unless the client states the id."""
        if self.call_id:
            return self.call_id == call_id
        return _ends_with(name or "", self.tool) and dumps(arguments or {}) == dumps(self.arguments or {})


def _outcome_of(exchange: int, params: JsonValue, result: JsonValue) -> ToolOutcome | None:
    """The outcome of a ``tools/call``; None if one of the two is missing."""
    if not isinstance(params, dict) or not isinstance(result, dict) or not isinstance(params.get("name"), str):
        return None
    meta = params.get("_meta")
    stated = [meta[key] for key in _KEYS if isinstance(meta.get(key), str)] if isinstance(meta, dict) else []
    return ToolOutcome(exchange, stated[0] if stated else "", params["name"], params.get("arguments"), result)


def tool_outcome(decoded: DecodedExchange) -> ToolOutcome | None:
    """The outcome of an exchange with a tool server; None if it is no ``tools/call``. It may have no result."""
    http = decoded.exchange.request
    if http is None or http.method != "tools/call" or decoded.exchange.kind is not ExchangeKind.MCP:
        return None
    return _outcome_of(decoded.index, _member(decoded.request_text, "params"), _member(decoded.response_text, "result"))


def _member(text: bytes, name: str) -> dict[str, JsonValue]:
    """An object that a message holds; an empty one if there is none."""
    try:
        message = loads(text)
    except WireError:
        return {}
    value = message.get(name) if isinstance(message, dict) else None
    return value if isinstance(value, dict) else {}


def _ends_with(declared: str, tool: str) -> bool:
    """A declared name is that of a tool, maybe with the name of its server before it."""
    whole, end = (_OTHERS.sub("_", name).strip("_").lower() for name in (declared, tool))
    return whole == end or whole.endswith(f"_{end}")
