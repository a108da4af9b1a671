"""Responses over a WebSocket: what a client said over one connection reads like the requests it stands for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tests.formats.exporters.selecting import every
from tests.formats.importers.test_mitmproxy import flow
from tests.formats.importers.test_tnetstring import written
from workbench.contracts import Finding
from workbench.formats.exporters import har as har_export
from workbench.formats.importers import har, mitmproxy
from workbench.protocols import with_turns
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Exchange, ExchangeKind, Frame, Headers, HttpRequest, HttpResponse, Origin, State
from workbench.wire.session import MemorySession

Said = tuple[str, Mapping[str, Any]]
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "ls",
    "arguments": "{}",
    "status": "completed",
}


def answer(name: str, *output: Mapping[str, Any], **more: str) -> list[Said]:
    """The events of a response: created, each item, completed."""
    response: dict[str, Any] = {"id": name, "object": "response", "model": "gpt-5.2", "output": []}
    items = [
        {"type": f"response.output_item.{what}", "output_index": n, "item": item}
        for n, item in enumerate(output)
        for what in ("added", "done")
    ]
    done = {"type": "response.completed", "response": {**response, "status": "completed", "output": [*output]}}
    events = [{"type": "response.created", "response": response}, *items, done]
    return [("received", {**event, "sequence_number": n, **more}) for n, event in enumerate(events)]


def create(*items: object, **more: object) -> Said:
    return "sent", {"type": "response.create", "model": "gpt-5.2", "input": [*items], "tools": [TOOL], **more}


TOOL = {"type": "function", "name": "ls", "parameters": {"type": "object", "properties": {}}, "strict": False}
USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "what is here?"}]}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "a b"}
TEXT = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
TEXT["content"] = [{"type": "output_text", "text": "a and b", "annotations": []}]  # type: ignore[assignment]


def connection(*said: Said) -> Exchange:
    frames = tuple(Frame(who, "text", json.dumps(what).encode(), n / 10) for n, (who, what) in enumerate(said))
    shaken = Headers((("Authorization", "Bearer x"), ("Upgrade", "websocket"), ("Sec-WebSocket-Key", "k")))
    request = HttpRequest("GET", "wss://api.openai.com/v1/responses", shaken)
    agreed = HttpResponse(101, Headers((("Upgrade", "websocket"), ("x-request-id", "req_1"))))
    return Exchange("7", request, agreed, kind=ExchangeKind.WEBSOCKET, frames=frames, started_at=1_790_000_000.0)


def turns(*said: Said) -> list[Exchange]:
    return list(with_turns([connection(*said)]))[1:]


LOOP = (create(USER), *answer("resp_1", CALL), create(RESULT, previous_response_id="resp_1"), *answer("resp_2", TEXT))


def test_a_tool_loop_over_one_connection_is_a_conversation_of_requests() -> None:
    whole, first, second = with_turns([connection(*LOOP)])
    assert whole.frames and whole.meta == {"turns": 2}
    assert [e.id for e in (first, second)] == ["7.1", "7.2"]
    assert first.request and second.request and first.response
    assert (first.request.method, first.request.url) == ("POST", "https://api.openai.com/v1/responses")
    assert first.request.headers.items == (("Authorization", "Bearer x"), ("content-type", "application/json"))
    assert first.response.headers.items == (("x-request-id", "req_1"), ("content-type", "text/event-stream"))
    assert json.loads(first.request.body.raw) == {"model": "gpt-5.2", "input": [USER], "tools": [TOOL]}
    assert not first.request.body.is_raw and first.origin is Origin.RECONSTRUCTED
    assert (second.started_at, second.duration) == pytest.approx((1_790_000_000.5, 0.4))
    assert [round(c.at, 1) for c in first.response.body.chunks] == [0.1, 0.2, 0.3, 0.4]

    inspector = Inspector(MemorySession("s", (whole, first, second)))
    assert [inspector.detail(n).decoded.protocol for n in range(3)] == [
        None,
        "openai-responses",
        "openai-responses",
    ]
    assert [(told(r.findings), r.problems, r.is_undecided) for r in inspector.rows] == [((), (), False)] * 3
    assert inspector.rows[2].conversation == inspector.rows[1].conversation
    assert [row.calls for row in inspector.rows] == [(), ("ls",), ()]


def test_lanes_are_told_apart_and_one_after_the_other() -> None:
    asked = [create(USER, stream_id=lane) for lane in ("a", "b", "a")]
    one, two, three = (answer(f"resp_{n}", stream_id=lane) for n, lane in ((1, "a"), (2, "b"), (3, "a")))
    mixed = [one[0], two[0], *two[1:], *one[1:], *three]
    made = turns(*asked, *mixed)
    assert [e.state for e in made] == [State.COMPLETE] * 3
    for number, exchange in enumerate(made, 1):
        assert exchange.response and exchange.response.body.raw.count(b'"resp_%d"' % number) == 2
        assert exchange.request and b"stream_id" not in exchange.request.body.raw


def test_what_was_refused_has_the_status_it_would_have_had() -> None:
    error = {"type": "error", "status": 400, "error": {"code": "previous_response_not_found", "message": "no such"}}
    refused, later = turns(create(USER, previous_response_id="x"), ("received", error), create(USER), *answer("resp_1"))
    assert refused.response and refused.response.status == 400
    assert json.loads(refused.response.body.raw) == error
    assert later.response and later.response.status == 200


def inspected(*said: Said) -> Inspector:
    made = Inspector(MemorySession("s", tuple(with_turns([connection(*said)]))))
    made.detail(len(made.session) - 1)
    return made


def told(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Without what single clients make of these short answers."""
    return tuple(f for f in findings if f.rule != "stream.client-raises")


