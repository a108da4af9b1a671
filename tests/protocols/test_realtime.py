"""Realtime: the turns of a connection as requests and responses, and what of them can be executed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.protocols import realtime_said as said
from tests.protocols.realtime_said import (
    CALL,
    RESULT,
    TEXT,
    USER,
    call,
    created,
    done,
    put,
    received,
    sent,
    session,
)
from workbench.ir import Opaque, Text, ToolCallIR
from workbench.protocols import DecodedExchange, with_turns
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Exchange, State
from workbench.wire.frames import FRAMES
from workbench.wire.session import MemorySession


def inspect(messages: list[said.Said]) -> Inspector:
    made = Inspector(MemorySession("s", tuple(with_turns([said.connection(messages)]))))
    made.detail(len(made.session) - 1)
    return made


def decoded(turn: Exchange) -> DecodedExchange:
    return DecodedExchange(0, turn)


def items(turn: Exchange) -> list[Any]:
    assert turn.request
    return json.loads(turn.request.body.raw)["input"]  # type: ignore[no-any-return]


def rules(inspector: Inspector) -> list[tuple[str, ...]]:
    return [tuple(f.rule for f in row.findings) for row in inspector.rows]


def test_a_tool_loop_is_two_turns_of_one_conversation() -> None:
    inspector = inspect(said.loop())
    assert [row.protocol for row in inspector.rows] == [None, "openai-realtime", "openai-realtime"]
    assert rules(inspector) == [(), (), ()]
    assert inspector.rows[1].conversation == inspector.rows[2].conversation
    assert [row.calls for row in inspector.rows] == [(), ("list_dir",), ()]
    first, second = (inspector.detail(n).decoded for n in (1, 2))
    assert first.request and second.request and first.response and second.response
    assert first.request.model == "gpt-realtime" and [t.name for t in first.request.tools] == ["list_dir"]
    assert [m.role for m in second.request.messages] == ["user", "assistant", "tool"]
    assert (first.response.stop, second.response.stop) == ("tool_calls", "stop")
    made = first.response.messages[0].parts[0]
    assert isinstance(made, ToolCallIR) and made.input == {"path": "src"}
    usage = first.response.usage
    assert usage and (usage.input, usage.output) == (63, 22)


def test_each_event_of_a_turn_leads_to_its_frame() -> None:
    whole = said.connection(said.loop())
    for turn in list(with_turns([whole]))[1:]:
        frames: Any = turn.meta[FRAMES]
        numbers = [n for first, last in frames["response"] for n in range(first, last + 1)]
        events = decoded(turn).events
        assert [event.data for event in events] == [whole.frames[n].data for n in numbers]
        asked = whole.frames[frames["request"][-1]]
        assert json.loads(asked.data)["type"] == "response.create"


def test_a_result_that_comes_before_the_response_is_done_is_not_early() -> None:
    """Recorded: the client has the call with ``arguments.done``, and the next response only after ``response.done``."""
    early = [*call("resp_1"), *put(RESULT, "item_r1")[:1], done("resp_1", CALL), sent("response.create")]
    messages = [*session(), *put(USER, "item_u1"), sent("response.create"), created("resp_1"), *early]
    messages += [created("resp_2"), *said.text("resp_2"), done("resp_2", TEXT)]
    inspector = inspect(messages)
    assert rules(inspector) == [(), (), ()]
    assert [i["type"] for i in items(inspector.detail(2).decoded.exchange)] == [
        "message",
        "function_call",
        "function_call_output",
    ]


def test_a_spoken_turn_begins_by_itself_and_says_how_much_was_spoken() -> None:
    (turn,) = said.turns(said.spoken())
    assert "the server started this turn by itself" in turn.note and turn.state is State.COMPLETE
    assert items(turn)[0]["content"] == [{"type": "input_audio", "transcript": "What is in src?"}]
    made = decoded(turn).response
    assert made and (made.finish_reason, made.stop) == ("turn_detected", "other") and not made.anomalies
    spoken, sound = made.messages[0].parts
    assert isinstance(spoken, Text) and spoken.text == "There are two"
    assert isinstance(sound, Opaque) and sound.value == {"bytes": 7200, "events": 2, "seconds": 0.15}
    assert len(sound.source.events) == 2


def test_the_names_of_the_beta_are_read() -> None:
    modern = [created("resp_1"), *said.text("resp_1"), done("resp_1", TEXT)]
    beta = [created("resp_1"), *said.text("resp_1", stem="response.text"), done("resp_1", TEXT)]
    for events in (modern, beta):
        (turn,) = said.turns([*session(), *put(USER, "u"), sent("response.create"), *events])
        made = decoded(turn).response
        assert made and not made.anomalies and not made.params.get("unknown_events")
        assert [p.text for m in made.messages for p in m.parts if isinstance(p, Text)] == ["Two files: a and b."]


def test_an_item_that_the_server_refuses_is_a_turn_and_no_part_of_the_conversation() -> None:
    error = said.refusal("invalid_tool_call_id", "Tool call ID 'call_9' not found in conversation.")
    orphan = sent("conversation.item.create", item={**RESULT, "call_id": "call_9"})
    asked = [sent("response.create"), created("resp_1"), *said.text("resp_1"), done("resp_1", TEXT)]
    refused, turn = said.turns([*session(), *put(USER, "u"), orphan, error, *asked])
    assert refused.response and refused.response.status == 400 and "refused the item of frame 7" in refused.note
    assert [i["type"] for i in items(refused)] == ["message", "function_call_output"]
    assert [i["type"] for i in items(turn)] == ["message"]


@pytest.mark.parametrize("is_named", [True, False])
def test_a_second_response_at_once_is_refused(is_named: bool) -> None:
    """pipecat#3960: a response is requested while the one before is still being made."""
    name = {"event_id": "mine"} if is_named else {}
    error = said.refusal(
        "conversation_already_has_active_response",
        "Conversation already has an active response in progress: resp_1.",
        event_id="mine" if is_named else None,
    )
    messages = [*session(), *put(USER, "u"), sent("response.create"), created("resp_1"), *call("resp_1")]
    messages += [sent("response.create", **name), error, done("resp_1", CALL)]
    first, second = said.turns(messages)
    assert (first.state, first.response and first.response.status) == (State.COMPLETE, 200)
    assert (second.state, second.response and second.response.status) == (State.COMPLETE, 400)


