"""A patch changes what it names, and no byte beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import LocalProtocolError
from workbench.wire.patch import Change, Insert, Move, Remove, Replace, apply

PRETTY = b"""{
  "model": "m",
  "messages": [
    {"role": "user", "content": "a\\u00e9"},
    {
      "role": "assistant",
      "calls": [
        1.0
      ]
    }
  ],
  "empty": []
}
"""

EDITS: list[tuple[str, bytes, list[Change], bytes]] = [
    ("an element goes with its comma", b"[1, 2, 3]", [Remove("/1")], b"[1, 3]"),
    ("the last element too", b"[1, 2,3]", [Remove("/2")], b"[1, 2]"),
    ("the first, with odd gaps", b"[ 1 ,2 , 3 ]", [Remove("/0")], b"[ 2 , 3 ]"),
    ("every element", b"[ 1, 2 ]", [Remove("/0"), Remove("/1")], b"[]"),
    ("a member, its key included", b'{"a":1,"b" : 2}', [Remove("/a")], b'{"b" : 2}'),
    ("before an element", b'[1,{"k": 2}]', [Insert("/1", {"n": [1]})], b'[1,{"n": [1]},{"k": 2}]'),
    ("at the end", b"[1, 2]", [Insert("/-", 3), Insert("/2", 4)], b"[1, 2, 3, 4]"),
    ("into nothing", b'{"a": []}', [Insert("/a/0", "x")], b'{"a": ["x"]}'),
    ("a member", b'{"a": 1}', [Insert("/b~1c", None)], b'{"a": 1, "b/c": null}'),
    ("another value", b'{"a": 1.50, "b": 2}', [Replace("/b", [])], b'{"a": 1.50, "b": []}'),
    ("the whole", b" 1 ", [Replace("", 2)], b" 2 "),
    ("inside a string", rb'{"a": "{\"b\": 1, \"c\": 2}"}', [Replace("/a/b", 3)], rb'{"a": "{\"b\": 3, \"c\": 2}"}'),
    ("moved bytes stay", b'{"a": [1.0e2, 2], "b": []}', [Move("/a/0", "/b/-")], b'{"a": [2], "b": [1.0e2]}'),
    ("two swapped", b"[1,2]", [Move("/1", "/0")], b"[2,1]"),
    ("pointers are those before", b"[1,2,3]", [Remove("/0"), Replace("/2", 9), Insert("/1", 0)], b"[0,2,9]"),
    ("escapes as the text has them", rb'["\u00e9"]', [Insert("/-", "\u00fc")], b'["\\u00e9","\\u00fc"]'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "changes", "wanted"), [row[1:] for row in EDITS], ids=[row[0] for row in EDITS])
def test_what_is_named_changes(text: bytes, changes: list[Change], wanted: bytes) -> None:
    assert apply(text, changes) == wanted


def test_indented_json_stays_indented() -> None:
    changes: list[Change] = [
        Insert("/messages/1", {"role": "tool", "held": [1, {}]}),
        Insert("/empty/-", {"a": 1}),
        Move("/messages/1/calls/0", "/empty/-"),
    ]
    assert apply(PRETTY, changes).decode() == (
        '{\n  "model": "m",\n  "messages": [\n'
        '    {"role": "user", "content": "a\\u00e9"},\n'
        '    {\n      "role": "tool",\n      "held": [\n        1,\n        {}\n      ]\n    },\n'
        '    {\n      "role": "assistant",\n      "calls": []\n    }\n  ],\n'
        '  "empty": [\n    {\n      "a": 1\n    },\n    1.0\n  ]\n}\n'
    )


REFUSED: list[tuple[bytes, list[Change]]] = [
    (b"[1]", [Remove("/1")]),
    (b"[1]", [Insert("/5", 1)]),
    (b"[1]", [Remove("")]),
    (b"[1]", [Remove("/0"), Remove("/0")]),
    (b"[[1]]", [Remove("/0"), Replace("/0/0", 2)]),
    (b'{"a": {"b": 1}}', [Replace("/a", 2), Remove("/a/b")]),
    (b'{"a": {"b": 1}}', [Remove("/a/b"), Replace("/a", 2)]),
    (b'{"a": {"b": 1}}', [Insert("/a/c", 3), Replace("/a", 2)]),
    (b'{"a": {"b": 1}}', [Insert("/a/c", 3), Remove("/a")]),
    (b"[[1]]", [Move("/0", "/0/0")]),
    (b"[1]", [Insert("/0/a", 1)]),
    (b'{"a": 1}', [Insert("/a", 2)]),
    (b'{"a": 1}', [Insert("/x/y", 2)]),
    (b'{"a": 1}', [Move("/a", "/x/y")]),
    (b'{"a": 1, "a": 2, "b": 3}', [Remove("/b")]),
    (b'{"a": "[1]"}', [Remove("/a/0")]),
    (b"", [Remove("/a")]),
]


@pytest.mark.parametrize(("text", "changes"), REFUSED, ids=repr)
def test_what_cannot_be_done_is_said_in_one_line(text: bytes, changes: list[Change]) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        apply(text, changes)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("text", "where"), [(b"[1]", "/9"), (b'{"a": {}}', "/a/b"), (b"", "the whole text")])
def test_a_place_that_is_not_there_is_named(text: bytes, where: str) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        apply(text, [Move(where if where.startswith("/") else "", "/0")])
    assert refused.value.where == where


leaf = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "é", 'a"b', "{[,:", "\\"])
keys = st.sampled_from(["a", "b", "c/d", "~", ""])
trees = st.recursive(leaf, lambda t: st.lists(t, max_size=4) | st.dictionaries(keys, t, max_size=4), max_leaves=12)
styles = st.sampled_from(
    ({}, {"separators": (",", ":")}, {"indent": 2}, {"indent": "\t"}, {"indent": 1, "ensure_ascii": False})
)


def _pointers(value: Any, at: str = "") -> list[str]:
    found = [at]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += _pointers(inner, f"{at}/{str(key).replace('~', '~0').replace('/', '~1')}")
    return found


@settings(max_examples=80)
@given(value=trees, style=styles, new=trees, data=st.data())
def test_a_change_and_its_undoing_give_the_text_back(value: Any, style: dict[str, Any], new: Any, data: Any) -> None:
    """What was inserted can be removed, and the document is as the same writer writes it in between."""
    body = {"held": value, "list": [value, 1]}
    text = json.dumps(body, **style).encode()
    target = data.draw(st.sampled_from(["/list/0", "/list/1", "/list/2", "/list/-", "/new"]))
    grown = apply(text, [Insert(target, new)])
    step = target.rpartition("/")[2]
    wanted = {**body, "list": list(body["list"])}
    if step == "new":
        wanted["new"] = new
    else:
        wanted["list"].insert(int(step) if step.isdecimal() else 2, new)
    assert json.loads(grown) == wanted
    if "ensure_ascii" not in style:
        assert grown == _written(wanted, style, text)
    assert apply(grown, [Remove(target.replace("-", "2"))]) == text


def _written(value: Any, style: dict[str, Any], text: bytes) -> bytes:
    """As Python writes it: the escapes of what is new are those of what was there."""
    spelled = {"ensure_ascii": b"\\u" in text and text.isascii()}
    return (
        json.dumps(value, **{**style, **spelled}).encode()
        if b"\\u" in text
        else json.dumps(value, ensure_ascii=False, **style).encode()
    )


@settings(max_examples=80)
@given(value=trees, style=styles, data=st.data())
def test_removing_leaves_the_other_bytes(value: Any, style: dict[str, Any], data: Any) -> None:
    text = json.dumps([value, {"k": value}], **style).encode()
    pointer = data.draw(st.sampled_from(_pointers(json.loads(text))[1:]))
    left = apply(text, [Remove(pointer)])
    assert json.loads(left) == _without(json.loads(text), pointer)
    assert len(left) < len(text)
    assert left == json.dumps(json.loads(left), **style).encode()


def _without(value: Any, pointer: str) -> Any:
    *way, last = [s.replace("~1", "/").replace("~0", "~") for s in pointer[1:].split("/")]
    at = value
    for step in way:
        at = at[int(step)] if isinstance(at, list) else at[step]
    del at[int(last) if isinstance(at, list) else last]
    return value


def test_signs_in_strings_are_no_layout():
    text = b'{"held":["{[,:","a\\": b, c"],"list":[1,2]}'
    assert apply(text, [Insert("/list/-", {"a": 1, "b": 2})]).endswith(b'"list":[1,2,{"a":1,"b":2}]}')
    wide = b'{"held": ["{[,:"], "list": [1, 2]}'
    assert apply(wide, [Insert("/list/-", [None, None])]).endswith(b'"list": [1, 2, [null, null]]}')
