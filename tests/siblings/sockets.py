"""The fault of each rule on events, written on every protocol that goes over a WebSocket, and the holes.

A fault is written as the messages of its connections. Azure's and xAI's Realtime have the messages of OpenAI's at other
addresses.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tests.protocols import live_said as live
from tests.protocols import realtime_said as said
from tests.protocols import test_socket_turns as items
from tests.protocols.realtime_said import CALL, RESULT, TEXT, USER, call, created, done, put, received, sent, session
from workbench.wire.exchange import Exchange, Frame, Headers

RESPONSES, REALTIME, AZURE, XAI, LIVE = "responses", "realtime", "azure-realtime", "xai-realtime", "live"
ALL = (RESPONSES, REALTIME, AZURE, XAI, LIVE)
TALK = (REALTIME, AZURE, XAI)
URLS = {
    REALTIME: "",
    AZURE: "wss://r.openai.azure.com/openai/v1/realtime?model=gpt-realtime",
    XAI: "wss://api.x.ai/v1/realtime?model=grok-voice-latest",
}

Said = tuple[str, Any]
Messages = Iterable[Said]

ASK = [*put(USER, "u"), sent("response.create")]
AGAIN = [sent("response.create"), created("resp_2"), *said.text("resp_2"), done("resp_2", TEXT)]
ANSWER = [created("resp_1"), *said.text("resp_1"), done("resp_1", TEXT)]
CALLED = [*session(), *ASK, created("resp_1"), *call("resp_1"), done("resp_1", CALL)]
SECOND = {**CALL, "id": "item_c2", "call_id": "call_2"}
VOICE = [*live.spoken("Two files: a and b."), live.GENERATED, live.DONE]
WAIT: Said = ("wait", 30.0)
NEXT: Said = ("connect", 2.0)


def pcm(seconds: float, rate: int = 24_000) -> str:
    """Loud sound in base64."""
    return base64.b64encode(b"\x00\x20\x00\xe0" * int(seconds * rate / 2)).decode()


def speak(seconds: float, count: int, rate: int = 24_000) -> list[Said]:
    """Sound of the user, a piece each tenth of a second."""
    return [sent("input_audio_buffer.append", audio=pcm(seconds, rate)) for _ in range(count)]


def speak_live(seconds: float, count: int) -> list[Said]:
    blob = {"mimeType": "audio/pcm;rate=16000", "data": pcm(seconds, 16_000)}
    return [live.sent(realtimeInput={"audio": blob}) for _ in range(count)]


def heard(text: str = "Hello?") -> Said:
    return live.received(serverContent={"inputTranscription": {"text": text}})


def committed(name: str) -> list[Said]:
    return [received("input_audio_buffer.committed", item_id=name, previous_item_id=None)]


def updated(**members: Any) -> Said:
    return received("session.updated", session={**session()[2][1]["session"], **members})


def counted(name: str, tokens: int) -> Said:
    end = done(name, TEXT)[1]
    return "received", {**end, "response": {**end["response"], "usage": {**said.USAGE, "input_tokens": tokens}}}


def counted_live(tokens: int) -> Said:
    return live.received(
        serverContent={"turnComplete": True}, usageMetadata={**live.COUNTS, "promptTokenCount": tokens}
    )


def answer(name: str, *output: Any, tokens: int = 90, **more: str) -> list[Said]:
    """A response with a count of its context."""
    *first, (who, last) = items.answer(name, *output, **more)
    usage = {"input_tokens": tokens, "output_tokens": 9, "total_tokens": tokens + 9}
    return [*first, (who, {**last, "response": {**last["response"], "usage": usage}})]


def refused(message: str, code: str = "invalid_request") -> Said:
    error = {"type": "invalid_request_error", "code": code, "message": message, "param": None}
    return "received", {"type": "error", "status": 400, "error": error}


def mixed() -> list[Said]:
    """Audio of two responses by turns."""
    pieces = []
    for name in ("resp_1", "resp_2", "resp_1", "resp_2"):
        at = {"response_id": name, "item_id": f"i_{name}", "output_index": 0, "content_index": 0}
        pieces.append(received("response.output_audio.delta", **at, delta="AAAA"))
    return [*session(), *ASK, created("resp_1"), created("resp_2"), *pieces, done("resp_1", TEXT), done("resp_2", TEXT)]


def of_audio(size: float, tokens: int) -> list[Said]:
    """A response with so many seconds of audio, and a count of tokens."""
    at = {"response_id": "resp_1", "item_id": "item_m1", "output_index": 0, "content_index": 0}
    usage = {**said.USAGE, "output_token_details": {"text_tokens": 2, "audio_tokens": tokens}}
    end = done("resp_1", TEXT)[1]
    return [
        *session(),
        *ASK,
        created("resp_1"),
        received("response.output_audio.delta", **at, delta=pcm(size)),
        ("received", {**end, "response": {**end["response"], "usage": usage}}),
    ]


def cut(n: int) -> list[Said]:
    return [sent("response.create"), created(f"r{n}"), done(f"r{n}", status="cancelled", reason="turn_detected")]


def heard_pieces(*pauses: float) -> list[Said]:
    """A spoken response of Realtime whose pieces come after pauses; a tenth of a second each."""
    at = {"response_id": "resp_1", "item_id": "item_m1", "output_index": 0, "content_index": 0}
    piece = received("response.output_audio.delta", **at, delta=pcm(0.1))
    pieces = [message for pause in pauses for message in (("wait", pause), piece)]
    return [*session(), *ASK, created("resp_1"), *pieces, *said.text("resp_1"), done("resp_1", TEXT)]


def spoken_live(seconds: float) -> Said:
    blob = {"mimeType": "audio/pcm;rate=24000", "data": pcm(seconds)}
    return live.received(serverContent={"modelTurn": {"parts": [{"inlineData": blob}]}})


def with_setup(**members: Any) -> list[Said]:
    return [live.sent(setup={**live.SETUP, **members}), live.BEGIN[1]]


BETA = {"object": "realtime.session", "id": "sess_1", "modalities": ["text", "audio"]}
FOR_TRANSCRIPTS = {"type": "transcription", "object": "realtime.transcription_session", "id": "sess_1"}
MANUAL_LIVE = {"realtimeInputConfig": {"automaticActivityDetection": {"disabled": True}}}
TRANSCRIPT = "conversation.item.input_audio_transcription"
BARGE_IN = [live.ask(), *live.spoken("There are"), live.INTERRUPTED, live.DONE]
HANDLE = live.received(sessionResumptionUpdate={"newHandle": "h1", "resumable": True})
MANUAL = {"type": "realtime", "audio": {"input": {"turn_detection": None}}}
TWO_CALLS = [created("resp_1"), *call("resp_1"), *call("resp_1", SECOND, 1), done("resp_1", CALL, SECOND)]
ULAW = {"type": "realtime", "audio": {"input": {"format": {"type": "audio/pcmu"}}}}
NON_BLOCKING = {"functionDeclarations": [{"name": "list_dir", "behavior": "NON_BLOCKING"}]}
UNSCHEDULED = live.sent(setup={**live.SETUP, "tools": [NON_BLOCKING]})
SILENT = {"id": "fc-1", "name": "list_dir", "response": {"output": "a"}, "scheduling": "SILENT"}
PLANNED = "I will look into that folder now."


def everywhere(responses: Messages | None, realtime: Messages | None, of_live: Messages | None) -> Mapping[str, Any]:
    """The messages of a fault by wire."""
    found = {RESPONSES: responses, LIVE: of_live, **dict.fromkeys(TALK, realtime)}
    return {wire: [*messages] for wire, messages in found.items() if messages is not None}


FAULTS: Mapping[str, Mapping[str, list[Said]]] = {
    "socket.closed": everywhere(
        [*items.LOOP, ("close", (1011, "x"))],
        [*said.loop(), ("close", (1011, "x"))],
        [*live.loop(), ("close", (1011, "x"))],
    ),
    "socket.refused-handshake": everywhere([("status", 403)], [("status", 403)], [("status", 403)]),
    "socket.beta-shape": everywhere(None, [("header", ("OpenAI-Beta", "realtime=v1")), *said.loop()], None),
    "answer.error": everywhere(
        [items.create(items.USER), refused("The server is not ready.")],
        [
            session()[0],
            sent("session.update", session=MANUAL),
            updated(audio=MANUAL["audio"]),
            *committed("v"),
            sent("response.create"),
            said.refusal(said.ACTIVE, "in progress: resp_1."),
        ],
        None,
    ),
    "socket.two-responses": everywhere(
        [
            items.create(items.USER),
            items.answer("resp_1", items.TEXT)[0],
            items.create(items.USER),
            refused("Conversation already has an active response in progress: resp_1.", said.ACTIVE),
        ],
        [
            *session(),
            *ASK,
            created("resp_1"),
            sent("response.create"),
            said.refusal(said.ACTIVE, "in progress: resp_1."),
            done("resp_1", TEXT),
        ],
        None,
    ),
    "socket.two-responses (by turns)": everywhere(None, mixed(), None),
    "socket.cancelled-call": everywhere(
        None,
        [
            *session(),
            *ASK,
            created("resp_1"),
            *call("resp_1", {**CALL, "status": "incomplete"}),
            done("resp_1", {**CALL, "status": "incomplete"}, status="cancelled", reason="turn_detected"),
            *put(RESULT, "r"),
            *AGAIN,
        ],
        [
            *live.BEGIN,
            live.ask(),
            live.call("fc-1"),
            live.received(toolCallCancellation={"ids": ["fc-1"]}),
            live.INTERRUPTED,
            live.DONE,
            live.result("fc-1"),
            *VOICE,
        ],
    ),
    "socket.unanswered-call": everywhere(
        None,
        [*CALLED, WAIT, ("close", (1000, ""))],
        [*live.BEGIN, live.ask(), live.call("fc-1"), WAIT, ("close", (1000, ""))],
    ),
    "socket.unanswered-call (one of two)": everywhere(
        [
            items.create(items.USER),
            *items.answer("resp_1", items.CALL, {**items.CALL, "id": "fc_2", "call_id": "call_2"}),
            items.create(items.RESULT, previous_response_id="resp_1"),
            *items.answer("resp_2", items.TEXT),
        ],
        [*session(), *ASK, *TWO_CALLS, *put(RESULT, "r"), *AGAIN],
        [*live.BEGIN, live.ask(), live.call("fc-1", "fc-2"), live.result("fc-1")],
    ),
    "socket.unanswered-call (other id)": everywhere(
        [
            items.create(items.USER),
            *items.answer("resp_1", items.CALL),
            items.create({**items.RESULT, "call_id": "call_9"}, previous_response_id="resp_1"),
            *items.answer("resp_2", items.TEXT),
        ],
        [*CALLED, *put({**RESULT, "call_id": "call_9"}, "r"), *AGAIN],
        [*live.BEGIN, live.ask(), live.call("fc-1"), live.result("fc-9")],
    ),
    "socket.unanswered-call (cancelled late)": everywhere(
        None,
        None,
        [
            *live.BEGIN,
            live.ask(),
            live.call("fc-1"),
            WAIT,
            *speak_live(0.1, 2),
            live.received(toolCallCancellation={"ids": ["fc-1"]}),
            live.DONE,
        ],
    ),
    "socket.unused-result": everywhere(None, [*CALLED, *put(RESULT, "r")], None),
    "socket.unused-result (input)": everywhere(
        None,
        [session()[0], sent("session.update", session=MANUAL), updated(audio=MANUAL["audio"]), *put(USER, "u")],
        [*live.BEGIN, live.ask(done=False)],
    ),
    "socket.unused-result (muted)": everywhere(
        None,
        [
            *session(),
            *speak(0.1, 5),
            received("input_audio_buffer.speech_started", item_id="v", audio_start_ms=0),
            WAIT,
            ("close", (1000, "")),
        ],
        [*live.BEGIN, *speak_live(0.1, 5), heard(), WAIT, ("close", (1000, ""))],
    ),
    "socket.no-response": everywhere([items.create(items.USER)], [*session(), *ASK], [*live.BEGIN, live.ask()]),
    "socket.no-response (heard)": everywhere(
        None,
        [*session(), *committed("v"), WAIT, ("close", (1000, ""))],
        [*live.loop(), heard(), WAIT, ("close", (1000, ""))],
    ),
    "socket.no-response (loud)": everywhere(
        None, [*session(), *ASK, *ANSWER, *speak(0.1, 150)], [*live.loop(), *speak_live(0.1, 150)]
    ),
    "socket.no-response (endless)": everywhere(
        None,
        [
            *session(),
            received("input_audio_buffer.speech_started", item_id="v", audio_start_ms=0),
            WAIT,
            *speak(0.1, 1),
            WAIT,
            *speak(0.1, 1),
        ],
        [*live.BEGIN, *(message for _ in range(16) for message in (*speak_live(0.1, 1), ("wait", 3.0), heard("and")))],
    ),
    "socket.no-response (stall)": everywhere(
        None,
        heard_pieces(0, 8),
        [
            *live.BEGIN,
            live.ask(),
            *live.spoken("Two"),
            ("wait", 8.0),
            *live.spoken(" files."),
            live.GENERATED,
            live.DONE,
        ],
    ),
    "answer.abandoned": everywhere(
        [items.create(items.USER), items.answer("resp_1")[0], ("close", (1000, ""))],
        [received("session.created", session=FOR_TRANSCRIPTS), *committed("v"), ("close", (1000, ""))],
        [
            *with_setup(**MANUAL_LIVE),
            live.sent(realtimeInput={"activityStart": {}}),
            *speak_live(0.1, 3),
            live.sent(realtimeInput={"activityEnd": {}}),
            ("close", (1000, "")),
        ],
    ),
    "socket.closed (one response)": everywhere([*items.LOOP, ("close", (1001, ""))], None, None),
    "socket.unanswered-call (dead line)": everywhere(
        None,
        [
            *session(),
            *speak(0.1, 5),
            *ASK,
            created("resp_1"),
            *call("resp_1"),
            done("resp_1", CALL),
            WAIT,
            *put(RESULT, "r"),
            *AGAIN,
        ],
        [*live.BEGIN, *speak_live(0.1, 5), live.ask(), live.call("fc-1"), WAIT, live.result("fc-1"), *VOICE],
    ),
    "params.ignored (interrupt)": everywhere(
        None,
        [
            *session()[:2],
            updated(turn_detection={"type": "server_vad", "interrupt_response": True}),
            *ASK,
            *heard_pieces(0)[len([*session(), *ASK]) :][:3],
            received("input_audio_buffer.speech_started", item_id="v", audio_start_ms=900),
            WAIT,
            *said.text("resp_1"),
            done("resp_1", TEXT),
        ],
        None,
    ),
    "stream.truncated (transcript)": everywhere(
        None,
        [
            *session(),
            *ASK,
            created("resp_1"),
            received("response.output_audio.delta", response_id="resp_1", item_id="item_m1", delta=pcm(20)),
            *said.text("resp_1"),
            done("resp_1", TEXT),
        ],
        [
            *with_setup(outputAudioTranscription={}),
            live.ask(),
            *live.spoken("Two files"),
            spoken_live(20),
            live.GENERATED,
            live.DONE,
        ],
    ),
    "stream.client-misses (intent)": {
        wire: [("query", "&intent=transcription"), received("session.created", session=BETA)] for wire in TALK
    },
    "usage.contradiction": everywhere(
        None,
        None,
        [
            *live.BEGIN,
            live.sent(realtimeInput={"video": {"mimeType": "image/jpeg", "data": "AAAA"}}),
            live.ask(),
            *VOICE[:-1],
            (
                "received",
                {
                    **live.DONE[1],
                    "usageMetadata": {**live.COUNTS, "promptTokensDetails": [{"modality": "IMAGE", "tokenCount": 3}]},
                },
            ),
        ],
    ),
    "socket.no-response (session)": everywhere(
        None, [session()[1], received("conversation.created"), session()[2]], live.BEGIN[:1]
    ),
    "socket.no-response (update)": everywhere(None, session()[:2], None),
    "socket.tools-dropped": everywhere(
        [
            items.create(items.USER),
            *items.answer("resp_1", items.CALL),
            items.create(items.RESULT, previous_response_id="resp_1", tools=[]),
            *items.answer("resp_2", items.TEXT),
        ],
        [*session()[:2], updated(tools=[]), *ASK, *ANSWER],
        None,
    ),
    "socket.unknown-message": everywhere(
        [
            *items.LOOP,
            ("sent", {"type": "response.steer", "previous_response_id": "resp_2"}),
            refused("Invalid value: 'response.steer'. Supported values are: 'response.create'.", "invalid_value"),
        ],
        [
            *said.loop(),
            sent("session.close"),
            said.refusal(
                "invalid_value", "Invalid value: 'session.close'. Supported values are: 'session.update'.", param="type"
            ),
        ],
        [*live.loop(), live.sent(sessionClose={})],
    ),
    "socket.refused-message": everywhere(
        None,
        [
            *said.loop(),
            sent("input_audio_buffer.commit"),
            said.refusal("input_audio_buffer_commit_empty", "buffer too small. Expected at least 100ms of audio"),
        ],
        [
            live.sent(setup={**live.SETUP, "model": "models/gemini-3.1-flash-live-preview"}),
            live.BEGIN[1],
            live.ask(),
            ("close", (1007, "Request contains an invalid argument.")),
        ],
    ),
    "params.ignored": everywhere(
        [
            items.create(items.USER, temperature=0.5),
            *[
                (
                    who,
                    {**what, **({"response": {**what["response"], "temperature": 1.0}} if "response" in what else {})},
                )
                for who, what in items.answer("resp_1", items.TEXT)
            ],
        ],
        [*session()[:2], updated(tool_choice="none", output_modalities=["audio"]), *ASK, *ANSWER],
        None,
    ),
    "params.ignored (written)": everywhere(
        None,
        [received("session.created", session={**said.SESSION, "output_modalities": ["audio"]}), *ASK, *ANSWER],
        [*live.BEGIN, live.ask(), *live.written("Two files: a and b."), live.GENERATED, live.DONE],
    ),
    "params.ignored (late)": everywhere(
        None,
        [
            *session(),
            *ASK,
            sent("session.update", session={"type": "realtime", "instructions": "Be kind."}),
            updated(instructions="Be kind."),
            *ANSWER,
        ],
        None,
    ),
    "params.ignored (silent)": everywhere(
        None,
        None,
        [
            UNSCHEDULED,
            live.BEGIN[1],
            live.ask(),
            *live.spoken(PLANNED),
            live.call("fc-1"),
            live.sent(toolResponse={"functionResponses": [SILENT]}),
            *live.spoken(PLANNED),
            live.GENERATED,
            live.DONE,
        ],
    ),
    "params.ignored (cancel)": everywhere(
        None,
        [
            *session(),
            *ASK,
            created("resp_1"),
            sent("response.cancel"),
            WAIT,
            *said.text("resp_1"),
            done("resp_1", TEXT),
        ],
        None,
    ),
    "params.ignored (format)": everywhere(None, of_audio(6.0, 20), None),
    "params.conflict": everywhere(
        None,
        [
            *session(),
            *speak(0.1, 3),
            sent("session.update", session=ULAW),
            updated(),
            sent(
                "session.update",
                session={"type": "realtime", "audio": {"input": {"format": {"type": "audio/pcm", "rate": 24000}}}},
            ),
        ],
        None,
    ),
    "params.conflict (pace)": everywhere(None, [*session(), *speak(0.1 / 6, 60)], [*live.BEGIN, *speak_live(0.05, 60)]),
    "params.missing": everywhere(
        None, [*session(), sent("session.update", session={"instructions": "Be kind."}), *ASK, *ANSWER], None
    ),
    "gateway.unknown-field": everywhere(
        [items.create(items.USER, foo=1), *items.answer("resp_1", items.TEXT)],
        [*session(), *put(USER, "u"), sent("response.create", foo=1), *ANSWER],
        [*live.BEGIN, live.sent(clientContent={"turns": [], "turnComplete": True, "foo": 1}), *VOICE],
    ),
    "content.shape": everywhere(
        [items.create(5), *items.answer("resp_1", items.TEXT)],
        [*session(), *put(USER, "u"), sent("response.create", response="now"), *ANSWER],
        [*live.BEGIN, live.sent(realtimeInput={"text": 1}), live.ask(), *VOICE],
    ),
    "stream.truncated": everywhere(
        [items.create(items.USER), *items.answer("resp_1", items.TEXT)[:2], ("close", (1000, ""))],
        [*session(), *ASK, *ANSWER[:5], ("close", (1000, ""))],
        None,
    ),
    "stream.no-terminator": everywhere(
        [items.create(items.USER), *items.answer("resp_1", items.TEXT)[:-1], ("close", (1000, ""))],
        [*session(), *ASK, *ANSWER[:-1], ("close", (1000, ""))],
        [*live.BEGIN, live.ask(), *live.spoken("Two files"), ("close", (1000, ""))],
    ),
    "stream.truncated (lost)": everywhere(None, of_audio(0.5, 100), None),
    "stream.truncated (sentence)": everywhere(
        None, None, [*live.BEGIN, live.ask(), *live.spoken("There are two files in"), live.DONE]
    ),
    "stream.truncated (limit)": everywhere(
        None,
        [
            *session(),
            *ASK,
            created("resp_1"),
            *said.text("resp_1"),
            done("resp_1", TEXT, status="incomplete", reason="max_output_tokens"),
        ],
        None,
    ),
    "stream.error-event": everywhere(
        [
            items.create(items.USER),
            items.answer("resp_1")[0],
            ("received", {"type": "error", "error": {"type": "server_error", "code": "x", "message": "overloaded"}}),
        ],
        [*session(), *committed("v"), received(f"{TRANSCRIPT}.failed", item_id="v", error={"message": "no speech"})],
        None,
    ),
    "stream.client-misses": everywhere(
        None,
        [
            *session(),
            *ASK,
            created("resp_1"),
            received("response.audio.delta", response_id="resp_1", item_id="item_m1", delta="AAAA"),
            *said.text("resp_1"),
            done("resp_1", TEXT),
        ],
        None,
    ),
    "retry.loop (interrupted)": everywhere(
        None, [*session(), *put(USER, "u"), *cut(1), *cut(2), *cut(3)], [*live.BEGIN, *BARGE_IN * 3]
    ),
    "retry.loop (repeated)": everywhere(
        None, [*session(), *ASK, *ANSWER, *AGAIN], [*live.BEGIN, live.ask(), *VOICE, *VOICE]
    ),
    "state.lost": everywhere(
        [
            items.create(items.USER),
            *answer("resp_1", items.TEXT, tokens=1200),
            items.create(items.USER, previous_response_id="resp_1"),
            *answer("resp_2", items.TEXT, tokens=130),
        ],
        [
            *session(),
            *ASK,
            created("resp_1"),
            *said.text("resp_1"),
            counted("resp_1", 1200),
            *put(USER, "u2"),
            sent("response.create"),
            created("resp_2"),
            *said.text("resp_2"),
            counted("resp_2", 130),
        ],
        [
            *live.BEGIN,
            live.ask(),
            *VOICE[:-1],
            counted_live(1200),
            live.ask("And now?"),
            *live.spoken("I do not know."),
            live.GENERATED,
            counted_live(130),
        ],
    ),
    "state.lost (connection)": everywhere(
        [
            *items.LOOP,
            NEXT,
            items.create(items.USER, previous_response_id="resp_2"),
            refused("Previous response with id 'resp_2' not found.", "previous_response_not_found"),
        ],
        [*said.loop(), NEXT, *session(), *ASK, *ANSWER],
        [*live.BEGIN, live.ask(), *VOICE, HANDLE, NEXT, *live.loop()],
    ),
    "content.made-up-result": everywhere(
        [
            items.create(items.USER),
            *items.answer("resp_1", items.CALL),
            items.create(items.USER, previous_response_id="resp_1"),
            *items.answer("resp_2", items.TEXT),
        ],
        [*CALLED, *AGAIN],
        [
            *live.BEGIN,
            live.ask(),
            live.call("fc-1"),
            *live.spoken("It has 1,250 files in it."),
            live.GENERATED,
            live.DONE,
        ],
    ),
}
"""Rule, with what the fault is about → messages on each wire that can have it.