def test_items_are_deleted_truncated_and_put_in_between() -> None:
    messages = [*session(), *put(USER, "u1"), *put(USER, "u2", "u1")]
    messages += [sent("conversation.item.delete", item_id="u1")]
    messages += [received("conversation.item.deleted", item_id="u1")]
    first = {**USER, "content": [{"type": "input_text", "text": "first"}]}
    messages += [sent("conversation.item.create", item=first, previous_item_id="root"), sent("response.create")]
    (turn,) = said.turns(messages)
    assert [i["content"][0]["text"] for i in items(turn)] == ["first", "what is in src?"]
    assert turn.state is State.ABORTED and "the connection ended before the response" in turn.note

    cut = received("conversation.item.truncated", item_id="item_s1", content_index=0, audio_end_ms=700)
    _, after = said.turns([*said.spoken(), cut, sent("response.create")])
    assert items(after)[1]["content"] == [{"type": "output_audio", "audio_end_ms": 700}]


def test_a_response_beside_the_conversation_has_its_own_input() -> None:
    own = {"conversation": "none", "input": [USER], "instructions": "Classify.", "output_modalities": ["text"]}
    (turn,) = said.turns([*session(), *put(USER, "u1"), sent("response.create", response=own)])
    assert turn.request
    body = json.loads(turn.request.body.raw)
    assert (body["instructions"], body["input"], body["conversation"]) == ("Classify.", [USER], "none")
    assert "not part of the conversation" in turn.note


