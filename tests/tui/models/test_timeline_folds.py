from __future__ import annotations

import pytest

from workbench.tui.models.timeline_folds import CARRIED, HEALTHY, LONG, NEWEST, Folds, Run, find_runs, run_line
from workbench.views.lines import plain


def kinds(*parts: tuple[str, int]) -> list[str]:
    return [kind for kind, many in parts for _ in range(many)]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (kinds((HEALTHY, 100)), []),  # nothing needs attention: the list is shown as it is
        (kinds((HEALTHY, 20), ("", 1)), []),  # it is short
        (kinds((HEALTHY, 40), ("", 1), (HEALTHY, 5), ("", 1)), [Run(1, 38, HEALTHY)]),
        (kinds((HEALTHY, 3), ("", 1), (CARRIED, 40)), [Run(5, 43 - NEWEST, CARRIED)]),
        (kinds(("", 1), (HEALTHY, 20), (CARRIED, 20), ("", 1)), [Run(2, 19, HEALTHY), Run(22, 38, CARRIED)]),
    ],
)
def test_runs_of_a_long_session(shown: list[str], expected: list[Run]) -> None:
    assert find_runs(shown) == expected


@pytest.mark.parametrize("opened", [(), (0,), (1,), (0, 1)])
def test_every_exchange_has_one_row_or_is_in_a_closed_run(opened: tuple[int, ...]) -> None:
    runs = find_runs(kinds((HEALTHY, LONG), ("", 2), (CARRIED, 12)))
    assert len(runs) == 2
    total = LONG + 14
    folds = Folds(total, runs, [runs[n] for n in opened])
    rows = [(folds.run_at(item), folds.position_at(item)) for item in range(folds.count)]
    hidden = {p for n, run in enumerate(runs) if n not in opened for p in range(run.first, run.last + 1)}
    assert [position for run, position in rows if run is None] == [p for p in range(total) if p not in hidden]
    assert [run for run, _ in rows if run] == runs
    for position in range(total):
        item = folds.item_of(position)
        shown = folds.run_of(position) if position in hidden else None
        assert folds.run_at(item) == shown and (shown or folds.position_at(item) == position)


def test_the_row_of_a_run() -> None:
    assert plain(run_line(Run(1, 38, HEALTHY), (1, 38), 2, is_open=False)) == " ⊞ 2–39  ✓ 38 without findings"
    assert plain(run_line(Run(4, 9, CARRIED), (4, 9), 4, is_open=True)).startswith("   ⊟ 5–10  ↑ 6 with carried")
