"""JSON of the wire: values, byte ranges, edits."""

from __future__ import annotations

import json
import math
import random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import LocalProtocolError, WireError
from workbench.limits import MAX_JSON_DEPTH
from workbench.provenance import escape
from workbench.wire.json_scan import CUT, Scanner
from workbench.wire.jsontext import JsonIndex, dumps, dumps_parsed, loads, replace, string_slice_span

# ---------------------------------------------------------------- random documents


class Held(NamedTuple):
    """A string that holds the JSON text of a value."""

    value: Any


strings = st.text(max_size=6) | st.sampled_from(
    ['"', "\\", "/", "é", "😀", "\ud83d", "\udc00x", "]}", "{[", "\n\x00", "~0/"]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**18, max_value=10**60)
    | st.floats(allow_nan=False)
    | strings
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4) | st.builds(Held, inner),
    max_leaves=12,
)
writers = st.randoms(use_true_random=False)


def blank(pick: random.Random) -> str:
    return pick.choice(["", "", " ", "\n\t", "\r\n  "])


def write_string(text: str, pick: random.Random) -> str:
    """The string with a random escape for each character that may have one."""
    written = []
    for char in text:
        units = char.encode("utf-16-be", "surrogatepass")
        ways = ["".join(f"\\u{units[n]:02x}{units[n + 1]:02X}" for n in range(0, len(units), 2))]
        short = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n", "\t": "\\t", "\b": "\\b"}.get(char)
        ways += [short] if short else []
        if char not in '"\\' and char >= " " and not "\ud800" <= char <= "\udfff":
            ways += [char] * 4
        written.append(pick.choice(ways))
    return '"' + "".join(written) + '"'


def write(value: Any, pick: random.Random, repeats: bool = False) -> str:
    """JSON text with random blanks and escapes; with ``repeats``, some members come twice and the first is wrong."""
    if isinstance(value, Held):
        return write_string(write(value.value, pick, repeats), pick)
    if isinstance(value, str):
        return write_string(value, pick)
    if isinstance(value, list):
        inside = [blank(pick) + write(v, pick, repeats) + blank(pick) for v in value]
        return "[" + (",".join(inside) or blank(pick)) + "]"
    if isinstance(value, dict):
        members = [(k, write(v, pick, repeats)) for k, v in value.items()]
        if repeats and members:
            members.insert(0, (pick.choice(members)[0], '[{"": "wrong"}]'))
        inside = [
            f"{blank(pick)}{write_string(k, pick)}{blank(pick)}:{blank(pick)}{v}{blank(pick)}" for k, v in members
        ]
        return "{" + (",".join(inside) or blank(pick)) + "}"
    return json.dumps(value)


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def nodes(value: Any, pointer: str = "", strings_in: int = 0) -> list[tuple[str, Any, int]]:
    """(pointer, value, number of strings it is in) of every node."""
    found = [(pointer, value, strings_in)]
    if isinstance(value, Held):
        inner = value.value
        while isinstance(inner, Held):
            inner, strings_in = inner.value, strings_in + 1
        found += nodes(inner, pointer, strings_in + 1)[1:]
    elif isinstance(value, list):
        for n, child in enumerate(value):
            found += nodes(child, f"{pointer}/{n}", strings_in)
    elif isinstance(value, dict):
        for key, child in value.items():
            found += nodes(child, f"{pointer}/{escape(key)}", strings_in)
    return found


def read(raw: bytes, strings_in: int) -> Any:
    """The value of a range that is inside so many strings."""
    for _ in range(strings_in):
        raw = encode(json.loads(b'"' + raw + b'"'))
    return json.loads(raw)


def same(value: Any, expected: Any) -> bool:
    """Equal, where text held in a string counts as the value it holds."""
    if isinstance(expected, Held):
        return isinstance(value, str) and same(json.loads(value), expected.value)
    if isinstance(expected, list):
        return isinstance(value, list) and len(value) == len(expected) and all(map(same, value, expected))
    if isinstance(expected, dict):
        return (
            isinstance(value, dict) and set(value) == set(expected) and all(same(value[k], expected[k]) for k in value)
        )
    return type(value) is type(expected) and value == expected


