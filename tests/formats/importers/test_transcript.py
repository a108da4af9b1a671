from __future__ import annotations

from typing import Any

import pytest

from workbench import protocols
from workbench.formats.importers._transcript import (
    ProtocolWriter,
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    answer_of,
    extend_history,
    reconstructed_exchange,
    with_unique_ids,
)
from workbench.ir import Message, Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.wire.exchange import Origin
from workbench.wire.jsontext import loads
from workbench.wire.session import exchanges_of

PROTOCOLS = (
    "anthropic-messages",
    "openai-chat",
    "openai-responses",
    "gemini",
    "bedrock-converse",
    "cohere-v2",
    "ollama",
)


def history() -> SharedHistory | None:
    heard = extend_history(None, Message("user", (Text("go"),)))
    heard = extend_history(heard, Message("assistant", (Text("so"), call("a"), call("b"))))
    for id in ("a", "b"):
        heard = extend_history(heard, Message("tool", (ToolResultIR(id, (Text("done"),), name="ls"),)))
    return extend_history(heard, Message("user", (Text("on"),)))


def call(id: str) -> ToolCallIR:
    return ToolCallIR(id, "ls", {"path": id}, "function")


def session(*turns: TranscriptTurn) -> TranscriptSession:
    return TranscriptSession("x", turns, damage=(), title="t")


def like(id: str = "1") -> Any:
    return reconstructed_exchange(id, lacks=("system", "headers"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_writes_a_history_that_it_reads_again(protocol: str) -> None:
    turn = TranscriptTurn(
        like(),
        protocol,
        history(),
        "m",
        system=(Text("Be brief."),),
        tools=(ToolDef("ls", "Lists.", {"type": "object"}),),
        answer=answer_of(protocol, (Text("ok"),), model="m", stop="stop"),
    )
    made = session(turn)
    exchange = made.exchange(0)
    assert exchange.request and exchange.response
    adapter = protocols.get(protocol)
    request = adapter.decode_request(exchange.request.body.raw)
    assert [c.name for m in request.messages for _, c in m.tool_calls()] == ["ls", "ls"]
    assert len([r for m in request.messages for _, r in m.tool_results()]) == 2
    assert [t.name for t in request.tools] == ["ls"]
    assert "Be brief." in exchange.request.body.raw.decode()
    assert adapter.decode_response(exchange.response.body.raw).messages
    assert made.summaries()[0].request_bytes == len(exchange.request.body.raw)


def test_results_that_follow_each_other_are_one_message_where_they_have_to_be() -> None:
    exchange = session(TranscriptTurn(like(), "anthropic-messages", history())).exchange(0)
    assert exchange.request
    said = loads(exchange.request.body.raw)["messages"]
    assert [len(m["content"]) for m in said[1:3]] == [3, 2]


def test_histories_are_shared_and_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    honest = ProtocolWriter._write
    monkeypatch.setattr(ProtocolWriter, "_write", lambda self, said: written.append(len(said)) or honest(self, said))
    heard: SharedHistory | None = None
    turns = []
    for n in range(50):
        heard = extend_history(heard, Message("user", (Text(str(n)),)))
        turns.append(TranscriptTurn(like(str(n)), "openai-chat", heard))
    made = session(*turns)
    sizes = [len(e.request.body.raw) for e in exchanges_of(made) if e.request]
    assert [row.request_bytes for row in made.summaries()] == sizes
    assert len(written) == 50


def test_json_is_sent_as_it_is() -> None:
    heard = extend_history(extend_history(None, b'{"role":"user","content":"x"}'), None)
    exchange = session(TranscriptTurn(like(), "openai-chat", heard, members={"seed": 1})).exchange(0)
    assert exchange.request
    assert exchange.request.body.raw == b'{"seed":1,"messages":[{"role":"user","content":"x"}]}'


def test_what_says_nothing_is_not_in_a_history() -> None:
    assert extend_history(None, Message("user", ())) is None
    assert extend_history(None, b"") is None


def test_a_system_message_between_others_is_not_lost() -> None:
    heard = extend_history(extend_history(None, Message("user", (Text("a"),))), Message("system", (Text("rule"),)))
    for protocol in PROTOCOLS:
        exchange = session(TranscriptTurn(like(), protocol, heard)).exchange(0)
        assert exchange.request and b"rule" in exchange.request.body.raw, protocol


def test_bodies_that_are_held_are_taken_when_they_are_asked_for() -> None:
    asked: list[str] = []
    turn = TranscriptTurn(like(), "openai-chat", request=lambda: asked.append("now") or b"{}", response=b"[]", url="/u")
    made = session(turn)
    assert asked == []
    exchange = made.exchange(0)
    assert exchange.request and exchange.response
    assert (exchange.request.url, exchange.request.body.raw, exchange.response.body.raw) == ("/u", b"{}", b"[]")


def test_an_error_stands_in_the_place_of_an_answer() -> None:
    for protocol in PROTOCOLS:
        turn = TranscriptTurn(like(), protocol, answer=answer_of(protocol, (), error="quota"), status=0)
        response = session(turn).exchange(0).response
        assert response and b"quota" in response.body.raw, protocol


def test_what_is_rebuilt_says_so() -> None:
    made = session(TranscriptTurn(like(), "openai-chat"))
    exchange = made.exchange(0)
    assert exchange.origin is Origin.RECONSTRUCTED
    assert exchange.note == "reconstructed from a transcript without system or headers"
    assert exchange.request and not exchange.request.body.is_raw
    assert made.about["made"].startswith("reconstructed: ")


def test_ids_are_made_to_differ() -> None:
    turns = [TranscriptTurn(like(id), "openai-chat") for id in ("a", "a", "a (2)", "a", "")]
    assert [t.like.id for t in with_unique_ids(turns)] == ["a", "a (2)", "a (2) (2)", "a (3)", "?"]
