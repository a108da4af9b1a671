"""What the recording process knows of an open WebSocket: enough for breakpoints that are armed later to read on.

The relay reads nothing of what passes. The recording process does, and knows at each point of the stream where a frame
begins, what a compressed message refers to, and which turns are open.
"""

from __future__ import annotations

import base64
import pickle
from collections.abc import Mapping
from typing import NamedTuple

from workbench.wire import Frame, ReaderState


class SocketState(NamedTuple):
    """A WebSocket between two events.

    Attributes:
        readers: of each direction ("sent", "received").
        turn: number of its first turn that is not over, from one; that of the next turn if all are over.
        frames: messages since that turn began.
        passed: number of messages since the connection began.
    """

    readers: Mapping[str, ReaderState]
    turn: int
    frames: tuple[Frame, ...]
    passed: int


def to_text(state: SocketState) -> str:
    """For a line of JSON."""
    return base64.b64encode(pickle.dumps(state, pickle.HIGHEST_PROTOCOL)).decode()


def from_text(text: str) -> SocketState:
    """What ``to_text`` was given."""
    state: SocketState = pickle.loads(base64.b64decode(text))  # noqa: S301 (from our own child alone)
    return state
