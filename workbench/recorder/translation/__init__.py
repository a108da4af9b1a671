"""Translation in the path: a client of one protocol uses an upstream of another; every change is reported.

In: a client's request and the upstream's response, piece by piece. Out: each in the protocol of the other side.
``requests`` and ``responses`` translate without I/O; ``memory`` keeps what the client's protocol cannot carry, and
``history`` puts it into the next request that needs it. ``server`` listens between two recording relays, and
``records`` adds each change to the recorded exchange; ``__main__`` runs all three, started by ``recorder.process``.
It may import what ``recorder`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.recorder import process
    from workbench.recorder.translation import changes
    from workbench.recorder.translation.keys import own_key
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "changes",
    "own_key",
    "process",
]
