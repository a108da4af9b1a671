from __future__ import annotations

import pytest

from workbench.errors import FilterError
from workbench.filters.completion import Suggestion
from workbench.tui.models.prompt import error_lines, suggestion_lines
from workbench.views.lines import plain


def suggestions(many: int) -> list[Suggestion]:
    return [Suggestion(f"s{n:02}", f"says {n}", 0) for n in range(many)]


@pytest.mark.parametrize(
    ("many", "chosen", "seen"), [(3, 1, [0, 1, 2]), (9, 0, [0, 1, 2]), (9, 5, [4, 5, 6]), (9, 8, [6, 7, 8])]
)
def test_the_chosen_suggestion_is_among_those_seen(many: int, chosen: int, seen: list[int]) -> None:
    made = [plain(line) for line in suggestion_lines(suggestions(many), chosen, 4)]
    rows = made[: len(seen)]
    assert [int(text[3:5]) for text in rows] == seen
    assert [text.startswith("▸") for text in rows] == [n == chosen for n in seen]
    assert [text.strip() for text in made[len(seen) :]] == [f"{chosen + 1} of {many} ↓"] * (many > 4)


def test_without_suggestions_there_are_no_lines() -> None:
    assert suggestion_lines([], 0, 4) == []


@pytest.mark.parametrize(
    ("typed", "span", "scrolled", "marks"),
    [
        ("a stauts:4", (2, 8), 0, "    ^^^^^^"),
        ("日本 x:", (3, 5), 0, "       ^^"),  # two columns each
        ("a stauts:4", (2, 8), 3, " ^^^^^^"),
        ("a (", (3, 3), 0, "     ^"),
    ],
)
def test_what_is_wrong_is_marked_under_its_characters(
    typed: str, span: tuple[int, int], scrolled: int, marks: str
) -> None:
    made = error_lines(FilterError("no such key", *span, hint="did you mean status?"), typed, scrolled, "model:x")
    assert [plain(line) for line in made] == [f"{marks}  active filter: model:x", "✗ no such key; did you mean status?"]


def test_no_filter_in_force_is_said_too() -> None:
    assert plain(error_lines(FilterError("wrong", 0, 1), "(", 0, "")[0]) == "  ^  no filter is applied"
