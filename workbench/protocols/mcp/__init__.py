"""The Model Context Protocol: what agents and tool servers send to each other, as JSON-RPC messages.

In: the bytes of both directions of a connection. Out: its messages, an exchange for each request with its response, and
what each side said of itself.
It may import what ``protocols`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.protocols.mcp.channel import (
        ASKED_BY,
        CANCELLED,
        STDIO,
        McpChannel,
        fault_of_line,
        first_call_after_change,
    )
    from workbench.protocols.mcp.server_facts import ServerFacts, needed_capability
    from workbench.protocols.mcp.tool_outcomes import ToolOutcome, server_of, tool_outcome
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "ASKED_BY",
    "CANCELLED",
    "STDIO",
    "McpChannel",
    "ServerFacts",
    "ToolOutcome",
    "fault_of_line",
    "first_call_after_change",
    "needed_capability",
    "server_of",
    "tool_outcome",
]