# ---------------------------------------------------------------- loads


@given(value=values, pick=writers, repeats=st.booleans())
def test_loads_is_the_standard_library(value: Any, pick: random.Random, repeats: bool) -> None:
    text = encode(write(value, pick, repeats))
    assert loads(text) == json.loads(text)
    assert same(loads(text.decode("utf-8", "surrogatepass")), value)


JSON_BITS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"\\",
    b"\\ud83d",
    b"\\udE00",
    b":",
    b",",
    b"1",
    b"-",
    b"0.5",
    b"e9",
    b"1e999",
]
JSON_BITS += [b"NaN", b"Infinity", b"null", b"true", b" ", b"\n", b"\xc3\xa9", b"\xed\xa0\xbd", b"\xff", b"\x00", b"a"]
broken = st.binary(max_size=40) | st.lists(st.sampled_from(JSON_BITS), max_size=20).map(b"".join)


@settings(max_examples=200)
@given(broken)
def test_any_bytes_are_read_as_by_the_standard_library_or_refused(text: bytes) -> None:
    try:
        expected = json.loads(text.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        try:
            loads(text)
        except WireError as error:
            assert "\n" not in str(error)
        else:  # a stray byte is no reason to refuse
            with pytest.raises(UnicodeDecodeError):
                text.decode("utf-8-sig")
        return
    assert repr(loads(text)) == repr(expected)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'"\\ud83d"', "\ud83d"),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'["\\udc00\\ud83d"]', ["\udc00\ud83d"]),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b"-18446744073709551617", -18446744073709551617),
        (b"1.0", 1.0),
        (b"[1e400, -1e400]", [math.inf, -math.inf]),
        (b"[Infinity, -Infinity]", [math.inf, -math.inf]),
        (b"\xef\xbb\xbf {}", {}),
        ("\ufeff[]", []),
        ('"\ud83d"', "\ud83d"),
        (b'"a\xffb"', "a\udcffb"),
        (b'"\xed\xa0\xbd"', "\ud83d"),
        (b'"\xed\xb2\x80"', "\udced\udcb2\udc80"),
        (b'"\xc3\xa9\\/"', "é/"),
    ],
)
def test_loads(text: bytes | str, value: Any) -> None:
    read_value = loads(text)
    assert read_value == value
    assert type(read_value) is type(value)


def test_loads_keeps_not_a_number() -> None:
    assert math.isnan(loads(b"NaN"))
    assert math.copysign(1, loads(b"-0.0")) == -1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"", "byte 0, line 1: not JSON: expecting value; the text is empty"),
        (b" \n", "byte 2, line 2: not JSON: expecting value; the text is empty"),
        (b'{"a": "x', "byte 6, line 1: not JSON: unterminated string starting at; the text ends early"),
        (b"[1,\n2", "byte 5, line 2: not JSON: expecting ',' delimiter; the text ends early"),
        (b"\xef\xbb\xbf[x", "byte 4, line 1: not JSON: expecting value, found 'x'"),
        ('["é" x'.encode(), "byte 6, line 1: not JSON: expecting ',' delimiter, found 'x'"),
        (b'["\xff\xed\xa0\xbd" x', "byte 8, line 1: not JSON: expecting ',' delimiter, found 'x'"),
        (b"{} {}", "byte 3, line 1: not JSON: extra data; the first value ends here, but more text follows"),
        (b"<html>", "byte 0, line 1: not JSON: expecting value, found '<'; the text looks like HTML or XML"),
        (b"data: {}", "byte 0, line 1: not JSON: expecting value, found 'd'; the text looks like an event stream"),
        (b'"a\nb"', "byte 2, line 1: not JSON: invalid control character at; line breaks"),
        (b"1" * 5000, "JSON with an integer of thousands of digits"),
    ],
)
def test_what_is_not_json_is_refused_in_one_line(text: bytes, line: str) -> None:
    with pytest.raises(WireError) as caught:
        loads(text)
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize("depth", [MAX_JSON_DEPTH + 1, 10_000, 1_000_000])
@pytest.mark.parametrize(("opener", "closer"), [(b"[", b"]"), (b'{"a":', b"}"), (b"[1,", b",2]")])
def test_depth_is_bounded(depth: int, opener: bytes, closer: bytes) -> None:
    for text in (opener * depth + b"1" + closer * depth, (opener * depth + b"1" + closer * depth).decode()):
        with pytest.raises(WireError, match="nested deeper than"):
            loads(text)
    with pytest.raises(WireError):
        loads(opener * depth)


