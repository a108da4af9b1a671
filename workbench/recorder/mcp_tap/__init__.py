"""The tap of an MCP server over stdio: a process between a client and its server that passes bytes and records them.

In: the command of a server, and the streams of the client. Out: the same bytes at the other side, the server's exit
status, and a session file of what passed. It may import what ``recorder`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.recorder.mcp_tap.tape import Tape, end_as, pass_through
else:
    __getattr__ = lazy(__name__)

__all__ = ["Tape", "end_as", "pass_through"]
