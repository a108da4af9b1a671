"""From one value to another: whatever they are, the changes lead there, and touch no more than what differs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import testing
from workbench.edits.proposal import changes_between
from workbench.wire.jsontext import loads
from workbench.wire.patch import Insert, Remove, Replace, apply

VALUES = st.one_of(testing.json_objects(), st.lists(testing.json_objects() | st.integers(0, 3), max_size=5))


@settings(max_examples=60)
@given(VALUES, VALUES)
def test_the_changes_lead_there(old, new) -> None:
    text = json.dumps(old).encode()
    assert loads(apply(text, changes_between(old, new))) == new


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ({"a": 1, "b": [1]}, {"a": 1, "b": [1]}, ()),
        ({"a": 1, "b": 2}, {"a": 1, "c/d": 3}, (Remove("/b"), Insert("/c~1d", 3))),
        ({"a": [{"b": 1}, 2]}, {"a": [{"b": 3}, 2]}, (Replace("/a/0/b", 3),)),
        (["text", {"id": "x"}], [{"id": "y"}, "text"], (Insert("/0", {"id": "y"}), Remove("/1"))),
        ([1, 2, 3], [3], (Remove("/0"), Remove("/1"))),
        ({"a": 1}, {"a": 1.0}, (Replace("/a", 1.0),)),
    ],
)
def test_only_what_differs_is_touched(old, new, changes) -> None:
    assert changes_between(old, new) == changes