def test_depth_up_to_the_bound_is_read() -> None:
    value = loads(b"[" * MAX_JSON_DEPTH + b"]" * MAX_JSON_DEPTH)
    assert dumps(value) == b"[" * MAX_JSON_DEPTH + b"]" * MAX_JSON_DEPTH


def test_many_brackets_are_not_depth() -> None:
    assert len(loads(b"[" + b"[[]]," * 5000 + b"[]]")) == 5001


# ---------------------------------------------------------------- dumps


@given(values, writers)
def test_dumps_is_read_back(value: Any, pick: random.Random) -> None:
    plain = loads(write(value, pick))
    written = dumps(plain)
    written.decode()
    assert loads(written) == plain
    assert json.loads(written) == plain


def test_dumps_is_compact_and_escapes_only_lone_surrogates() -> None:
    assert (
        dumps({"é": ["\ud83d", "😀", 1.0, 10**30]})
        == '{"é":["\\ud83d","😀",1.0,1000000000000000000000000000000]}'.encode()
    )


def test_dumps_refuses_what_is_no_json() -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    for value in (object(), nested, {(1, 2): 3}):
        with pytest.raises(LocalProtocolError):
            dumps(value)


# ---------------------------------------------------------------- JsonIndex


@settings(max_examples=150)
@given(value=values, pick=writers, repeats=st.booleans())
def test_the_range_of_every_pointer_reads_as_its_value(value: Any, pick: random.Random, repeats: bool) -> None:
    text = encode(blank(pick) + write(value, pick, repeats) + blank(pick))
    index = JsonIndex(text)
    for pointer, node, strings_in in nodes(value):
        span = index.span(pointer)
        assert span is not None, pointer
        assert same(read(text[slice(*span)], strings_in), node)
        key = index.key_span(pointer)
        if key is not None:
            name = read(text[slice(*key)], strings_in)
            assert pointer.endswith("/" + escape(name))
            assert index.pointer_at(key[0] + 1) == pointer
        assert (key is not None) == isinstance(parent(value, pointer), dict)


def parent(value: Any, pointer: str) -> Any:
    above = pointer.rpartition("/")[0]
    found = next(v for p, v, _ in nodes(value) if p == above) if pointer else None
    while isinstance(found, Held):
        found = found.value
    return found


@settings(max_examples=100)
@given(value=values, pick=writers)
def test_every_byte_of_a_value_points_to_it_or_deeper(value: Any, pick: random.Random) -> None:
    text = encode(write(value, pick))
    index = JsonIndex(text)
    for pointer, node, strings_in in nodes(value):
        start, end = index.span(pointer) or (0, 0)
        found = {index.pointer_at(at) for at in range(start, end)}
        assert all(p == pointer or p.startswith(pointer + "/") for p in found)
        if strings_in == 0 or not isinstance(node, Held | str):
            assert pointer in found or not opened(value, pointer)
        if not isinstance(node, Held | dict | list | str) and opened(value, pointer):
            assert found == {pointer}


def opened(value: Any, pointer: str) -> bool:
    """Every string on the way holds an array or object, and is entered therefore."""
    above = [v for p, v, _ in nodes(value) if pointer.startswith(p)]
    return not any(isinstance(v, Held) for v in above)


@settings(max_examples=100)
@given(value=values, pick=writers, data=st.data())
def test_cut_text_answers_what_is_whole(value: Any, pick: random.Random, data: st.DataObject) -> None:
    text = encode(write(value, pick))
    cut = data.draw(st.integers(0, len(text)))
    whole, part = JsonIndex(text), JsonIndex(text[:cut])
    for pointer, _, strings_in in nodes(value):
        span, expected = part.span(pointer), whole.span(pointer)
        assert expected is not None
        assert span in (None, expected) or not pointer
        if strings_in == 0 and expected[1] < cut:
            assert span == expected
    part.duplicates()
    for at in range(cut + 1):
        part.pointer_at(at)


