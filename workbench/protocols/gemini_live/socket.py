"""Turns of a Live connection: what the model says, with the setup and the contents as they were when it began.

Facts: ``LiveClientMessage`` and ``LiveServerMessage`` in ``types.py`` of the ``google-genai`` SDK 3.4; the recording of
a tool round. The server holds the setup and the conversation, so the request of a turn is put together. Messages of the
client have their keys in either spelling, even within one message; messages of the server may be binary frames.

A turn is requested by ``clientContent`` with ``turnComplete``, and by the results of calls: a model that waits for
results says nothing before it has them all. What is said or typed into ``realtimeInput`` requests nothing by itself:
the server decides when the model speaks.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from workbench import regex
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import SocketFact, SocketTurn
from workbench.protocols.common.client_messages import ClientFaults, MessageFault, client_messages
from workbench.protocols.common.error_body import read_error
from workbench.protocols.common.socket_facts import Resumption
from workbench.protocols.gemini_live.speech_over_call import SpeechOverCall
from workbench.protocols.gemini_live.talk import LiveTalk, is_ended_by_client
from workbench.protocols.shapes.contents.nodes import key_of, member
from workbench.wire import Exchange, Frame, JsonIndex, close_of, dumps

Value = dict[str, JsonValue]

CLIENT = (
    *("setup", "clientContent", "client_content", "realtimeInput", "realtime_input"),
    *("toolResponse", "tool_response"),
)
SERVER = ("setupComplete", "serverContent", "toolCall", "toolCallCancellation", "goAway", "sessionResumptionUpdate")
_BESIDE = ("setupComplete", "goAway", "sessionResumptionUpdate")
_INVALID = 1007
"""Close code of a message that the server cannot read as a request (status 400 over HTTP)."""

_NAMES_FIELD = regex.compile(
    r"Unknown name \"|\bat '[\w.\[\]]{1,200}'"
    r"|^[A-Za-z][\w -]{1,60} (?:is|are) not supported (?:for|by) (?:this|the) model"
)
"""A reason that names a field, or a feature, of the last message, as error messages over HTTP do; other reasons may be
misleading."""

_SILENCE = 5.0
"""Seconds after which words that the server heard count as unanswered; models respond within two."""

_LONG = 20.0
"""Seconds of sound to which a server that hears speech reacts in some way."""

_OF_CONTENT = ("modelTurn", "outputTranscription", "turnComplete", "interrupted", "generationComplete")


def claims_message(value: Value) -> bool:
    """A message that no other protocol has, by its one key, or its key beside ``usageMetadata``."""
    return "type" not in value and any(key in value for key in (*CLIENT, *SERVER)) and len(value) <= 2


@dataclass(slots=True)
class _LiveTurn(SocketTurn):
    """What the model says in answer to the contents so far.

    Attributes:
        setup: the setup of the connection.
        contents: bytes of each content.
        model_parts: the model's content so far: its text, its transcript, its calls.
        open_calls: those that have no result, and were not cancelled.
        speech: what the model said around its calls.
        is_interrupted: speech of the user ended it.
    """

    setup: Value = field(default_factory=dict)
    contents: list[bytes] = field(default_factory=list)
    model_parts: list[Value] = field(default_factory=list)
    open_calls: set[str | None] = field(default_factory=set)
    speech: SpeechOverCall = field(default_factory=SpeechOverCall)
    is_interrupted: bool = False

    def request_body(self) -> tuple[bytes, str]:
        settings = {key: value for key, value in self.setup.items() if key != "contents"}
        model = settings.get("model")
        if isinstance(model, str):
            settings["model"] = model.removeprefix("models/")
        head = dumps(settings)[:-1] + (b"," if settings else b"")
        how = "assembled from the setup and the contents of the connection"
        return head + b'"contents":[' + b",".join(self.contents) + b"]}", how


class LiveTurns:
    """The setup and the contents of one connection, and what the model said."""

    title = "Live"

    def __init__(self) -> None:
        self.turns: list[SocketTurn] = []
        self.resumption: Resumption | None = None
        self._setup: Value = {}
        self._contents: list[bytes] = []
        self._frames: list[int] = []
        self._turn: _LiveTurn | None = None
        self._queue: list[_LiveTurn] = []
        self._heard: tuple[str, int] = ("", 0)  # type and bytes of the audio since the last content
        self._last_sent: int | None = None
        self._is_ready = self._is_heard = False
        self._first_sound: tuple[int, float] | None = None  # frame and time
        self._called: dict[str | None, float] = {}  # id of a call → time when it came
        self._cancelled: set[str | None] = set()
        self._facts: list[SocketFact] = []
        self._left_open: set[str | None] = set()  # calls of a turn that is over, until the model says more
        self._after_calls: tuple[int, ...] = ()  # the first message of the client while calls were open
        self._typed: int | None = None  # the last text of the user in realtimeInput that nothing answers yet
        self._heard_words: tuple[int, float] | None = None  # the last transcript of the user, since the model spoke
        self._last_at = 0.0  # of the newest frame
        self._idle_input: tuple[int, str] | None = None  # the last input that requests nothing, and why
        self._partial: tuple[int, ...] = ()  # frames of the results of a turn that waits for others
        self._messages = ClientFaults(client_messages("gemini-live"))
        self._talk = LiveTalk()

    # -- the client

    def take_sent(self, number: int, frame: Frame, value: Value) -> None:
        """Take the setup, contents and results."""
        self._last_at = frame.at or self._last_at
        self._read_members(number, value)
        setup, content = member(value, "setup"), member(value, "clientContent")
        given, answered = member(value, "realtimeInput"), member(value, "toolResponse")
        if isinstance(setup, dict):
            self._setup = setup
            self.resumption = _resumption(number, setup)
            self._frames.append(number)
        elif isinstance(content, dict):
            self._add_content(number, frame, content)
        elif isinstance(answered, dict):
            self._add_results(number, frame, answered)
        elif isinstance(given, dict):
            self._add_input(number, frame, given)
        elif not any(key in CLIENT for key in value):
            text = f"the API defines no message with the key {', '.join(map(repr, value)):.80}"
            self._facts.append(SocketFact("socket.unknown-message", text, (number,)))
        has_open = self._left_open or (self._turn and self._turn.open_calls)
        if not self._after_calls and has_open and not isinstance(answered, dict):
            self._after_calls = (number,)

    def _read_members(self, number: int, value: Value) -> None:
        """Compare a message with those that the API defines, and with those that the model takes."""
        for name in ("clientContent", "realtimeInput", "toolResponse"):
            if member(value, name) is not None:
                self._messages.read(number, name, member(value, name))
        model = str(member(self._setup, "model") or "").rpartition("/")[2]
        for words in self._messages.table.refusals(
            value, model, self._setup, is_later=bool(self._called or self.turns)
        ):
            self._messages.add(number, MessageFault("socket.refused-message", words))

    def _add_content(self, number: int, frame: Frame, content: Value) -> None:
        key = "client_content" if b'"client_content"' in frame.data[:64] else "clientContent"
        turns = content.get("turns")
        count = len(turns) if isinstance(turns, list) else 0
        self._judge_told(number, turns)
        self._talk.take_input()
        self._close_said()
        self._contents += _slices(frame.data, [f"/{key}/turns/{n}" for n in range(count)])
        self._frames.append(number)
        if member(content, "turnComplete") is not False:
            self._request(number, frame)
        else:
            self._idle_input = (number, "no clientContent has turnComplete")

    def _add_results(self, number: int, frame: Frame, answered: Value) -> None:
        """Results are a content of their own; the model continues when it has them all."""
        outer = "tool_response" if b'"tool_response"' in frame.data[:64] else "toolResponse"
        results = member(answered, "functionResponses")
        found = results if isinstance(results, list) else []
        key = key_of(answered, "functionResponses")
        read = [n for n, result in enumerate(found) if _call_id(result) not in self._cancelled]
        parts = _slices(frame.data, [f"/{outer}/{key}/{n}" for n in read])
        names = {_call_id(result) for result in found}
        self._left_open -= names
        self._talk.take_input()
        self._talk.answer_calls(names, number, self._last_at)
        self._judge_results(number, names)
        if not parts:
            return
        self._close_said()
        inner = b",".join(b'{"functionResponse":' + part + b"}" for part in parts)
        self._contents.append(b'{"role":"user","parts":[' + inner + b"]}")
        self._frames.append(number)
        self._partial = (*self._partial, number)
        earlier = self._turn
        self._request(number, frame, results=names)
        if earlier and self._turn and self._turn is not earlier and _are_silent(found):
            self._turn.speech.mute(number, earlier.speech)

    def _judge_results(self, number: int, names: set[str | None]) -> None:
        for name in sorted(map(str, names & self._cancelled)):
            text = f"a result was sent for call {name!r:.80}, which the server had cancelled"
            self._facts.append(SocketFact("socket.cancelled-call", text, (number,)))
        for call in sorted(names - self._called.keys(), key=str):
            text = f"a result was sent for {call!r:.80}, but no call on this connection has this id"
            text = (
                text
                if call is not None
                else "a result has no id: the Live API cannot know which call the result answers"
            )
            self._facts.append(SocketFact("socket.unanswered-call", text, (number,)))

    def _judge_told(self, number: int, turns: JsonValue) -> None:
        """A result among the words of the user: the model still waits for it."""
        parts = (part for turn in _chunks(turns) for part in _chunks(member(turn, "parts")))
        names = {_call_id(member(part, "functionResponse")) for part in parts if member(part, "functionResponse")}
        for name in sorted(map(str, names & (self._turn.open_calls if self._turn else set()))):
            text = (
                f"the result of call {name!r:.80} is in clientContent; the Live API reads results only in toolResponse"
            )
            self._facts.append(SocketFact("socket.unanswered-call", text, (number,)))

    def _add_input(self, number: int, frame: Frame, value: Value) -> None:
        """What is said, shown or typed while the connection is open; sound is counted."""
        if member(value, "activityEnd") is not None or member(value, "audioStreamEnd") is True:
            self._idle_input = None
            self._talk.take_input_end(number, self._last_at)
        for blob in (value.get("audio"), value.get("video"), *_chunks(member(value, "mediaChunks"))):
            if isinstance(blob, dict):
                if is_ended_by_client(self._setup):
                    self._idle_input = (number, "automatic activity detection is off, but no activityEnd follows")
                kind = str(member(blob, "mimeType") or "")
                self._flush_audio(kind)
                if kind.startswith("audio/"):
                    self._first_sound = self._first_sound or (number, self._last_at)
                size = self._talk.take_sound(number, frame.at, blob, self._setup)
                self._heard = (kind, self._heard[1] + size)
                self._last_sent = number
        if isinstance(value.get("text"), str):
            self._talk.take_input()
            self._flush_audio()
            self._close_said()
            self._contents.append(dumps({"role": "user", "parts": [{"text": value["text"]}]}))
            self._frames.append(number)
            self._last_sent = self._typed = number

    def _flush_audio(self, kind: str = "") -> None:
        """What was heard so far becomes a content: its type and its length."""
        before, size = self._heard
        if size and before != kind:
            sound: Value = {"mimeType": before, "bytes": size}
            self._contents.append(dumps({"role": "user", "parts": [{"audio": sound}]}))
            self._frames += [] if self._last_sent is None else [self._last_sent]
            self._heard = ("", 0)

    def _request(self, number: int, frame: Frame, results: set[str | None] | None = None) -> None:
        """A turn is requested; one that has no event yet takes what was added."""
        self._flush_audio()
        before = self._queue[-1] if self._queue else self._turn
        if before is not None and not before.events:
            before.contents, before.numbers = list(self._contents), self._numbers(number)
            return
        if before is not None and results is not None:
            self._facts += before.speech.facts(before.setup, before.contents)
            before.open_calls -= results
            if before.open_calls:  # the model waits for the others
                return
        self._begin(number, frame)

    def _begin(self, number: int, frame: Frame) -> _LiveTurn:
        """A turn begins; while the model is still speaking, it waits for the end of that."""
        before = self._turn
        is_speaking = before is not None and not before.is_whole
        if not is_speaking:
            self._end_turn()
        self._close_said()
        turn = _LiveTurn(self._numbers(number), frame.at, setup=self._setup, contents=list(self._contents))
        self.turns.append(turn)
        if is_speaking:
            self._queue.append(turn)
        else:
            self._turn = turn
        return turn

    def _numbers(self, number: int) -> list[int]:
        return [*sorted(set(self._frames) - {number}), number]

    def take_end(self, number: int, frame: Frame) -> None:
        """A setup that the server did not accept is a turn. A close frame may say what was wrong with the last one."""
        self._last_at = frame.at or self._last_at
        if self._frames and not self._is_ready and not self.turns:
            self._begin(self._frames[-1], frame).notes.append("the server did not accept the setup")
        if frame.direction == "sent":
            self._talk.take_leave(number, self._last_at)
        code, reason = close_of(frame.data)
        turn = self.turns[-1] if self.turns else None
        is_refusal = frame.direction == "received" and code == _INVALID and _NAMES_FIELD.search(reason)
        if is_refusal and turn and not turn.events:
            error = {"code": 400, "message": reason, "status": "INVALID_ARGUMENT"}
            turn.error = {"status": 400, "error": error}
            turn.add(number, replace(frame, opcode="text", data=dumps({"error": error})), "")

    def facts(self, handshake: Exchange) -> Iterator[SocketFact]:
        """Results for unknown or cancelled calls, and calls whose result the model waits for."""
        yield from self._facts
        yield from self._messages.facts(handshake, self._facts)
        calls = self._turn.open_calls if self._turn is not None else self._left_open
        if calls and (self._partial or self._after_calls):
            names = ", ".join(sorted(map(repr, calls)))
            text = f"the model waits for the result of {names:.120}, and does not respond until it has all results"
            yield SocketFact("socket.unanswered-call", text, self._partial or self._after_calls)
        else:
            calls = set()
        yield from self._talk.facts(self._last_at, self._setup, calls)
        if self._typed is not None:
            text = f"the server did not respond to the text in message {self._typed + 1}"
            yield SocketFact("socket.no-response", text, (self._typed,), is_of_client=False, is_of_end=True)
        if self._heard_words and self._last_at - self._heard_words[1] > _SILENCE:
            number, at = self._heard_words
            silence = self._last_at - at
            text = f"the server heard the user (message {number + 1}), but did not respond for {silence:.0f} s"
            yield SocketFact("socket.no-response", text, (number,), is_of_client=False, is_of_end=True)
        if self._frames and not self._is_ready and not self.turns:
            text = "the server sent nothing after the setup, not even setupComplete"
            yield SocketFact("socket.no-response", text, (self._frames[0],), is_of_client=False, is_of_end=True)
        if self._first_sound and not self.turns and self._is_ready:
            number, at = self._first_sound
            silence = self._last_at - at
            if silence > _LONG and not is_ended_by_client(self._setup) and not self._is_heard:
                text = f"the client sent sound for {silence:.0f} s (from message {number + 1} on), and the server sent"
                text += " nothing: either it is silence, or its format is not what its mimeType says"
                yield SocketFact("socket.no-response", text, (number,), is_of_client=False, is_of_end=True)
        if self._idle_input and not self.turns and self._is_ready:
            text = f"the client sent input, but {self._idle_input[1]}: the model waits for the end of the input"
            yield SocketFact("socket.unused-result", text, (self._idle_input[0],), is_of_end=True)

    # -- the server

    def take_received(self, number: int, frame: Frame, value: Value) -> None:
        """Read a message of the server: content of the model, or a fact about the session."""
        content = member(value, "serverContent")
        is_said = isinstance(content, dict) and any(member(content, key) is not None for key in _OF_CONTENT)
        calls = member(member(value, "toolCall"), "functionCalls")
        update = member(value, "sessionResumptionUpdate")
        handle = member(update, "newHandle")
        if self.resumption and isinstance(handle, str) and handle and member(update, "resumable"):
            self.resumption = self.resumption._replace(newest=handle)
        self._note_heard(number, frame, content, is_answered=is_said or calls is not None)
        self._talk.take_received(number, self._last_at, value, self._setup)
        if self._turn is None and not is_said and calls is None and not _is_error(value):
            self._is_ready = True
            return  # the beginning and the end of a connection, and what was heard
        turn = self._turn
        self._is_ready = True
        if turn is None:
            self._flush_audio()
            turn = self._begin(number if self._last_sent is None else self._last_sent, frame)
            turn.notes.append("the server started this turn by itself (automatic turn detection)")
        turn.add(number, frame, "")
        self._note(number, turn, content, calls, value)

    def _note_heard(self, number: int, frame: Frame, content: JsonValue, *, is_answered: bool) -> None:
        """Note the last words of the user as unanswered until the model says something, or calls a tool."""
        self._last_at = frame.at or self._last_at
        if is_answered:
            self._typed = self._heard_words = None
        elif isinstance(content, dict) and member(content, "inputTranscription") is not None:
            self._heard_words = (number, self._last_at)
            self._is_heard = True
            if self._turn and self._turn.open_calls:
                self._turn.speech.add_of_user()

    def _note(self, number: int, turn: _LiveTurn, content: JsonValue, calls: JsonValue, value: Value) -> None:
        if isinstance(content, dict):
            for part in _spoken_parts(content):
                turn.model_parts.append(part)
                if "functionCall" in part:
                    self._note_call(number, turn, part["functionCall"])
                elif isinstance(part.get("text"), str) and not part.get("thought"):
                    turn.speech.add(number, part["text"], turn.open_calls)
            is_interrupted = member(content, "interrupted") is True
            if is_interrupted or (member(content, "turnComplete") is True and not turn.is_interrupted):
                first_at = turn.events[0][1].at
                seconds = inf if first_at is None else self._last_at - first_at
                words = turn.speech.words
                self._talk.end_turn(number, seconds, words, is_interrupted=is_interrupted)
            turn.is_interrupted |= is_interrupted
            self._facts += turn.speech.end(number, content)
            if member(content, "turnComplete") is True:
                turn.is_whole = True
                self._end_turn()
        for call in calls if isinstance(calls, list) else ():
            self._note_call(number, turn, call)
            if member(call, "id") is None or all(part.get("functionCall") != call for part in turn.model_parts):
                turn.model_parts.append({"functionCall": call})
        cancelled = member(member(value, "toolCallCancellation"), "ids")
        if isinstance(cancelled, list):
            self._cancel(number, turn, {name for name in cancelled if isinstance(name, str)})

    def _note_call(self, number: int, turn: _LiveTurn, call: JsonValue) -> None:
        """A call is open; one may come twice, in the content of the model and in toolCall (mastra issue 22969)."""
        if _call_id(call) not in turn.open_calls:
            self._called[_call_id(call)] = self._last_at
            self._talk.add_call(call, number, self._last_at)
        turn.open_calls.add(_call_id(call))
        self._partial = ()
        turn.is_whole = True

    def _cancel(self, number: int, turn: _LiveTurn, names: set[str]) -> None:
        """Calls that the model does not wait for any more: later requests are without them.

        A model that waits for a result says nothing, so one that was cancelled late left the user in silence
        (livekit agents pull request 5344).
        """
        waits = {name: self._last_at - self._called[name] for name in names & turn.open_calls}
        for name in sorted(name for name, seconds in waits.items() if seconds > _SILENCE):
            text = f"the server cancelled call {name!r:.80}, for which it had no result after {waits[name]:.0f} s"
            self._facts.append(SocketFact("socket.unanswered-call", text, (number,), is_harmless=True))
        turn.open_calls -= names
        self._left_open -= names
        self._cancelled |= names
        self._talk.close_calls(names)
        turn.model_parts = [part for part in turn.model_parts if member(part.get("functionCall"), "id") not in names]
        turn.notes.append(f"cancelled by the server: {', '.join(sorted(names))}")

    def _close_said(self) -> None:
        """What the model said so far is in the conversation."""
        turn = self._turn
        if turn is not None and turn.model_parts:
            self._contents.append(dumps({"role": "model", "parts": _join_texts(turn.model_parts)}))
            turn.model_parts = []

    def _end_turn(self) -> None:
        self._close_said()
        if self._turn is not None:
            self._facts += self._turn.speech.facts(self._turn.setup, self._turn.contents)
            self._facts += self._turn.speech.echoes()
            self._left_open = self._turn.open_calls - self._cancelled
            self._turn.is_over = self._turn.is_over or self._turn.is_whole
            self._turn = self._queue.pop(0) if self._queue else None


def _are_silent(results: list[JsonValue]) -> bool:
    """Every result asks the model to say nothing about it."""
    schedulings = {
        member(result, "scheduling") or member(member(result, "response"), "scheduling") for result in results
    }
    return schedulings == {"SILENT"}


def _resumption(number: int, setup: Value) -> Resumption:
    """The session that a setup opens: whether the client asks for handles, and the handle that it continues."""
    request = member(setup, "sessionResumption")
    rest = {key: value for key, value in setup.items() if value is not request}
    handle = member(request, "handle")
    name = handle if isinstance(handle, str) else ""
    return Resumption(number, dumps(rest).decode(), isinstance(request, dict), name)


def _is_error(value: Value) -> bool:
    """The body of an error, which gateways send as a message; Live itself closes the connection."""
    return not any(key in value for key in SERVER) and read_error(value) is not None


def _spoken_parts(content: Value) -> Iterator[Value]:
    """Parts of the model's content, and the transcript of its speech; sound is in no later request."""
    parts = member(member(content, "modelTurn"), "parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and member(part, "inlineData") is None:
            yield part
    heard = member(content, "outputTranscription")
    if isinstance(heard, dict) and isinstance(heard.get("text"), str):
        yield {"text": heard["text"]}


def _join_texts(parts: list[Value]) -> list[JsonValue]:
    """Parts, with texts that follow one another in one."""
    made: list[JsonValue] = []
    for part in parts:
        last = made[-1] if made else None
        if isinstance(last, dict) and part.keys() == last.keys() == {"text"} and isinstance(part["text"], str):
            made[-1] = {"text": last["text"] + part["text"]}
        else:
            made.append(part)
    return made


def _call_id(value: JsonValue) -> str | None:
    """The id of a call, or of its result."""
    found = member(value, "id")
    return None if found is None else str(found)


def _chunks(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _slices(data: bytes, pointers: list[str]) -> list[bytes]:
    """The bytes at some pointers of a message."""
    index = JsonIndex(data)
    spans = [index.span(pointer) for pointer in pointers]
    return [data[slice(*span)] for span in spans if span]
