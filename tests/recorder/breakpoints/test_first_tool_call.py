"""Where the first call of an answer begins, in every framing and protocol, however the bytes are cut."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.recorder.holding import ANSWER, BEFORE, CALL, END, event
from workbench.recorder.breakpoints.held_response import FirstToolCall
from workbench.wire.stream import aws_message


def data(*values: object, end: bytes = b"\n\n") -> bytes:
    return b"".join(b"data: " + (v if isinstance(v, bytes) else json.dumps(v).encode()) + end for v in values)


def delta(**words: object) -> dict[str, object]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": words}]}


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(v).encode() + b"\n" for v in values)


def element(value: object) -> bytes:
    return json.dumps(value).encode()


def parts(*values: object) -> dict[str, object]:
    return {"candidates": [{"content": {"role": "model", "parts": list(values)}}]}


CHAT_CALL = delta(tool_calls=[{"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}])
ITEM = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": ""}
SAYS, CALLS = parts({"text": "a tool call"}), parts({"functionCall": {"name": "f", "args": {}}})
OLLAMA = {"model": "m", "done": False, "message": {"role": "assistant", "content": "call a tool"}}
OLLAMA_CALL = {**OLLAMA, "message": {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}}

SSE = "text/event-stream"
STREAMS = {
    "anthropic": ("anthropic-messages", SSE, BEFORE, CALL + END),
    "chat": (
        "openai-chat",
        SSE,
        data(delta(role="assistant"), delta(content="a tool call")),
        data(CHAT_CALL, b"[DONE]"),
    ),
    "carriage returns": ("openai-chat", SSE, data(delta(content="function"), end=b"\r\n\r\n"), data(CHAT_CALL)),
    "mislabelled": ("openai-chat", "text/plain", data(delta(content="hi")), data(CHAT_CALL)),
    "responses": (
        "openai-responses",
        SSE,
        event("response.created", response={"id": "r", "object": "response", "tools": [{"type": "function"}]}),
        event("response.output_item.added", output_index=0, item=ITEM),
    ),
    "gemini": ("gemini", SSE, data(SAYS), data(CALLS)),
    "array": (
        "gemini",
        "application/json",
        b"[" + json.dumps(SAYS).encode(),
        b",\r\n" + json.dumps(CALLS).encode() + b"]",
    ),
    "ollama": ("ollama", "application/x-ndjson", lines(OLLAMA), lines(OLLAMA_CALL)),
    "bedrock": (
        "bedrock-converse",
        "application/vnd.amazon.eventstream",
        aws_message("contentBlockDelta", b'{"contentBlockIndex":0,"delta":{"text":"a tool"}}'),
        aws_message(
            "contentBlockStart",
            b'{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"f"}}}',
        ),
    ),
}


def fed(first: FirstToolCall, pieces: list[bytes]) -> FirstToolCall:
    for piece in pieces:
        first.feed(piece)
    first.close()
    return first


def cut(whole: bytes, size: int) -> list[bytes]:
    return [whole[n : n + size] for n in range(0, len(whole), size)]


@pytest.mark.parametrize("size", [1, 23, 100_000])
@pytest.mark.parametrize("name", STREAMS)
def test_everything_before_the_first_call_is_free_and_nothing_after(name: str, size: int) -> None:
    protocol, kind, before, call = STREAMS[name]
    first = fed(FirstToolCall(protocol, kind, ""), cut(before, size) + cut(call, size))
    assert (first.is_found, first.releasable) == (True, len(before))


@pytest.mark.parametrize("name", STREAMS)
def test_without_a_call_everything_is_free(name: str) -> None:
    protocol, kind, before, _ = STREAMS[name]
    first = fed(FirstToolCall(protocol, kind, ""), cut(before, 9))
    assert (first.is_found, first.releasable) == (False, len(before))


@given(st.lists(st.integers(1, 300), max_size=12))
@settings(max_examples=25)
def test_no_cut_changes_where_it_begins(sizes: list[int]) -> None:
    first, whole, at = FirstToolCall("anthropic-messages", SSE, ""), BEFORE + CALL + END, 0
    for size in [*sizes, len(whole)]:
        first.feed(whole[at : at + size])
        at += size
        assert first.releasable <= min(at, len(BEFORE))
    assert (first.is_found, first.releasable) == (True, len(BEFORE))


def test_an_answer_that_is_no_stream_is_one_unit_behind_its_blanks() -> None:
    first = FirstToolCall("anthropic-messages", "application/json", "")
    first.feed(b"\n\n ")
    assert first.releasable == 3, "a server that thinks keeps its client awake"
    first.feed(ANSWER)
    assert first.releasable == 3
    first.close()
    assert first.is_found and first.releasable == 3


def test_what_is_packed_leaves_in_whole_pieces() -> None:
    pack = zlib.compressobj(wbits=31)
    pieces = [pack.compress(part) + pack.flush(zlib.Z_SYNC_FLUSH) for part in (BEFORE, CALL, END)]
    first = fed(FirstToolCall("anthropic-messages", SSE, "gzip"), pieces)
    assert (first.is_found, first.releasable) == (True, len(pieces[0]))


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("gzip", b"no gzip at all"), ("made-up", gzip.compress(ANSWER, mtime=0)), ("", b"\xff\xfe tool call {")],
)
def test_what_cannot_be_read_leaves(encoding: str, body: bytes) -> None:
    first = fed(FirstToolCall("anthropic-messages", "application/json", encoding), [body])
    assert (first.is_found, first.releasable) == (False, len(body))
