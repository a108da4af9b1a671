"""Content blocks: what each kind becomes, and that nothing is lost of what is none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocols.block_bodies import Json
from tests.protocols.said import parts, request
from workbench.ir import (
    Carrier,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolResultIR,
)

BLOCKS: list[tuple[Any, Part]] = [
    (
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
        Text("a", {"cache_control": {"type": "ephemeral"}}),
    ),
    ({"type": "thinking", "thinking": "", "signature": "s"}, Reasoning(Carrier.THINKING, "", "s")),
    ({"type": "thinking", "thinking": "t"}, Reasoning(Carrier.THINKING, "t")),
    ({"type": "redacted_thinking", "data": "d"}, Reasoning(Carrier.REDACTED_THINKING, None, None, "d")),
    (
        {"type": "tool_use", "id": "i", "name": "n", "input": {"a": 1}, "caller": {"type": "direct"}},
        ToolCallIR("i", "n", {"a": 1}, "anthropic", extra={"caller": {"type": "direct"}}),
    ),
    ({"type": "tool_use", "name": "n", "input": {}}, ToolCallIR(None, "n", {}, "anthropic")),
    (
        {"type": "server_tool_use", "id": "i", "name": "n", "input": {}},
        ToolCallIR("i", "n", {}, "anthropic", is_server=True),
    ),
    (
        {"type": "mcp_tool_use", "id": "i", "name": "n", "input": {}, "server_name": "s"},
        ToolCallIR("i", "n", {}, "anthropic", is_server=True, extra={"type": "mcp_tool_use", "server_name": "s"}),
    ),
    ({"type": "tool_result", "tool_use_id": "i", "content": "x"}, ToolResultIR("i", (Text("x"),))),
    ({"type": "tool_result", "tool_use_id": "i", "is_error": True}, ToolResultIR("i", (), is_error=True)),
    (
        {
            "type": "tool_result",
            "tool_use_id": "",
            "content": [
                {"type": "tool_reference", "tool_name": "n"},
                {"type": "image", "source": {"type": "url", "url": "u"}},
            ],
        },
        ToolResultIR(
            "", (Opaque("tool_reference", {"type": "tool_reference", "tool_name": "n"}), Media("image", url="u"))
        ),
    ),
    (
        {"type": "tool_result", "tool_use_id": "i", "content": [{"type": "tool_use", "id": "no call"}]},
        ToolResultIR("i", (Opaque("tool_use", {"type": "tool_use", "id": "no call"}),)),
    ),
    (
        {
            "type": "bash_code_execution_tool_result",
            "tool_use_id": "i",
            "content": {"type": "some_result", "stdout": ""},
        },
        ToolResultIR(
            "i",
            (Opaque("some_result", {"type": "some_result", "stdout": ""}),),
            is_server=True,
            extra={"type": "bash_code_execution_tool_result"},
        ),
    ),
    (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}},
        Media("image", "image/png", "AA=="),
    ),
    (
        {"type": "document", "source": {"type": "file", "file_id": "f"}, "title": "t"},
        Media("document", file_id="f", extra={"title": "t"}),
    ),
    (
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
        Media("document", "text/plain", "words", extra={"source": {"type": "text"}}),
    ),
    (
        {"type": "document", "source": {"type": "content", "content": "x"}},
        Media("document", extra={"source": {"type": "content", "content": "x"}}),
    ),
    ({"type": "from_the_future", "x": [1]}, Opaque("from_the_future", {"type": "from_the_future", "x": [1]})),
]


@pytest.mark.parametrize(
    ("block", "part"), BLOCKS, ids=lambda value: value.get("type", "") if isinstance(value, dict) else ""
)
def test_blocks_become_parts(block: Json, part: Part) -> None:
    assert parts(block) == (part,)


def test_text_block_that_implies_nothing_keeps_its_type_apart() -> None:
    """An image given as ``text`` must not look like base64."""
    (media,) = parts({"type": "image", "source": {"type": "base64", "data": "AA==", "new_key": 1}})
    assert media == Media("image", None, "AA==", extra={"source": {"new_key": 1}})


WRONG: list[tuple[str, Any, str, str]] = [
    (
        "input is text",
        {"type": "tool_use", "id": "i", "name": "n", "input": "{}"},
        "args.not-object",
        "/content/0/input",
    ),
    (
        "input is a list",
        {"type": "tool_use", "id": "i", "name": "n", "input": []},
        "args.not-object",
        "/content/0/input",
    ),
    (
        "input is null",
        {"type": "tool_use", "id": "i", "name": "n", "input": None},
        "args.not-object",
        "/content/0/input",
    ),
    ("no input", {"type": "tool_use", "id": "i", "name": "n"}, "args.not-object", "/content/0"),
    ("id is a number", {"type": "tool_use", "id": 5, "name": "n", "input": {}}, "content.shape", "/content/0/id"),
    ("no text", {"type": "text"}, "content.shape", "/content/0"),
    ("text is null", {"type": "text", "text": None}, "content.shape", "/content/0"),
    ("no type", {"text": "a"}, "content.shape", "/content/0"),
    ("no block", "a", "content.shape", "/content/0"),
    ("image without source", {"type": "image", "source": "x"}, "content.shape", "/content/0"),
    (
        "result is a number",
        {"type": "tool_result", "tool_use_id": "i", "content": 4},
        "content.shape",
        "/content/0/content",
    ),
    (
        "error flag is text",
        {"type": "tool_result", "tool_use_id": "i", "is_error": "no"},
        "content.shape",
        "/content/0/is_error",
    ),
]


@pytest.mark.parametrize(("block", "slug", "pointer"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_wrong_blocks_are_kept_and_noted(block: Any, slug: str, pointer: str) -> None:
    said = request({"role": "user", "content": [block]})
    assert [(a.slug, a.pointer) for a in said.anomalies] == [(slug, f"/messages/0{pointer}")]
    assert len(said.messages[0].parts) == 1


def test_a_call_with_a_wrong_id_is_still_a_call() -> None:
    (call,) = parts({"type": "tool_use", "id": 5, "name": "n", "input": [1]})
    assert call == ToolCallIR(None, "n", [1], "anthropic", extra={"id": 5})


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("hello", Message("", (Opaque("string", "hello"),))),
        ({"content": "a"}, Message("", (Text("a"),))),
        ({"role": 3, "content": "a"}, Message("", (Text("a"),), {"role": 3})),
        ({"role": "user"}, Message("user", ())),
        ({"role": "user", "content": None}, Message("user", (), {})),
        ({"role": "user", "content": 3.5}, Message("user", (Opaque("number", 3.5),))),
        (
            {"role": "user", "content": {"type": "text", "text": "a"}},
            Message("user", (Opaque("object", {"type": "text", "text": "a"}),)),
        ),
    ],
)
def test_wrong_messages_are_kept_and_noted(message: Any, expected: Message) -> None:
    said = request({"role": "user", "content": "x"}, message)
    assert said.messages[1] == expected
    assert {a.slug for a in said.anomalies} == {"content.shape"}
    assert all(a.pointer.startswith("/messages/1") for a in said.anomalies)
