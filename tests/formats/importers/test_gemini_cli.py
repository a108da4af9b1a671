from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import gemini_cli, open_input
from workbench.wire.exchange import Exchange, Origin, State
from workbench.wire.jsontext import loads
from workbench.wire.session import exchanges_of


def exchanges(path: Path) -> list[Exchange]:
    return list(exchanges_of(open_input(str(path))))


def contents(exchange: Exchange) -> list[Any]:
    assert exchange.request
    return loads(exchange.request.body.raw)["contents"]


def parts(exchange: Exchange) -> list[Any]:
    assert exchange.response
    return loads(exchange.response.body.raw)["candidates"][0]["content"]["parts"]


def test_an_answer_has_its_thoughts_and_the_next_request_has_not(data: Path) -> None:
    first, second = exchanges(data / "gemini-chat.json")
    assert [next(iter(p)) for p in parts(first)] == ["text", "text", "functionCall", "functionCall"]
    assert parts(first)[0] == {"text": "**Listing**\nI list the folder.", "thought": True}
    assert "thought" not in str(contents(second))
    assert first.request and first.request.url == "/v1beta/models/gemini-2.5-pro:generateContent"
    assert {first.origin, second.origin} == {Origin.RECONSTRUCTED}


def test_results_are_sent_as_they_stand(data: Path) -> None:
    said = contents(exchanges(data / "gemini-chat.json")[1])
    assert [c["role"] for c in said] == ["user", "model", "user", "user"]
    response = {"id": "ls-1", "name": "list_directory", "response": {"output": "a.txt"}}
    assert said[2]["parts"] == [{"functionResponse": response}]  # the cancelled call has none


def test_counts_and_what_is_shown_are_kept(data: Path) -> None:
    first, second = exchanges(data / "gemini-chat.json")
    assert first.response
    assert loads(first.response.body.raw)["usageMetadata"]["thoughtsTokenCount"] == 5
    assert first.meta["message"]["toolCalls"][0]["displayName"] == "ReadFolder"
    assert second.meta["m3"]["content"] == "Request cancelled."
    assert first.meta["chat"]["kind"] == "main"


def test_lines_change_what_was_said(data: Path) -> None:
    answered, end = exchanges(data / "gemini-chat.jsonl")
    assert parts(answered) == [{"functionCall": {"id": "c1", "name": "ls", "args": {}}}]
    assert (end.state, len(contents(end))) == (State.INCOMPLETE, 3)
    assert answered.meta["chat"]["lastUpdated"].startswith("2026-03-01T10:05")
    assert "gone" not in str(contents(end))


def test_all_messages_can_be_replaced() -> None:
    session = gemini_cli.read(
        b'{"sessionId":"s","projectHash":"h"}\n{"id":"a","type":"user","content":"x"}\n'
        b'{"$set":{"messages":[{"id":"b","type":"gemini","content":["y",{"text":"z"}],"model":"m"}]}}\n',
        "x",
    )
    assert [parts(e) for e in exchanges_of(session)] == [[{"text": "y"}, {"text": "z"}]]


@pytest.mark.parametrize(
    ("head", "is_chat"),
    [
        (b'{\n  "sessionId": "s",\n  "projectHash": "h",\n', True),
        (b'{"sessionId":"s","projectHash":"h","messages":[]}', True),
        (b'{"sessionId":"s","startTime":"t"}\n', True),
        (b'{"sessionId":"s","type":"user","uuid":"u","startTime":"t"}\n', False),
        (b'{"model":"m","contents":[]}', False),
    ],
)
def test_sniff(head: bytes, is_chat: bool) -> None:
    assert (gemini_cli.sniff(head) > 0) == is_chat


@pytest.mark.parametrize(
    "text", [b'{"sessionId":"s","projectHash":"h","messages":[]}', b'{"sessionId":"s"}\n{"a":1}\n']
)
def test_a_chat_without_messages_is_refused(text: bytes) -> None:
    with pytest.raises(UnreadableInput, match="no message"):
        gemini_cli.read(text, "x")
