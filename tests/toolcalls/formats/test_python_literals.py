"""Calls in Python's spelling, read without Python."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.toolcalls.formats._python_literals import call, literal

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda v: st.one_of(st.lists(v, max_size=4), st.dictionaries(st.text(), v, max_size=4)),
    max_leaves=10,
)


@given(VALUES)
def test_what_python_writes_is_read(value: Any) -> None:
    assert literal(repr(value)) == value


@given(st.text(alphabet="[]{}()'\"\\,:=ab01.-_eE #\nrxuU", max_size=30))
def test_what_is_read_python_reads_alike(text: str) -> None:
    """Where both read a text they agree; some spellings of JSON only this parser reads."""
    value = literal(text)
    if value is None:
        return
    try:
        expected = ast.literal_eval(text.strip())
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return
    assert value == expected


@pytest.mark.parametrize("text", ["f", "f(", "f(a=1", "(a=1)", "f (a=1)", "1()", "f(a=[1", ""])
def test_no_call(text: str) -> None:
    assert call(text, 0) is None


@pytest.mark.parametrize("text", ["{" * 50_000, "[" * 50_000, "-" * 50_000, "(" * 50_000 + ")" * 50_000, "'" * 50_001])
def test_hostile_literals(text: str) -> None:
    assert literal(text) is None
