from __future__ import annotations

from pathlib import Path

import pytest

from workbench.importers import claude_code
from workbench.importers._rebuilt import RebuiltSession
from workbench.ir import JsonValue
from workbench.wire.exchange import Origin, State
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import exchanges_of


@pytest.fixture
def session(data: Path) -> RebuiltSession:
    return claude_code.read((data / "claude-code.jsonl").read_bytes(), "x")


def request(session: RebuiltSession, index: int) -> JsonValue:
    exchange = session.exchange(index)
    assert exchange.request
    return loads(exchange.request.body.raw)


def response(session: RebuiltSession, index: int) -> JsonValue:
    exchange = session.exchange(index)
    assert exchange.response
    return loads(exchange.response.body.raw)


def test_turns_stand_in_the_order_of_the_file(session: RebuiltSession) -> None:
    assert [(s.id, s.branch) for s in session.summaries()] == [
        ("msg_01", ""),
        ("msg_02", ""),
        ("msg_03", "abandoned 1"),
        ("msg_04", ""),
        ("msg_05", ""),
        ("a7", ""),
        ("after u8", ""),
    ]


def test_an_answer_is_put_together_from_its_lines(session: RebuiltSession) -> None:
    message = response(session, 0)
    assert [b["type"] for b in message["content"]] == ["thinking", "tool_use", "tool_use"]
    assert (message["id"], message["role"], message["stop_reason"]) == ("msg_01", "assistant", "tool_use")
    assert message["usage"]["output_tokens"] == 4  # of the last line: earlier ones can be a partial count


def test_nothing_is_invented(session: RebuiltSession) -> None:
    for index, exchange in enumerate(exchanges_of(session)):
        assert set(request(session, index)) == {"model", "messages"}
        assert exchange.origin is Origin.RECONSTRUCTED
        assert exchange.client == "claude-code 2.1.12"
        assert "rebuilt from a transcript" in exchange.note
        assert exchange.meta["lacks"] == ["system", "tools", "parameters", "headers", "streaming"]
        assert exchange.request and (exchange.request.url, len(exchange.request.headers)) == ("/v1/messages", 0)


def test_blocks_are_verbatim(session: RebuiltSession) -> None:
    held = request(session, 1)["messages"]
    assert held[1]["content"][0] == {"type": "thinking", "thinking": "Two commands.", "signature": "c2ln"}
    assert held[2]["content"][0] == {"tool_use_id": "toolu_01", "type": "tool_result", "content": "a.txt"}


def test_a_refused_turn_answers_with_the_error_that_the_client_kept(session: RebuiltSession) -> None:
    exchange = session.exchange(5)
    assert exchange.response and exchange.response.status == 400
    assert response(session, 5)["error"]["type"] == "invalid_request_error"
    held = request(session, 5)["messages"]
    assert held[-2]["content"][0]["id"] == "toolu_03"
    assert [b["type"] for b in held[-1]["content"]] == ["text", "text"]  # the call was interrupted


def test_what_would_be_sent_next_is_the_last_exchange(session: RebuiltSession) -> None:
    exchange = session.exchange(6)
    assert (exchange.response, exchange.state) == (None, State.INCOMPLETE)
    assert "what the next request would say" in exchange.note
    assert request(session, 6)["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "This session is being continued: a.txt was listed."},
                {"type": "text", "text": "And now?"},
            ],
        }
    ]


def test_a_sub_agent_is_a_conversation_of_its_own(session: RebuiltSession) -> None:
    assert session.exchange(4).meta["agent"] == "x1"
    assert request(session, 4)["messages"] == [{"role": "user", "content": "Count the words"}]


@pytest.mark.parametrize(
    ("text", "status", "body"),
    [
        ('API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}', 529, True),
        ('API Error (401 {"error":{"message":"x"}})', 401, True),
        ("API Error: 500 it broke {badly}", 500, False),
        ("Prompt is too long", None, False),
    ],
)
def test_error_texts(text: str, status: int | None, body: bool) -> None:
    line = (
        b'{"type":"assistant","uuid":"a","parentUuid":null,"isApiErrorMessage":true,"message":'
        b'{"model":"<synthetic>","content":[{"type":"text","text":' + dumps(text) + b"}]}}"
    )
    exchange = claude_code.read(line, "x").exchange(0)
    assert text[:20] in exchange.note
    assert (exchange.response.status if exchange.response else None) == status
    assert bool(exchange.response and exchange.response.body.raw) == body
    assert exchange.state is (State.COMPLETE if status else State.INCOMPLETE)


def test_ids_are_unique() -> None:
    line = b'{"type":"assistant","uuid":"%s","parentUuid":null,%s"message":{"id":"m","model":"x","content":[]}}\n'
    data = line % (b"a", b"") + line % (b"b", b'"isSidechain":true,"agentId":"z",')
    assert [s.id for s in claude_code.read(data, "x").summaries()] == ["m", "m (2)"]