def found(inspector: Inspector) -> list[tuple[str, ...]]:
    return [tuple(f.rule for f in told(row.findings)) for row in inspector.rows]


def test_the_memory_of_a_connection_holds_what_the_server_does_not_store() -> None:
    """Codex sends a warm-up, then only new items, all with ``store: false`` (measured with Codex 0.169.0)."""
    warm_up = create(USER, store=False, generate=False)
    second = create(USER, previous_response_id="resp_0", store=False)
    third = create(RESULT, previous_response_id="resp_1", store=False)
    said = (warm_up, *answer("resp_0"), second, *answer("resp_1", CALL), third, *answer("resp_2", TEXT))
    assert found(inspected(*said)) == [()] * 4

    one, two = connection(*said[:8]), replace(connection(*said[8:]), id="8")
    apart = Inspector(MemorySession("s", tuple(with_turns([one, two]))))
    apart.detail(4)
    assert found(apart)[-1] == ("state.lost",)


def test_the_turns_of_a_connection_that_was_edited_are_made_from_those_of_the_first() -> None:
    edited = replace(connection(*LOOP), parent="6", branch="edited at a breakpoint")
    made = list(with_turns([edited]))[1:]
    assert [(turn.parent, turn.branch) for turn in made] == [(f"6.{n}", edited.branch) for n in (1, 2)]


def test_an_error_without_a_type_ends_the_turn_it_refuses() -> None:
    """xAI sends the envelope without ``type`` (opencode issue 48227)."""
    error = ("received", {"error": {"code": "invalid-argument", "message": "Argument not supported: instructions"}})
    refused, later = turns(create(USER), error, create(USER), *answer("resp_1"))
    assert [e.state for e in (refused, later)] == [State.COMPLETE] * 2
    assert later.response and b"resp_1" in later.response.body.raw
    detail = inspected(create(USER), error, create(USER), *answer("resp_1")).detail(1)
    assert detail.decoded.response and detail.decoded.response.error
    assert "Argument not supported" in detail.decoded.response.error.message


def test_a_response_that_follows_a_steered_one_is_a_turn_of_its_own() -> None:
    first, second = answer("resp_1"), answer("resp_2", TEXT)
    steered = {"id": "resp_1", "status": "incomplete", "incomplete_details": {"reason": "steered"}}
    more = {"type": "message", "role": "user", "content": "shorter"}
    steer = ("sent", {"type": "response.steer", "previous_response_id": "resp_1", "input": [more]})
    end = ("received", {"type": "response.incomplete", "response": steered})
    said = (create(USER), first[0], steer, ("received", {"type": "response.steer.accepted"}), end, *second)
    one, two = turns(*said)
    assert one.response and one.response.body.raw.count(b"response.created") == 2  # the event and its type
    assert two.request and two.response and b"resp_2" in two.response.body.raw
    asked = json.loads(two.request.body.raw)
    assert (asked["previous_response_id"], asked["input"]) == ("resp_1", [more])
    assert "continues resp_1 after response.steer" in two.note
    queued = turns(*said[:5], create(RESULT, previous_response_id="resp_2"), *second, *answer("resp_3"))
    assert [e.response and b"resp_3" in e.response.body.raw for e in queued] == [False, True, False]


def test_an_error_of_the_connection_ends_all_that_waits() -> None:
    """The limit of 60 minutes has no lane."""
    error = {"code": "websocket_connection_limit_reached", "message": "Responses websocket connection limit reached"}
    limit = ("received", {"type": "error", "status": 400, "error": error})
    made = turns(*(create(USER, stream_id=lane) for lane in "ab"), *answer("resp_1", stream_id="a"), limit)
    assert [(e.state, e.response and e.response.status) for e in made] == [(State.COMPLETE, 200), (State.COMPLETE, 400)]


