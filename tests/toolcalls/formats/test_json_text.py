"""JSON in a running text: where it ends, and whether a quote begins or ends a string."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.toolcalls.json_text import JsonTracker, toggles


@pytest.mark.parametrize(
    ("text", "end", "is_inside_string", "is_broken"),
    [
        ('{"a": 1} x', 8, False, False),
        ('{"a": "}', -1, True, False),
        ('{"a": "\\"}', -1, True, False),
        ('{"a": "\\\\"}', 11, False, False),
        ('{"a": "x\n', -1, False, True),
        ("{'a'", -1, False, True),
        ("[[1, true], null] ", 17, False, False),
        ('{"a": "x" <', -1, False, True),
    ],
)
def test_json_is_followed(text: str, end: int, is_inside_string: bool, is_broken: bool) -> None:
    for size in (1, 2, len(text)):
        tracker = JsonTracker()
        found = -1
        for at in range(0, len(text), size):
            stop = tracker.find(text[at : at + size])
            found = at + stop if stop > 0 and found < 0 else found
        assert (found, tracker.is_broken) == (end, is_broken)
        assert is_broken or tracker.is_inside_string is is_inside_string


@given(st.text(alphabet='"\\\\ab\n{}[]', max_size=40), st.integers(0, 40))
def test_pieces_say_what_the_whole_says(text: str, cut: int) -> None:
    whole, pieces = JsonTracker(), JsonTracker()
    end = whole.find(text)
    first = pieces.find(text[:cut])
    second = pieces.find(text[cut:]) if first < 0 else -1
    assert (first if first >= 0 else cut + second if second >= 0 else -1) == end or cut > len(text)


@given(st.text(alphabet='"\\\\ab', max_size=30))
def test_an_odd_number_of_quotes_toggles(text: str) -> None:
    count, at = 0, 0
    while at < len(text):
        count += text[at] == '"'
        at += 2 if text[at] == "\\" else 1
    assert toggles(text) is bool(count % 2)
