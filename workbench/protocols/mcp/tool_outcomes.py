"""Results of tools, and the model's calls that they belong to.

Some clients say which call of the model a request carries out, in ``_meta`` (``call_id`` in ``clients.yaml``). Others
are matched by name and arguments. Clients put the server's name before the tool's and replace characters that providers
refuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from workbench import regex
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.protocols.clients import call_id_keys
from workbench.protocols.mcp.channel import CANCELLED
from workbench.protocols.mcp.http import request_object, response_message, response_object
from workbench.wire import ExchangeKind, dumps, urls

if TYPE_CHECKING:
    from workbench.protocols.decode import DecodedExchange

_OTHERS = regex.compile(r"[^A-Za-z0-9]+")
_TOOL_KEY = regex.compile(r"(?i)(?:mcp_?)?(?:tool|function|method|action)(?:_?name)?|name")
"""Names of the argument in which a tool that calls tools is told which."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A ``tools/call`` with its result.

    Attributes:
        exchange: index in the session.
        server: its name in the client's configuration.
        call_id: id of the model's call, as the client states it; empty if it does not.
        tool: its name at the server.
        arguments: as sent.
        result: as received; empty without one.
        state: ``"answered"``, ``"refused"`` (with a JSON-RPC error), ``"cancelled"`` or ``"unanswered"``.
        error: message of a JSON-RPC error; empty without one.
        began, ended: times, in seconds since the epoch; None if unknown.
        meta: ``_meta`` of the request; None without it.
        size: bytes of the response.
    """

    exchange: int
    server: str
    call_id: str
    tool: str
    arguments: JsonValue
    result: dict[str, JsonValue]
    state: str = "answered"
    error: str = ""
    began: float | None = None
    ended: float | None = None
    meta: JsonValue = None
    size: int = 0

    def is_within(self, outer: ToolOutcome) -> bool:
        """Another server's call began and ended this one while it was carried out itself: it is a gateway."""
        times = (outer.began, self.began, self.ended, outer.ended)
        return self.server != outer.server and None not in times and list(times) == sorted(times)  # type: ignore[type-var]

    def is_passed_on_by(self, outer: ToolOutcome) -> bool:
        """A gateway's call names this tool and its arguments among its own: a tool that calls tools."""
        arguments = outer.arguments if isinstance(outer.arguments, dict) else {}
        is_given = any(isinstance(value, dict) and value == (self.arguments or {}) for value in arguments.values())
        return is_given and any(isinstance(value, str) and is_named(value, self.tool) for value in arguments.values())

    def has_members_of(self, inner: ToolOutcome) -> bool:
        """The same tool, maybe with a name before its own, with arguments of the same names."""
        own, other = self.arguments, inner.arguments
        is_alike = isinstance(own, dict) and isinstance(other, dict) and bool(own) and own.keys() == other.keys()
        return is_alike and is_named(self.tool, inner.tool)

    def is_same_call(self, inner: ToolOutcome) -> bool:
        """The same tool, maybe with a name before its own, and the same arguments."""
        return is_named(self.tool, inner.tool) and argument_key(self.arguments) == argument_key(inner.arguments)

    @property
    def is_interim(self) -> bool:
        """The result is not yet what the tool returned: the server asks for input, or continues as a task."""
        return self.result.get("resultType", "complete") != "complete" or "task" in self.result

    def asked_by(self, name: str | None, arguments: JsonValue) -> tuple[JsonValue] | None:
        """The arguments that a call of the model has for this tool; None if it is for another.

        They are its own if it has the tool's name, maybe with that of its server before it. A tool that calls tools is
        given both among its arguments.
        """
        if is_named(name, self.tool):
            return (arguments,)
        members = arguments if isinstance(arguments, dict) else {}
        if not any(is_named(value, self.tool) for value in tools_in(members)):
            return None
        inner = [value for value in members.values() if isinstance(value, dict)]
        return (inner[0] if len(inner) == 1 else {},)

    def is_of(self, call_id: str | None, name: str | None, arguments: JsonValue) -> bool:
        """The model's call is the one that was carried out; a guess unless the client states the id."""
        if self.call_id:
            return self.call_id == call_id
        asked = self.asked_by(name, arguments)
        return asked is not None and argument_key(asked[0]) == argument_key(self.arguments)


