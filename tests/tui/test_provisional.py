from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import samples
from workbench.rules import Inspector
from workbench.tui import provisional
from workbench.tui.provisional import AHEAD, ProvisionalPass, first_to_open, suspects
from workbench.wire import State, Summary, summarize

ASKED = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}


def listed(*failed: tuple[int, int | None, State], count: int = AHEAD + 9) -> list[Summary]:
    """The list of a session in which some exchanges failed: (index, status, state)."""
    whole = summarize(0, samples.exchange(ASKED, samples.DONE))
    rows = [replace(whole, index=n) for n in range(count)]
    for index, status, state in failed:
        rows[index] = replace(rows[index], status=status, state=state)
    return rows


def test_a_refused_request_comes_before_other_failures() -> None:
    rows = listed(
        (1, None, State.ABORTED),
        (2, 429, State.COMPLETE),
        (3, 422, State.COMPLETE),
        (4, 500, State.COMPLETE),
        (5, 400, State.COMPLETE),
        (6, None, State.OPEN),
    )
    assert suspects(rows) == [3, 5, 2, 1]


@pytest.mark.parametrize(("count", "first"), [(AHEAD, None), (AHEAD + 1, 7)])
def test_only_a_large_session_is_opened_before_it_is_inspected(count: int, first: int | None) -> None:
    assert first_to_open(listed((7, 400, State.COMPLETE), count=count)) == first


def test_a_large_session_without_failures_is_opened_at_its_beginning() -> None:
    assert first_to_open(listed()) == 0


def test_what_the_pass_reaches_soon_is_left_to_it() -> None:
    first = ProvisionalPass(listed((AHEAD - 1, 400, State.COMPLETE), (AHEAD + 3, 400, State.COMPLETE)))
    assert first.is_next(AHEAD) and first.next() == AHEAD + 3
    assert not first.is_next(AHEAD)
    assert not ProvisionalPass(listed((AHEAD + 3, 400, State.COMPLETE))).is_next(AHEAD + 4)


def test_it_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provisional, "SECONDS", -1.0)
    first = ProvisionalPass(listed(*((AHEAD + n, 400, State.COMPLETE) for n in range(3))))
    assert first.is_next(AHEAD) and first.next() == AHEAD  # one is always inspected
    assert not first.is_next(AHEAD)


def test_a_row_keeps_its_index() -> None:
    first = ProvisionalPass(())
    first.inspect(Inspector(samples.example(samples.LOST_RESULT)), 2)
    assert {n: row.index for n, row in first.rows.items()} == {2: 2}
    assert {finding.exchange for finding in first.rows[2].findings} == {2}