``wait`` lets seconds pass, ``connect`` begins another connection so many seconds later, ``close`` is a close frame, of
the client if its code is 1000; ``status`` is that of the handshake, ``header`` one
of the client, ``query`` what the address has at its end.
"""

NO_SOUND = "no sound goes over this wire"
NO_SESSION = "each message states its own settings: there is no session"
NO_CANCEL = "there is no message that cancels"
STATED = "each piece states its format"
IN_REQUEST = "results are in the request of the next response"
SETUP_ALONE = "the setup is the first message and the only one, and nothing repeats it"
OWN_NAME = "another rule names it there"

HOLES: Mapping[str, Mapping[str, str]] = {
    "socket.beta-shape": dict.fromkeys((RESPONSES, LIVE), "there is no beta to ask for"),
    "socket.two-responses": {LIVE: "content of the client interrupts the model: no request is refused"},
    "socket.two-responses (by turns)": {
        RESPONSES: "lanes name the response of each event",
        LIVE: "messages name no response, and there is one at a time",
    },
    "socket.cancelled-call": {RESPONSES: f"{NO_CANCEL}; an incomplete call has its own status in the history"},
    "socket.unanswered-call": {RESPONSES: "the history is the client's: it may send the result on another connection"},
    "socket.unanswered-call (one of two)": dict.fromkeys((RESPONSES, *TALK), f"{OWN_NAME}: closure.missing-result"),
    "socket.unanswered-call (other id)": dict.fromkeys((RESPONSES, *TALK), f"{OWN_NAME}: closure.id-mismatch"),
    "socket.unanswered-call (cancelled late)": dict.fromkeys((RESPONSES, *TALK), "servers cancel no calls"),
    "socket.unused-result": {RESPONSES: IN_REQUEST, LIVE: "results request the response by themselves"},
    "socket.unused-result (input)": {RESPONSES: "input is in the request of its response"},
    "socket.unused-result (muted)": {RESPONSES: NO_SOUND, LIVE: f"{OWN_NAME}: socket.no-response, by what was heard"},
    "socket.no-response (heard)": {RESPONSES: NO_SOUND},
    "socket.no-response (loud)": {RESPONSES: NO_SOUND},
    "socket.no-response (endless)": {RESPONSES: NO_SOUND},
    "socket.no-response (stall)": {RESPONSES: "text has no time of its own: only a server that ends is at fault"},
    "answer.abandoned": {RESPONSES: f"{OWN_NAME}: stream.truncated, since the response had begun"},
    "socket.closed (one response)": dict.fromkeys(
        (*TALK, LIVE), "such a close ends a session: no client is known to repeat its last request"
    ),
    "socket.unanswered-call (dead line)": {RESPONSES: NO_SOUND},
    "params.ignored (interrupt)": {RESPONSES: NO_SOUND, LIVE: "the server says itself that it was interrupted"},
    "stream.truncated (transcript)": {RESPONSES: NO_SOUND},
    "stream.client-misses (intent)": dict.fromkeys((RESPONSES, LIVE), "addresses have no intent"),
    "usage.contradiction": dict.fromkeys((RESPONSES, *TALK), "no source tells how few tokens a picture has there"),
    "socket.no-response (session)": {RESPONSES: NO_SESSION},
    "socket.no-response (update)": {RESPONSES: NO_SESSION, LIVE: SETUP_ALONE},
    "socket.tools-dropped": {LIVE: SETUP_ALONE},
    "socket.refused-message": {RESPONSES: "every message requests a response: answer.error"},
    "params.ignored": {LIVE: SETUP_ALONE},
    "params.ignored (written)": {RESPONSES: NO_SOUND},
    "params.ignored (late)": {RESPONSES: NO_SESSION, LIVE: SETUP_ALONE},
    "params.ignored (silent)": dict.fromkeys((RESPONSES, *TALK), "results ask for no scheduling"),
    "params.ignored (cancel)": dict.fromkeys((RESPONSES, LIVE), NO_CANCEL),
    "params.ignored (format)": {RESPONSES: NO_SOUND, LIVE: STATED},
    "params.conflict": {RESPONSES: NO_SOUND, LIVE: STATED},
    "params.conflict (pace)": {RESPONSES: NO_SOUND},
    "params.missing": {RESPONSES: NO_SESSION, LIVE: SETUP_ALONE},
    "gateway.unknown-field": dict.fromkeys((AZURE, XAI), "it is not known what they refuse beside OpenAI's members"),
    "content.shape": dict.fromkeys((AZURE, XAI), "it is not known what they refuse beside OpenAI's members"),
    "answer.error": {LIVE: "errors are reasons of a close frame"},
    "content.made-up-result": {RESPONSES: f"{OWN_NAME}: closure.missing-result, since such a request is refused"},
    "stream.truncated": {LIVE: f"{OWN_NAME}: stream.no-terminator, since turns have no items"},
    "stream.truncated (lost)": {
        RESPONSES: NO_SOUND,
        LIVE: "no source states how long a token of its audio lasts, and counts by modality are often absent",
    },
    "stream.truncated (sentence)": {
        RESPONSES: f"{OWN_NAME}: each response has a status",
        **dict.fromkeys(TALK, "each response has a status, and tokens tell what was lost"),
    },
    "stream.truncated (limit)": {
        RESPONSES: f"{OWN_NAME}: answer.cut",
        LIVE: "no message states a limit: turnCompleteReason has none",
    },
    "stream.error-event": {LIVE: "errors are reasons of a close frame"},
    "stream.client-misses": dict.fromkeys((RESPONSES, LIVE), "no names of events have changed"),
    "retry.loop (interrupted)": {RESPONSES: NO_SOUND},
    "retry.loop (repeated)": {RESPONSES: "each response has a request of its own: what is sent twice is found there"},
}
"""Fault → wires on which the rule does not find it, each with the reason."""


SAID_TO_ANOTHER: list[Said] = [
    *with_setup(proactivity={"proactiveAudio": True}, inputAudioTranscription={}),
    *speak_live(0.1, 8),
    heard("Pass me the salt."),
    live.received(serverContent={"turnComplete": True}),
]
"""Words that were not said to the model, which needs no answer."""

WITHOUT_TOOLS: list[Said] = [
    *session(),
    sent("session.update", session={"type": "realtime", "tools": []}),
    updated(tools=[]),
    *ASK,
    *ANSWER,
]


class Shaking(NamedTuple):
    """What is special about the handshake of a fault."""

    header: tuple[str, str] | None = None
    status: int = 101
    query: str = ""


def connections(wire: str, messages: Iterable[Said]) -> list[Exchange]:
    """The connections of a fault."""
    found: list[list[Frame]] = [[]]
    starts, shaking, at = [1.79e9], Shaking(), 0.0
    for who, what in messages:
        if who == "connect":
            starts.append(starts[-1] + at + what)
            found.append([])
            at = 0.0
        elif who == "wait":
            at += what
        elif who in Shaking._fields:
            shaking = shaking._replace(**{who: what})
        else:
            found[-1].append(_frame(wire, who, what, at))
            at += 0.1
    return [_connection(wire, str(n), *pair, shaking) for n, pair in enumerate(zip(found, starts, strict=True), 1)]


def _frame(wire: str, who: str, what: Any, at: float) -> Frame:
    if who == "close":
        code, reason = what
        return Frame("sent" if code == 1000 else "received", "close", code.to_bytes(2) + reason.encode(), at)
    [frame] = EMPTY[wire]([(who, what)]).frames
    return replace(frame, at=at)


def _connection(wire: str, name: str, frames: list[Frame], start: float, shaking: Shaking) -> Exchange:
    made = EMPTY[wire]([])
    assert made.request and made.response
    request = replace(made.request, url=made.request.url + shaking.query)
    if shaking.status != 101:
        upgrade = Headers((("Upgrade", "websocket"),))
        return Exchange(name, replace(request, headers=upgrade), replace(made.response, status=shaking.status))
    headers = Headers((shaking.header,)) if shaking.header else request.headers
    return replace(made, id=name, request=replace(request, headers=headers), frames=tuple(frames), started_at=start)


def _realtime(url: str) -> Callable[[Iterable[Said]], Exchange]:
    return lambda messages: said.connection(messages, url)


EMPTY: Mapping[str, Callable[[Iterable[Said]], Exchange]] = {
    RESPONSES: lambda messages: items.connection(*messages),
    LIVE: live.connection,
    **{wire: _realtime(url) for wire, url in URLS.items()},
}
"""Wire → a connection with messages."""

HEALTHY = {RESPONSES: [*items.LOOP], LIVE: live.loop(), **dict.fromkeys(TALK, said.loop())}
"""Wire → a conversation without a fault."""
