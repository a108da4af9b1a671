"""Changed leaves, written back into the bytes they came from."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from workbench.errors import LocalProtocolError
from workbench.ir import (
    Carrier,
    JsonValue,
    Message,
    ModelRequest,
    Opaque,
    Part,
    Reasoning,
    Segment,
    Source,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
)
from workbench.protocols.common import leaves
from workbench.protocols.common.changes import differences

BODY = (
    rb'{"messages": [{"role": "assistant", "content": "<think>h\u00e9</think>\u4eac yo", "x": {"y": [1, 2]},'
    rb' "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{\"a\": 1.0,  \"b\": \"\u00e9\"}"}}]},'
    rb' {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "r"}, {"type": "new", "v": null}]}]}'
)
THOUGHT = Reasoning(Carrier.THINK_TEXT, "hé", source=Source("/content", {"text": ""}, slices={"text": (7, 9)}))
SAID = Text("京 yo", source=Source("/content", {"text": ""}, slices={"text": (17, 21)}))
CALL = ToolCallIR(
    "c",
    "f",
    {"a": 1.0, "b": "é"},
    "openai",
    '{"a": 1.0,  "b": "é"}',
    source=Source(
        "/tool_calls/0",
        {"id": "/id", "name": "/function/name", "raw": "/function/arguments", "input": "/function/arguments"},
    ),
)
OPAQUE = Opaque("new", {"type": "new", "v": None}, Source("/content/1", {"value": ""}))
RESULT = ToolResultIR(
    "c",
    (Text("r", source=Source("/content/0", {"text": "/text"})), OPAQUE),
    source=Source("", {"tool_call_id": "/tool_call_id", "content": "/content"}),
)
MESSAGES = (
    Message("assistant", (THOUGHT, SAID, CALL), {"x": {"y": [1, 2]}}, "/messages/0"),
    Message("tool", (RESULT,), pointer="/messages/1"),
)


def edited(place: tuple[int, int], **fields: Any) -> tuple[Message, ...]:
    """The messages with fields of one part changed."""
    number, n = place
    message = MESSAGES[number]
    parts = tuple(replace(p, **fields) if i == n else p for i, p in enumerate(message.parts))
    return tuple(replace(message, parts=parts) if m is message else m for m in MESSAGES)


EDITS: list[tuple[str, tuple[int, int], dict[str, Any], bytes, bytes]] = [
    ("a slice", (0, 0), {"text": "hello"}, rb"h\u00e9", b"hello"),
    ("the other slice", (0, 1), {"text": "京 you"}, rb"\u4eac yo", rb"\u4eac you"),
    ("a slice becomes empty", (0, 1), {"text": ""}, rb"\u4eac yo", b""),
    ("in the style of its string", (0, 1), {"text": "京 éo"}, rb"\u4eac yo", rb"\u4eac \u00e9o"),
    ("a name", (0, 2), {"name": 'g"'}, b'"name": "f"', rb'"name": "g\""'),
    ("argument text", (0, 2), {"raw": '{"a": 1.0,  "b": "z"}'}, rb"\"\u00e9\"}", rb"\"z\"}"),
    ("parsed arguments", (0, 2), {"input": {"a": 1, "b": "é"}}, rb"\"a\": 1.0,", rb"\"a\": 1,"),
    ("a key more", (0, 2), {"input": {"a": 1.0}}, rb"{\"a\": 1.0,  \"b\": \"\u00e9\"}", rb"{\"a\":1.0}"),
    ("both alike", (0, 2), {"raw": "[2]", "input": [2]}, rb"{\"a\": 1.0,  \"b\": \"\u00e9\"}", b"[2]"),
    ("an id", (1, 0), {"tool_call_id": "d"}, b'"tool_call_id": "c"', b'"tool_call_id": "d"'),
    ("inside a result", (1, 0), {"content": (replace(RESULT.content[0], text="rr"), OPAQUE)}, b'"r"', b'"rr"'),
    (
        "inside what is opaque",
        (1, 0),
        {"content": (RESULT.content[0], replace(OPAQUE, value={"type": "new", "v": [True]}))},
        b'"v": null',
        b'"v": [true]',
    ),
]


@pytest.mark.parametrize(("place", "fields", "old", "new"), [e[1:] for e in EDITS], ids=[e[0] for e in EDITS])
def test_an_edit_changes_only_its_bytes(place: tuple[int, int], fields: dict[str, Any], old: bytes, new: bytes) -> None:
    assert BODY.count(old) == 1
    assert leaves.encode(MESSAGES, edited(place, **fields), BODY) == BODY.replace(old, new)


def test_what_is_equal_is_identical() -> None:
    copy = tuple(replace(m, parts=tuple(replace(p) for p in m.parts)) for m in MESSAGES)
    assert leaves.encode(MESSAGES, copy, BODY) == BODY


def test_new_characters_are_written_as_the_body_writes_them() -> None:
    after = (replace(MESSAGES[0], role="ü"), MESSAGES[1])
    assert leaves.encode(MESSAGES, after, BODY) == BODY.replace(b'"assistant"', rb'"\u00fc"')
    utf8 = BODY.replace(rb"\u4eac", "京".encode())
    assert leaves.encode(MESSAGES, after, utf8) == utf8.replace(b'"assistant"', '"ü"'.encode())


def test_roles_and_further_keys() -> None:
    changed = (replace(MESSAGES[0], role="model", extra={"x": {"y": [1, 3]}}), MESSAGES[1])
    expected = BODY.replace(b'"assistant"', b'"model"').replace(b"[1, 2]", b"[1, 3]")
    assert leaves.encode(MESSAGES, changed, BODY) == expected


REFUSED: list[tuple[str, tuple[Message, ...]]] = [
    ("a message less", MESSAGES[:1]),
    ("a part less", (replace(MESSAGES[0], parts=(THOUGHT, SAID)), MESSAGES[1])),
    ("another kind of part", (replace(MESSAGES[0], parts=(SAID, SAID, CALL)), MESSAGES[1])),
    ("a key more", (replace(MESSAGES[0], extra={}), MESSAGES[1])),
    ("a field without a place", edited((0, 0), signature="s")),
    ("another carrier", edited((0, 0), carrier=Carrier.REASONING)),
    ("text and parsed form disagree", edited((0, 2), raw="[2]", input=[3])),
    ("a part less in a result", edited((1, 0), content=(OPAQUE,))),
    ("only the type of what is opaque", edited((1, 0), content=(RESULT.content[0], replace(OPAQUE, type="old")))),
]


@pytest.mark.parametrize("after", [r[1] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_other_structure_is_refused(after: tuple[Message, ...]) -> None:
    with pytest.raises(LocalProtocolError):
        leaves.encode(MESSAGES, after, BODY)


def test_a_place_that_is_not_there_is_refused() -> None:
    lost = (replace(MESSAGES[0], pointer="/messages/7"), MESSAGES[1])
    with pytest.raises(LocalProtocolError, match="no value to change there"):
        leaves.encode(lost, (replace(lost[0], role="x"), MESSAGES[1]), BODY)


def test_bad_argument_text_can_be_replaced_through_its_parsed_form() -> None:
    body = rb'{"messages":[{"arguments":"{\"a\": "}]}'
    fields = {"raw": "/arguments", "input": "/arguments"}
    call = ToolCallIR(None, None, None, "openai", '{"a": ', error="cut", source=Source("", fields))
    before, after = (
        Message("", (c,), pointer="/messages/0") for c in (call, replace(call, input={"a": "é"}, error=None))
    )
    assert (
        leaves.encode((before,), (after,), body)
        == rb'{"messages":[{"arguments":"{\"a\":\"' + "é".encode() + rb'\"}"}]}'
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (1, 1, []),
        (1, True, [("", 1, True)]),
        (1, 1.0, [("", 1, 1.0)]),
        (float("nan"), float("nan"), []),
        ({"a": {"b/c": [1, 2]}}, {"a": {"b/c": [1, 3]}}, [("/a/b~1c/1", 2, 3)]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ([1, [2]], [1, [2, 3]], [("/1", [2], [2, 3])]),
        ({"a": {}}, {"a": []}, [("/a", {}, [])]),
    ],
)
def test_differences(old: JsonValue, new: JsonValue, expected: list[Any]) -> None:
    assert list(differences(old, new)) == expected


def test_nothing_is_too_deep_to_be_compared() -> None:
    deep: JsonValue = 1
    other: JsonValue = 2
    for _ in range(5_000):
        deep, other = [deep], {"a": [other]}["a"]
    assert [pair[1:] for pair in differences(deep, other)] == [(1, 2)]


@pytest.mark.parametrize(
    ("wanted", "agrees"),
    [
        (ModelRequest("p", "m", ()), True),
        (ModelRequest("p", "n", ()), False),
        (ModelRequest("p", "m", (), tools=(ToolDef("t", None, {"a": 1}),)), False),
        (ModelRequest("p", "m", (), tool_choice=ToolChoice("auto")), False),
        (ModelRequest("p", "m", (), params={"x": 1}), True),
    ],
)
def test_what_did_not_come_out_is_refused(wanted: ModelRequest, agrees: bool) -> None:
    written, names = ModelRequest("p", "m", ()), ("model", "tools", "tool_choice")
    if agrees:
        leaves.agree(written, wanted, names)
    else:
        with pytest.raises(LocalProtocolError, match="cannot be written back"):
            leaves.agree(written, wanted, names)


# -- streams


def events(*deltas: str) -> bytes:
    return b"".join(b'data: {"d": %s}\n\n' % delta.encode() for delta in deltas)


PIECES = ("a\u00e9", "", "\\n", "bc")
STREAM = b": hi\n\n" + events('"a\\u00e9"', '""', '"\\\\n"', '"bc"', '"{\\"k\\": "', '"[1]}"', '{"k": {"x": 1}}')


def streamed(kind: type[Part], name: str, value: JsonValue, *numbers: int, **more: Any) -> Part:
    segments = {name: tuple(Segment(n, "/d") for n in numbers)}
    fields = {name: f"/{name}"}
    if kind is ToolCallIR and "raw" in more:
        segments["raw"], fields["raw"] = segments[name], fields[name]
    slices = {name: more.pop("slice")} if "slice" in more else {}
    defaults: dict[str, Any] = {"id": None, "name": None, "format": "openai"} if kind is ToolCallIR else {}
    return kind(**{**defaults, name: value, **more}, source=Source("", fields, segments, numbers, slices))


TEXT = streamed(Text, "text", "".join(PIECES), 1, 2, 3, 4)
SLICE = streamed(Text, "text", "\\n", 1, 2, 3, 4, slice=(2, 4))
ARGUMENTS = streamed(ToolCallIR, "input", {"k": [1]}, 5, 6, raw='{"k": [1]}')
OBJECT = streamed(ToolCallIR, "input", {"k": {"x": 1}}, 7)

STREAM_EDITS: list[tuple[str, Part, dict[str, Any], dict[int, bytes]]] = [
    ("in one piece", TEXT, {"text": "aé\\nbd"}, {4: b'"bd"'}),
    ("in the first piece, in its style", TEXT, {"text": "aü\\nbc"}, {1: b'"a\\u00fc"'}),
    ("over several pieces", TEXT, {"text": "aXc"}, {1: b'"aX"', 3: b'""', 4: b'"c"'}),
    ("at the end", TEXT, {"text": "aé\\nbc."}, {4: b'"bc."'}),
    ("at the beginning", TEXT, {"text": ".aé\\nbc"}, {1: b'".a\\u00e9"'}),
    ("all of it", TEXT, {"text": ""}, {1: b'""', 3: b'""', 4: b'""'}),
    ("a slice", SLICE, {"text": "!"}, {3: b'"!"'}),
    ("argument text", ARGUMENTS, {"raw": '{"k": [12]}'}, {6: b'"[12]}"'}),
    ("parsed arguments", ARGUMENTS, {"input": {"k": [3]}}, {6: b'"[3]}"'}),
    ("an argument object", OBJECT, {"input": {"k": {"x": "y"}}}, {7: b'{"k": {"x": "y"}}'}),
]


@pytest.mark.parametrize(
    ("part", "fields", "expected"), [e[1:] for e in STREAM_EDITS], ids=[e[0] for e in STREAM_EDITS]
)
def test_a_stream_changes_only_in_the_pieces_concerned(
    part: Part, fields: dict[str, Any], expected: dict[int, bytes]
) -> None:
    before, after = Message("", (part,)), Message("", (replace(part, **fields),))
    changed = leaves.encode_stream((before,), (after,), STREAM).split(b"\n\n")
    blocks = STREAM.split(b"\n\n")
    assert changed == [b'data: {"d": %s}' % expected[n] if n in expected else block for n, block in enumerate(blocks)]
    assert leaves.encode_stream((before,), (before,), STREAM) == STREAM


def test_a_stream_holds_no_value_without_pieces() -> None:
    part = Text("a", {"k": 1}, Source("", {"extra": ""}))
    with pytest.raises(LocalProtocolError):
        leaves.encode_stream((Message("", (part,)),), (Message("", (replace(part, extra={"k": 2}),)),), STREAM)
    with pytest.raises(LocalProtocolError):
        leaves.encode_stream((Message("a", ()),), (Message("b", ()),), STREAM)


def test_the_stream_of_these_tests_says_what_they_think() -> None:
    said = [json.loads(block[6:])["d"] for block in STREAM.split(b"\n\n")[1:-1]]
    assert said == [*PIECES, '{"k": ', "[1]}", {"k": {"x": 1}}]
