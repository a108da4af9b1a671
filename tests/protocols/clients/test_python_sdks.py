"""Our policies of the Python SDKs against these SDKs themselves, on the same bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.protocols.clients import sdks
from workbench.protocols.clients.blocks import AnthropicPython
from workbench.protocols.clients.buffers import CALL, REASONING, PartBuffer, Policy, chunks, run
from workbench.protocols.clients.chat_by_merging import OpenAIPythonChat
from workbench.wire.sse import read_events

Json = dict[str, Any]


def ours(policy: Policy, body: bytes) -> sdks.Outcome:
    """What our policy says that the SDK does."""
    built = run(policy, chunks(read_events(body)))
    if built.stopped:
        return "raised", built.stopped.kind
    return "built", [[_part(part) for part in parts] for parts in built.messages]


def _part(part: PartBuffer) -> tuple[Any, ...]:
    if part.kind == CALL:
        arguments = part.value[0] if part.value else part.text("arguments")
        return ("call", part.text("id"), part.text("name"), arguments)
    if part.kind == REASONING:
        return ("reasoning", part.text("text") or "", part.text("signature") or "")
    return (part.kind, part.text("text")) if part.kind == "text" else ("other", part.name)


def said(outcome: sdks.Outcome) -> sdks.Outcome:
    """What can be compared: errors of one family are one, parts that say nothing are none."""
    kind, value = outcome
    if kind == "raised":
        return kind, _FAMILIES.get(value, value)
    return kind, [p for p in value if p[0] in ("call", "text", "reasoning") and (p[0] == "call" or any(p[1:]))]


_FAMILIES = {"AssertionError": "not read back", "AttributeError": "not read back", "IndexError": "not read back"}
"""The SDK reads calls back in several loops; which of two faults of one chunk it meets first is not ours to follow."""
_FAMILIES |= {"APIStatusError": "APIError", "InternalServerError": "APIError", "OverloadedError": "APIError"}


# -- Messages


def block_stream(events: Sequence[Json]) -> bytes:
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


START: Json = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}
ENDING: Json = {
    "type": "message_delta",
    "delta": {"stop_reason": "tool_use", "stop_sequence": None},
    "usage": {"output_tokens": 5},
}
INDICES = st.integers(0, 2)
TEXTS = st.sampled_from(['{"a"', ": 1", "}", '{"b": "x', '"}', '{"c": [1, 2', "", " ", "hello", "tru", ",}"])
BLOCK_VALUES: list[Json] = [
    {"type": "text", "text": ""},
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}},
    {"type": "tool_use", "id": "toolu_2", "name": "list_dir", "input": {"given": 1}},
]
BLOCKS = st.sampled_from(BLOCK_VALUES)
DELTAS = st.one_of(
    TEXTS.map(lambda t: {"type": "text_delta", "text": t}),
    TEXTS.map(lambda t: {"type": "thinking_delta", "thinking": t}),
    TEXTS.map(lambda t: {"type": "signature_delta", "signature": t}),
    TEXTS.map(lambda t: {"type": "input_json_delta", "partial_json": t}),
)
BLOCK_EVENTS = st.one_of(
    st.tuples(INDICES, BLOCKS).map(lambda p: {"type": "content_block_start", "index": p[0], "content_block": p[1]}),
    *[
        st.tuples(INDICES, DELTAS).map(lambda p: {"type": "content_block_delta", "index": p[0], "delta": p[1]})
        for _ in range(4)
    ],
    INDICES.map(lambda n: {"type": "content_block_stop", "index": n}),
    st.sampled_from([{"type": "ping"}, START]),
)


@st.composite
def healthy_blocks(draw: st.DrawFn) -> list[Json]:
    """Blocks one after the other, each with pieces of its own type."""
    events: list[Json] = []
    for index, block in enumerate(draw(st.lists(BLOCKS, max_size=3))):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        whole = {"text": "hello world", "thinking": "let me see", "tool_use": '{"path": "a\\n", "n": [1, -2.5]}'}[
            block["type"]
        ]
        kind, key = {
            "text": ("text_delta", "text"),
            "thinking": ("thinking_delta", "thinking"),
            "tool_use": ("input_json_delta", "partial_json"),
        }[block["type"]]
        cuts = sorted(draw(st.sets(st.integers(0, len(whole)), max_size=4)) | {0, len(whole)})
        pieces = [whole[a:b] for a, b in pairwise(cuts)]
        events += [{"type": "content_block_delta", "index": index, "delta": {"type": kind, key: p}} for p in pieces]
        events.append({"type": "content_block_stop", "index": index})
    return events


@settings(max_examples=40)
@given(
    st.one_of(healthy_blocks(), st.lists(BLOCK_EVENTS, max_size=12)),
    st.sampled_from([[START], [START], [START], []]),
    st.sampled_from([[ENDING, {"type": "message_stop"}], [ENDING], []]),
)
def test_anthropic(events: list[Json], start: list[Json], end: list[Json]) -> None:
    body = block_stream([*start, *events, *end])
    assert plain(ours(AnthropicPython(), body)) == plain(sdks.anthropic(body)), body.decode()


@pytest.mark.parametrize(("index", "kind"), [(5, "IndexError"), (None, "TypeError")], ids=["never opened", "no index"])
def test_anthropic_raises_where_a_delta_has_no_block(index: int | None, kind: str) -> None:
    delta = {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": "x"}}
    body = block_stream([START, delta])
    assert ours(AnthropicPython(), body) == sdks.anthropic(body) == ("raised", kind)


# -- Chat Completions

IDS = st.sampled_from([None, "call_1", "call_2", ""])
NAMES = st.sampled_from([None, "read_file", "list_dir", ""])
ARGUMENTS = st.sampled_from([None, "", '{"a"', ": 1}", '{"b": 2}', {"a": 1}])
SLOTS = st.sampled_from([0, 0, 0, 1, 1, 2, None, "absent"])


@st.composite
def call_deltas(draw: st.DrawFn) -> Json:
    """One delta of a call, with whatever faults."""
    delta: Json = {"index": draw(SLOTS), "type": "function"}
    if delta["index"] == "absent":
        del delta["index"]
    call_id, name, arguments = draw(IDS), draw(NAMES), draw(ARGUMENTS)
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None or draw(st.booleans())}
    if call_id is not None:
        delta["id"] = call_id
    if draw(st.integers(0, 9)):
        delta["function"] = function
    if not draw(st.integers(0, 4)):
        del delta["type"]
    return delta


def chat_stream(deltas: Sequence[Json], *, finish: bool = True, done: bool = True) -> bytes:
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunk_list = [head | {"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    if finish:
        chunk_list.append(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    body = b"".join(f"data: {json.dumps(c)}\n\n".encode() for c in chunk_list)
    return body + (b"data: [DONE]\n\n" if done else b"")


CHAT_DELTAS = st.one_of(
    st.sampled_from([{"role": "assistant", "content": None}, {"role": "assistant", "content": ""}]),
    st.sampled_from([{"content": "hel"}, {"content": "lo"}, {"reasoning_content": "so"}, {"reasoning_content": " it"}]),
    *[st.lists(call_deltas(), min_size=1, max_size=2).map(lambda calls: {"tool_calls": calls}) for _ in range(3)],
)


@settings(max_examples=150)
@given(st.lists(CHAT_DELTAS, max_size=7), st.booleans(), st.booleans())
def test_openai(deltas: list[Json], finish: bool, done: bool) -> None:
    body = chat_stream(deltas, finish=finish, done=done)
    assert plain(ours(OpenAIPythonChat(), body)) == plain(sdks.openai(body)), body.decode()


def plain(outcome: sdks.Outcome) -> sdks.Outcome:
    """An outcome in a form that can be compared, of the first choice."""
    kind, value = outcome
    if kind == "built" and value and isinstance(value[0], list):
        value = value[0]
    kind, value = said((kind, value))
    if kind == "raised":
        return kind, value
    return kind, [tuple(field or None for field in part) for part in value]
