from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import codex, open_input
from workbench.wire.exchange import Exchange, State
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import exchanges_of


@pytest.fixture
def exchanges(data: Path) -> list[Exchange]:
    return list(exchanges_of(open_input(str(data / "codex.jsonl"))))


def said(exchange: Exchange) -> list[Any]:
    assert exchange.request
    return loads(exchange.request.body.raw)["input"]


def answer(exchange: Exchange) -> dict[str, Any]:
    assert exchange.response
    value = loads(exchange.response.body.raw)
    assert isinstance(value, dict)
    return value


def test_items_between_those_of_the_client_are_one_answer(exchanges: list[Exchange]) -> None:
    assert [[i["type"] for i in answer(e)["output"]] for e in exchanges[:3]] == [
        ["reasoning", "function_call", "custom_tool_call"],
        ["message"],
        ["local_shell_call"],
    ]
    assert [len(said(e)) for e in exchanges] == [2, 7, 2, 4]


def test_items_are_sent_as_they_stand(exchanges: list[Exchange]) -> None:
    assert said(exchanges[1])[2] == {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "**Listing the folder**"}],
        "encrypted_content": "Z0FBQUFB",
    }
    assert said(exchanges[1])[5:] == [
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": "done"},
        {"type": "function_call_output", "call_id": "call_1", "output": "a.txt\nb.txt"},
    ]


def test_settings_and_counts_are_those_of_the_turn(exchanges: list[Exchange]) -> None:
    assert exchanges[0].request
    body = loads(exchanges[0].request.body.raw)
    assert (body["model"], body["instructions"]) == ("gpt-5-codex", "You are an agent.")
    assert body["reasoning"] == {"effort": "medium", "summary": "auto"}
    assert answer(exchanges[0])["usage"]["input_tokens_details"] == {"cached_tokens": 20}
    assert (exchanges[0].client, exchanges[0].meta["context"]["approval_policy"]) == ("codex 0.100.0", "never")


def test_a_compaction_replaces_what_was_said_before(exchanges: list[Exchange]) -> None:
    assert said(exchanges[2])[0]["content"][0]["text"] == "Files were listed."
    assert exchanges[2].meta["beside"]["line 15"]["type"] == "ghost_snapshot"


def test_a_replacement_history_is_what_is_sent() -> None:
    kept = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kept"}]}
    session = codex.read(
        b"\n".join(
            dumps(v)
            for v in (
                {"type": "compacted", "payload": {"message": "m", "replacement_history": [kept]}},
                {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": []}},
            )
        ),
        "x",
    )
    assert said(session.exchange(0)) == [kept]


def test_an_aborted_turn_is_marked(exchanges: list[Exchange]) -> None:
    assert [e.state for e in exchanges] == [State.COMPLETE, State.COMPLETE, State.ABORTED, State.INCOMPLETE]
    assert "the turn was aborted" in exchanges[2].note


def test_the_older_generation_has_no_envelope() -> None:
    lines = [
        {"id": "s", "timestamp": "2025-06-01T10:00:00Z", "instructions": "Be brief."},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": '{"output":"x","metadata":{"exit_code":0}}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]},
    ]
    text = b"\n".join(dumps(line) for line in lines)
    assert codex.sniff(text) > 0.9
    session = codex.read(text, "x")
    assert [len(said(e)) for e in exchanges_of(session)] == [1, 3]


@pytest.mark.parametrize(
    ("head", "is_codex"),
    [
        (b'{"timestamp":"2026","type":"session_meta","payload":{}}\n', True),
        (b'{"timestamp":"2026","type":"response_item","payload":{}}\n', True),
        (b'{"type":"response_item","payload":"x"}\n', False),
        (b'{"id":"x","timestamp":"2026","instructions":"x","model":"m"}\n{"type":"message"}\n', False),
        (b'{"type":"message","message":{}}\n', False),
        (b"text", False),
    ],
)
def test_sniff(head: bytes, is_codex: bool) -> None:
    assert (codex.sniff(head) > 0) == is_codex


def test_a_rollout_without_items_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="no conversation items"):
        codex.read(b'{"timestamp":"2026","type":"session_meta","payload":{}}\n', "x")
