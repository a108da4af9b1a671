"""What each event did, in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocols.clients.test_javascript_sdks import END, JSON, READ, TEXT, begin, call, grow, stop
from tests.protocols.clients.test_python_sdks import BLOCK_EVENTS, CHAT_DELTAS, START, Json, block_stream, chat_stream
from tests.tui.samples import MESSAGES, exchange
from workbench import testing
from workbench.protocols.clients import effects as effects_module
from workbench.protocols.clients.effects import Effects
from workbench.protocols.clients.event_effects import Effect, What, insertion
from workbench.protocols.decode import DecodedExchange

DATA = Path(__file__).parents[2] / "data"
PROTOCOLS = (
    "anthropic-messages",
    "bedrock-converse",
    "bedrock-invoke",
    "cohere-v2",
    "gemini",
    "gemini-interactions",
    "ollama",
    "openai-chat",
    "openai-responses",
)


def told(body: bytes, url: str) -> list[list[str]]:
    decoded = DecodedExchange(0, exchange({"model": "m", "messages": []}, body, url=url))
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
        ["the event is ignored"],
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


RESPONSES = [
    (0, "created", "begins the message"),
    (1, "in_progress", "nothing new"),
    (2, "output_item.added", "begins reasoning; adds 13 characters to data of reasoning"),
    (9, "reasoning_summary_text.delta", "adds 4 characters to reasoning"),
    (10, "reasoning_summary_text.done", "repeats reasoning completely"),
    (18, "output_item.added", "begins a message"),
    (19, "content_part.added", "begins text"),
    (23, "output_text.done", "repeats text completely"),
    (25, "output_item.done", "repeats text completely; closes text"),
    (26, "output_item.added", "begins call read_file"),
    (27, "function_call_arguments.delta", "adds 7 characters to arguments of call read_file"),
    (31, "function_call_arguments.done", "repeats arguments of call read_file completely"),
    (32, "output_item.done", "repeats arguments of call read_file completely; closes call read_file"),
    (
        46,
        "completed",
        "finish reason completed; usage 46 input, 40 output, 16 reasoning; repeats the response completely; ends "
        "the stream",
    ),
]
CONVERSE = [
    (0, "messageStart", "begins the message"),
    (1, "contentBlockDelta", "begins reasoning; adds 7 characters to reasoning"),
    (3, "contentBlockDelta", "adds 12 characters to signature of reasoning"),
    (4, "contentBlockStop", "closes reasoning"),
    (8, "contentBlockStart", "begins call get_weather"),
    (9, "contentBlockDelta", "adds 9 characters to arguments of call get_weather"),
    (12, "messageStop", "finish reason tool_use"),
    (13, "metadata", "usage 40 input, 30 output"),
]
INVOKE = [
    (0, "message_start", "begins the message; usage 40 input, 30 output"),
    (5, "content_block_start", "begins call get_weather"),
    (8, "content_block_stop", "closes call get_weather"),
    (10, "message_stop", "ends the stream"),
]
COHERE = [
    (0, "message-start", "begins the message"),
    (1, "content-start", "begins reasoning"),
    (4, "content-end", "closes reasoning"),
    (11, "citation-start", "changes citations of the message"),
    (12, "citation-end", "the event is ignored"),
    (13, "message-end", "finish reason COMPLETE; usage 506 input, 33 output"),
    (14, "[DONE]", "ends the stream"),
]
GEMINI = [
    (1, "", "adds 24 characters to reasoning; usage 382 input, 96 output, 79 reasoning"),
    (4, "", "begins call list_dir; usage 382 input, 96 output, 79 reasoning"),
    (5, "", "finish reason STOP; usage 382 input, 96 output, 79 reasoning; ends the stream"),
]
OLLAMA = [
    (0, "", "begins reasoning; adds 10 characters to reasoning"),
    (1, "", "adds 7 characters to reasoning"),
    (3, "", "begins call read_file; adds 21 characters to arguments of call read_file"),
    (5, "", "finish reason stop; usage 292 input, 143 output; ends the stream"),
]
FILES = [
    ("openai_responses/loop-stream-1.response.sse", "openai-responses", RESPONSES),
    ("bedrock_converse/loop-stream-1.response.eventstream", "bedrock-converse", CONVERSE),
    ("bedrock_invoke/loop-stream-1.response.eventstream", "bedrock-invoke", INVOKE),
    ("cohere/loop-stream-2.response.sse", "cohere-v2", COHERE),
    ("gemini/loop-stream-1.response.sse", "gemini", GEMINI),
    ("ollama/loop-stream-1.response.ndjson", "ollama", OLLAMA),
]


@pytest.mark.parametrize(("name", "protocol", "expected"), FILES, ids=[row[1] for row in FILES])
def test_events_of_every_protocol(name: str, protocol: str, expected: list[tuple[int, str, str]]) -> None:
    decoded = DecodedExchange(0, exchange({}, (DATA / name).read_bytes(), url="https://x/"), protocol)
    effects = Effects(decoded.response, decoded.events)
    said = [
        (n, effects.type_of(decoded.events[n]), "; ".join(d.words for d in effects.of(n)))
        for n in range(len(decoded.events))
    ]
    assert [said[n] for n, _, _ in expected] == expected


def responses(*events: Json) -> bytes:
    return block_stream([{"type": f"response.{kind}", **event} for kind, event in ((e.pop("kind"), e) for e in events)])


def test_a_done_event_that_says_otherwise_and_an_answer_that_begins_again() -> None:
    item: Json = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": ""}
    at: Json = {"output_index": 0, "item_id": "fc"}
    body = responses(
        {"kind": "created", "response": {"id": "r1", "output": []}},
        {"kind": "output_item.added", "output_index": 0, "item": item},
        {"kind": "function_call_arguments.delta", **at, "delta": '{"a": 1'},
        {"kind": "function_call_arguments.delta", **at, "delta": "2}"},
        {"kind": "function_call_arguments.done", **at, "arguments": '{"b": 2}'},
        {"kind": "created", "response": {"id": "r2", "output": []}},
        {"kind": "output_item.added", "output_index": 0, "item": item},
    )
    assert told(body, "https://x/v1/responses") == [
        ["begins the message"],
        ["begins call f"],
        ["adds 7 characters to arguments of call f"],
        ["adds 2 characters to arguments of call f"],
        ["replaces arguments of call f with 8 characters"],
        ["drops everything before this event: the response starts again"],
        ["begins call f"],
    ]


def test_free_text_of_a_call_that_looks_like_an_empty_object_is_added() -> None:
    call = {"index": 0, "id": "call_1", "type": "custom", "custom": {"name": "A", "input": ""}}
    pieces = [call, {"index": 0, "custom": {"input": "{}"}}]
    body = chat_stream([{"tool_calls": [piece]} for piece in pieces])
    decoded = DecodedExchange(0, exchange({}, body, url="https://x/"), "openai-chat")
    effects = Effects(decoded.response, decoded.events)
    assert [effects.of(n)[0].words for n in range(2)] == ["begins call A", "adds 2 characters to arguments of call A"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_words_of_a_long_stream_are_those_of_the_answers_compared(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is told from the places of the strings alone is what comparing the answers tells."""

    @settings(max_examples=4)
    @given(testing.streams(protocol))
    def agree(body: bytes) -> None:
        decoded = DecodedExchange(0, exchange({}, body, url="https://x/"), protocol)
        fast, slow = (Effects(decoded.response, decoded.events) for _ in range(2))
        monkeypatch.setattr(slow, "_additions", lambda number, value: [])
        for n in range(len(decoded.events)):
            assert fast.of(n) == slow.of(n)
            assert all(deed.words for deed in fast.of(n))

    agree()