@settings(max_examples=150)
@given(broken, st.sampled_from(["", "/", "/0", "/a", "//", "/0/0", "a", "/~2", "/-", "/01"]))
def test_no_bytes_break_an_index(text: bytes, pointer: str) -> None:
    index = JsonIndex(text)
    for span in (index.span(pointer), index.key_span(pointer)):
        assert span is None or 0 <= span[0] < span[1] <= len(text)
    for _, (start, end) in index.elements(pointer):
        assert 0 <= start < end <= len(text)
    for at in range(-1, len(text) + 1):
        index.pointer_at(at)
    index.duplicates()


DOCUMENT = rb"""{
  "model": "m", "a/b~c": {"": 0}, "caf\u00e9": [true, -1.5e3],
  "messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f",
    "arguments": "{\"path\": \"/a\\\"\\u00e9b\\/\\ud83d\\ude00\", \"n\\u0031\":\t[1, {\"deep\": \"\\\\n\"}]}"}}]}],
  "twice": "\"{\\\"path\\\": [7]}\"",
  "prose": "[1] see below", "cut": "{\"a\": 1, \"b\": \"x"
}""".replace(rb"\t", b" ")
ARGUMENTS = "/messages/0/tool_calls/0/function/arguments"


@pytest.mark.parametrize(
    ("pointer", "text"),
    [
        ("/model", b'"m"'),
        ("/a~1b~0c", b'{"": 0}'),
        ("/a~1b~0c/", b"0"),
        ("/café/1", b"-1.5e3"),
        ("/messages/0/role", b'"assistant"'),
        (ARGUMENTS + "/path", rb"\"/a\\\"\\u00e9b\\/\\ud83d\\ude00\""),
        (ARGUMENTS + "/n1", rb"[1, {\"deep\": \"\\\\n\"}]"),
        (ARGUMENTS + "/n1/0", b"1"),
        (ARGUMENTS + "/n1/1/deep", rb"\"\\\\n\""),
        ("/twice/path/0", b"7"),
        ("/prose/0", b"1"),
        ("/cut/a", b"1"),
        ("/cut/b", None),
        ("/model/0", None),
        ("/messages/1", None),
        ("/messages/-", None),
        ("/messages/00", None),
        ("/messages/٠", None),
        ("/nothing", None),
        ("model", None),
    ],
)
def test_pointers(pointer: str, text: bytes | None) -> None:
    span = JsonIndex(DOCUMENT).span(pointer)
    assert (span and DOCUMENT[slice(*span)]) == text


@pytest.mark.parametrize(
    ("marker", "pointer"),
    [
        (b'"m"', "/model"),
        (b"model", "/model"),
        (b'": "m"', "/model"),
        (b', "a/b~c', ""),
        (b"-1.5e3", "/café/1"),
        (b"true", "/café/0"),
        (rb"b\\/", ARGUMENTS + "/path"),
        (rb"u00e9b", ARGUMENTS + "/path"),
        (b"deep", ARGUMENTS + "/n1/1/deep"),
        (rb"{\"deep", ARGUMENTS + "/n1/1"),
        (rb"{\"path\": \"/a", ARGUMENTS),
        (b"7]", "/twice/path/0"),
        (b"1] see", "/prose"),
        (rb"x" + b'"\n}', "/cut/b"),
    ],
)
def test_pointer_at(marker: bytes, pointer: str) -> None:
    assert JsonIndex(DOCUMENT).pointer_at(DOCUMENT.index(marker)) == pointer


def test_offsets_outside_belong_to_the_whole() -> None:
    index = JsonIndex(b' {"a": 1} ')
    assert [index.pointer_at(n) for n in (-5, 0, 9, 10, 99)] == [""] * 5


