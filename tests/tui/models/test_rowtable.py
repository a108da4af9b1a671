from __future__ import annotations

import pytest

from workbench.tui.models.rowtable import StyledSpans, segments


@pytest.mark.parametrize(("start", "end", "found"), [(0, 5, []), (12, 13, [(10, 20)]), (19, 31, [(10, 20), (30, 40)])])
def test_marks_are_found_by_place(start: int, end: int, found: list[tuple[int, int]]) -> None:
    assert list(StyledSpans("lit", ((10, 20), (30, 40))).within(start, end)) == found


def test_a_range_is_cut_where_a_style_changes() -> None:
    made = list(segments(0, 10, [(2, 6, "string")], (StyledSpans("lit", ((4, 99),)),)))
    assert made == [(0, 2, ""), (2, 4, "string"), (4, 6, "string lit"), (6, 10, "lit")]
    assert list(segments(3, 3, [], ())) == []
