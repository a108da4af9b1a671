from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.filters.test_matching import broken
from workbench.errors import FilterError
from workbench.filters import parse
from workbench.filters.completion import Suggestion, Values, suggest, values_of_keys
from workbench.filters.expression import KEYS


@cache
def known() -> Values:
    return values_of_keys([f.row for f in broken()])


def texts(typed: str) -> list[str]:
    return [s.text for s in suggest(typed, len(typed), known())]


def test_first_every_key_with_what_it_means() -> None:
    found = suggest("", 0, known())
    assert [s.text.rstrip(":~") for s in found] == [k.name for k in KEYS]
    assert "tool:read_file" in found[0].says


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("sta", ["status:", "state:"]),
        ("a -(st", ["status:", "state:"]),
        ("tool:", ["tool:read_file", "tool:run_tests"]),
        ("tool:run", ["tool:run_tests"]),
        ("tool:TEST", ["tool:run_tests"]),
        ("tool:run_tests", []),
        ("rule~missing", ["rule~closure.missing-result"]),
        ("status:", ["status:200", "status:400"]),
        (
            "severity:i",
            [
                "severity:info",
            ],
        ),
        ("nokey:", []),
        ('"sta', []),
        ("turn:", []),
    ],
)
def test_what_may_come_next(typed: str, expected: list[str]) -> None:
    found = texts(typed)
    assert found[: len(expected)] == expected if expected else found == []


def test_it_takes_the_place_of_what_was_typed() -> None:
    assert suggest("a -tool:ru b", 10, known()) == [Suggestion("tool:run_tests", "1 here", 3)]


@given(st.text(max_size=20))
def test_hostile_values_are_suggested_so_that_they_can_be_read(name: str) -> None:
    row = replace(broken()[0].row, calls=(name,))
    for suggestion in suggest("tool:", 5, values_of_keys([row])):
        assert parse(suggestion.text)


@given(st.text(max_size=30), st.integers(0, 30))
def test_any_text_has_suggestions_or_none(typed: str, cursor: int) -> None:
    for suggestion in suggest(typed, min(cursor, len(typed)), known()):
        assert 0 <= suggestion.start <= len(typed)
        try:
            parse(suggestion.text)
        except FilterError:
            assert suggestion.text[-1] in ":~<>="
