"""A connection to an MCP server, split into requests with their responses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.protocols.decode import DecodedExchange
from workbench.protocols.detection import TOOL_SIDE
from workbench.protocols.mcp import McpChannel, read_messages
from workbench.wire import CONNECTION, TURNS, Exchange, State
from workbench.wire.frames import seen_frames

SENT, RECEIVED = "sent", "received"


def line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


TALK = (
    (SENT, line(id=1, method="tools/list")),
    (RECEIVED, line(id=1, method="roots/list")),  # the server's own 1
    (RECEIVED, line(method="notifications/message", params={"data": "hi"})),
    (SENT, line(id="1", method="tools/call", params={"name": "add", "arguments": {}})),
    (RECEIVED, line(id="1", result={"content": []})),
    (SENT, line(id=1, result={"roots": []})),
    (RECEIVED, line(id=1, error={"code": -32601, "message": "Method not found"})),
    (RECEIVED, line(id=9, result={})),  # answers nothing
)


def channel(talk: Any = TALK, *, size: int = 0) -> McpChannel:
    made = McpChannel(Exchange("c", started_at=100.0), "calc")
    for at, (direction, data) in enumerate(talk):
        for start in range(0, len(data), size or len(data)):
            made.feed(direction, "text", data[start : start + (size or len(data))], float(at))
    made.end(float(len(talk)))
    return made


def pairs(made: McpChannel) -> list[tuple[str, str, Any, Any]]:
    found = []
    for _, call in made.exchanges(1):
        assert call.request
        answer = json.loads(call.response.body.raw) if call.response else None
        found.append((call.meta["asked_by"], call.request.method, json.loads(call.request.body.raw)["id"], answer))
    return found


@pytest.mark.parametrize("size", [0, 1, 7])
def test_ids_pair_by_direction_and_type_however_the_bytes_are_cut(size: int) -> None:
    made = channel(size=size)
    found = pairs(made)
    assert [(who, method, id_) for who, method, id_, _ in found] == [
        ("client", "tools/list", 1),
        ("server", "roots/list", 1),
        ("client", "tools/call", "1"),
    ]
    assert found[0][3]["error"]["code"] == -32601
    assert found[1][3]["result"] == {"roots": []}
    assert found[2][3]["result"] == {"content": []}
    assert b"".join(frame.data + b"\n" for frame in made.frames) == b"".join(data for _, data in TALK)


def test_a_call_has_the_times_and_the_frames_of_its_two_lines() -> None:
    made = channel()
    call = made.exchange(3)
    assert (call.started_at, call.duration, call.meta["frames"]) == (103.0, 1.0, [3, 4])
    assert (call.meta[CONNECTION], call.id) == ("c", "c.3")


def test_a_batch_is_its_messages_each_with_its_bytes() -> None:
    first, second = line(id=1, method="ping").strip(), line(id=2, method="tools/list").strip()
    made = channel(((SENT, b"[" + first + b", " + second + b"]\n"), (RECEIVED, line(id=2, result={}))))
    bodies = [call.request.body.raw for _, call in made.exchanges(1) if call.request]
    assert bodies == [first, second]
    assert [made.is_over(1), made.is_over(2)] == [False, True]


@pytest.mark.parametrize(
    "data",
    [b"a log line\n", b"{\n", b"[[]]\n", b'{"id":1}\n', b'{"id":[],"method":"x"}\n', b"\xff\xfe{}\n", b"3\n"],
)
def test_what_is_no_message_stays_a_frame(data: bytes) -> None:
    made = channel(((RECEIVED, data),))
    assert len(made) == 0
    assert [frame.data for frame in made.frames] == [data[:-1]]


def test_a_call_without_response_is_aborted_and_a_line_without_end_is_said() -> None:
    made = channel(((SENT, line(id=1, method="tools/call")[:-1]),))
    assert made.exchange(1).state is State.ABORTED
    assert made.connection().note == "the last line sent has no line end"


def test_bytes_that_were_not_recorded_take_their_line_with_them() -> None:
    made = McpChannel(Exchange("c"), "calc")
    made.feed(RECEIVED, "text", b'{"jsonrpc":', 0.0)
    made.skip(RECEIVED, "text", 5_000)
    made.feed(RECEIVED, "text", b'"2.0"}\n' + line(method="a"), 1.0)
    assert [frame.data + b"\n" for frame in made.frames] == [line(method="a")]
    assert made.notes == ["5,000 bytes received were not recorded: the recorder was too slow"]


def test_neither_is_a_model_exchange_and_neither_is_unread() -> None:
    made = channel()
    for exchange in (made.connection(), made.exchange(1)):
        decoded = DecodedExchange(0, exchange)
        assert (decoded.protocol, decoded.protocol_from, decoded.problems) == (None, TOOL_SIDE, [])
    assert made.connection().meta[TURNS] == 3


def test_frames_are_named_by_their_method() -> None:
    made = channel()
    made.feed(RECEIVED, "stderr", b"warn: \xff\n", 9.0)
    shown = list(seen_frames(made.connection()))
    assert [frame.type for frame in shown[:3]] == ["tools/list", "roots/list", "notifications/message"]
    assert (shown[4].type, shown[6].type, shown[-1].type, shown[-1].text) == (
        "result",
        "error",
        "stderr",
        "warn: \\xff",
    )


def test_each_message_is_read_with_a_place_for_each_value_and_nothing_is_left_out() -> None:
    params = {"name": "t", "arguments": {"a": [1, {"b": None}], "e": {}}, "_meta": {"x/y": "z"}, "task": {"ttl": 1}}
    content = [{"type": "text", "text": "hi", "annotations": {"priority": 1}}, {"type": "new", "k": [2]}, 3,
               {"type": "image", "data": "aQ==", "mimeType": "image/png", "_meta": {"m": 1}}]  # fmt: skip
    asked = {"jsonrpc": "2.0", "id": "1", "method": "tools/call", "params": params, "odd": 1}
    result = {"content": content, "structuredContent": {"s": 2}, "isError": False, "later": {"u": []}}
    channel = McpChannel(Exchange("c"), "s")
    channel.feed("sent", "text", json.dumps(asked).encode() + b"\n", 0.0)
    channel.feed("received", "text", json.dumps({"id": "1", "result": result, "jsonrpc": "2.0"}).encode() + b"\n", 1.0)
    messages = read_messages(DecodedExchange(0, channel.exchange(1)))
    assert [(m.side, m.method, m.id) for m in messages] == [(s, "tools/call", "1") for s in ("request", "response")]
    for message in messages:
        at = [part.source.pointer for part in message.parts]
        for leaf in message.leaves():
            assert json.loads(message.text[slice(*leaf.span)]) == leaf.value
            head = leaf.pointer in ("/jsonrpc", "/id", "/method")
            assert head or any(f"{leaf.pointer}/".startswith(f"{place}/") for place in at), leaf.pointer
    assert [type(part).__name__ for part in messages[1].parts] == [
        "Text", "Opaque", "Opaque", "Media", "Opaque", "Opaque", "Opaque"]  # fmt: skip
