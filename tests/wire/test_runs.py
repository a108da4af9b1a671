"""Lists of objects in a body: where each element stands."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.wire.jsontext import runs

OBJECTS = st.lists(st.dictionaries(st.text(max_size=4), st.text('{}[],:" \\é', max_size=6), max_size=2), max_size=4)


@given(st.dictionaries(st.text(max_size=4), OBJECTS | st.text(max_size=4), max_size=3), st.sampled_from([None, 1]))
def test_each_span_is_an_element(value: dict[str, object], indent: int | None) -> None:
    text = json.dumps(value, indent=indent).encode()
    found = {json.loads(f'"{run.key}"'): [json.loads(text[a:b]) for a, b in run.spans] for run in runs(text)}
    assert found == {key: held for key, held in value.items() if isinstance(held, list) and held}


@pytest.mark.parametrize(
    "text",
    [b"", b"[{}]", b'{"a":[{}]', b'{"a":[{}],"a":[{"b":1}]}', b'{"a":[1,{}]}', b'{"a":[]} x', b'{"a":"\xff"}, {}'],
)
def test_what_takes_more_care_has_none(text: bytes) -> None:
    assert runs(text) == []
