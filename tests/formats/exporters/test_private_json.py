"""Private text in JSON and around it: laws that hold for any text."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.exporters._kept_words import FIXED, TEXT
from workbench.formats.exporters._private_json import PrivateJson, StandIns, is_stand_in, rewrite_string

TEXTS = st.text(max_size=30) | st.text('abcXYZ é日Ж\U0001d400\\"/{}[]019\n\u200b', max_size=30)
VALUES = st.recursive(
    TEXTS | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3) | inner.map(json.dumps),
    max_leaves=8,
)


def words() -> StandIns:
    return StandIns(FIXED, TEXT, b"salt")


def shape(value: object) -> object:
    if isinstance(value, dict):
        return [shape(held) for held in value.values()]
    return [shape(held) for held in value] if isinstance(value, list) else type(value)


@given(VALUES, st.booleans())
def test_json_stays_json_of_the_same_shape_and_length(value: object, is_ascii: bool) -> None:
    text = json.dumps({"arguments": value, "content": value}, ensure_ascii=is_ascii)
    made = PrivateJson(words()).body(text)
    assert len(made) == len(text) and len(made.encode("utf-8", "surrogatepass")) == len(
        text.encode("utf-8", "surrogatepass")
    )
    assert shape(json.loads(made)) == shape(json.loads(text))


@given(TEXTS | st.text('{}[]",:\\ abcdef0123u', max_size=40))
def test_what_is_no_json_keeps_its_length_and_is_replaced_once(text: str) -> None:
    made = PrivateJson(words()).body(text)
    assert len(made) == len(text)
    again = PrivateJson(StandIns(FIXED, TEXT, b"other")).body(made)
    assert again == made
    assert len(PrivateJson(words()).value(text)) == len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/secretary/file.txt", r"/[a-z]{4}/[a-z]{9}/[a-z]{4}\.[a-z]{3}"),
        ("Case AND case", r"([A-Z][a-z]{3}) [A-Z]{3} [a-z]{4}"),
        ("12 1234 1e999 0x1f", r"12 [789]{4} 1e999 0x1f"),
        ("a b  \t c \n", "a b  \t c \n"),
        ("https://grandmother.example", r"https://[a-z]{11}\.[a-z]{7}"),
        ("<think>secret", "<think>[a-z]{6}"),
        ("data:image/png;base64,iVBORw0", r"data:image/png;base64,[a-z][A-Z]{4}[a-z]0"),
        ("still running: backup", "still running: [a-z]{6}"),
    ],
)
def test_what_stays_of_a_text(text: str, expected: str) -> None:
    made = words().text(text)
    assert re.fullmatch(expected, made)


def test_a_stand_in_is_told_from_a_word() -> None:
    stand_ins = words()
    for word in ("grandmother", "Amelia", "the", "USA"):
        made = stand_ins.text(word)
        assert is_stand_in(made.lower()) and made.istitle() == word.istitle() and made.isupper() == word.isupper()
        assert stand_ins.text(made) == made == stand_ins.text(word)
    assert not is_stand_in("grandmother")


def test_an_escape_that_json_does_not_know_stays() -> None:
    assert rewrite_string(r"\q\u00e9\n", lambda text: "xž\n") == r"\q\u017e\n"