def test_ends_of_all_kinds() -> None:
    done = ("received", {"type": "response.done", "response": {"id": "resp_1"}})
    late = turns(create(USER), *answer("resp_1"), create(USER), done, *answer("resp_2"))
    assert [e.state for e in late] == [State.COMPLETE] * 2
    cut, never = turns(create(USER), *answer("resp_1")[:1], ("sent", {"type": "response.append", "input": [RESULT]}))
    assert (cut.state, never.state, never.response) == (State.ABORTED, State.ABORTED, None)
    assert "the connection ended before the response" in cut.note and "continues the previous response" in never.note


@pytest.mark.parametrize(
    "said",
    [
        (),
        (("received", {"type": "response.create", "model": "m"}),),
        (
            ("sent", {"type": "response.processed", "response_id": "resp_1"}),
            ("received", {"type": "codex.rate_limits"}),
        ),
    ],
)
def test_other_connections_stay_as_they_are(said: tuple[Said, ...]) -> None:
    assert list(with_turns([connection(*said)])) == [connection(*said)]


def test_archives_and_flow_files_are_read_so() -> None:
    at = 1_790_000_000.0
    messages = [
        {"type": "send" if who == "sent" else "receive", "opcode": 1, "time": at + n, "data": json.dumps(what)}
        for n, (who, what) in enumerate(LOOP)
    ]
    entry = {"startedDateTime": "2026-09-21T14:13:20Z", "request": {"method": "GET", "url": "wss://h/v1/responses"}}
    log = {"entries": [{**entry, "response": {"status": 101}, "_webSocketMessages": messages}]}
    archive = har.read(json.dumps({"log": log}).encode(), "x")
    assert [(e.id, e.kind.value, e.state.value) for e in archive.exchanges] == [
        ("1", "websocket", "complete"),
        ("1.1", "http", "complete"),
        ("1.2", "http", "complete"),
    ]
    again = har.read(har_export.write(every(archive)).data, "x")
    assert [(e.kind, e.meta) for e in again.exchanges] == [(e.kind, e.meta) for e in archive.exchanges]

    seen = [[1, who == "sent", json.dumps(what).encode(), at + n, False] for n, (who, what) in enumerate(LOOP)]
    flows = mitmproxy.read(written(flow(websocket={"messages": seen})), "x")
    assert [len(e.frames) for e in flows.exchanges] == [len(LOOP), 0, 0]


REFUSED_STEER = (
    "received",
    {"type": "error", "error": {"message": "unsupported websocket request type: response.steer"}},
)


@pytest.mark.parametrize(
    ("said", "is_unknown"),
    [
        ((create(USER), ("sent", {"type": "response.steer"}), REFUSED_STEER, *answer("resp_1")), True),
        ((create(USER), *answer("resp_1"), ("sent", {"model": "gpt-5.2", "input": "hi"})), True),
        ((create(USER), *answer("resp_1"), ("sent", {"model": "m", "input": "hi"}), *answer("resp_2")), False),
        ((create(USER), REFUSED_STEER), False),  # no message of this type was sent
    ],
)
def test_messages_that_the_server_does_not_know(said: tuple[Said, ...], *, is_unknown: bool) -> None:
    rules = [rule for row in found(inspected(*said)) for rule in row]
    assert rules.count("socket.unknown-message") == int(is_unknown)


def _of_backend(events: list[Said]) -> list[Said]:
    """Events in the envelopes of OpenAI Live, whose snapshots are without items."""
    inner = [{**e, "response": {**e["response"], "output": []}} if "response" in e else e for _, e in events]
    return [("received", {"type": "response.event", "delegation_id": "d", "event": event}) for event in inner]


BACKEND = {"model": "gpt-5.2", "tools": [TOOL]}
DELEGATING = {"model": "gpt-live-1", "delegation": {"type": "responses", "responses": BACKEND}}
OF_LIVE: list[Said] = [
    ("sent", {"type": "session.start", "session": DELEGATING}),
    ("received", {"type": "session.started"}),
    ("received", {"type": "session.delegation.created", "delegation": {"id": "d", "target": "responses"}}),
    *_of_backend(answer("resp_1", CALL)),
    ("sent", {"type": "response.item.create", "item": RESULT}),
    ("sent", {"type": "response.create"}),
    *_of_backend(answer("resp_2", TEXT)),
]


def test_the_backend_of_openai_live_is_read_as_responses() -> None:
    live = connection(*OF_LIVE)
    assert live.request
    url = "wss://api.openai.com/v1/live/sessions"
    _, first, second = with_turns([replace(live, request=replace(live.request, url=url))])
    assert first.request and second.request and first.request.url == "https://api.openai.com/v1/responses"
    assert json.loads(first.request.body.raw) == {**BACKEND, "input": []}
    assert json.loads(second.request.body.raw) == {**BACKEND, "previous_response_id": "resp_1", "input": [RESULT]}
    found = Inspector(MemorySession("live", (first, second))).run()
    assert [row.protocol for row in found.rows] == ["openai-responses"] * 2 and not told(found.findings)
