"""Single edits, and the bytes that they make."""

from __future__ import annotations

import json

import pytest

from tests.edits.bodies import conversation, decoded, made
from workbench.edits.operations import (
    Splices,
    duplicate,
    move,
    remove,
    rename,
    replace_range,
    set_parameter,
    set_text,
    set_value,
)
from workbench.errors import LocalProtocolError
from workbench.protocols.decode import DecodedExchange

CHAT = rb"""{ "model" : "m",
  "messages": [
    {"role": "user", "content": "a\/b \u00e9"} ,
    {"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":
      {"name":"f","arguments":"{\"path\": \"a\\u00e9\", \"n\": 1.0}"}}]},
    {"role":"tool", "tool_call_id":"c","content":"done"}
  ],
  "top_p": 1e0, "top_p": 2e0
}
"""
ARGUMENTS = "/messages/1/tool_calls/0/function/arguments"


def chat() -> DecodedExchange:
    return decoded(CHAT, "openai-chat")


def after(splices: Splices) -> bytes:
    return made(CHAT, splices)


@pytest.mark.parametrize(
    ("splices", "old", "new"),
    [
        (remove(chat(), "/messages/0"), rb'{"role": "user", "content": "a\/b \u00e9"} ,' + b"\n    ", b""),
        (remove(chat(), "/messages/2"), b',\n    {"role":"tool", "tool_call_id":"c","content":"done"}', b""),
        (remove(chat(), "/top_p"), b', "top_p": 2e0', b""),
        (remove(chat(), "/messages/0/content"), rb', "content": "a\/b \u00e9"', b""),
        (rename(chat(), "/model", "mödel"), b'"model"', rb'"m\u00f6del"'),
        (set_value(chat(), "/top_p", b"3.10\n"), b"2e0", b"3.10"),
        (set_value(chat(), f"{ARGUMENTS}/n", b'{"k" : "\xc3\xa9"}'), b"1.0", rb"{\"k\" : \"\u00e9\"}"),
        (set_value(chat(), ARGUMENTS, b'{"n":1}'), CHAT[CHAT.index(rb'"{\"path') : CHAT.index(b"}}]}")], b'{"n":1}'),
        (set_text(chat(), "/messages/0/content", "a/b è!"), rb"b \u00e9", rb"b \u00e8!"),
        (set_text(chat(), "/messages/2/content", "nothing done"), b'"done"', b'"nothing done"'),
        (set_text(chat(), f"{ARGUMENTS}/path", "b"), rb"a\\u00e9", b"b"),
        (set_text(chat(), "/messages/1/content", "now"), b"null", b'"now"'),
        (replace_range(CHAT, 2, 9, b"'model'"), b'"model"', b"'model'"),
    ],
)
def test_one_range_changes(splices: Splices, old: bytes, new: bytes) -> None:
    assert CHAT.count(old) == 1
    assert after(splices) == CHAT.replace(old, new)


def test_a_text_that_stays_changes_nothing() -> None:
    assert set_text(chat(), "/messages/0/content", "a/b é") == ()
    assert set_value(chat(), "/top_p", b" 2e0 ") == ()
    assert rename(chat(), "/model", "model") == ()
    assert replace_range(CHAT, 0, 1, b"{") == ()


def test_what_stands_between_messages_stays_when_they_move() -> None:
    moved = after(move(chat(), "/messages/2", -1))
    assert json.loads(moved)["messages"][1]["role"] == "tool"
    assert [line.rstrip()[-1:] for line in moved.splitlines()[2:5]] == [b",", b",", b":"]


def test_the_last_call_takes_its_list_along_and_the_last_text_does_not() -> None:
    assert json.loads(after(remove(chat(), "/messages/1/tool_calls/0")))["messages"][1] == {
        "role": "assistant",
        "content": None,
    }
    body = conversation("bedrock-converse")
    asked = decoded(body, "bedrock-converse")
    assert json.loads(made(body, remove(asked, "/messages/0/content/0")))["messages"][0]["content"] == []
    assert "toolConfig" not in json.loads(made(body, remove(asked, "/toolConfig/tools/0")))
    gemini = decoded(conversation("gemini"), "gemini")
    assert "tools" not in json.loads(made(gemini.request_text, remove(gemini, "/tools/0/functionDeclarations/0")))


def test_arguments_in_a_string_are_edited_as_json() -> None:
    other = decoded(after(remove(chat(), f"{ARGUMENTS}/n")), "openai-chat")
    call = json.loads(other.request_text)["messages"][1]["tool_calls"][0]["function"]
    assert call["arguments"] == '{"path": "a\\u00e9"}'
    added = after(set_parameter(chat(), f"{ARGUMENTS}/new", b'["x"]'))
    assert json.loads(json.loads(added)["messages"][1]["tool_calls"][0]["function"]["arguments"])["new"] == ["x"]


def test_a_result_of_blocks_keeps_its_form() -> None:
    image = {"type": "image", "source": {"type": "url", "url": "u"}}
    blocks = [{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}, {"type": "text", "text": "c"}]
    content = [{"type": "tool_result", "tool_use_id": "c", "content": blocks}]
    body = json.dumps({"messages": [{"role": "user", "content": content}]}).encode()
    at = "/messages/0/content/0/content"
    asked = decoded(body, "anthropic-messages")
    now = json.loads(made(body, set_text(asked, at, "other")))["messages"][0]["content"][0]["content"]
    assert now == [{"type": "text", "text": "other"}, image]
    bare = decoded(made(body, set_value(asked, at, json.dumps([image]).encode())), "anthropic-messages")
    told = json.loads(made(bare.request_text, set_text(bare, at, "x")))["messages"][0]["content"][0]["content"]
    assert told == [{"type": "text", "text": "x"}, image]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda d: remove(d, "/none"), "no value at this pointer"),
        (lambda d: remove(d, ""), "the whole"),
        (lambda d: duplicate(d, "/model"), "not an element of a list"),
        (lambda d: move(d, "/messages/0", -1), "cannot be moved further"),
        (lambda d: move(d, "/messages/2", 1), "cannot be moved further"),
        (lambda d: set_text(d, "/messages", "x"), "neither text"),
        (lambda d: set_value(d, "/model", b"{"), "line 1, column 2, byte 1: not JSON"),
        (lambda d: rename(d, "/messages/0", "x"), "no name"),
        (lambda d: rename(d, "/model", "messages"), "the name is in use"),
        (lambda d: set_parameter(d, "/messages/new", b"1"), "not an object"),
        (lambda d: replace_range(d.request_text, 5, 4, b""), "no such range"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said_in_one_line(edit, why: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LocalProtocolError, match=why) as error:
        edit(chat())
    assert "\n" not in str(error.value)
