"""Of a large session a simulator is told what came before a place, and no more of it is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.simulator._memory import MOST_BYTES, MOST_EXCHANGES, simulator_history
from workbench.wire.exchange import Body, Exchange, HttpRequest, Summary
from workbench.wire.session import MemorySession


class Counted(MemorySession):
    """Says that its exchanges are larger than they are."""

    size = 0

    def summaries(self) -> tuple[Summary, ...]:
        return tuple(replace(s, request_bytes=self.size) for s in super().summaries())


def session(count: int, size: int = 1) -> Counted:
    made = Counted("long", tuple(Exchange(f"e{n}", HttpRequest(body=Body(b"{}"))) for n in range(count)))
    made.size = size
    return made


def test_what_a_simulator_can_remember_is_told_as_it_is() -> None:
    small = session(MOST_EXCHANGES - 1)
    assert simulator_history(small, "e5") is small


@pytest.mark.parametrize(
    ("count", "size", "last", "first", "end"),
    [
        (2000, 1, "e5", 0, 6),
        (2000, 1, "e1500", 1500 - MOST_EXCHANGES + 2, 1501),
        (2000, 1, "none of it", 2000 - MOST_EXCHANGES + 1, 2000),
        (2000, 1, None, 2000 - MOST_EXCHANGES + 1, 2000),
        (40, MOST_BYTES // 10, "e20", 11, 21),
        (40, MOST_BYTES + 1, "e20", 20, 21),
    ],
)
def test_of_a_large_session_what_came_before_a_place_is_told(
    count: int, size: int, last: str | None, first: int, end: int
) -> None:
    told = simulator_history(session(count, size), last)
    assert [told.exchange(n).id for n in range(len(told))] == [f"e{n}" for n in range(first, end)]