def test_repeated_keys() -> None:
    text = b'{"a": {"x": 1, "x": 2}, "b": [{"y": 1, "\\u0079": 2, "y": 3}], '
    text += b'"a": {"x": 4, "x": {"q": 5}}, "~/": 1, "~/": 2}'
    index = JsonIndex(text)
    assert text[slice(*index.span("/a/x/q") or ())] == b"5"
    assert text[slice(*index.span("/b/0/y") or ())] == b"3"
    assert index.duplicates() == ("/b/0/y", "/a", "/a/x", "/~0~1")
    assert [step for step, _ in index.elements("")] == ["b", "a", "~0~1"]
    assert index.pointer_at(text.index(b"1")) == ""  # the value that was overwritten has no pointer
    assert JsonIndex(b'[{"a": {"b": 1}}, {"a": 2}]').duplicates() == ()


def test_elements() -> None:
    text = b'{"messages": [ {"a":1}, "x" , 3], "s": "[4, 5]"} trailing'
    index = JsonIndex(text)
    assert [(s, text[slice(*span)]) for s, span in index.elements("/messages")] == [
        ("0", b'{"a":1}'),
        ("1", b'"x"'),
        ("2", b"3"),
    ]
    assert [text[slice(*span)] for _, span in index.elements("/s")] == []
    assert index.elements("/messages/1") == index.elements("/none") == []


@pytest.mark.parametrize(
    ("text", "found", "missing"),
    [
        (b'{"a": [1, 2', ["/a/0"], ["", "/a", "/a/1"]),
        (b'{"a": [1, 2], "b": "x', ["/a", "/a/1"], ["/b"]),
        (b'{"a": 1, "b": tru', ["/a"], ["/b"]),
        (b'{"a": 1, "b', ["/a"], ["/b"]),
        (b'{"a": 1, "b":', ["/a"], ["/b"]),
        (b'{"a": 1 "b": 2}', ["/a"], ["/b"]),
        (b'{"a": 1, oops, "b": 2}', ["/a"], ["/b"]),
        (b"[1, 2}", ["/0", "/1"], []),
        (b'{"a": 1} {"b": 2}', ["", "/a"], ["/b"]),
        (b"[01]", [], ["/0"]),
        (b"12", [""], []),
        (b"", [], ["", "/0"]),
        (b"\xef\xbb\xbf", [], [""]),
    ],
)
def test_broken_text(text: bytes, found: list[str], missing: list[str]) -> None:
    index = JsonIndex(text)
    assert [p for p in found if index.span(p) is None] == []
    assert [p for p in missing if index.span(p) is not None] == []


