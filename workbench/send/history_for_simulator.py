"""History that a simulator gets from a large session: as much as it could remember itself."""

from __future__ import annotations

from workbench.simulator import MOST_BYTES, MOST_EXCHANGES
from workbench.wire.session import MemorySession, Session


def simulator_history(session: Session, last: str | None = None) -> Session:
    """The session if a simulator can remember all of it; else its last exchanges before a position.

    Only those are read.

    Args:
        last: id of the last exchange to include; the end of the session if it has none of this id.
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
