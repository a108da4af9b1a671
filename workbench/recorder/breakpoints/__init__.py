"""Breakpoints on meaning: pauses an exchange that fulfils a condition, before it is forwarded.

In: exchanges that arrive, and the armed breakpoints. Out: pauses, and the decision of a person on each. ``kinds`` are
the conditions, ``judge`` evaluates them in a separate process, ``gate`` keeps the armed breakpoints and the pauses.
``intercepted_exchange`` holds the bytes: ``held_response`` from the first tool call of a response on, ``held_stream``
those of a stream, ``held_tunnel`` the messages of a WebSocket. ``remote`` is for other processes. It may import what
``recorder`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.recorder.breakpoints.gate import RECORDING
    from workbench.recorder.breakpoints.kinds import ALL, FRAMES, KINDS, TOOLS, parse
    from workbench.recorder.breakpoints.remote import Recorders, Remote, pause_names
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "ALL",
    "FRAMES",
    "KINDS",
    "RECORDING",
    "TOOLS",
    "Recorders",
    "Remote",
    "parse",
    "pause_names",
]
