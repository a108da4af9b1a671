"""What the messages of a WebSocket show together, on each protocol that goes over one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.protocols import live_said as live
from tests.protocols import realtime_said as said
from tests.protocols.realtime_said import CALL, RESULT, TEXT, USER, call, created, done, put, sent, session, text
from tests.protocols.test_socket_turns import LOOP, OF_LIVE
from tests.protocols.test_socket_turns import connection as responses
from workbench.protocols import SocketTurns, with_turns
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Frame, Headers, HttpRequest, HttpResponse, State
from workbench.wire.session import MemorySession

BASE = [*session(), *put(USER, "u"), sent("response.create"), created("resp_1")]
CUT = {**CALL, "status": "incomplete"}
SPOKEN = [
    said.received("input_audio_buffer.speech_started", item_id="v", audio_start_ms=9000),
    said.received("input_audio_buffer.committed", item_id="v", previous_item_id=None),
    *(created("resp_2"), *text("resp_2"), done("resp_2", TEXT)),
]
OLD_NAME = [said.received("response.audio.delta", response_id="resp_1", item_id="item_m1", delta="AAAA")]
SPEECH = ("sent", {"realtimeInput": {"audio": {"mimeType": "audio/pcm;rate=16000", "data": "AAAA"}}})
BETA_SESSION = {"object": "realtime.session", "id": "sess_1", "modalities": ["text", "audio"], "tools": [said.TOOL]}
AGAIN = [sent("response.create"), created("resp_2"), *text("resp_2"), done("resp_2", TEXT)]
DETECTION = {"type": "server_vad", "threshold": 0.6, "create_response": None}
OWN = {**session()[2][1]["session"], "tool_choice": "auto", "turn_detection": {**DETECTION, "create_response": True}}
CONFIRMED = [
    session()[0],
    *(sent("session.update", session={**said.SESSION, "turn_detection": DETECTION, "tool_choice": choice})
      for choice in ("required", None, "auto")),
    *[said.received("session.updated", session={**OWN, "turn_detection": {**DETECTION, "create_response": True,
                                                                        "threshold": 0.6000000238418579}})] * 3,
]  # fmt: skip
HEALTHY = {
    "realtime, of another form and later": said.connection([*CONFIRMED, *said.loop()[3:]]),
    "realtime": said.connection(said.loop()),
    "live": live.connection(live.loop()),
    "responses": responses(*LOOP),
}


class LiveConnection(MemorySession):
    """A session with one connection, of which more and more is there."""

    def show(self, connection: Exchange) -> None:
        self.exchanges, self._summaries = (connection,), ()

    def refresh(self) -> frozenset[int]:
        return frozenset({0})


def closed(connection: Exchange, code: int, reason: str = "", direction: str = "received") -> Exchange:
    frame = Frame(direction, "close", code.to_bytes(2) + reason.encode(), 99.0)
    return replace(connection, frames=(*connection.frames, frame))


def found(connection: Exchange) -> dict[str, str]:
    """Rules and messages of what is found on a connection itself."""
    inspector = Inspector(MemorySession("s", tuple(with_turns([connection]))))
    inspector.detail(len(inspector.session) - 1)
    return {finding.rule: finding.message for finding in inspector.rows[0].findings}


def with_text(connection: Exchange, data: bytes) -> Exchange:
    """The connection with one more message of the server."""
    return replace(connection, frames=(*connection.frames, Frame("received", "text", data, 50.0)))


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_found_on_a_healthy_connection(name: str) -> None:
    assert found(HEALTHY[name]) == found(with_text(HEALTHY[name], b"[DONE]")) == {}
    assert found(closed(HEALTHY[name], 1000)) == found(closed(HEALTHY[name], 1001, "bye", "sent")) == {}


@pytest.mark.parametrize("connection", [*HEALTHY.values(), responses(*OF_LIVE)])
def test_names_that_are_no_texts_raise_nothing(connection: Exchange) -> None:
    for other in (b"[[]]", b"null", b"1" + 400 * b"0"):
        sides = [
            replace(frame, data=re.sub(rb'("(?:\w+_)?(?:id|code|speed)": ?)"[^"]*"', rb"\g<1>" + other, frame.data))
            for frame in connection.frames
        ]
        assert len(list(with_turns([replace(connection, frames=tuple(sides))]))) > 1


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize(
    ("code", "reason", "means"),
    [
        (1007, "Request contains an invalid argument.", "a message has a structure that the API does not define"),
        (1009, "message too big", "a message"),
        (1011, "keepalive ping timeout", "no pong arrived within the time"),
        (1008, "policy", "a violation of the other side's policy"),
        (4000, "invalid_request_error.beta_api_shape_disabled", "left beta on 2026-05-07"),
        (4321, "", "a code defined by the provider"),
        (2999, "", "an unregistered code"),
    ],
)
def test_a_code_that_names_a_fault_is_explained(name: str, code: int, reason: str, means: str) -> None:
    message = found(closed(HEALTHY[name], code, reason))["socket.closed"]
    assert f"the server closed the connection with {code}" in message and means in message and reason in message
    assert "the client closed" in found(closed(HEALTHY[name], code, reason, "sent"))["socket.closed"]


@pytest.mark.parametrize(
    ("rule", "connection"),
    [
        (
            "socket.two-responses",
            said.connection(
                [
                    *BASE,
                    *call("resp_1"),
                    sent("response.create"),
                    said.refusal(said.ACTIVE, "in progress: resp_1."),
                    done("resp_1", CALL),
                ]
            ),
        ),
        (
            "socket.cancelled-call",
            said.connection(
                [
                    *BASE,
                    *call("resp_1", item=CUT),
                    done("resp_1", CUT, status="cancelled", reason="turn_detected"),
                    *put(RESULT, "r"),
                    *AGAIN,
                ]
            ),
        ),
        (
            "socket.cancelled-call",
            live.connection(
                [
                    *live.BEGIN,
                    live.ask(),
                    live.call("fc-1"),
                    live.received(toolCallCancellation={"ids": ["fc-1"]}),
                    live.INTERRUPTED,
                    live.DONE,
                    live.result("fc-1"),
                    *live.spoken("It is ok."),
                    live.DONE,
                ]
            ),
        ),
        ("socket.unused-result", said.connection([*BASE, *call("resp_1"), done("resp_1", CALL), *put(RESULT, "r")])),
        (
            "socket.unanswered-call",
            live.connection([*live.BEGIN, live.ask(), live.call("fc-1", "fc-2"), live.result("fc-1")]),
        ),
        ("socket.unanswered-call", live.connection([*live.BEGIN, live.ask(), live.call("fc-1"), live.result("fc-9")])),
        (
            "socket.unused-result",  # the model continued only when the user spoke again
            said.connection([*BASE, *call("resp_1"), done("resp_1", CALL), *put(RESULT, "r"), *SPOKEN]),
        ),
        (
            "params.ignored",
            said.connection([*session()[:2], said.received("session.updated", session=BETA_SESSION)]),
        ),
        ("stream.client-misses", said.connection([*BASE, *OLD_NAME, *text("resp_1"), done("resp_1", TEXT)])),
        (
            "socket.unanswered-call",  # the turn is over, and the user speaks on
            live.connection([*live.BEGIN, live.ask(), live.call("fc-1"), live.DONE, SPEECH, SPEECH]),
        ),
        ("stream.framing", with_text(responses(LOOP[0]), b"data: {}")),
        ("stream.framing", with_text(live.connection([*live.BEGIN, live.ask()]), b"Bad Gateway")),
    ],
)
def test_what_the_messages_show_together(rule: str, connection: Exchange) -> None:
    assert list(found(connection)) == [rule]


def test_a_call_without_a_result_is_no_reason_of_a_refusal_here() -> None:
    """The API refuses no request because a call is open: a conversation that continues without it is a warning."""
    two = [*BASE, *call("resp_1"), sent("response.create"), said.refusal(said.ACTIVE, "in progress: resp_1.")]
    later = [*BASE, *call("resp_1"), done("resp_1", CALL), *put(USER, "u2"), *AGAIN]
    for messages, expected in ((two, []), (later, [("closure.missing-result", "warning")])):
        inspector = Inspector(MemorySession("s", tuple(with_turns([said.connection(messages)]))))
        inspector.detail(len(inspector.session) - 1)
        findings = [f for row in inspector.rows[1:] for f in row.findings]
        assert [(f.rule, f.severity.value) for f in findings if f.rule.startswith("closure.missing")] == expected


FAILED = [
    said.received("response.mcp_call.failed", item_id=f"mcp_{n}", error={"message": "timed out"}) for n in range(999)
]
"""999 failures that differ only in their number."""
UNKNOWN_MEMBERS = [
    sent("input_audio_buffer.append", audio="AAAA", **{f"{name}{n}": 1}) for name in "abcdefghijklm" for n in range(9)
]
"""117 messages with a member that the API does not define: each has another name."""


@pytest.mark.parametrize(
    ("messages", "rule", "most", "words"),
    [
        (FAILED, "stream.error-event", 1, "(message 4): 'timed out' (999 times, the last on message 1002)"),
        (UNKNOWN_MEMBERS, "gateway.unknown-field", 9, "109 more findings of this kind, the last on message 120"),
        (UNKNOWN_MEMBERS[:1] * 50, "gateway.unknown-field", 1, "does not define (50 times, the last on message 53)"),
    ],
)
def test_one_finding_has_the_count_of_many_of_its_form(
    messages: list[said.Said], rule: str, most: int, words: str
) -> None:
    inspector = Inspector(MemorySession("s", tuple(with_turns([said.connection([*session(), *messages])]))))
    inspector.detail(len(inspector.session) - 1)
    texts = [finding.message for finding in inspector.rows[0].findings if finding.rule == rule]
    assert len(texts) == most and words in texts[-1]


@pytest.mark.parametrize(("stated", "severity"), [(["audio"], "warning"), (["text", "audio"], "info"), (["text"], "")])
def test_a_written_reply_is_a_warning_only_where_speech_alone_was_requested(stated: list[str], severity: str) -> None:
    """Sessions of the beta always listed text beside audio."""
    begun = said.received("session.created", session={**BETA_SESSION, "modalities": stated})
    answer = [created("resp_1"), *text("resp_1", stem="response.text"), done("resp_1", TEXT)]
    turns = with_turns([said.connection([begun, *put(USER, "u"), sent("response.create"), *answer])])
    inspector = Inspector(MemorySession("s", tuple(turns)))
    inspector.detail(len(inspector.session) - 1)
    findings = [f.severity.value for row in inspector.rows for f in row.findings if f.rule == "params.ignored"]
    assert findings == [severity] * bool(severity)


@pytest.mark.parametrize(
    "changed", [{"instructions": "You are billing."}, {"tools": []}, {"instructions": "Be brief."}]
)
def test_settings_that_come_after_the_request_of_a_response_do_not_apply_to_it(changed: said.Json) -> None:
    late = sent("session.update", session={"type": "realtime", **changed})
    own = {**session()[2][1]["session"], **changed}
    ahead = [*session(), *put(USER, "u"), late, said.received("session.updated", session=own), *AGAIN]
    behind = [*session(), *put(USER, "u"), AGAIN[0], late, said.received("session.updated", session=own), *AGAIN[1:]]
    is_new = changed != {"instructions": "Be brief."}
    assert found(said.connection(ahead)) == {}
    assert list(found(said.connection(behind))) == ["params.ignored"] * is_new


def cut_off(n: int, reason: str = "turn_detected") -> list[said.Said]:
    """A response that is cancelled."""
    return [sent("response.create"), created(f"r{n}"), done(f"r{n}", status="cancelled", reason=reason)]


BREAK_IN = [live.ask(), *live.spoken("There are"), live.INTERRUPTED, live.DONE]
ROWS = {
    "realtime": (said.connection([*session(), *put(USER, "u"), *cut_off(1), *cut_off(2), *cut_off(3)]), True),
    "live": (live.connection([*live.BEGIN, *BREAK_IN * 3]), True),
    "twice": (live.connection([*live.BEGIN, *BREAK_IN * 2]), False),
    "twice and once": (live.connection([*live.BEGIN, *BREAK_IN * 2, *live.loop()[2:], *BREAK_IN]), False),
    "by the client": (
        said.connection([*session(), *put(USER, "u"), *(m for n in range(4) for m in cut_off(n, "client_cancelled"))]),
        False,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_three_responses_in_a_row_that_speech_ended_at_once_are_named(name: str) -> None:
    connection, is_named = ROWS[name]
    assert ("retry.loop" in found(connection)) == is_named


@pytest.mark.parametrize("name", [name for name in ROWS if ROWS[name][1]])
def test_responses_without_times_are_not_said_to_end_at_once(name: str) -> None:
    connection, _ = ROWS[name]
    frames = tuple(replace(frame, at=None) for frame in connection.frames)
    assert "retry.loop" not in found(replace(connection, frames=frames))


def test_the_wait_for_a_call_begins_anew_where_its_id_is_used_again() -> None:
    again = [live.ask(), live.call("fc-1"), live.received(toolCallCancellation={"ids": ["fc-1"]}), live.DONE]
    first = [*live.BEGIN, live.ask(), live.call("fc-1"), live.result("fc-1"), *live.loop()[5:]]
    assert "socket.unanswered-call" not in found(live.connection([*first, *[SPEECH] * 60, *again]))


@pytest.mark.parametrize(("waits", "is_named"), [(4, False), (60, True)])
def test_a_call_that_live_cancels_after_a_long_wait_had_no_result(waits: int, is_named: bool) -> None:
    cancelled = live.received(toolCallCancellation={"ids": ["fc-1"]})
    messages = [*live.BEGIN, live.ask(), live.call("fc-1"), *[SPEECH] * waits, cancelled, live.DONE]
    answered = [*live.BEGIN, live.ask(), live.call("fc-1"), live.result("fc-1"), *[SPEECH] * waits, *live.loop()[5:]]
    assert ("socket.unanswered-call" in found(live.connection(messages))) == is_named
    assert found(live.connection(answered)) == {}


UPDATE = sent("session.update", session={"type": "realtime", "tools": []})
SILENT = {
    "setup": live.connection(live.BEGIN[:1]),
    "update": said.connection([*session()[:1], UPDATE]),
    "session": said.connection([UPDATE, said.received("conversation.created"), session()[-1]]),
}


@pytest.mark.parametrize("name", SILENT)
def test_a_session_that_the_server_does_not_confirm_or_announce_is_named(name: str) -> None:
    assert list(found(SILENT[name])) == ["socket.no-response"]
    assert found(replace(SILENT[name], state=State.OPEN)) == {}


def test_a_realtime_connection_without_a_message_is_named_unless_the_server_says_why() -> None:
    nothing = said.connection([])
    assert list(found(closed(nothing, 1000, direction="sent"))) == ["socket.no-response"]
    assert list(found(closed(nothing, 1011, "no such model"))) == ["socket.closed"]
    assert found(closed(live.connection([]), 1000, direction="sent")) == {}
    assert found(closed(responses(), 1000, direction="sent")) == {}


def test_a_refused_handshake_is_named_once_whatever_its_body() -> None:
    asked = HttpRequest("GET", "wss://gateway.example/v1/responses", Headers((("Upgrade", "websocket"),)))
    for body in (b"", b"no such page", b'{"detail": "Method Not Allowed"}', b'{"error": {"message": "no"}}'):
        inspector = Inspector(MemorySession("s", (Exchange("1", asked, HttpResponse(405, body=Body(body))),))).run()
        assert [f.rule for f in inspector.findings] == ["socket.refused-handshake"]


def test_a_normal_code_of_the_server_whose_reason_names_a_failure_is_a_warning() -> None:
    for reason, direction, expected in (
        ("quota exceeded", "received", ["socket.closed"]),
        ("quota exceeded", "sent", []),
        ("bye", "received", []),
    ):
        assert list(found(closed(HEALTHY["live"], 1000, reason, direction))) == expected


HEARD = live.received(serverContent={"inputTranscription": {"text": "Hello?"}})
COMMITTED = said.received("input_audio_buffer.committed", item_id="u9", previous_item_id=None)


@pytest.mark.parametrize("connection", [live.connection([*live.loop(), HEARD]), said.connection([*BASE, COMMITTED])])
def test_what_the_server_heard_and_does_not_answer_is_named_once_it_is_silent_for_long(connection: Exchange) -> None:
    assert "socket.no-response" not in found(connection)
    assert "for 9" in found(closed(connection, 1000))["socket.no-response"]


@pytest.mark.parametrize(
    "header", ["OpenAI-Beta: realtime=v1", "Sec-WebSocket-Protocol: realtime, openai-beta.realtime-v1"]
)
def test_a_handshake_for_the_beta_is_named(header: str) -> None:
    healthy = HEALTHY["realtime"]
    assert healthy.request
    name, _, value = header.partition(": ")
    asked = replace(healthy.request, headers=Headers(((name, value),)))
    assert list(found(replace(healthy, request=asked))) == ["socket.beta-shape"]


def test_a_result_may_still_be_used_while_the_connection_is_open() -> None:
    whole = said.connection([*BASE, *call("resp_1"), done("resp_1", CALL), *put(RESULT, "r")])
    assert found(replace(whole, state=State.OPEN)) == {}


def test_another_protocol_that_uses_names_of_realtime_is_not_read_as_realtime() -> None:
    talk = [sent("session.start", session={"model": "gpt-live-1"}), sent("response.create")]
    connection = said.connection(talk, "wss://api.openai.com/v1/live/sessions")
    inspector = Inspector(MemorySession("s", tuple(with_turns([connection]))))
    inspector.detail(0)
    assert [(row.protocol, [f.rule for f in row.findings]) for row in inspector.rows] == [
        (None, ["socket.no-response"])
    ]


def test_a_setup_that_is_not_accepted_is_a_turn_that_ends_with_the_reason() -> None:
    refused = closed(live.connection([live.BEGIN[0]]), 1008, "models/gemini-x is not found for API version v1beta")
    _, turn = with_turns([refused])
    assert "the server did not accept the setup" in turn.note and "1008 (models/gemini-x" in turn.note
    assert list(found(refused)) == ["socket.closed"]


def test_a_result_that_the_server_refused_is_not_one_that_nobody_used() -> None:
    refused = said.refusal("invalid_tool_call_id", "Tool call ID 'call_9' not found in conversation.")
    assert list(found(said.connection([*BASE, sent("conversation.item.create", item=RESULT), refused]))) == []


def test_a_connection_that_grows_is_read_on_and_shows_what_the_whole_one_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = said.refusal("conversation_already_has_active_response", "in progress: resp_1.")
    whole = said.connection([*BASE, *call("resp_1"), sent("response.create"), refused])
    read: list[Frame] = []
    add = SocketTurns.add

    def note(turns: SocketTurns, frame: Frame) -> None:
        read.append(frame)
        add(turns, frame)

    monkeypatch.setattr(SocketTurns, "add", note)
    live = LiveConnection("s", (replace(whole, frames=(), state=State.OPEN),))
    inspector = Inspector(live)
    for count in range(len(whole.frames) + 1):
        live.show(replace(whole, frames=whole.frames[:count], state=State.OPEN))
        inspector.refresh()
        for _ in inspector.steps():
            pass
    assert [f.rule for f in inspector.rows[0].findings] == ["socket.two-responses"]
    assert len(read) == len(whole.frames)
    assert list(found(replace(whole, state=State.OPEN))) == ["socket.two-responses"]


class LastGrows(LiveConnection):
    """A session whose last connection grows."""

    def show(self, connection: Exchange) -> None:
        self.exchanges, self._summaries = (*self.exchanges[:-1], connection), ()

    def refresh(self) -> frozenset[int]:
        return frozenset({len(self.exchanges) - 1})


def test_a_session_that_could_have_been_resumed_is_named_and_the_earlier_connection_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    update = live.received(sessionResumptionUpdate={"newHandle": "h1", "resumable": True})
    earlier = closed(replace(live.connection([*live.BEGIN, *live.loop(), update]), id="1"), 1011, "internal error")
    whole = replace(live.connection([*live.BEGIN, *live.loop()]), id="2", state=State.OPEN)
    read: list[Frame] = []
    add = SocketTurns.add

    def note(turns: SocketTurns, frame: Frame) -> None:
        read.append(frame)
        add(turns, frame)

    growing = LastGrows("s", (earlier, replace(whole, frames=())))
    inspector = Inspector(growing)
    for _ in inspector.steps():
        pass
    monkeypatch.setattr(SocketTurns, "add", note)
    for count in range(1, len(whole.frames) + 1):
        growing.show(replace(whole, frames=whole.frames[:count]))
        inspector.refresh()
        for _ in inspector.steps():
            pass
    assert "state.lost" in {finding.rule for finding in inspector.rows[1].findings}
    assert len(read) == len(earlier.frames) + len(whole.frames)


def test_a_provider_that_is_asked_for_has_a_contract_for_each_of_its_protocols() -> None:
    for name, asked, own in (("live", "gemini", "gemini-live"), ("realtime", "openai", "openai-realtime")):
        inspector = Inspector(MemorySession("s", tuple(with_turns([HEALTHY[name]]))), provider=asked).run()
        assert {row.provider for row in inspector.rows[1:]} == {own} and not inspector.findings


def test_a_turn_is_judged_as_a_request_that_was_sent() -> None:
    """Its tools are held to the contract, as over HTTP."""
    setup = live.BEGIN[0][1]["setup"]
    declared = {"name": "1 a", "parameters": {"type": "OBJECT", "properties": {}}}
    odd = ("sent", {"setup": {**setup, "tools": [{"functionDeclarations": [declared]}]}})
    turns = tuple(with_turns([live.connection([odd, *live.loop()[1:]])]))
    inspector = Inspector(MemorySession("s", turns), provider="gemini-live").run()
    assert "schema.name" in {finding.rule for finding in inspector.findings}