def tools_in(arguments: JsonValue) -> Iterator[str]:
    """Names of tools that a tool which calls tools is given."""
    for key, value in arguments.items() if isinstance(arguments, dict) else ():
        if isinstance(value, str) and _TOOL_KEY.fullmatch(key):
            yield value


def tools_meant(name: str | None, arguments: JsonValue) -> frozenset[str]:
    """Keys (``tool_key``) of the tools that a call of the model may be for (``ToolOutcome.asked_by``)."""
    return _meant_by(name or "").union(*map(_meant_by, tools_in(arguments)))


@lru_cache(maxsize=4096)
def _meant_by(declared: str) -> frozenset[str]:
    """Keys of the tools that a declared name may be that of (``is_named``)."""
    whole = tool_key(declared)
    steps = [place for place, char in enumerate(whole) if char == "_"]
    behind = {whole[place + 1 :] for place in steps[-_MOST_STEPS:]}
    before = {whole[:place] for place in steps[:_MOST_STEPS] if whole.startswith(_BEHIND, place)}
    return frozenset({whole} | behind | before)


_MOST_STEPS = 64
"""Words in the name of a tool."""


def argument_key(arguments: JsonValue) -> bytes:
    """Equal for equal arguments; none are as good as an empty object."""
    return dumps(arguments or {})


def tool_outcome(decoded: DecodedExchange) -> ToolOutcome | None:
    """The outcome of an exchange with a tool server; None if it is no ``tools/call``. It may have no result."""
    http, exchange = decoded.exchange.request, decoded.exchange
    if http is None or http.method != "tools/call" or exchange.kind is not ExchangeKind.MCP:
        return None
    params, response = request_object(decoded).get("params"), response_object(decoded)
    if not isinstance(params, dict) or not isinstance(params.get("name"), str):
        return None
    meta, result = params.get("_meta"), response.get("result")
    stated = [meta[key] for key in call_id_keys() if isinstance(meta.get(key), str)] if isinstance(meta, dict) else []
    state = "answered" if isinstance(result, dict) else "refused" if "error" in response else "unanswered"
    error = response.get("error")
    return ToolOutcome(
        decoded.index,
        server_of(http.url),
        stated[0] if stated else "",
        params["name"],
        params.get("arguments"),
        result if isinstance(result, dict) else {},
        "cancelled" if CANCELLED in exchange.meta else state,
        str(error.get("message") or "") if isinstance(error, dict) else "",
        exchange.started_at,
        exchange.started_at + exchange.duration if exchange.started_at and exchange.duration is not None else None,
        meta,
        len(response_message(decoded)),
    )


@lru_cache(maxsize=1024)
def server_of(url: str) -> str:
    """The name of a tool server, from the URL of its connection or of a request in it."""
    return unquote(urls.split_url(url).netloc)


def is_named(declared: str | None, tool: str) -> bool:
    """A declared name is that of a tool, maybe with the name of its server before it, or after it.

    LibreChat has it after (danny-avila/LibreChat#14440).
    """
    whole, end = tool_key(declared or ""), tool_key(tool)
    return whole == end or whole.endswith(f"_{end}") or whole.startswith(f"{end}{_BEHIND}")


def is_named_first(declared: str, server: str) -> bool:
    """A declared name has the name of a server before that of a tool, or after it."""
    whole, start = tool_key(declared), tool_key(server)
    is_behind = whole.endswith(f"{_BEHIND}{start}")
    return bool(start) and (whole.startswith(f"{start}_") or f"_{start}_" in whole or is_behind)


_BEHIND = "_mcp_"
"""Separator between the name of a tool and that of its server, where the server comes last."""


@lru_cache(maxsize=4096)
def tool_key(name: str) -> str:
    """A name as the clients agree on it: letters and digits, everything else one ``_``."""
    return _OTHERS.sub("_", name).strip("_").lower()
