"""JSON that ends early, read as clients read it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jiter import from_json

from workbench.errors import WireError
from workbench.protocols.clients.partial import read_partial
from workbench.wire.jsontext import dumps

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-999, 999), st.text(st.characters(codec="utf-8"), max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


def read(text: str, *, is_lenient: bool) -> Any:
    try:
        return read_partial(text, is_lenient=is_lenient)
    except WireError:
        return "error"


def jiter(text: str) -> Any:
    try:
        return from_json(text.encode(), partial_mode=True)
    except ValueError:
        return "error"


@given(st.dictionaries(st.text("ab", max_size=3), VALUES, max_size=3), st.data())
def test_every_beginning_is_read_as_jiter_reads_it(value: dict[str, Any], data: st.DataObject) -> None:
    text = dumps(value).decode()
    cut = text[: data.draw(st.integers(0, len(text)))]
    assert read(cut, is_lenient=True) == jiter(cut)


TABLE = [  # text, as the Python SDK reads it (jiter 0.19), as the TypeScript SDK does (its own parser, checked by hand)
    ('{"a": 1', {"a": 1}, {}),
    ('{"a": "x', {}, {}),
    ('{"a": tr', {}, {}),
    ('{"a"', {}, {}),
    ('{"a":1,', {"a": 1}, {"a": 1}),
    ("[1, 2", [1, 2], [1]),
    ("[1, 2.", [1], [1]),
    ('{"a": [1, {"b": "c', {"a": [1, {}]}, {"a": [1, {}]}),
    ('{"a":1}{"b":2}', {"a": 1}, "error"),
    ('{"a":1}}', {"a": 1}, "error"),
    ('{"a":1 "b":2}', {"a": 1}, "error"),
    ("{a", "error", "error"),
    ('{"a":1,}', "error", "error"),
    ('{"a": "\\u00', {}, {}),
    ('{"a": "x\n"}', "error", "error"),
    ("  ", "error", "error"),
    ('"ab', "error", "error"),
]


@pytest.mark.parametrize(("text", "python", "typescript"), TABLE, ids=[row[0] for row in TABLE])
def test_table(text: str, python: Any, typescript: Any) -> None:
    assert read(text, is_lenient=True) == python == jiter(text)
    assert read(text, is_lenient=False) == typescript


@given(st.text('{}[]",:\\ua01.e-tnl ', max_size=12), st.booleans())
def test_it_never_raises_anything_else(text: str, is_lenient: bool) -> None:
    read(text, is_lenient=is_lenient)


def test_deep_text_is_read_without_recursion() -> None:
    read("[" * 50_000, is_lenient=True)
    read('{"a":' * 50_000, is_lenient=False)
