from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import open_input, opencode
from workbench.wire.exchange import Exchange, Origin, State
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import exchanges_of


@pytest.fixture
def exchanges(data: Path) -> list[Exchange]:
    return list(exchanges_of(open_input(str(data / "opencode.json"))))


def messages(exchange: Exchange) -> list[Any]:
    assert exchange.request
    return loads(exchange.request.body.raw)["messages"]


def test_each_step_is_an_exchange(exchanges: list[Exchange]) -> None:
    assert [(e.id, e.state) for e in exchanges] == [
        ("msg_2 step 1", State.COMPLETE),
        ("msg_2 step 2", State.COMPLETE),
        ("end", State.INCOMPLETE),
    ]
    assert {(e.origin, e.client) for e in exchanges} == {(Origin.RECONSTRUCTED, "opencode 1.18.33")}
    assert exchanges[0].started_at == 1772359201


def test_a_tool_part_is_a_call_and_its_result(exchanges: list[Exchange]) -> None:
    said = messages(exchanges[1])
    assert [b["type"] for b in said[1]["content"]] == ["thinking", "text", "tool_use", "tool_use", "tool_use"]
    assert [(b["content"], b.get("is_error")) for b in said[2]["content"]] == [
        ("a.txt", None),
        ("no such file", True),
        ("[Tool execution was interrupted]", True),
    ]


def test_files_and_injected_texts_are_sent(exchanges: list[Exchange]) -> None:
    assert [b["type"] for b in messages(exchanges[0])[0]["content"]] == ["text", "image", "text"]


def test_an_answer_has_the_counts_of_its_step(exchanges: list[Exchange]) -> None:
    assert exchanges[0].response
    answer = loads(exchanges[0].response.body.raw)
    assert answer["usage"]["output_tokens"] == 25
    assert answer["content"][0]["signature"] == "c2ln"
    assert exchanges[0].meta["message"]["cost"] == 0.1


def test_a_summary_starts_the_history_anew_and_a_cleared_output_is_gone() -> None:
    tool = {"type": "tool", "callID": "c", "tool": "ls"}
    state = {"status": "completed", "input": {}, "output": "long", "time": {"compacted": 5}}
    info = {"role": "assistant", "providerID": "openai", "modelID": "m"}
    session = {
        "info": {"id": "ses_1"},
        "messages": [
            {"info": {"role": "user"}, "parts": [{"type": "text", "text": "before"}]},
            {"info": {**info, "summary": True}, "parts": [{"type": "text", "text": "summary"}]},
            {"info": {**info, "error": {"name": "MessageAbortedError"}}, "parts": [{**tool, "state": state}]},
        ],
    }
    made = list(exchanges_of(opencode.read(dumps(session), "x")))
    assert [m["content"] for m in messages(made[1])] == ["summary"]
    assert (made[1].state, "MessageAbortedError" in made[1].note) == (State.ABORTED, True)
    assert messages(made[2])[-1]["content"] == "[Old tool result content cleared]"


@pytest.mark.parametrize(
    ("head", "is_export"),
    [
        (b'{"info": {"id": "ses_1"}, "messages": []}', True),
        (b'{\n "info": {\n  "title": "a",\n  "id": "ses_1"', True),
        (b'{"info": {"exit_status": "x"}, "messages": []}', False),
        (b'{"info": {"id": "x"}}', False),
    ],
)
def test_sniff(head: bytes, is_export: bool) -> None:
    assert (opencode.sniff(head) > 0) == is_export


def test_an_export_without_messages_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="no message"):
        opencode.read(b'{"info": {"id": "ses_1"}, "messages": [5, {}]}', "x")
