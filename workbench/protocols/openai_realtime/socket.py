"""Turns of a Realtime connection: each response with the session and the conversation as they were when it began.

The server keeps both, and events change them; so the request of a turn is put together: the session, the members of
``response.create``, and the items. Facts: ``types/realtime/realtime_client_event.py`` and
``realtime_server_event.py`` of the official ``openai`` SDK 3.54, and the recording of a tool round.

A response begins with ``response.create``, or by itself if the server detects turns. Client and server insert items
anywhere in the list, delete and truncate them. An error names the client's event only if that had an ``event_id``; most
clients send none: then code and parameter of the error show what was refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lazy_dataclass import dataclass, field
from workbench.protocols import SocketFact, SocketTurn
from workbench.protocols.common.client_messages import ClientFaults, client_messages
from workbench.protocols.common.socket_facts import HeldConversation
from workbench.protocols.common.unknown_types import event_type, unknown_type
from workbench.protocols.openai_realtime import audio
from workbench.protocols.openai_realtime.beside_responses import cut_speech, failures, lost_audio, unheard
from workbench.protocols.openai_realtime.committed_audio import CommittedAudio
from workbench.protocols.openai_realtime.conversation import ConversationItem, RealtimeConversation, held_by, item_of
from workbench.protocols.openai_realtime.error_codes import (
    ACTIVE,
    DUPLICATE,
    HARMLESS,
    NOT_ACTIVE,
    code_of,
    error_of,
    second_response,
)
from workbench.protocols.openai_realtime.event_members import ContentNames
from workbench.protocols.openai_realtime.pending_changes import CHANGES, PendingChanges
from workbench.protocols.openai_realtime.session_members import (
    Value,
    member_object,
    responds_by_itself,
    settings_of,
    tool_names,
    updated_session,
    waits_for_silence,
)
from workbench.protocols.openai_realtime.session_updates import RealtimeUpdates
from workbench.protocols.openai_realtime.talk import RealtimeTalk
from workbench.wire import Exchange, Frame, Headers, dumps

_SESSION = ("session.update", "transcription_session.update")
_OF_SESSION = ("session.created", "session.updated", "transcription_session.created", "transcription_session.updated")
_ANNOUNCED = ("session.created", "transcription_session.created")
_BEGUN_ITEMS = ("conversation.item.added", "conversation.item.created")
_ENDED_ITEMS = ("conversation.item.done", "response.output_item.done")
_TRANSCRIBED = "conversation.item.input_audio_transcription.completed"

_OF_BOTH = ("type", "model", "instructions", "tools", "tool_choice")
"""Members of a session that belong to a request even if only the server set them: the others are its defaults."""

_SHAPING = ("instructions", "tools")
"""Members of a session that decide what a response is about."""

_SILENCE = 5.0
"""Seconds after which input that the server committed counts as unanswered; a response begins at once."""

_MOST_INPUTS = 8
"""Messages with input that a finding names."""

_OF_ITEMS = ("item", "invalid_tool_call_id")
"""Beginnings of the codes and parameters of errors that concern an item."""

BETA = ("realtime=v1", "openai-beta.realtime-v1")
"""Marks of the beta in a handshake; it is gone since 2026-05-07 (hermes-agent issue 57448)."""


@dataclass(slots=True)
class _RealtimeTurn(SocketTurn):
    """A response, or an event that the server refused.

    Attributes:
        settings: the members of the request beside its items.
        items: bytes of each item.
        response: id of the response, once it began.
        outputs: ids of its items.
        is_apart: they are not part of the conversation.
        audio: bytes of it that came.
    """

    settings: Value = field(default_factory=dict)
    items: list[bytes] = field(default_factory=list)
    response: str = ""
    outputs: set[str] = field(default_factory=set)
    is_apart: bool = False
    audio: int = 0

    def request_body(self) -> tuple[bytes, str]:
        body = dumps(self.settings)[:-1] + (b"," if self.settings else b"")
        how = "assembled from the session, the parameters of the response and the items of the conversation"
        return body + b'"input":[' + b",".join(self.items) + b"]}", how


class RealtimeTurns:
    """The session and the conversation of one connection, and its responses."""

    title = "Realtime"

    def __init__(self) -> None:
        self.turns: list[SocketTurn] = []
        self._session: Value = {}
        self._changes = PendingChanges()
        self._cancelled_in: int | None = None  # the last response.cancel
        self._session_frames: list[int] = []
        self._conversation = RealtimeConversation()
        self._waiting: list[_RealtimeTurn] = []
        self._active: dict[str, _RealtimeTurn] = {}
        self._last: _RealtimeTurn | None = None
        self._named: dict[str, tuple[int, Value]] = {}
        self._trigger: int | None = None
        self._spoken_from = -1  # frame in which the user began to speak last
        self._heard_at = self._last_at = 0.0  # time of the trigger, and of the newest frame
        self._calls: dict[str, str] = {}  # id → status of the item
        self._audio = CommittedAudio()
        self._results: list[tuple[int, str]] = []  # frame and call of each
        self._unused: list[tuple[int, str]] = []  # those behind which no response was requested
        self._updates = RealtimeUpdates()
        self._types: dict[str, int] = {}  # type of an event of the client → its last frame
        self._inputs: list[int] = []  # what the user said, in items and in audio without turn detection
        self._last_event = self._last_received = -1  # of the server, about something else than the session; of any
        self._first_event: tuple[int, str] | None = None  # of the server, if that does not announce the session
        self._facts: list[SocketFact] = []
        self._names = ContentNames()
        self._talk = RealtimeTalk()
        self._messages = ClientFaults(client_messages("openai-realtime"))

    @property
    def held_conversation(self) -> HeldConversation | None:
        """The conversation that the server holds for this connection."""
        return held_by(self._conversation, self._updates.stated, self.turns, self._last_at)

    # -- the client

    def take_sent(self, number: int, frame: Frame, value: Value) -> None:
        """Read a message that changes the session or the conversation, or requests or cancels a response."""
        kind = value.get("type")
        self._last_at = frame.at or self._last_at
        self._types[str(kind)] = number
        self._talk.take_sent(number, frame.at, value, self._session)
        if kind != _SESSION[1]:  # which the beta had
            self._messages.read(number, str(kind), value)
        if isinstance(value.get("event_id"), str):
            self._named[value["event_id"]] = (number, value)
        if kind in _SESSION:
            update = member_object(value, "session")
            self._note_late(number, update)
            self._updates.add(number, update, has_audio="input_audio_buffer.append" in self._types)
            self._session = updated_session(self._session, update)
            self._session_frames.append(number)
        elif kind == "conversation.item.create":
            item = item_of(number, frame, value, "/item")
            item.is_sent = True
            if item.value.get("type") == "function_call_output":
                self._results.append((number, str(item.value.get("call_id"))))
                self._unused.append(self._results[-1])
            elif item.value.get("role") == "user":
                self._inputs = [*self._inputs, number][:_MOST_INPUTS]
            self._conversation.insert(item, value.get("previous_item_id"))
        elif kind == "response.create":
            turn = self._begin(number, frame, member_object(value, "response"))
            self._waiting.append(turn)
        elif kind == "input_audio_buffer.append" and not waits_for_silence(self._session):
            self._inputs = [*self._inputs, number][:_MOST_INPUTS]
        elif kind in CHANGES:
            self._changes.add(str(kind), number)
        elif kind == "response.cancel":
            self._cancelled_in = number
            for turn in self._active.values():
                turn.notes.append(f"the client cancelled the response in frame {number + 1}")

    def _note_late(self, number: int, update: Value) -> None:
        """Settings that come too late for a response: messages are read in their order (openai-agents-python 1388)."""
        names = [name for name in _SHAPING if name in update and update[name] != self._session.get(name)]
        if names and self._waiting:
            text = (
                f"message {number + 1} changes {' and '.join(names)} after message {self._waiting[-1].numbers[-1] + 1}"
            )
            text += " requested a response: they apply only to later responses"
            self._facts.append(SocketFact("params.ignored", text, (number,)))

    def take_end(self, number: int, frame: Frame) -> None:
        """The end of a connection ends no turn."""
        self._last_at = frame.at or self._last_at
        self._audio.is_left |= frame.direction == "sent"

    def facts(self, handshake: Exchange) -> Iterator[SocketFact]:
        """Shapes of the beta that the API no longer accepts, results without a call, and truncated calls."""
        headers = handshake.request.headers if handshake.request else Headers()
        given = ", ".join((*headers.all("openai-beta"), *headers.all("sec-websocket-protocol")))
        if any(word in given.replace(" ", "") for word in BETA):
            yield SocketFact("socket.beta-shape", f"the handshake requests the beta API ({given:.80})", ())
        yield from self._facts
        yield from self._messages.facts(handshake, self._facts)
        yield from self._updates.facts(
            handshake, self._last_event, self._last_received, self._session, is_silent=not self._types
        )
        for number, call in self._results:
            if self._calls.get(call) == "incomplete":
                text = f"a result was sent for call {call!r:.80}, which is incomplete: only a completed call can be run"
                yield SocketFact("socket.cancelled-call", text, (number,))
        request = max((turn.numbers[-1] for turn in self._waiting), default=-1)
        if results := [result for result in self._unused if result[0] > request]:
            yield _unused_fact(results, "the model does not continue by itself")
        yield from self._names.facts()
        yield from self._talk.facts(self._last_at, self._session)
        yield from self._idle_input()
        yield from self._unheard_input()
        yield from self._audio.facts(self._session, self._last_at)
        yield from self._unannounced_session()

    def _idle_input(self) -> Iterator[SocketFact]:
        """Input on a connection on which no response was ever requested, and none began by itself."""
        if self._inputs and not self.turns and self._session.get("type") != "transcription":
            text = "the client sent input, but requested no response (response.create) on this connection"
            text += "" if waits_for_silence(self._session) else ", and turn detection is off"
            yield SocketFact("socket.unused-result", text, tuple(self._inputs), is_of_end=True)

    def _unannounced_session(self) -> Iterator[SocketFact]:
        """A session that the server never announced (litellm pull request 34133)."""
        if self._last_received < 0 and not self._types:
            text = "neither side sent a message: clients that wait for session.created send nothing before it"
            yield SocketFact("socket.no-response", text, (), is_of_client=False, is_of_end=True)
        if self._first_event and not self.turns and not self._inputs and self._types.keys() <= {*_SESSION}:
            number, kind = self._first_event
            text = f"the first event of the server is {kind!r:.80}: clients that wait for session.created wait forever"
            yield SocketFact("socket.no-response", text, (number,), is_of_client=False, is_of_end=True)

    def _unheard_input(self) -> Iterator[SocketFact]:
        """The user's input after the last response, if the server should have begun one by itself."""
        silence = self._last_at - self._heard_at
        if self._trigger is None or self._waiting or silence <= _SILENCE:
            return
        if responds_by_itself(self._session):
            text = f"the server committed input (message {self._trigger + 1}), but did not respond for {silence:.0f} s"
            yield SocketFact("socket.no-response", text, (self._trigger,), is_of_client=False, is_of_end=True)

    # -- the server

    def take_received(self, number: int, frame: Frame, value: Value) -> None:
        """Read an event of the server about the session, the conversation or a response."""
        kind = event_type(value)
        self._last_at = frame.at or self._last_at
        if not kind:
            return
        if self._last_received < 0 and kind not in (*_OF_SESSION, "error"):
            self._first_event = (number, kind)
        self._last_received = number
        if kind in _ANNOUNCED:
            self._first_event = None
        self._changes.confirm(kind)
        self._audio.read(number, kind, value, self._last_at)
        self._talk.take_received(number, frame.at, kind, value)
        self._facts += failures(number, kind, value)
        self._last_event = self._last_event if kind in (*_OF_SESSION, "error") else number
        if kind in _OF_SESSION:
            before, self._session = self._session, member_object(value, "session")
            declared = self._updates.confirm(self._session) if kind.endswith(".updated") else None
            self._session_frames = [number]
            if declared is not None and tool_names(before) == tool_names(self._session):
                self._session = {**self._session, "tools": before["tools"]}  # xAI repeats them in another form
                self._session_frames = [declared, number]
        elif kind == "error":
            self._refuse(number, frame, value)
        elif kind == "response.created":
            self._start(number, frame, value)
        else:
            self._names.add(number, kind)
            self._update_items(number, frame, kind, value)
            self._note_calls(value)
            self._add(number, frame, kind, value)

    def _start(self, number: int, frame: Frame, value: Value) -> None:
        """A response begins: the oldest that was requested, or one that nobody requested."""
        response = member_object(value, "response")
        name = str(response.get("id") or number)
        if self._waiting:
            turn = self._waiting.pop(0)
        else:
            turn = self._begin(number if self._trigger is None else self._trigger, frame, {})
            turn.notes.append("the server started this turn by itself (automatic turn detection)")
            if late := [result for result in self._unused if result[0] < min(self._spoken_from, turn.numbers[-1])]:
                why = f"the model did not continue until the user spoke again (message {self._spoken_from + 1})"
                self._facts.append(_unused_fact(late, why))
        self._trigger = None
        turn.response = name
        self._unused = [held for held in self._unused if held[0] > turn.numbers[-1]]
        self._active[name] = self._last = turn
        turn.add(number, frame, "response.created")

    def _add(self, number: int, frame: Frame, kind: str, value: Value) -> None:
        """Add an event to the response that it belongs to."""
        response = member_object(value, "response")
        item = member_object(value, "item")
        named = str(value.get("response_id") or response.get("id") or "")
        turn = self._active.get(named)
        if turn is None and kind.startswith(("conversation.item.", "mcp_")):
            held = (str(item.get("id")), str(value.get("item_id")))
            turn = next((t for t in self._active.values() if any(name in t.outputs for name in held)), None)
        elif turn is None and kind == "rate_limits.updated":
            turn = self._last
        elif turn is None and kind.startswith("response.") and not named and len(self._active) == 1:
            turn = next(iter(self._active.values()))  # a gateway leaves the id out (litellm pull request 26590)
        elif turn is None and kind.startswith("response.") and kind != "response.done" and named:
            turn = self._begin_unannounced(named)
        elif turn is None and kind == "input_audio_buffer.speech_started":
            turn = next(iter(self._active.values()), None)
        if turn is None:
            return
        if kind == "response.output_item.added":
            turn.outputs.add(str(item.get("id")))
        turn.add(number, frame, kind)
        if kind in audio.PIECES:
            turn.audio += audio.size_of(value.get("delta"))
        if kind == "response.done":
            self._facts += unheard(number, self._session, turn.settings, response)
            self._facts += (*lost_audio(number, self._session, response, turn.audio), *cut_speech(number, response))
            turn.is_over = True
            self._active = {id: other for id, other in self._active.items() if other is not turn}

    def _begin_unannounced(self, name: str) -> _RealtimeTurn | None:
        """The turn of a response that begins without response.created (N.E.K.O issue 2900); None for a late event."""
        if not self._waiting or (self._last and self._last.response == name):
            return None
        turn = self._active[name] = self._last = self._waiting.pop(0)
        turn.response = name
        return turn

    def _note_calls(self, value: Value) -> None:
        """Keep the status of each call, as the last event has it."""
        output = member_object(value, "response").get("output")
        for item in (value.get("item"), *(output if isinstance(output, list) else ())):
            if isinstance(item, dict) and item.get("type") == "function_call":
                self._calls[str(item.get("call_id"))] = str(item.get("status"))

    def _update_items(self, number: int, frame: Frame, kind: str, value: Value) -> None:
        if kind in _BEGUN_ITEMS:
            self._conversation.confirm(item_of(number, frame, value, "/item"), value.get("previous_item_id"))
        elif kind in _ENDED_ITEMS:
            item = item_of(number, frame, value, "/item")
            self._conversation.replace(item)
            if kind == _ENDED_ITEMS[1] and not self._is_apart(value):
                self._conversation.insert_output(item)
        elif kind == "response.done":
            output = member_object(value, "response").get("output")
            for n, item in enumerate(output if isinstance(output, list) else ()):
                self._conversation.fill(number, frame, item, f"/response/output/{n}")
                if not self._is_apart(value):
                    self._conversation.insert_output(item_of(number, frame, value, f"/response/output/{n}"))
        elif kind == "conversation.item.deleted":
            self._conversation.delete(value.get("item_id"))
        elif kind == "conversation.item.truncated":
            index = value.get("content_index")
            self._conversation.change(
                number, value, index, {"transcript": None, "audio_end_ms": value.get("audio_end_ms")}
            )
        elif kind == _TRANSCRIBED:
            self._conversation.change(
                number, value, value.get("content_index"), {"transcript": value.get("transcript")}
            )
        elif kind == "input_audio_buffer.speech_started":
            self._spoken_from = number
        elif kind == "response.mcp_call.completed":
            self._unused.append((number, str(value.get("item_id"))))
        elif kind == "input_audio_buffer.committed":
            self._trigger, self._heard_at = number, self._last_at

    # -- turns

    def _is_apart(self, value: Value) -> bool:
        """An event is of a response that is not part of the conversation, or of an unknown one."""
        turn = self._active.get(str(value.get("response_id") or member_object(value, "response").get("id")))
        return turn is None or turn.is_apart

    def _begin(self, number: int, frame: Frame, response: Value, session: Value | None = None) -> _RealtimeTurn:
        given = response.get("input")
        items = [item.data for item in self._conversation.items]
        frames = [item.number for item in self._conversation.items]
        if isinstance(given, list):
            items, frames = [dumps(item) for item in given], []
        turn = _RealtimeTurn(
            [*sorted({*self._session_frames, *frames} - {number}), number],
            frame.at,
            settings=settings_of(self._session_of_client() if session is None else session, response),
            items=items,
        )
        turn.is_apart = response.get("conversation") == "none"
        if turn.is_apart:
            turn.notes.append("not part of the conversation (conversation: none)")
        self.turns.append(turn)
        return turn

    def _session_of_client(self) -> Value:
        """The session as it is, without what the server alone put there."""
        return {k: v for k, v in self._session.items() if k in _OF_BOTH or k in self._updates.stated}

    def _note_harmless(self, number: int, code: str, error: Value) -> None:
        """Note a refusal that changes nothing: clients that end the call for it are at fault (berd issue 318)."""
        sent, kind = (self._cancelled_in, "response.cancel") if code == NOT_ACTIVE else (None, "")
        if code == DUPLICATE:
            sent, kind = self._forget_item(error), "conversation.item.create"
        elif code != NOT_ACTIVE and (change := self._changes.take(error)):
            sent, kind = change
        if sent is not None:
            told = f"the server refused {kind} (message {sent + 1}): {str(error.get('message'))!r:.200}"
            text = f"{told}; nothing has changed, and the connection can still be used"
            self._facts.append(SocketFact("socket.refused-message", text, (sent, number), is_harmless=True))

    def _forget_item(self, error: Value) -> int | None:
        """The message that created an item which the conversation has already: it is there once."""
        named = self._named.get(str(error.get("event_id")))
        pending = [item for item in self._conversation.pending() if not named or item.number == named[0]]
        if pending:
            self._conversation.items.remove(pending[-1])
        return pending[-1].number if pending else named[0] if named else None

    def _refuse(self, number: int, frame: Frame, value: Value) -> None:
        """An error ends what it refuses; one inside a response is an event of it."""
        error = error_of(value)
        code = code_of(error)
        if code in HARMLESS:
            self._note_harmless(number, code, error)
            return
        unknown = unknown_type(error)
        if unknown in self._types:
            text = f"the server does not recognise the event {unknown!r:.80}"
            self._facts.append(SocketFact("socket.unknown-message", text, (self._types[unknown], number)))
            if unknown != "response.create":
                return
        if refused := self._changes.refuse(number, error, self._named.get(str(error.get("event_id")))):
            self._facts.append(refused)
            return
        if str(error.get("param")).startswith("session"):
            self._updates.refuse()
        turn = self._find_refused(frame, error)
        if code == ACTIVE and turn:
            is_alone = not self._active and not self._waiting and not responds_by_itself(self._session)
            self._facts.append(second_response(turn.numbers[-1], number, self._trigger if is_alone else None))
        if turn is None and self._active:
            next(iter(self._active.values())).add(number, frame, "error")
            return
        turn = turn or self._begin(number, frame, {})
        turn.error = {**value, "status": 500 if error.get("type") == "server_error" else 400}
        turn.is_over = True
        turn.add(number, frame, "error")

    def _find_refused(self, frame: Frame, error: Value) -> _RealtimeTurn | None:
        """The turn of what an error refuses: a response, an item, or settings; None if it names nothing."""
        sent = self._named.get(str(error.get("event_id")))
        kind = sent[1].get("type") if sent else None
        param = str(error.get("param") or "")
        is_named_item = param.startswith(_OF_ITEMS) or str(error.get("code")).startswith(_OF_ITEMS)
        is_of_response = self._waiting and not is_named_item and not param.startswith("session")
        if kind == "response.create" or (sent is None and is_of_response):
            return self._take_waiting(sent[0] if sent else None, is_last=code_of(error) == ACTIVE)
        pending = self._conversation.pending()
        if kind == "conversation.item.create":
            pending = [item for item in pending if sent and item.number == sent[0]]
        is_of_item = kind == "conversation.item.create" or (sent is None and not param.startswith("session"))
        if is_of_item and pending:
            return self._take_back(pending[-1], frame)
        if kind in _SESSION or param.startswith("session"):
            return self._begin_refused_update(sent[0] if sent else (self._session_frames or [0])[-1], frame)
        return None

    def _begin_refused_update(self, number: int, frame: Frame) -> _RealtimeTurn:
        """A turn for an update of the session that was refused: what it stated, and no more."""
        turn = self._begin(number, frame, {}, self._updates.stated_in.get(number))
        turn.notes.append(f"the server refused the session of frame {number + 1}: so no response was requested")
        return turn

    def _take_waiting(self, number: int | None, *, is_last: bool) -> _RealtimeTurn | None:
        """The response that was requested in a frame; else the one that waits longest, or was requested last."""
        found = [turn for turn in self._waiting if turn.numbers[-1] == number] or self._waiting
        if not found:
            return None
        turn = found[-1 if is_last else 0]
        self._waiting.remove(turn)
        return turn

    def _take_back(self, item: ConversationItem, frame: Frame) -> _RealtimeTurn:
        """A turn for an item that the server refused; the conversation is without it from now on."""
        turn = self._begin(item.number, frame, {})
        turn.notes.append(f"the server refused the item of frame {item.number + 1}: so no response was requested")
        self._conversation.items.remove(item)
        self._unused = [held for held in self._unused if held[0] != item.number]
        return turn


def _unused_fact(results: list[tuple[int, str]], why: str) -> SocketFact:
    """Results, as frames and calls, after which no response was requested."""
    calls = ", ".join(repr(call) for _, call in results[:3])
    text = f"no response.create follows the result of {calls:.120}: {why}"
    return SocketFact("socket.unused-result", text, tuple(number for number, _ in results))
