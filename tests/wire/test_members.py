"""Members of an object, whatever stands around them: what they are is what the index says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.wire.jsontext import JsonIndex, Members, loads


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        (b'{"model": "m", "n": [1, 2]}', "n", [1, 2]),
        (b'{"model": "m"}', "messages", None),
        (b'{"model": "a", "model": "b"}', "model", "b"),
        (b'{"a/b": 1, "c~d": 2}', "a/b", 1),
        (b'\xef\xbb\xbf{"model": "m"}', "model", "m"),
        (b'{"text": "\xff", "model": "m"}', "model", "m"),
        (b'{"model": "m", "messages": [{"role"', "model", "m"),
        (b'{"model": "m", "messages": [{"role"', "messages", None),
        (b'[{"model": "m"}]', "model", None),
        (b"", "model", None),
    ],
    ids=["a value", "absent", "twice", "odd keys", "a mark", "no UTF-8", "before a cut", "cut", "a list", "nothing"],
)
def test_a_member(text, key, value):
    members = Members(text)
    assert members.get(key) == value
    assert members.get(key) is members.get(key)


VALUES = st.none() | st.integers() | st.text(max_size=5) | st.lists(st.text(max_size=5) | st.floats(), max_size=3)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4))
def test_members_are_those_of_the_index(value):
    text = json.dumps(value).encode()
    members = Members(text)
    for key in value:
        span = JsonIndex(text).span("/" + key.replace("~", "~0").replace("/", "~1"))
        assert span
        assert repr(members.get(key)) == repr(loads(text[slice(*span)]))