def test_what_a_session_is_given_for_one_client_is_not_kept() -> None:
    secret = {**said.SESSION, "client_secret": {"value": "ek_1"}}
    (turn,) = said.turns([received("session.created", session=secret), sent("response.create")])
    assert turn.request and b"ek_1" not in turn.request.body.raw


def test_a_server_that_counts_no_outputs_and_repeats_little_is_read_as_well() -> None:
    """Recorded of xAI: one index for all outputs, ends without content, tools of the session in the form of Chat."""
    own = {**said.SESSION, "id": "sess_1", "tools": [{"type": "function", "function": said.TOOL}]}
    begun = [received("session.created", session={**own, "tools": []}), sent("session.update", session=said.SESSION)]
    messages = [*begun, received("session.updated", session=own), *put(USER, "item_u1"), sent("response.create")]
    spoken = [(side, dict(value)) for side, value in said.text("resp_1")]
    for _, value in spoken:
        if value["type"] == "response.content_part.done":
            del value["part"]
        elif value["type"] == "response.output_item.done":
            value["item"] = {key: held for key, held in value["item"].items() if key != "content"}
    asked = [
        (side, {k: v for k, v in value.items() if "delta" not in value or k != "output_index"})
        for side, value in call("resp_1")
    ]
    messages += [created("resp_1"), *spoken, *asked, done("resp_1", TEXT, CALL)]
    inspector = inspect(messages)
    assert rules(inspector) == [(), ("closure.pending", "stream.client-raises")]
    assert inspector.rows[1].calls == ("list_dir",)
    answer = inspector.detail(1).decoded.response
    assert answer and [part.text for part in answer.messages[0].parts if isinstance(part, Text)] == [
        TEXT["content"][0]["text"]
    ]


@pytest.mark.parametrize("is_named", [True, False])
def test_an_item_that_is_created_again_is_in_the_conversation_once(is_named: bool) -> None:
    """livekit/agents#6964: the refusal changes nothing, and belongs to no turn."""
    name = {"event_id": "mine"} if is_named else {}
    error = said.refusal(
        "item_create_duplicate_item_id", "an item with ID 'u' already exists.", param="item.id", **name
    )
    again = sent("conversation.item.create", item={**USER, "id": "u"}, **name)
    asked = [sent("response.create"), created("resp_1"), *said.text("resp_1"), done("resp_1", TEXT)]
    inspector = inspect([*session(), *put(USER, "u"), again, error, *asked])
    assert rules(inspector) == [("socket.refused-message",), ()]
    (turn,) = said.turns([*session(), *put(USER, "u"), again, error, *asked])
    assert [i["type"] for i in items(turn)] == ["message"]


@pytest.mark.parametrize(
    ("update", "changes"), [({"rate": 24000, "type": "audio/pcm"}, 0), ({"type": "audio/pcm"}, 0), ({"rate": 16000}, 1)]
)
def test_a_format_of_the_input_changes_by_what_an_update_states(update: dict[str, Any], changes: int) -> None:
    first = sent("session.update", session={"audio": {"input": {"format": {"type": "audio/pcm", "rate": 24000}}}})
    heard = sent("input_audio_buffer.append", audio="AAAA")
    later = sent("session.update", session={"audio": {"input": {"format": update}}})
    found = rules(inspect([*session(), first, heard, later]))
    assert sum(rules_of.count("params.conflict") for rules_of in found) == changes


def test_a_second_message_of_a_response_is_told_for_the_clients_that_play_one() -> None:
    """What gpt-realtime-2 writes before its answer (livekit agents issues 5684 and 5768)."""
    more = {**TEXT, "id": "item_m2"}
    both = [*said.text("resp_1"), *said.text("resp_1", more, 1), done("resp_1", TEXT, more)]
    inspector = inspect([*session(), *put(USER, "u"), sent("response.create"), created("resp_1"), *both])
    assert [(f.rule, f.severity.value) for f in inspector.rows[1].findings] == [("stream.client-misses", "info")]
