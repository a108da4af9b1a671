"""What each event did, in words."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.accumulation.test_javascript_sdks import END, JSON, READ, TEXT, begin, call, grow, stop
from tests.accumulation.test_python_sdks import BLOCK_EVENTS, CHAT_DELTAS, START, Json, block_stream, chat_stream
from tests.tui.samples import MESSAGES, exchange
from workbench.accumulation.effects import Effects
from workbench.decode import Decoded


def told(body: bytes, url: str) -> list[list[str]]:
    decoded = Decoded(0, exchange({"model": "m", "messages": []}, body, url=url))
    effects = Effects(decoded.response, decoded.events)
    return [[deed.words for deed in effects.of(n)] for n in range(len(decoded.events))]


def test_blocks() -> None:
    events = [START, {"type": "ping"}, begin(0, TEXT), grow(0, "text_delta", "hi"), stop(0)]
    events += [
        begin(1, READ),
        grow(1, JSON, ""),
        grow(1, JSON, "{"),
        grow(1, JSON, "}"),
        stop(1),
        *END,
        {"type": "hologram"},
    ]
    body = block_stream(events) + b": keep-alive\n\n"
    assert told(body, MESSAGES) == [
        ["begins the message", "usage 1 input, 1 output"],
        ["ping"],
        ["begins text"],
        ["adds 2 characters to text"],
        ["closes text"],
        ["begins call read_file"],
        ["adds nothing to call read_file"],
        ["adds 1 character to arguments of call read_file"],
        ["adds 1 character to arguments of call read_file"],
        ["closes call read_file"],
        ["finish reason tool_use", "usage 5 output"],
        ["ends the stream"],
        ["nothing of it is kept"],
        ["comment"],
    ]


def test_chat() -> None:
    deltas: list[Json] = [{"role": "assistant"}, {"reasoning_content": "so"}, {"content": "hi"}]
    deltas += [call(0, "call_1", "f", '{"a"'), call(0, arguments=": 1}", kind="")]
    assert told(chat_stream(deltas), "https://x/v1/chat/completions") == [
        ["begins the message"],
        ["begins reasoning", "adds 2 characters to reasoning"],
        ["begins text", "adds 2 characters to text"],
        ["begins call f", "adds 4 characters to arguments of call f"],
        ["adds 4 characters to arguments of call f"],
        ["finish reason tool_calls"],
        ["ends the stream"],
    ]


@settings(max_examples=60)
@given(st.lists(BLOCK_EVENTS, max_size=10), st.lists(CHAT_DELTAS, max_size=8))
def test_every_event_did_something_that_can_be_said(events: list[Json], deltas: list[Json]) -> None:
    for done in (
        told(block_stream([START, *events]), MESSAGES),
        told(chat_stream(deltas), "https://x/v1/chat/completions"),
    ):
        assert all(words and all(words) for words in done)
