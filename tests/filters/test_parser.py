from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import FilterError
from workbench.filters import And, Expression, Not, Or, Term, parse, unparse
from workbench.filters.expression import BY_NAME, FORMS, KEYS, ValueKind

READ: list[tuple[str, Expression]] = [
    ("", And()),
    ("  ", And()),
    ("weather", Term("", "~", "weather")),
    ('"no such file"', Term("", "~", "no such file")),
    (r'"a \"b\" \\"', Term("", "~", 'a "b" \\')),
    ("tool:read_file", Term("tool", ":", "read_file")),
    ("TOOL:Read", Term("tool", ":", "Read")),
    ("tool=read", Term("tool", "=", "read")),
    ("tool:=read", Term("tool", "=", "read")),
    ("tool:", Term("tool", ":", "")),
    ("mark:", Term("mark", ":", "")),
    ('text~"a b"', Term("text", "~", "a b")),
    ("turn:>40", Term("turn", ">", "40")),
    ("turn>=40", Term("turn", ">=", "40")),
    ("turn=40", Term("turn", ":", "40")),
    ("turn:40..60", Term("turn", "..", "40", "60")),
    ("turn:40..", Term("turn", "..", "40")),
    ("turn:..60", Term("turn", "..", "", "60")),
    ("bytes:>100k", Term("bytes", ">", "100k")),
    ("time:1.5s..2m", Term("time", "..", "1.5s", "2m")),
    ("status:4xx", Term("status", ":", "4xx")),
    ("-a", Not(Term("", "~", "a"))),
    ("!tool:a", Not(Term("tool", ":", "a"))),
    ("not not a", Not(Not(Term("", "~", "a")))),
    ("a b and c", And((Term("", "~", "a"), Term("", "~", "b"), Term("", "~", "c")))),
    ("a b or c", Or((And((Term("", "~", "a"), Term("", "~", "b"))), Term("", "~", "c")))),
    ("a (b OR c)", And((Term("", "~", "a"), Or((Term("", "~", "b"), Term("", "~", "c")))))),
    ("((a))", Term("", "~", "a")),
    ('"or"', Term("", "~", "or")),
    ("oracle", Term("", "~", "oracle")),
    ("8080:80", Term("", "~", "8080:80")),
]

REFUSED = [
    ("stauts:400", 0, 6, "did you mean status?"),
    ("a https://x", 2, 7, "put the text in quotes"),
    ("turn:abc", 5, 8, "expected a number"),
    ("status:6xx", 7, 10, "4xx"),
    ("bytes:>10q", 7, 10, "100k"),
    ('turn:"40"', 5, 9, "expected a number"),
    ("turn~4", 5, 6, "expected a number"),
    ("turn:>", 6, 6, "expected a number"),
    ("turn:..", 5, 7, "expected a number"),
    ("time:>2y", 6, 8, "2s"),
    ("tool:>a", 0, 7, "tool:read_file"),
    ("tool~", 5, 5, "tool:read_file"),
    ('tool:""', 5, 7, "tool:read_file"),
    ("mark:yes", 0, 8, "write mark: or -mark:"),
    ('""', 0, 2, "nothing to search for"),
    ('a "b', 2, 4, 'a closing " was expected'),
    ("(a", 0, 1, "unmatched ("),
    ("a)", 1, 2, "unmatched )"),
    ("()", 0, 2, "empty ( )"),
    ("a or", 4, 4, "'or' has nothing after it"),
    ("or a", 0, 2, "'or' has nothing before it"),
    ("a and", 5, 5, "and has nothing after it"),
    ("and a", 0, 3, "'and' has nothing before it"),
    ("a -", 3, 3, "- has nothing after it"),
    ("not", 3, 3, "not has nothing after it"),
    ("a\\b", 1, 2, "put the value in quotes"),
    ("(" * 100, 41, 42, "fewer parentheses"),
    ("-" * 100, 41, 42, "fewer parentheses"),
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_it_is_read(text: str, expected: Expression) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(("text", "start", "end", "words"), REFUSED)
def test_it_is_refused_with_its_place_and_what_was_expected(text: str, start: int, end: int, words: str) -> None:
    with pytest.raises(FilterError) as refused:
        parse(text)
    assert (refused.value.start, refused.value.end) == (start, end)
    assert words in str(refused.value)
    assert f"character {start + 1}" in str(refused.value)


def test_too_long_is_refused() -> None:
    with pytest.raises(FilterError, match="longer than"):
        parse("a " * 5000)


@given(st.text(max_size=60) | st.text(alphabet='-!()":~=<>.\\ anortul4x', max_size=40))
def test_any_text_is_read_or_refused_inside_it(text: str) -> None:
    try:
        parse(text)
    except FilterError as error:
        assert 0 <= error.start <= error.end <= len(text)


WORDS = st.text(min_size=1, max_size=12)
NUMBERS = {
    ValueKind.NUMBER: st.integers(0, 10**6).map(str),
    ValueKind.STATUS: st.integers(0, 999).map(str),
    ValueKind.SIZE: st.tuples(st.integers(0, 9999), st.sampled_from(["", "k", "MB", "Ki"])).map(
        lambda p: f"{p[0]}{p[1]}"
    ),
    ValueKind.SECONDS: st.tuples(st.integers(0, 999), st.sampled_from(["", "ms", "s", "m"])).map(
        lambda p: f"{p[0]}{p[1]}"
    ),
}


@st.composite
def terms(draw: st.DrawFn) -> Term:
    key = draw(st.sampled_from(KEYS))
    if draw(st.integers(0, 4)) == 0:
        return Term("", "~", draw(WORDS))
    if key.kind is ValueKind.FLAG or draw(st.integers(0, 6)) == 0:
        return Term(key.name, ":", "")
    if key.kind is ValueKind.TEXT:
        return Term(key.name, draw(st.sampled_from([":", "=", "~"])), draw(WORDS))
    low, high = draw(NUMBERS[key.kind]), draw(NUMBERS[key.kind])
    op = draw(st.sampled_from([":", ">", ">=", "<", "<=", ".."]))
    return Term(key.name, op, low, high if op == ".." else "")


def several(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[tuple[Expression, ...]]:
    return st.lists(parts, min_size=2, max_size=3).map(tuple)


EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    terms(), lambda e: e.map(Not) | several(e).map(And) | several(e).map(Or), max_leaves=8
)


@settings(max_examples=100)
@given(EXPRESSIONS)
def test_what_is_written_is_read_again(expression: Expression) -> None:
    assert parse(unparse(expression)) == expression


@pytest.mark.parametrize("key", KEYS, ids=lambda k: k.name)
def test_the_example_of_a_key_uses_it(key: object) -> None:
    name, example = key.name, key.example  # type: ignore[attr-defined]
    found = parse(example)
    assert isinstance(found, Term)
    assert found.key == name
    assert BY_NAME[name] is key


@pytest.mark.parametrize("form", [form for form, _ in FORMS])
def test_the_forms_that_are_explained_are_read(form: str) -> None:
    assert parse(form)
