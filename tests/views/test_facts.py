"""Facts of a capability profile in words."""

from __future__ import annotations

import pytest

from workbench.ir import JsonValue
from workbench.views.words import MOST_FACT, fact_words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "not measured"),
        (True, "yes"),
        (False, "no"),
        (3, "3"),
        ("", "none"),
        ([], "none"),
        ({}, "nothing"),
        (["a", True], "a, yes"),
        ({"parallel": False, "most": 2}, "parallel no, most 2"),
    ],
)
def test_a_fact_is_a_few_words(value: JsonValue, words: str) -> None:
    assert fact_words(value) == words


def test_a_long_fact_is_cut() -> None:
    assert len(fact_words("x" * 9000)) == len(fact_words(["x"] * 9000)) == MOST_FACT
