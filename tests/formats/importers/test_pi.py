from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import open_input, pi
from workbench.wire.exchange import Exchange, Origin, State
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import exchanges_of


@pytest.fixture
def exchanges(data: Path) -> dict[str, Exchange]:
    return {e.id: e for e in exchanges_of(open_input(str(data / "pi.jsonl")))}


def body(exchange: Exchange) -> Any:
    assert exchange.request
    return loads(exchange.request.body.raw)


def test_every_answer_is_an_exchange_of_its_own_protocol(exchanges: dict[str, Exchange]) -> None:
    assert [(e.id, e.request.url, e.branch) for e in exchanges.values() if e.request] == [
        ("00000003", "/v1/messages", ""),
        ("00000006", "/v1/messages", ""),
        ("00000008", "/v1/chat/completions", "abandoned 1"),
        ("0000000d", "/v1/responses", ""),
        ("0000000f", "/v1/responses", ""),
        ("after 00000010", "/v1/responses", ""),
    ]
    assert {e.origin for e in exchanges.values()} == {Origin.RECONSTRUCTED}
    assert all("reconstructed from a transcript" in e.note for e in exchanges.values())


def test_results_of_one_answer_are_one_message(exchanges: dict[str, Exchange]) -> None:
    results = body(exchanges["00000006"])["messages"][-1]["content"]
    assert [r["tool_use_id"] for r in results] == ["toolu_1", "toolu_2"]
    assert [r.get("is_error") for r in results] == [None, True]
    assert results[1]["content"][1]["source"]["data"] == "aGk="


def test_an_aborted_answer_is_not_in_the_next_request(exchanges: dict[str, Exchange]) -> None:
    assert exchanges["00000006"].state is State.ABORTED
    assert "toolu_3" not in str(body(exchanges["00000008"]))


def test_what_a_protocol_cannot_say_is_told(exchanges: dict[str, Exchange]) -> None:
    chat = exchanges["00000008"]
    assert "the error flag of a tool result is left out" in chat.meta["left_out"]
    assert body(chat)["messages"][3]["content"] == "no such file"  # and no text that the client did not write


def test_reasoning_keeps_its_proof(exchanges: dict[str, Exchange]) -> None:
    first = exchanges["00000003"].response
    assert first and loads(first.body.raw)["content"][0] == {
        "type": "thinking",
        "thinking": "I list them.",
        "signature": "c2ln",
    }
    later = exchanges["0000000d"].response
    assert later and loads(later.body.raw)["output"][0]["encrypted_content"] == "Z0FB"


def test_what_a_person_ran_and_what_was_summarised_are_said_as_the_client_says_them(
    exchanges: dict[str, Exchange],
) -> None:
    said = [m["content"] for m in body(exchanges["0000000d"])["input"] if m.get("role") == "user"]
    assert said[-3] == "Ran `ls`\n```\na.txt\n```\n\nCommand exited with code 1"
    assert "<summary>\ntried another model</summary>" in said[-2]
    assert said[-1] == "injected"


def test_a_compaction_keeps_what_it_names(exchanges: dict[str, Exchange]) -> None:
    said = body(exchanges["0000000f"])["input"]
    assert "files were listed" in said[0]["content"]
    assert said[1]["content"].startswith("Ran `ls`")
    assert exchanges["0000000f"].response and exchanges["0000000f"].response.status == 0
    assert body(exchanges["after 00000010"])["input"][-1]["call_id"] == "call_5"


def test_fields_that_no_request_says_are_kept(exchanges: dict[str, Exchange]) -> None:
    assert exchanges["00000003"].meta["answer"]["usage"]["cost"] == {"total": 0.1}
    assert exchanges["00000006"].meta["beside"]["line 5"] == {"message": {"details": {"lines": 1}}}


def test_version_one_is_a_sequence_and_names_what_it_keeps_by_number() -> None:
    lines = [
        {"type": "session", "id": "s", "timestamp": "2026-03-01T10:00:00Z"},
        message("user", "one"),
        answer("two"),
        message("user", "three"),
        {"type": "compaction", "summary": "S", "firstKeptEntryIndex": 3, "tokensBefore": 1},
        answer("four"),
    ]
    session = pi.read(b"\n".join(dumps(line) for line in lines), "x")
    requests = [body(e)["messages"] for e in exchanges_of(session)]
    assert [len(r) for r in requests] == [1, 2]
    assert requests[1][1] == {"role": "user", "content": "three"}


def test_a_call_that_was_never_run_is_answered_as_the_client_does() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "ls", "arguments": {}}
    lines = [{"type": "session", "id": "s"}, answer([call]), message("user", "stop"), answer("ok")]
    session = pi.read(b"\n".join(dumps(line) for line in lines), "x")
    said = body(session.exchange(1))["messages"]
    assert said[1]["content"][0]["content"] == "No result provided"


@pytest.mark.parametrize("kept", [1, 2])
def test_a_call_that_was_open_when_a_compaction_began_is_answered_as_the_client_does(kept: int) -> None:
    calls = [{"type": "toolCall", "id": id, "name": "ls", "arguments": {}} for id in ("c1", "c2")]
    result = {"role": "toolResult", "toolCallId": "c1", "toolName": "ls", "content": [{"type": "text", "text": "x"}]}
    lines = [
        {"type": "session", "id": "s"},
        message("user", "look"),
        answer(calls),
        {"type": "message", "message": result},
        {"type": "compaction", "summary": "S", "firstKeptEntryIndex": kept, "tokensBefore": 1},
        message("user", "go on"),
        answer("ok"),
        answer("and more"),
    ]
    session = pi.read(b"\n".join(dumps(line) for line in lines), "x")
    for number in (1, 2):
        results = [b for m in body(session.exchange(number))["messages"] for b in m["content"] if "tool_use_id" in b]
        assert [(b["tool_use_id"], b.get("is_error")) for b in results] == [("c1", None), ("c2", True)]


def test_compactions_that_keep_everything_are_bounded() -> None:
    lines = [{"type": "session", "id": "s"}, *(message("user", "x") for _ in range(600))]
    lines += [{"type": "compaction", "summary": "S", "firstKeptEntryIndex": 1} for _ in range(600)]
    session = pi.read(b"\n".join(dumps(line) for line in [*lines, answer("y")]), "x")
    assert len(session) == 1


@pytest.mark.parametrize(
    "text", [b'{"type":"session","id":"s"}\n', b'{"type":"session","id":"s"}\n{"type":"message"}\n']
)
def test_a_session_without_messages_is_refused(text: bytes) -> None:
    assert pi.sniff(text) > 0.9
    with pytest.raises(UnreadableInput, match="no message"):
        pi.read(text, "x")


def test_the_recorded_session(recordings: Path) -> None:
    session = open_input(str(recordings / "pi-mono/anthropic/large-session.jsonl"))
    assert (len(session), session.damage) == (453, ())
    row, made = session.summaries()[-1], session.exchange(452)
    assert made.request and row.request_bytes == len(made.request.body.raw)


def message(role: str, content: object) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "content": content}}


def answer(content: object) -> dict[str, Any]:
    said = {"role": "assistant", "content": content, "api": "anthropic-messages", "model": "m", "stopReason": "stop"}
    return {"type": "message", "message": said}
