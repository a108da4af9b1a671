from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.safetext import cells, from_bytes
from workbench.tui.models.rows import HANG, MAX_DEPTH, fold_text
from workbench.tui.models.rows import LaidOut as Rows
from workbench.tui.models.rowtable import CONTINUES, IN_STRING

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=90),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=25,
)


def lay_out(body: bytes, width: int, *, is_json: bool = True) -> Rows:
    rows = Rows(body, width, is_json=is_json)
    while not rows.extend(7):
        pass
    return rows


def shown(rows: Rows) -> list[str]:
    texts = (rows.body[slice(*rows.bounds(n))] for n in range(len(rows)))
    return [" " * rows.indents[n] + from_bytes(text).rstrip() for n, text in enumerate(texts)]


def is_whole(rows: Rows) -> bool:
    return b"".join(rows.body[slice(*rows.bounds(n))] for n in range(len(rows))) == rows.body


@pytest.mark.parametrize(
    ("value", "width", "expected"),
    [
        ({"a": 1}, 20, ['{"a": 1}']),
        ({"model": "m", "n": [1, 2, 3]}, 20, ['{"model": "m",', ' "n": [1, 2, 3]}']),
        (
            {"messages": [{"role": "user", "content": "hello"}]},
            30,
            ['{"messages": [', '   {"role": "user",', '    "content": "hello"}]}'],
        ),
        ({"a": {"b": "cccccccc", "d": "ee"}}, 20, ['{"a": {', '   "b": "cccccccc",', '   "d": "ee"}}']),
        ({"t": "one\ntwo three four five"}, 20, ['{"t": "one\\n', "  two three four", '  five"}']),
    ],
)
def test_layout(value: object, width: int, expected: list[str]) -> None:
    rows = lay_out(json.dumps(value).encode(), width)
    assert shown(rows) == expected
    assert is_whole(rows)


def test_lines_of_the_body_are_kept() -> None:
    body = json.dumps({"a": [1, {"b": "c"}], "d": None}, indent=2).encode() + b"\n"
    assert shown(lay_out(body, 60)) == body.decode().splitlines()


def test_what_is_no_json_is_only_wrapped() -> None:
    rows = lay_out(b'event: x\ndata: {"a": 1, "b": 2}\n\n', 16, is_json=False)
    assert shown(rows) == ["event: x", 'data: {"a": 1,', '  "b": 2}', ""]
    assert [f & CONTINUES for f in rows.flags] == [0, 0, CONTINUES, 0]


def test_compact_json_in_an_event_is_broken_at_its_commas() -> None:
    rows = lay_out(b'data: {"object":"chunk","choices":[{"index":0,"delta":{"content":"a"}}]}\n', 28, is_json=False)
    assert shown(rows) == ['data: {"object":"chunk",', '  "choices":[{"index":0,', '  "delta":{"content":"a"}}]}']


def test_a_row_knows_that_it_begins_in_a_string() -> None:
    rows = lay_out(json.dumps(["word " * 20]).encode(), 30)
    assert rows.flags[0] == 0
    assert set(rows.flags[2:]) == {CONTINUES | IN_STRING}


def test_escapes_are_not_cut() -> None:
    rows = lay_out(json.dumps(["日本語" * 30]).encode(), 25)
    assert all(len(text.strip().strip('"[],')) % 6 == 0 for text in shown(rows))


@settings(max_examples=60, deadline=None)
@given(JSON, st.integers(16, 70), st.sampled_from([None, 1]), st.booleans())
def test_every_byte_has_one_row_and_every_row_fits(value: object, width: int, indent: int | None, escape: bool) -> None:
    body = json.dumps(value, indent=indent, ensure_ascii=escape).encode("utf-8", "surrogatepass")
    rows = lay_out(body, width)
    assert is_whole(rows)
    for n in range(len(rows)):
        start, end = rows.bounds(n)
        text = from_bytes(body[start:end]).rstrip()
        assert len(text) == 1 or rows.indents[n] + sum(cells(c) for c in text) <= width
        assert rows.row_at(start) == rows.row_at(end - 1) == n


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300) | st.text(alphabet='{}[],"\\n \x1b日', max_size=300).map(str.encode), st.booleans())
def test_any_bytes_are_laid_out(body: bytes, is_json: bool) -> None:
    assert is_whole(lay_out(body, 20, is_json=is_json))


def test_depth_is_no_limit() -> None:
    body = b"[" * 20_000 + b"]" * 20_000
    rows = lay_out(body, 80)
    assert is_whole(rows)
    assert max(rows.indents) <= 80 // 3 + HANG
    assert len(rows) < MAX_DEPTH + 2 * len(body) // 50


def test_rows_come_in_slices() -> None:
    rows = Rows(json.dumps(list(range(1000))).encode(), 20, is_json=True)
    assert not rows.extend(10)
    assert 0 < len(rows) <= 10
    assert 0 < rows.known_bytes < len(rows.body)


@pytest.mark.parametrize("width", range(20, 60))
def test_a_comma_does_not_stand_alone_for_want_of_a_column(width: int) -> None:
    body = json.dumps({"id": "x" * 43, "name": ["y" * 77], "é" * 30: 1}, ensure_ascii=False).encode()
    rows = lay_out(body, width)
    assert is_whole(rows)
    assert all(cells(text) <= width for text in shown(rows))
    wrapped = [text.strip() for n, text in enumerate(shown(rows)) if rows.flags[n] & CONTINUES]
    assert not {",", "}", "},", "],"} & set(wrapped)


def test_an_opaque_string_in_one_line_is_its_beginning_and_its_length() -> None:
    blob = "gAAAA" + "aB3dE6gH9jK2" * 40
    folded = fold_text(f'{{"id":"rs_1","encrypted_content":"{blob}","type":"reasoning"}}'.encode(), 600)
    assert folded == f'{{"id":"rs_1","encrypted_content":"{blob[:24]}… {len(blob)} characters","type":"reasoning"}}'
    assert fold_text(b'{"a":"' + b"x" * 900 + b'"}', 100) == '{"a":"' + "x" * 94


@pytest.mark.parametrize("width", [40, 60, 76, 120])
def test_what_closes_an_opaque_string_is_not_alone_on_a_row(width: int) -> None:
    blob = ("AbCdEfGhIjKl0123456789+/" * 80)[:1900]
    body = f'{{"parts":[{{"functionCall":{{"args":{{}}}},"thoughtSignature":"{blob}"}}],"role":"model"}}'.encode()
    rows = lay_out(body, width)
    assert is_whole(rows)
    assert any(text.endswith('"}],') for text in shown(rows))
    assert not any(text.strip() in (",", "],") for text in shown(rows))
