"""Our policies of the JavaScript SDKs against what these SDKs built, checked by hand on node 20.

``@anthropic-ai/sdk`` 1.11.0 (``messages.stream(…).finalMessage()``), ``openai`` 6.49.0
(``chat.completions.stream(…).finalChatCompletion()``), ``ai`` 6.0.326 ``streamText`` with ``@ai-sdk/anthropic`` 3.0.138
and ``@ai-sdk/openai-compatible`` 2.0.87: each was given these bytes, and gave what stands here. An id that a client
makes up is written ``MADE_UP``; the AI SDK shows no signatures, and hands on parsed arguments.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocols.clients.test_python_sdks import ENDING, START, Json, block_stream, chat_stream, ours
from workbench.protocols.clients.blocks import AnthropicTypeScript, VercelAnthropic
from workbench.protocols.clients.buffers import MADE_UP
from workbench.protocols.clients.chat_by_index import OpenAINode
from workbench.protocols.clients.chat_tracked import VercelCompatible

KEYS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


def begin(index: int, block: Json) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": block}


def grow(index: int, kind: str, text: str) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, KEYS[kind]: text}}


def stop(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


def call(
    index: object,
    call_id: str | None = None,
    name: str | None = None,
    arguments: object = None,
    *,
    kind: str = "function",
) -> Json:
    """A delta of a call; what is None or "" is left out, and an index of "absent"."""
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    made = {"index": index, "id": call_id, "type": kind or None, "function": function}
    return {"tool_calls": [{k: v for k, v in made.items() if v != "absent" and (v is not None or k == "index")}]}


TEXT: Json = {"type": "text", "text": ""}
READ: Json = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}}
LIST: Json = {"type": "tool_use", "id": "toolu_2", "name": "list_dir", "input": {}}
THINKING: Json = {"type": "thinking", "thinking": "", "signature": ""}
END: list[Json] = [ENDING, {"type": "message_stop"}]
JSON = "input_json_delta"
ROLE: Json = {"role": "assistant", "content": None}

BLOCKS: dict[str, tuple[list[Json], Any, Any]] = {
    "healthy": (
        [
            START,
            begin(0, THINKING),
            grow(0, "thinking_delta", "hm"),
            grow(0, "signature_delta", "s"),
            stop(0),
            begin(1, TEXT),
            grow(1, "text_delta", "hi"),
            stop(1),
            begin(2, READ),
            grow(2, JSON, '{"a"'),
            grow(2, JSON, ": 1}"),
            stop(2),
            *END,
        ],
        ("built", [("reasoning", "hm", "s"), ("text", "hi"), ("call", "toolu_1", "read_file", {"a": 1})]),
        ("built", [("reasoning", "hm", "s"), ("text", "hi"), ("call", "toolu_1", "read_file", {"a": 1})]),
    ),
    "index reused": (
        [
            START,
            begin(0, READ),
            grow(0, JSON, '{"a": 1}'),
            stop(0),
            begin(0, LIST),
            grow(0, JSON, '{"b": 2}'),
            stop(0),
            *END,
        ],
        ("raised", "AnthropicError"),
        ("built", [("call", "toolu_1", "read_file", {"a": 1}), ("call", "toolu_2", "list_dir", {"b": 2})]),
    ),
    "overlapping": (
        [
            START,
            begin(0, READ),
            begin(1, LIST),
            grow(0, JSON, '{"a": 1}'),
            grow(1, JSON, '{"b": 2}'),
            stop(0),
            stop(1),
            *END,
        ],
        ("built", [("call", "toolu_1", "read_file", {"a": 1}), ("call", "toolu_2", "list_dir", {"b": 2})]),
        ("built", [("call", "toolu_1", "read_file", {"a": 1}), ("call", "toolu_2", "list_dir", {"b": 2})]),
    ),
    "cut arguments, no stop": (
        [START, begin(0, READ), grow(0, JSON, '{"a": "x'), *END],
        ("built", [("call", "toolu_1", "read_file", {})]),
        ("built", []),
    ),
    "cut arguments": (
        [START, begin(0, READ), grow(0, JSON, '{"a": "x'), stop(0), *END],
        ("built", [("call", "toolu_1", "read_file", {})]),
        ("built", [("call", "toolu_1", "read_file", '{"a": "x')]),
    ),
    "ends early": (
        [START, begin(0, TEXT), grow(0, "text_delta", "hi")],
        ("raised", "AnthropicError"),
        ("built", [("text", "hi")]),
    ),
    "second start": (
        [
            START,
            begin(0, TEXT),
            grow(0, "text_delta", "a"),
            stop(0),
            {**START, "message": {**START["message"], "id": "msg_2"}},
            begin(0, TEXT),
            grow(0, "text_delta", "b"),
            stop(0),
            *END,
        ],
        ("raised", "AnthropicError"),
        ("raised", "InvalidResponseDataError"),
    ),
    "second start, same id": (
        [
            START,
            begin(0, TEXT),
            grow(0, "text_delta", "a"),
            stop(0),
            START,
            begin(1, TEXT),
            grow(1, "text_delta", "b"),
            stop(1),
            *END,
        ],
        ("raised", "AnthropicError"),
        ("built", [("text", "a"), ("text", "b")]),
    ),
    "delta never opened": (
        [START, begin(0, TEXT), grow(5, "text_delta", "x"), grow(0, "text_delta", "a"), stop(0), *END],
        ("built", [("text", "a")]),
        ("raised", "Error"),
    ),
    "delta before any block": (
        [START, grow(0, "text_delta", "x"), *END],
        ("raised", "AnthropicError"),
        ("raised", "Error"),
    ),
    "two signatures": (
        [
            START,
            begin(0, THINKING),
            grow(0, "thinking_delta", "hm"),
            grow(0, "signature_delta", "s1"),
            grow(0, "signature_delta", "s2"),
            stop(0),
            *END,
        ],
        ("built", [("reasoning", "hm", "s2")]),
        ("built", [("reasoning", "hm", "s2")]),
    ),
    "malformed arguments": (
        [START, begin(0, READ), grow(0, JSON, '{"a": 1}{"b"'), grow(0, JSON, ": 2}"), stop(0), *END],
        ("raised", "AnthropicError"),
        ("built", [("call", "toolu_1", "read_file", '{"a": 1}{"b": 2}')]),
    ),
    "skipped index": (
        [START, begin(1, READ), grow(1, JSON, '{"a": 1}'), stop(1), *END],
        ("built", [("call", "toolu_1", "read_file", {})]),
        ("built", [("call", "toolu_1", "read_file", {"a": 1})]),
    ),
    "no message start": (
        [begin(0, TEXT), grow(0, "text_delta", "a"), stop(0), *END],
        ("raised", "AnthropicError"),
        ("built", [("text", "a")]),
    ),
}

CALLS: dict[str, tuple[list[Json], Any, Any]] = {
    "healthy": (
        [
            ROLE,
            {"reasoning_content": "so"},
            {"reasoning_content": " it"},
            {"content": "he"},
            {"content": "llo"},
            call(0, "call_1", "read_file", ""),
            call(0, arguments='{"a"', kind=""),
            call(0, arguments=": 1}", kind=""),
            call(1, "call_2", "list_dir", '{"b": 2}'),
        ],
        (
            "built",
            [
                ("reasoning", " it", ""),
                ("text", "hello"),
                ("call", "call_1", "read_file", '{"a": 1}'),
                ("call", "call_2", "list_dir", '{"b": 2}'),
            ],
        ),
        (
            "built",
            [
                ("reasoning", "so it", ""),
                ("text", "hello"),
                ("call", "call_1", "read_file", '{"a": 1}'),
                ("call", "call_2", "list_dir", '{"b": 2}'),
            ],
        ),
    ),
    "index reused": (
        [ROLE, call(0, "call_1", "read_file", '{"a": 1}'), call(0, "call_2", "list_dir", '{"b": 2}')],
        ("built", [("call", "call_2", "list_dir", '{"a": 1}{"b": 2}')]),
        ("built", [("call", "call_1", "read_file", '{"a": 1}'), ("call", "call_2", "list_dir", '{"b": 2}')]),
    ),
    "index reused, same name": (
        [ROLE, call(0, "call_1", "read_file", '{"a": 1}'), call(0, "call_2", "read_file", '{"b": 2}')],
        ("built", [("call", "call_2", "read_file", '{"a": 1}{"b": 2}')]),
        ("built", [("call", "call_1", "read_file", '{"a": 1}'), ("call", "call_2", "read_file", '{"b": 2}')]),
    ),
    "index reused in pieces": (
        [
            ROLE,
            call(0, "call_1", "read_file", '{"a": 1}'),
            call(0, "call_2", "list_dir", ""),
            call(0, arguments='{"b": 2}', kind=""),
        ],
        ("built", [("call", "call_2", "list_dir", '{"a": 1}{"b": 2}')]),
        ("built", [("call", "call_1", "read_file", '{"a": 1}'), ("call", "call_2", "list_dir", "")]),
    ),
    "no index": (
        [ROLE, call("absent", "call_1", "read_file", '{"a"'), call("absent", arguments=": 1}", kind="")],
        ("built", []),
        ("built", [("call", "call_1", "read_file", '{"a": 1}')]),
    ),
    "index null, two calls": (
        [ROLE, call(None, "call_1", "read_file", '{"a": 1}'), call(None, "call_2", "list_dir", '{"b": 2}')],
        ("built", []),
        ("built", [("call", "call_1", "read_file", '{"a": 1}'), ("call", "call_2", "list_dir", '{"b": 2}')]),
    ),
    "no id": (
        [ROLE, call(0, None, "read_file", '{"a": 1}')],
        ("built", [("call", MADE_UP, "read_file", '{"a": 1}')]),
        ("built", [("call", MADE_UP, "read_file", '{"a": 1}')]),
    ),
    "id repeated": (
        [ROLE, call(0, "call_1", "read_file", '{"a"'), call(0, "call_1", None, ": 1}")],
        ("built", [("call", "call_1", "read_file", '{"a": 1}')]),
        ("built", [("call", "call_1", "read_file", '{"a": 1}')]),
    ),
    "id and name repeated": (
        [ROLE, call(0, "call_1", "read_file", '{"a"'), call(0, "call_1", "read_file", ": 1}")],
        ("built", [("call", "call_1", "read_file", '{"a": 1}')]),
        ("built", [("call", "call_1", "read_file", '{"a": 1}')]),
    ),
    "id changes": (
        [ROLE, call(0, "call_1", "read_file", '{"a"'), call(0, "call_9", None, ": 1}")],
        ("built", [("call", "call_9", "read_file", '{"a": 1}')]),
        ("built", [("call", "call_1", "read_file", '{"a": 1}')]),
    ),
    "late name": (
        [ROLE, call(0, "call_1", None, '{"a"'), call(0, None, "read_file", ": 1}")],
        ("built", [("call", "call_1", "read_file", '{"a": 1}')]),
        ("built", [("call", "call_1", "read_file", '{"a": 1}')]),
    ),
    "no name": (
        [ROLE, call(0, "call_1", None, '{"a": 1}')],
        ("built", [("call", "call_1", "", '{"a": 1}')]),
        ("raised", "InvalidResponseDataError"),
    ),
    "no type": (
        [ROLE, call(0, "call_1", "read_file", '{"a": 1}', kind="")],
        ("raised", "OpenAIError"),
        ("built", [("call", "call_1", "read_file", '{"a": 1}')]),
    ),
    "two calls with one id": (
        [ROLE, call(0, "call_1", "read_file", '{"a": 1}'), call(1, "call_1", "list_dir", '{"b": 2}')],
        ("built", [("call", "call_1", "read_file", '{"a": 1}'), ("call", "call_1", "list_dir", '{"b": 2}')]),
        ("built", [("call", "call_1", "read_file", '{"a": 1}'), ("call", MADE_UP, "list_dir", '{"b": 2}')]),
    ),
    "arguments as an object": (
        [ROLE, call(0, "call_1", "read_file", {"a": 1})],
        ("built", [("call", "call_1", "read_file", "[object Object]")]),
        ("built", []),
    ),
    "begins at index 1": (
        [ROLE, call(1, "call_1", "read_file", '{"a": 1}')],
        ("raised", "OpenAIError"),
        ("built", [("call", "call_1", "read_file", '{"a": 1}')]),
    ),
    "no role": (
        [call(0, "call_1", "read_file", '{"a": 1}')],
        ("raised", "OpenAIError"),
        ("built", [("call", "call_1", "read_file", '{"a": 1}')]),
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(name: str) -> None:
    events, typescript, vercel = BLOCKS[name]
    body = block_stream(events)
    assert one(ours(AnthropicTypeScript(), body)) == typescript
    assert one(ours(VercelAnthropic(), body)) == vercel


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str) -> None:
    deltas, node, vercel = CALLS[name]
    body = chat_stream(deltas)
    assert one(ours(OpenAINode(), body)) == node
    assert one(ours(VercelCompatible(), body)) == vercel


def test_without_a_finish_reason_the_node_sdk_raises() -> None:
    body = chat_stream([ROLE, {"content": "hi"}], finish=False)
    assert ours(OpenAINode(), body) == ("raised", "OpenAIError")
    assert one(ours(VercelCompatible(), body)) == ("built", [("text", "hi")])


def one(outcome: tuple[str, Any]) -> tuple[str, Any]:
    """The parts of the only choice."""
    kind, value = outcome
    return kind, value[0] if kind == "built" and value else value
