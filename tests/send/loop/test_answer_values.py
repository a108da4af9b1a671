"""The answer goes back as the official SDKs send it back."""

from __future__ import annotations

import pytest

from tests.send.loop.samples import Replay, answered, call, chat, exchanged, replays
from workbench import protocols
from workbench.ir import JsonValue
from workbench.protocols.decode import DecodedExchange
from workbench.send.loop.next_request import answer_values
from workbench.wire.jsontext import dumps, loads

REPLAYS = {replay.name: replay for replay in replays() if "remembered" not in replay.name}

SDK_WAYS = {
    "openai_chat, openrouter-stream": (  # the SDK joins the role and the format of every chunk
        ("assistantassistantassistant", "assistant"),
        ("anthropic-claude-v1anthropic-claude-v1anthropic-claude-v1", "anthropic-claude-v1"),
    ),
    "gemini, loop-stream": (('\\n\\n","thought":true},{"text":"so', "\\n\\nso"),),  # a part for every chunk
    "gemini, structured-stream": (  # the client left the arguments out
        ('{"name":"read_file"}', '{"name":"read_file","args":{"path":"notes/é.md","options":ALL}}'),
        ("ALL", '{"tags":["東京"],"depth":2,"all":true}'),
    ),
    "gemini, server-stream": (("tool_type", "toolType"),),  # the SDK's own spelling
    "gemini, server-whole": (("tool_type", "toolType"),),
    "ollama, loop-whole": (  # the SDK's type of a call has no place for an id
        ('{"function":{"name":"read_file","arg', '{"id":"call_gsiiy8py","function":{"name":"read_file","arg'),
        ('{"function":{"name":"list_dir","arg', '{"id":"call_2k7ryu9k","function":{"name":"list_dir","arg'),
    ),
}  # fmt: skip
"""Where the recorded client sends other JSON than what came: (what it sends, what came)."""


def bare(value: JsonValue) -> JsonValue:
    """A value without what SDKs leave out or add: nulls, empty lists, the numbers of a stream's calls, bare strings."""
    if isinstance(value, dict):
        held = {k: bare(v) for k, v in value.items() if v is not None and k != "index"}
        return {k: v for k, v in held.items() if v not in ([], "")}
    return [bare(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", REPLAYS)
def test_it_is_what_the_official_sdk_sends(name: str) -> None:
    replay = REPLAYS[name]
    decoded = DecodedExchange(0, replay.exchange, replay.protocol)
    assert decoded.request is not None
    said = answer_values(decoded)
    assert bare(said) == bare(_sent(replay, len(said)))


def _sent(replay: Replay, count: int) -> list[JsonValue]:
    """The elements that the SDK put behind the history."""
    adapter = protocols.get(replay.protocol)
    key = adapter.decode_request(replay.next_body).messages[0].pointer.split("/")[1]
    asked = replay.exchange.request
    assert asked is not None
    before = loads(asked.body.raw).get(key)
    start = len(before) if isinstance(before, list) else 1
    text = dumps(loads(replay.next_body)).decode()
    for sent, came in SDK_WAYS.get(replay.name, ()):
        assert sent in text
        text = text.replace(sent, came)
    elements: list[JsonValue] = loads(text)[key]
    return elements[start : start + count]


def test_reasoning_that_is_refused_is_left_out_and_nothing_else() -> None:
    body = answered(call(), reasoning_content="Hm.", content="<think>\nHm.\n</think>\n\nI look.", vendor={"x": 1})
    decoded = DecodedExchange(0, exchanged(chat({"role": "user", "content": "?"}), body), "openai-chat")
    (all_of_it,), (rest,) = answer_values(decoded), answer_values(decoded, ["reasoning_content"])
    assert all_of_it == loads(body)["choices"][0]["message"]
    assert rest == {k: v for k, v in all_of_it.items() if k != "reasoning_content"}
    (bare_text,) = answer_values(decoded, ["reasoning_content", "think_text"])
    assert bare_text == rest | {"content": "I look."}


def test_a_block_that_is_refused_leaves_its_list() -> None:
    asked = b'{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}'
    blocks = b'[{"type":"redacted_thinking","data":"AA=="},{"type":"text","text":"a"}]'
    head = b'{"id":"msg_1","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","content":'
    decoded = DecodedExchange(0, exchanged(asked, head + blocks + b"}"), "anthropic-messages")
    assert answer_values(decoded, ["redacted_thinking"]) == [
        {"role": "assistant", "content": [{"type": "text", "text": "a"}]}
    ]