def test_beyond_the_limit_nothing_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects_module, "MOST_COMPARED", 0)
    item: Json = {"type": "message", "id": "m", "content": []}
    part: Json = {"kind": "content_part.added", "output_index": 0, "content_index": 0}
    body = responses(
        {"kind": "output_item.added", "output_index": 0, "item": item},
        {**part, "part": {"type": "output_text", "text": ""}},
        {"kind": "output_text.delta", "output_index": 0, "content_index": 0, "delta": "hel"},
        {"kind": "output_text.delta", "output_index": 0, "content_index": 0, "delta": "lo"},
        {"kind": "output_text.done", "output_index": 0, "content_index": 0, "text": "hello"},
    )
    assert told(body, "https://x/v1/responses")[1:] == [
        ["refers to text"],
        ["adds 3 characters to text"],
        ["adds 2 characters to text"],
        ["repeats text completely", "closes text"],
    ]


INSERTED = [
    ("at the end", "ab", "abc", "c"),
    ("before what closes", '{"a":"x"}', '{"a":"xy"}', "y"),
    ("nothing", "ab", "ab", ""),
    ("another text", "ab", "xbc", None),
    ("less", "abc", "ab", None),
]


@pytest.mark.parametrize(("old", "new", "expected"), [row[1:] for row in INSERTED], ids=[row[0] for row in INSERTED])
def test_what_was_inserted(old: str, new: str, expected: str | None) -> None:
    assert insertion(old, new) == expected


def test_one_character() -> None:
    assert (
        Effect(What.ADDED, noun="call f", field="input", characters=1).words
        == "adds 1 character to arguments of call f"
    )
