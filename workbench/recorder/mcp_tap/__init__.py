"""The tap of an MCP server over stdio: a process between a client and its server that passes bytes and records them.

In: the command of a server, or its place in a client's configuration, and the streams of the client. Out: the same
bytes at the other side, the server's exit status, and a session file of what passed. For a whole client: arguments,
variables and a file that put a tap in front of each of its servers. It may import what ``recorder`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.recorder.mcp_tap.client_servers import COPY_PATH, TappedServers, tapped_servers
    from workbench.recorder.mcp_tap.running_taps import new_folder, reporting_pauses, temporary_folder, wait_for_end
    from workbench.recorder.mcp_tap.server_entry import ServerCommand, read_command
    from workbench.recorder.mcp_tap.tape import Tape, end_as, pass_through
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "COPY_PATH",
    "ServerCommand",
    "Tape",
    "TappedServers",
    "end_as",
    "new_folder",
    "pass_through",
    "read_command",
    "reporting_pauses",
    "tapped_servers",
    "temporary_folder",
    "wait_for_end",
]
