"""Simulators: a contract and a scripted model that respond to requests.

In: a contract, a script or dials, and requests. Out: responses in the provider's words; ``Simulator`` has no socket,
``serve`` opens one on loopback. It refuses what its contract enforces and remembers its responses: replayed reasoning,
ids and state are compared with what it really sent. Agreement between rules and simulators proves nothing: both read
the same contracts. It may import the core and the rooms up to ``rules``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy
from workbench.simulator._core import Simulator
from workbench.simulator._dials import ARGUMENT_FAULTS, STREAM_FAULTS, Dials, HttpFault, dials_of
from workbench.simulator._encoded_reply import ReplyPiece, ServedRequest, SimulatedReply
from workbench.simulator._memory import simulator_history
from workbench.simulator._model import RequestMatch, ScriptedAnswer, ScriptedCall, ScriptedModel, ScriptTurn
from workbench.simulator._script import read_script
from workbench.simulator._server import Server, serve

if TYPE_CHECKING:
    from workbench.simulator._dials import FEATURES, PLACES, UNREAD
    from workbench.simulator._endpoints import Route, socket_route
    from workbench.simulator._socket import Outlet, ServedSocket
    from workbench.simulator._tool_server import (
        TOOL_FAULTS,
        ToolServer,
        choose_server,
        decoded_of,
        recorded_response,
        recorded_servers,
    )
    from workbench.simulator._tool_server_io import serve_lines, serve_tools
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "ARGUMENT_FAULTS",
    "FEATURES",
    "PLACES",
    "STREAM_FAULTS",
    "TOOL_FAULTS",
    "UNREAD",
    "Dials",
    "HttpFault",
    "Outlet",
    "ReplyPiece",
    "RequestMatch",
    "Route",
    "ScriptTurn",
    "ScriptedAnswer",
    "ScriptedCall",
    "ScriptedModel",
    "ServedRequest",
    "ServedSocket",
    "Server",
    "SimulatedReply",
    "Simulator",
    "ToolServer",
    "choose_server",
    "decoded_of",
    "dials_of",
    "read_script",
    "recorded_response",
    "recorded_servers",
    "serve",
    "serve_lines",
    "serve_tools",
    "simulator_history",
    "socket_route",
]
