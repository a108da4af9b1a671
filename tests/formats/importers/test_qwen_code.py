from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import open_input, qwen_code
from workbench.wire.exchange import Exchange, State
from workbench.wire.jsontext import loads
from workbench.wire.session import exchanges_of


@pytest.fixture
def exchanges(data: Path) -> list[Exchange]:
    return list(exchanges_of(open_input(str(data / "qwen-code.jsonl"))))


def messages(exchange: Exchange) -> list[Any]:
    assert exchange.request
    return loads(exchange.request.body.raw)["messages"]


def test_parts_become_what_the_client_sends(exchanges: list[Exchange]) -> None:
    said = messages(exchanges[2])
    assert [m["role"] for m in said] == ["user", "assistant", "tool", "tool"]
    assert said[1]["reasoning_content"] == "I list them."
    assert said[1]["tool_calls"][0]["function"] == {"name": "ls", "arguments": '{"path":"."}'}
    assert [m["content"] for m in said[2:]] == ["a", "no such file"]


def test_a_call_without_id_is_paired_by_name(exchanges: list[Exchange]) -> None:
    said = messages(exchanges[2])
    assert said[1]["tool_calls"][1]["id"] == said[3]["tool_call_id"] == "call_2_3"


def test_branches_are_told_apart(exchanges: list[Exchange]) -> None:
    assert [(e.id, e.branch) for e in exchanges] == [("q2", ""), ("q4", "abandoned"), ("q5", ""), ("end", "")]
    assert messages(exchanges[1]) == messages(exchanges[2])


def test_a_compressed_history_replaces_the_old_one(exchanges: list[Exchange]) -> None:
    said = messages(exchanges[3])
    assert [m["role"] for m in said] == ["user", "assistant", "user"]
    assert said[2]["content"][1]["image_url"]["url"] == "data:image/png;base64,aGk="
    assert exchanges[3].state is State.INCOMPLETE


def test_counts_and_fields_are_kept(exchanges: list[Exchange]) -> None:
    assert exchanges[0].response
    assert loads(exchanges[0].response.body.raw)["usage"]["prompt_tokens_details"] == {"cached_tokens": 20}
    assert exchanges[1].meta["beside"]["line 3"]["toolCallResult"]["status"] == "success"
    assert exchanges[0].client == "qwen-code 0.24.4"


def test_parents_in_a_circle_end() -> None:
    entry = b'{"uuid":"a","parentUuid":"b","type":"assistant","message":{"parts":[{"text":"x"}]}}\n'
    other = b'{"uuid":"b","parentUuid":"a","type":"assistant","message":{"parts":[{"text":"y"}]}}\n'
    assert len(qwen_code.read(entry + other, "x")) == 2


@pytest.mark.parametrize(
    ("head", "is_qwen"),
    [
        (b'{"uuid":"a","parentUuid":null,"type":"user","message":{"role":"user","parts":[]}}\n', True),
        (b'{"uuid":"a","parentUuid":null,"type":"user","message":{"role":"user","content":[]}}\n', False),
        (b'{"uuid":"a","parentUuid":null,"type":"system","systemPayload":{}}\n', True),
        (b'{"contents":[]}', False),
    ],
)
def test_sniff(head: bytes, is_qwen: bool) -> None:
    assert (qwen_code.sniff(head) > 0) == is_qwen


def test_a_chat_without_messages_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="no message"):
        qwen_code.read(b'{"uuid":"a","parentUuid":null,"type":"system"}\n', "x")
