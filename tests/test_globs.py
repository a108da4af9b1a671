"""Globs match what ``fnmatch`` says."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.globs import matches_glob


@given(st.text("ab.\n", max_size=8), st.text("ab.*", max_size=6))
def test_a_glob_matches_as_fnmatch_does(text: str, glob: str) -> None:
    assert matches_glob(text, glob) == fnmatchcase(text, glob)


@pytest.mark.parametrize(
    ("text", "glob", "is_match"),
    [
        ("gpt-5", "gpt-?", True),
        ("gpt-5", "gpt-[!5]", False),
        ("gpt-5-mini", "gpt-*", True),
        ("aba", "ab*ba", False),
        ("abba", "ab*ba", True),
        ("", "*", True),
        ("A", "a", False),
    ],
)
def test_wildcards(text: str, glob: str, is_match: bool) -> None:
    assert matches_glob(text, glob) is is_match
