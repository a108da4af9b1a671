"""Declarations of client and server on one connection: capabilities, and tools with their schemas."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, field, replace

_OF_SERVERS = {
    "tools": "tools",
    "resources": "resources",
    "prompts": "prompts",
    "completion": "completions",
    "logging": "logging",
}
_VERSION = "io.modelcontextprotocol/protocolVersion"
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
_OF_CLIENTS = {"sampling": "sampling", "elicitation": "elicitation", "roots": "roots"}
"""First word of a method → capability of the side that answers it (specification, "Lifecycle")."""


def needed_capability(method: str, asked_by: str) -> str:
    """The capability that the other side must have declared for a request; empty if it needs none."""
    return (_OF_SERVERS if asked_by == "client" else _OF_CLIENTS).get(method.partition("/")[0], "")


OF_SERVERS, OF_CLIENTS = frozenset(_OF_SERVERS.values()), frozenset(_OF_CLIENTS.values())
"""Capabilities of each side."""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Facts of one connection.

    Attributes:
        client, server: capabilities, as declared; None while the handshake was not seen. Revision 2026-07-28 has none.
        tools: name → entry of the list.
        agent: what the client calls itself; empty if it did not say.
        version: revision that both agreed on; empty while it is unknown.
        instructions: of the server, for the model; empty if it gives none.
        place: index of the exchange in which the server declared its capabilities; -1 before it did.
    """

    client: Mapping[str, JsonValue] | None = None
    server: Mapping[str, JsonValue] | None = None
    tools: Mapping[str, Mapping[str, JsonValue]] = field(default=NOTHING)
    agent: str = ""
    version: str = ""
    instructions: str = ""
    place: int = -1

    @staticmethod
    def is_told_by(method: str) -> bool:
        """Results of this method say something of a side."""
        return method in ("initialize", "server/discover", "tools/list")

    def version_of(self, method: str, request: Mapping[str, JsonValue], response: Mapping[str, JsonValue]) -> str:
        """The revision that a request is held to: that of its own ``_meta``, of the handshake itself, or as agreed."""
        params, result = request.get("params"), response.get("result")
        meta = params.get("_meta") if isinstance(params, dict) else None
        protocol_version = meta.get(_VERSION) if isinstance(meta, dict) else None
        if method == "initialize" and isinstance(result, dict):
            protocol_version = result.get("protocolVersion")
        return protocol_version if isinstance(protocol_version, str) else self.version

    def has_declared(self, capability: str) -> bool:
        """The server declared a capability; False for the empty string, and while its handshake was not seen."""
        return bool(capability) and self.server is not None and capability in self.server

    def lacks(self, method: str, asked_by: str) -> str:
        """The capability that a request needs and that the side which answers it did not declare; "" if none."""
        declared = self.server if asked_by == "client" else self.client
        needed = needed_capability(method, asked_by)
        return needed if needed and declared is not None and needed not in declared else ""

    def after(self, method: str, params: JsonValue, result: JsonValue, index: int = -1) -> ServerFacts:
        """The facts once a request has its result.

        Args:
            index: of the exchange.
        """
        if not isinstance(result, dict):
            return self
        if method == "initialize":
            agent = agent_of(params) or self.agent
            version = result.get("protocolVersion")
            stated = version if isinstance(version, str) else ""
            changed = replace(self, client=_capabilities(params), server=_capabilities(result), place=index)
            return replace(changed, agent=agent, version=stated, instructions=_text(result.get("instructions")))
        if method == "server/discover":
            instructions = _text(result.get("instructions"))
            return replace(self, server=_capabilities(result), instructions=instructions, place=index)
        if method == "tools/list":
            is_first = not (isinstance(params, dict) and params.get("cursor"))
            entries = result.get("tools")
            listed = {
                entry["name"]: entry
                for entry in (entries if isinstance(entries, list) else ())
                if isinstance(entry, dict) and isinstance(entry.get("name"), str)
            }
            tools = listed if is_first else {**self.tools, **listed}
            return replace(self, tools=tools, agent=agent_of(params) or self.agent)
        return self


def agent_of(params: JsonValue) -> str:
    """Name of the client, in the handshake or in ``_meta`` (revision 2026-07-28)."""
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    client_info = params.get("clientInfo") or (meta.get(_CLIENT_INFO) if isinstance(meta, dict) else None)
    name = client_info.get("name") if isinstance(client_info, dict) else None
    return name if isinstance(name, str) else ""


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _capabilities(value: JsonValue) -> Mapping[str, JsonValue]:
    declared = value.get("capabilities") if isinstance(value, dict) else None
    return declared if isinstance(declared, dict) else NOTHING
