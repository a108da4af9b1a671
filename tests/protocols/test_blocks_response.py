"""Whole answers made of blocks, and errors in their place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.protocols import block_bodies as bodies
from tests.protocols.block_bodies import Json
from tests.protocols.said import answer
from workbench.errors import ProtocolMismatch, WireError
from workbench.ir import (
    Message,
    Text,
    Usage,
)
from workbench.protocols.anthropic_messages import adapter


def test_an_answer() -> None:
    said = answer(
        bodies.message_body([{"type": "text", "text": "a"}], "max_tokens")
        | {
            "usage": {
                "input_tokens": 3,
                "output_tokens": 9,
                "cache_read_input_tokens": 5,
                "cache_creation_input_tokens": 7,
                "output_tokens_details": {"thinking_tokens": 4},
            }
        }
    )
    assert said.messages == (Message("assistant", (Text("a"),)),)
    assert (said.id, said.model, said.finish_reason, said.stop) == ("msg_1", "claude-x", "max_tokens", "length")
    assert said.usage == replace(Usage(3, 9, 5, 7, 4), raw=said.usage.raw if said.usage else {})
    assert dict(said.params) == {"type": "message", "stop_sequence": None}
    assert said.is_complete and not said.is_stream and not said.anomalies


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("refusal", "filter"),
        ("pause_turn", "pause"),
        ("model_context_window_exceeded", "length"),
        ("novelty", "other"),
        (None, None),
        (7, None),
    ],
)
def test_stop_reasons(reason: Any, stop: str | None) -> None:
    assert answer(bodies.message_body([], reason)).stop == stop


def test_a_reasoning_only_answer_says_so() -> None:
    thought = {"type": "thinking", "thinking": "t", "signature": "s"}
    assert answer(bodies.message_body([thought])).is_reasoning_only
    assert not answer(bodies.message_body([thought, {"type": "text", "text": "a"}])).is_reasoning_only


TOOL_USE = {"type": "tool_use", "id": "i", "name": "n", "input": {}}


@pytest.mark.parametrize(
    ("blocks", "reason", "is_wrong"),
    [
        ([TOOL_USE], "tool_use", False),
        ([TOOL_USE], "end_turn", True),
        ([TOOL_USE], "max_tokens", False),
        ([{"type": "text", "text": "a"}], "tool_use", True),
        ([TOOL_USE | {"type": "server_tool_use"}], "end_turn", False),
        ([TOOL_USE | {"type": "server_tool_use"}], "tool_use", True),
    ],
)
def test_stop_reason_against_content(blocks: list[Json], reason: str, is_wrong: bool) -> None:
    expected = [("stream.finish-reason", "/stop_reason")] if is_wrong else []
    assert [(a.slug, a.pointer) for a in answer(bodies.message_body(blocks, reason)).anomalies] == expected


def test_errors_in_place_of_an_answer() -> None:
    envelope = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"}
    for status in (529, 200):
        error = answer(envelope, status).error
        assert error and (error.message, error.type, error.request_id) == ("Overloaded", "overloaded_error", "req_1")
    page = adapter.decode_response(b"<html><title>502 Bad Gateway</title></html>", status=502)
    assert page.error and page.error.message == "502 Bad Gateway"
    assert answer({}, 500).error is not None


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(ProtocolMismatch):
        answer({"choices": []})
    with pytest.raises(WireError):
        adapter.decode_response(b"<html>", status=200)
