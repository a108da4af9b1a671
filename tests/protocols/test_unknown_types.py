"""Messages of a client: the type that an error says is not known, and what the types of the SDKs do not allow."""

from __future__ import annotations

import pytest

from workbench.protocols.common.client_messages import client_messages
from workbench.protocols.common.unknown_types import unknown_type
from workbench.protocols.openai_realtime.session_members import is_only_written
from workbench.protocols.openai_responses.live_socket import LiveBackendTurns
from workbench.wire.exchange import Exchange, Frame


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "Invalid value: 'session.refresh'. Supported values are: 'session.update'."}, "session.refresh"),
        ({"message": "Invalid value: 'session.refresh'.", "param": "type"}, "session.refresh"),
        ("Unknown event type: response.create", "response.create"),
        ({"message": "unsupported websocket request type: response.steer"}, "response.steer"),
        ({"message": "Unrecognized message type 'response.append'"}, "response.append"),
        ({"message": "Invalid value: 'alloy'. Supported values are: 'ash'.", "param": "session.voice"}, ""),
        ({"message": "The message could not be read"}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_the_type_that_a_server_does_not_know(error, expected):
    assert unknown_type(error) == expected


SEEDED = {"historyConfig": {"initialHistoryInClientContent": True}}
RESULT = {"id": "c1", "name": "find", "response": {"output": "a"}}


@pytest.mark.parametrize(
    ("protocol", "name", "value", "expected"),
    [
        (
            "openai-realtime",
            "conversation.item.truncate",
            {"type": "x", "item_id": "i", "content_index": 0},
            ["missing"],
        ),
        ("openai-realtime", "response.create", {"type": "response.create", "model": "m"}, ["unknown-field"]),
        ("openai-realtime", "response.create", {"type": "response.create", "response": {"model": "m"}}, []),
        ("openai-realtime", "input_audio_buffer.append", {"type": "x", "audio": {"data": "AAAA"}}, ["shape"]),
        ("gemini-live", "toolResponse", {"function_responses": [RESULT]}, []),
        ("gemini-live", "toolResponse", {"functionResponses": RESULT}, ["shape"]),
        ("gemini-live", "toolResponse", {"functionResponses": [{**RESULT, "content": "a"}]}, ["unknown-field"]),
        ("gemini-live", "realtimeInput", {"audio": {"mimeType": "audio/pcm"}}, ["missing"]),
        ("gemini-live", "setup", {"anything": 1}, []),
    ],
)
def test_what_a_message_lacks_or_may_not_have(protocol, name, value, expected):
    assert [fault.rule.rpartition(".")[2] for fault in client_messages(protocol).faults(name, value)] == expected


@pytest.mark.parametrize(
    ("message", "model", "setup", "is_later", "is_refused"),
    [
        ({"realtimeInput": {"mediaChunks": []}}, "gemini-3.1-flash-live-preview", {}, False, True),
        ({"realtimeInput": {"mediaChunks": []}}, "gemini-2.0-flash-live-001", {}, False, False),
        ({"clientContent": {}}, "gemini-3.1-flash-live-preview", {}, False, True),
        ({"client_content": {}}, "gemini-3.1-flash-live-preview", SEEDED, False, False),
        ({"clientContent": {}}, "gemini-3.1-flash-live-preview", SEEDED, True, True),
        ({"realtime_input": {"activity_end": {}}}, "gemini-3.8-live", {}, False, True),
    ],
)
def test_messages_that_a_model_refuses(message, model, setup, is_later, is_refused):
    assert bool([*client_messages("gemini-live").refusals(message, model, setup, is_later=is_later)]) is is_refused


@pytest.mark.parametrize("odd", [None, [], {}, 5])
def test_what_a_server_says_in_values_of_another_type_is_no_fault(odd):
    live = LiveBackendTurns()
    live.take_received(0, Frame("received", "text", b""), {"type": "session.closed", "reason": odd})
    assert not [*live.facts(Exchange(""))]
    assert not is_only_written({"status": "completed", "output": [{"type": "message", "content": [{"type": odd}]}]})
