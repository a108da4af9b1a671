from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import json_lines
from workbench.wire.jsontext import loads
from workbench.wire.sse import read_events


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("chat.chunks.txt", [None, None, None]),
        (
            "messages.chunks.txt",
            [
                *("message_start", "content_block_start", "content_block_delta"),
                *("content_block_stop", "message_delta", "message_stop"),
            ],
        ),
        ("converse.chunks.txt", [None] * 5),
        ("gemini.chunks.txt", [None, None]),
    ],
)
def test_payloads_of_one_stream_become_a_stream(data: Path, file: str, names: list[str | None]) -> None:
    raw = (data / file).read_bytes()
    session = json_lines.read(raw, "x")
    assert len(session) == 1
    exchange = session.exchange(0)
    assert exchange.response
    events = read_events(exchange.response.body.raw)
    assert [e.name for e in events] == names
    assert [loads(e.data or b"") for e in events] == [loads(line) for line in raw.splitlines()]


def test_whole_streams_one_after_the_other_are_exchanges_of_their_own(data: Path) -> None:
    one = (data / "messages.chunks.txt").read_bytes().rstrip() + b"\n"
    next_one = one.replace(b'"id":"', b'"id":"next_', 1)
    assert next_one != one
    session = json_lines.read(one + next_one, "x")
    assert [len(read_events(e.response.body.raw)) for e in session.exchanges if e.response] == [6, 6]


def test_the_framing_is_marked_and_no_terminator_is_invented(data: Path) -> None:
    exchange = json_lines.read((data / "chat.chunks.txt").read_bytes(), "x").exchange(0)
    assert exchange.meta["framing"] == "synthesised"
    assert "the importer added the framing" in exchange.note
    assert exchange.response and b"[DONE]" not in exchange.response.body.raw


def test_white_space_in_a_payload_cannot_break_its_framing() -> None:
    raw = b'{"type":"ping",\r"x":1}\n{"type":"evil\\nname: x"}\n'
    response = json_lines.read(raw, "x").exchange(0).response
    assert (
        response
        and response.body.raw == b'event: ping\ndata: {"type":"ping", "x":1}\n\ndata: {"type":"evil\\nname: x"}\n\n'
    )


def test_a_stream_of_json_lines_is_what_the_wire_had(data: Path) -> None:
    raw = (data / "ollama.ndjson").read_bytes()
    exchange = json_lines.read(raw, "x").exchange(0)
    assert exchange.response and exchange.response.body.raw == raw
    assert exchange.response.headers.get("content-type") == "application/x-ndjson"
    assert not exchange.meta


def test_bodies_become_an_exchange_each_and_bad_lines_are_named(data: Path) -> None:
    session = json_lines.read((data / "requests.jsonl").read_bytes(), "x")
    bodies = [e.request.body.raw for e in session.exchanges if e.request]
    assert [loads(b)["messages"][0]["content"] for b in bodies] == ["one", "three"]
    assert [line.split(":")[0] for line in session.damage] == ["line 2", "line 4"]
    assert [e.id for e in session.exchanges] == ["1", "2"]


def test_whole_answers_of_different_ids_are_no_stream(data: Path) -> None:
    assert len(json_lines.read((data / "gemini-answers.jsonl").read_bytes(), "x")) == 2


def test_requests_and_answers_may_be_mixed() -> None:
    session = json_lines.read(b'{"model":"m","messages":[]}\n{"choices":[]}\n{"error":{"message":"x"}}\n', "x")
    assert [e.request is not None for e in session.exchanges] == [True, False, False]


def test_a_call_that_is_logged_again_at_its_end_is_one_and_another_call_with_its_id_is_not() -> None:
    asked, ended = b'{"id":"1","request":{"model":"m","messages":[]}}\n', b'"response":{"choices":[]}}\n'
    again = asked.replace(b"}}\n", b"}," + ended)
    assert len(json_lines.read(asked + again, "x")) == 1
    assert len(json_lines.read(asked.replace(b'"m"', b'"n"') + again, "x")) == 2


def test_nothing_usable_is_refused_with_the_first_reason() -> None:
    with pytest.raises(UnreadableInput, match="line 1"):
        json_lines.read(b'{"a":\n{"b":1}\n', "x")


@pytest.mark.parametrize(
    ("head", "score"),
    [
        (b'{"a":1}\n{"b":2}\n', 0.7),
        (b'{"a":1}\n', 0.3),
        (b'{"a":"' + b"x" * 65_530, 0.2),
        (b'{\n  "a": 1\n}', 0.2),
        (b"[1]\n[2]\n", 0.0),
        (b"text\n", 0.0),
    ],
)
def test_sniff(head: bytes, score: float) -> None:
    assert json_lines.sniff(head) == score
