"""The Model Context Protocol: what agents and tool servers send to each other, as JSON-RPC messages.

In: the bytes of both directions of a connection. Out: its messages, and an exchange for each request with its response.
It may import what ``protocols`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.protocols.mcp.channel import McpChannel
else:
    __getattr__ = lazy(__name__)

__all__ = ["McpChannel"]
