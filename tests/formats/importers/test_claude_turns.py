from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from workbench.formats.importers import claude_code
from workbench.formats.importers._messages_transcript import MessagesSession
from workbench.ir import JsonValue
from workbench.wire.exchange import Origin, State
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import exchanges_of


@pytest.fixture
def session(data: Path) -> MessagesSession:
    return claude_code.read((data / "claude-code.jsonl").read_bytes(), "x")


def request(session: MessagesSession, index: int) -> JsonValue:
    exchange = session.exchange(index)
    assert exchange.request
    return loads(exchange.request.body.raw)


def response(session: MessagesSession, index: int) -> JsonValue:
    exchange = session.exchange(index)
    assert exchange.response
    return loads(exchange.response.body.raw)


def test_turns_stand_in_the_order_of_the_file(session: MessagesSession) -> None:
    assert [(s.id, s.branch) for s in session.summaries()] == [
        ("msg_01", ""),
        ("msg_02", ""),
        ("msg_03", "abandoned 1"),
        ("msg_04", ""),
        ("msg_05", ""),
        ("a7", ""),
        ("after u8", ""),
    ]


def test_an_answer_is_put_together_from_its_lines(session: MessagesSession) -> None:
    message = response(session, 0)
    assert [b["type"] for b in message["content"]] == ["thinking", "tool_use", "tool_use"]
    assert (message["id"], message["role"], message["stop_reason"]) == ("msg_01", "assistant", "tool_use")
    assert message["usage"]["output_tokens"] == 4  # of the last line: earlier ones can be a partial count


def test_nothing_is_invented(session: MessagesSession) -> None:
    for index, exchange in enumerate(exchanges_of(session)):
        assert set(request(session, index)) == {"model", "messages"}
        assert exchange.origin is Origin.RECONSTRUCTED
        assert exchange.client == "claude-code 2.1.12"
        assert "reconstructed from a transcript" in exchange.note
        assert exchange.meta["lacks"] == ["system", "tools", "parameters", "headers", "streaming"]
        assert exchange.request and (exchange.request.url, len(exchange.request.headers)) == ("/v1/messages", 0)


def test_blocks_are_verbatim(session: MessagesSession) -> None:
    held = request(session, 1)["messages"]
    assert held[1]["content"][0] == {"type": "thinking", "thinking": "Two commands.", "signature": "c2ln"}
    assert held[2]["content"][0] == {"tool_use_id": "toolu_01", "type": "tool_result", "content": "a.txt"}


def test_a_refused_turn_answers_with_the_error_that_the_client_kept(session: MessagesSession) -> None:
    exchange = session.exchange(5)
    assert exchange.response and exchange.response.status == 400
    assert response(session, 5)["error"]["type"] == "invalid_request_error"
    held = request(session, 5)["messages"]
    assert held[-2]["content"][0]["id"] == "toolu_03"
    assert [b["type"] for b in held[-1]["content"]] == ["text", "text"]  # the call was interrupted


def test_what_would_be_sent_next_is_the_last_exchange(session: MessagesSession) -> None:
    exchange = session.exchange(6)
    assert (exchange.response, exchange.state) == (None, State.INCOMPLETE)
    assert "this next request was not sent" in exchange.note
    assert request(session, 6)["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "This session is being continued: a.txt was listed."},
                {"type": "text", "text": "And now?"},
            ],
        }
    ]


def test_a_sub_agent_is_a_conversation_of_its_own(session: MessagesSession) -> None:
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


def _line(kind: str, number: int, content: JsonValue, **more: JsonValue) -> dict[str, JsonValue]:
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{number}", "type": "message", "model": "claude-haiku-4-5"}
    return {"type": kind, "sessionId": "s", "message": message, **more}


def _call(number: int) -> list[JsonValue]:
    return [{"type": "tool_use", "id": f"toolu_{number}", "name": "ls", "input": {}}]


def _result(number: int) -> list[JsonValue]:
    return [{"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "x"}]


def _talk(numbers: Sequence[int] = (1, 2, 3), **more: JsonValue) -> list[dict[str, JsonValue]]:
    lines = [_line("user", 0, "look", **more)]
    for number in numbers:
        lines += [_line("assistant", number, _call(number), **more), _line("user", number, _result(number), **more)]
    return lines


UNLINKED = {
    "no parents and no ids": {},
    "null parents": {"parentUuid": None},
    "null everywhere": {"parentUuid": None, "uuid": None},
    "a sub-agent": {"parentUuid": None, "isSidechain": True, "agentId": "a"},
    "a sub-agent without a name": {"parentUuid": None, "isSidechain": True},
}


@pytest.mark.parametrize("has_ids", [False, True])
@pytest.mark.parametrize("more", UNLINKED.values(), ids=UNLINKED)
def test_without_parents_the_order_of_the_file_is_the_conversation(more: dict[str, JsonValue], has_ids: bool) -> None:
    lines = _talk(**more)
    if has_ids:
        lines = [{**line, "uuid": f"u{number}"} for number, line in enumerate(lines)]
    session = claude_code.read(b"\n".join(dumps(line) for line in lines), "x")
    assert (len(session), session.damage) == (4, ())
    assert [len(request(session, n)["messages"]) for n in range(4)] == [1, 3, 5, 7]


def test_sessions_of_one_file_do_not_follow_each_other() -> None:
    other = [line | {"sessionId": "t"} for line in _talk((4, 5, 6))]
    lines = [line for pair in zip(_talk(), other, strict=True) for line in pair]
    session = claude_code.read(b"\n".join(dumps(line) for line in lines), "x")
    assert sorted(len(request(session, n)["messages"]) for n in range(6)) == [1, 1, 3, 3, 5, 5]


def test_a_result_that_no_request_has_is_said() -> None:
    lines = [{**line, "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None} for n, line in enumerate(_talk())]
    lines.insert(3, {**_line("user", 9, _result(9)), "uuid": "u9", "parentUuid": "u2"})
    session = claude_code.read(b"\n".join(dumps(line) for line in lines), "x")
    assert session.damage == ("line 4: the tool result of toolu_9 is not in any request",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"type": "narrator", "uuid": "n", "message": {"content": "?"}}, "an entry of type 'narrator'"),
        ({"type": "narrator", "message": {"content": "?"}}, "an entry of type 'narrator'"),
        (_line("user", 0, [5]), "a content block that is not an object"),
        ({"type": "user", "message": 5}, "an entry of type 'user' without a message"),
    ],
)
def test_what_is_left_out_is_said(line: dict[str, JsonValue], said: str) -> None:
    session = claude_code.read(b"\n".join(dumps(held) for held in [*_talk(), line]), "x")
    assert len(session.damage) == 1
    assert said in session.damage[0]
