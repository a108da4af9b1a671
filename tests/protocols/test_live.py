"""Gemini Live: the turns of a connection as requests and responses, and what of them can be executed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.protocols import live_said as said
from tests.protocols.live_said import BEGIN, DONE, INTERRUPTED, ask, call, received, result, sent, spoken, written
from workbench.ir import Opaque, Text, ToolCallIR
from workbench.protocols import DecodedExchange, with_turns
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Exchange, Frame, State
from workbench.wire.frames import FRAMES
from workbench.wire.session import MemorySession


def decoded(turn: Exchange) -> DecodedExchange:
    return DecodedExchange(0, turn)


def contents(turn: Exchange) -> list[Any]:
    assert turn.request
    return json.loads(turn.request.body.raw)["contents"]  # type: ignore[no-any-return]


def test_a_tool_loop_is_two_turns_of_one_conversation() -> None:
    inspector = Inspector(MemorySession("s", tuple(with_turns([said.connection(said.loop())]))))
    inspector.detail(2)
    assert [row.protocol for row in inspector.rows] == [None, "gemini-live", "gemini-live"]
    assert [tuple(f.rule for f in row.findings) for row in inspector.rows] == [(), (), ()]
    assert inspector.rows[1].conversation == inspector.rows[2].conversation
    assert [row.calls for row in inspector.rows] == [(), ("list_dir",), ()]
    first, second = (inspector.detail(n).decoded for n in (1, 2))
    assert first.request and second.request and first.response and second.response
    assert first.request.model == "gemini-2.5-flash-native-audio-preview"
    assert [t.name for t in first.request.tools] == ["list_dir"]
    assert [m.role for m in second.request.messages] == ["user", "model", "user"]
    assert (first.response.stop, second.response.stop) == ("tool_calls", "stop")
    made = first.response.messages[0].parts[0]
    assert isinstance(made, ToolCallIR) and made.input == {"path": "src"}
    span = first.place_of("response", first.response.messages[0], made, "id")
    assert first.response_text[slice(*span.spans[0])] == b'"fc-1"'
    heard, sound = second.response.messages[0].parts
    assert isinstance(heard, Text) and heard.text == "Two files: a and b."
    assert isinstance(sound, Opaque) and sound.value == {"bytes": 4800, "events": 1, "seconds": 0.1}
    assert second.response.usage and second.response.usage.output == 103


def test_each_event_of_a_turn_leads_to_its_frame() -> None:
    whole = said.connection(said.loop())
    for turn in list(with_turns([whole]))[1:]:
        frames: Any = turn.meta[FRAMES]
        numbers = [n for first, last in frames["response"] for n in range(first, last + 1)]
        assert [event.data for event in decoded(turn).events] == [whole.frames[n].data for n in numbers]


def test_text_frames_and_binary_frames_are_read_alike() -> None:
    texts, binaries = (list(with_turns([said.connection(said.loop(), kind)])) for kind in ("text", "binary"))
    assert [e.response for e in texts[1:]] == [e.response for e in binaries[1:]]


def test_a_model_that_waits_goes_on_when_it_has_every_result() -> None:
    first, second = said.turns(
        [*BEGIN, ask(), call("fc-1", "fc-2"), result("fc-1"), result("fc-2"), *written("Done."), DONE]
    )
    assert len(contents(first)) == 1 and [len(c["parts"]) for c in contents(second)] == [1, 2, 1, 1]
    assert second.state is State.COMPLETE


def test_a_call_that_is_cancelled_is_in_no_later_request() -> None:
    cancelled = received(toolCallCancellation={"ids": ["fc-1"]})
    first, second = said.turns(
        [*BEGIN, ask(), call("fc-1"), cancelled, INTERRUPTED, DONE, ask("never mind"), *written("Fine."), DONE]
    )
    assert "cancelled by the server: fc-1" in first.note
    assert [c["role"] for c in contents(second)] == ["user", "user"]
    made = decoded(first).response
    assert made and made.params["toolCallCancellation"] == {"ids": ["fc-1"]} and made.finish_reason == "interrupted"


def test_what_is_said_while_the_model_speaks_is_a_turn_that_waits() -> None:
    said_first = [*BEGIN, ask(), *written("A long ")[:1], ask("stop"), INTERRUPTED, DONE]
    first, second = said.turns([*said_first, *written("Stopped."), DONE])
    assert [e.state for e in (first, second)] == [State.COMPLETE, State.COMPLETE]
    made = decoded(second).response
    assert made and [p.text for m in made.messages for p in m.parts if isinstance(p, Text)] == ["Stopped."]
    assert [c["role"] for c in contents(second)] == ["user", "model", "user"]


def test_a_spoken_turn_begins_by_itself_and_says_how_much_was_heard() -> None:
    sound = sent(realtime_input={"audio": {"mimeType": "audio/pcm;rate=16000", "data": "AAAAAAAA"}})
    (turn,) = said.turns([*BEGIN, sound, sound, *spoken("Two files."), DONE])
    assert "the server started this turn by itself" in turn.note
    assert contents(turn) == [{"role": "user", "parts": [{"audio": {"mimeType": "audio/pcm;rate=16000", "bytes": 12}}]}]


def test_a_connection_that_ends_inside_a_turn_says_how() -> None:
    whole = said.connection([*BEGIN, ask(), call("fc-1"), result("fc-1")])
    closed = Frame("received", "close", (1007).to_bytes(2) + b"Request contains an invalid argument.", 9.0)
    turn = list(
        with_turns([Exchange("7", whole.request, whole.response, kind=whole.kind, frames=(*whole.frames, closed))])
    )[-1]
    assert turn.state is State.ABORTED and "the server closed the connection with 1007 (Request contains" in turn.note


@pytest.mark.parametrize("name", ["scheduling", "id"])
def test_a_close_frame_that_names_a_field_refuses_the_request(name: str) -> None:
    """livekit/agents#3853, #2194: the finding is at the field, as for a refusal over HTTP."""
    answered = sent(
        tool_response={"functionResponses": [{"id": "fc-1", "name": "f", "response": {}, "scheduling": "SILENT"}]}
    )
    whole = said.connection([*BEGIN, ask(), call("fc-1"), answered])
    reason = f"Invalid JSON payload received. Unknown name \"{name}\" at 'tool_response.function_responses[0]'"
    closed = Frame("received", "close", (1007).to_bytes(2) + reason.encode(), 9.0)
    made = Inspector(MemorySession("s", tuple(with_turns([replace(whole, frames=(*whole.frames, closed))])))).run()
    refused = made.rows[-1]
    assert refused.summary.status == 400
    place = f"/contents/2/parts/0/functionResponse/{name}"
    assert ("gateway.unknown-field", place) in [(f.rule, f.pointer) for f in refused.findings]
