"""What a simulator is told of a large session: what it could remember itself, up to the exchange that is sent again."""

from __future__ import annotations

from workbench.simulator import MOST_BYTES, MOST_EXCHANGES
from workbench.wire.session import MemorySession, Session


def recalled(session: Session, last: str | None = None) -> Session:
    """A session where simulators can remember all of it; else its exchanges before a place, as far as they do.

    Only those are read.

    Args:
        last: id of the exchange in that place, itself among them; of none that the session holds, its end.
    """
    told = session.summaries()
    if len(told) < MOST_EXCHANGES and sum(s.request_bytes + s.response_bytes for s in told) <= MOST_BYTES:
        return session
    end = next((s.index + 1 for s in told if s.id == last), len(told))
    start, left = end, MOST_BYTES
    while start > max(0, end - MOST_EXCHANGES + 1):
        left -= told[start - 1].request_bytes + told[start - 1].response_bytes
        if left < 0 and start < end:
            break
        start -= 1
    return MemorySession(session.name, tuple(session.exchange(n) for n in range(start, end)))