def test_deep_text_is_walked_without_recursion() -> None:
    for depth in (11, 12, 200, MAX_JSON_DEPTH):
        text = b'[{"k": ' * (depth // 2) + b'"x"' + b', "l": 0}, 1]' * (depth // 2)
        index = JsonIndex(text)
        pointer = "/0/k" * (depth // 2)
        span = index.span(pointer)
        assert span is not None
        assert text[slice(*span)] == b'"x"'
        assert index.pointer_at(span[0]) == pointer
        assert index.span("/1") == (len(text) - 2, len(text) - 1)
    for text in (b"[" * 10_000, b"[" * 10_000 + b"]" * 10_000, b'{"a":' * 10_000, b'["' * 10_000, b'"' + b"\\" * 9_999):
        index = JsonIndex(text)
        index.span("/0")
        index.duplicates()
        assert len(index.pointer_at(len(text) // 2)) <= 3 * MAX_JSON_DEPTH


def test_what_is_deeper_than_the_bound_is_cut_and_not_walked() -> None:
    for depth, is_read in ((MAX_JSON_DEPTH, True), (MAX_JSON_DEPTH + 50, False)):
        text = b"[" * depth + b"]" * depth
        end = Scanner(text).value_end(0)
        assert (end == len(text)) is is_read
        assert is_read or end == CUT


def test_megabytes_on_one_line() -> None:
    line = (
        b'{"messages": [{"role": "user", "content": "' + b"x\\n" * 2_500_000 + b'"}, {"role": "tool"}], "model": "m"}'
    )
    index = JsonIndex(line)
    assert index.span("/model") == (len(line) - 4, len(line) - 1)
    assert index.span("/messages/0/content") == (line.index(b'"x'), line.index(b'"}') + 1)
    assert len(loads(line)["messages"][0]["content"]) == 5_000_000
    assert index.pointer_at(len(line) // 2) == "/messages/0/content"


# ---------------------------------------------------------------- replace


@settings(max_examples=150)
@given(value=values, pick=writers, repeats=st.booleans(), new=values, data=st.data())
def test_replace_changes_only_the_range(
    value: Any, pick: random.Random, repeats: bool, new: Any, data: st.DataObject
) -> None:
    text = encode(write(value, pick, repeats))
    pointer, _, strings_in = data.draw(st.sampled_from(nodes(value)))
    start, end = JsonIndex(text).span(pointer) or (0, 0)
    put = loads(write(new, pick))
    changed = replace(text, {pointer: put})
    assert changed[:start] == text[:start]
    assert changed[len(changed) - (len(text) - end) :] == text[end:]
    now = JsonIndex(changed).span(pointer)
    assert now == (start, len(changed) - (len(text) - end))
    assert read(changed[slice(*now)], strings_in) == put
    old = read(text[start:end], strings_in)
    assert loads(replace(changed, {pointer: old})) == loads(text) or strings_in


def test_replace_several_at_once() -> None:
    edits = {ARGUMENTS + "/path": 'é"', "/model": None, "/twice/path/0": {"k": "\ud83d"}}
    changed = replace(DOCUMENT, edits)
    expected = DOCUMENT.replace(b'"m"', b"null")
    expected = expected.replace(rb"\"/a\\\"\\u00e9b\\/\\ud83d\\ude00\"", rb"\"\\u00e9\\\"\"")
    assert changed == expected.replace(b"7", rb"{\\\"k\\\":\\\"\\\\ud83d\\\"}")


def test_replace_writes_as_the_text_does() -> None:
    assert replace(rb'["\u00e9", 1]', {"/1": "ü"}) == rb'["\u00e9", "\u00fc"]'
    assert replace(rb'["\\u00e9", 1]', {"/1": "ü"}) == rb'["\\u00e9", ' + '"ü"]'.encode()
    assert replace('["é", 1]'.encode(), {"/1": "ü"}) == '["é", "ü"]'.encode()


@pytest.mark.parametrize(
    ("edits", "problem"),
    [
        ({"/b": 1}, "/b: nothing to replace"),
        ({"/a": 1, "/a/0": 2}, "/a, /a/0: two edits overlap"),
        ({"/a": object()}, "not a JSON value"),
    ],
)
def test_replace_refuses(edits: dict[str, Any], problem: str) -> None:
    with pytest.raises(LocalProtocolError, match=problem):
        replace(b'{"a": [1]}', edits)


# ---------------------------------------------------------------- string_slice_span


@given(text=st.text() | strings, pick=writers, data=st.data())
def test_a_slice_of_characters_is_a_slice_of_bytes(text: str, pick: random.Random, data: st.DataObject) -> None:
    body = encode("[" + write_string(text, pick) + "]")
    said = loads(body)[0]
    start = data.draw(st.integers(0, len(said)))
    end = data.draw(st.integers(start, len(said)))
    first, last = string_slice_span(body, (1, len(body) - 1), start, end)
    assert loads(b'"' + body[first:last] + b'"') == said[start:end]
    assert 2 <= first <= last <= len(body) - 2


def test_a_slice_past_the_end_is_clipped() -> None:
    assert string_slice_span(b'"abc"', (0, 5), 1, 99) == (2, 4)
    assert string_slice_span(b'"a\xffb"', (0, 5), 1, 2) == (2, 3)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_a_value_is_written_the_same_faster(value: object) -> None:
    assert dumps_parsed(value) == dumps(value)


@pytest.mark.parametrize("value", [{"a": b"x"}, {"a": {1}}, [object()]], ids=["bytes", "set", "object"])
def test_what_is_no_json_is_refused_by_both(value: object) -> None:
    with pytest.raises(LocalProtocolError):
        dumps_parsed(value)
