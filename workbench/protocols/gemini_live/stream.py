"""Messages of a Live server: what they add up to.

Facts: ``LiveServerMessage`` and its neighbours in ``types.py`` of the ``google-genai`` SDK 3.4; the recording of a tool
round. Text comes in parts of ``modelTurn``, what is spoken as audio there and as text in ``outputTranscription``, and
calls whole in ``toolCall``. The response is over with ``turnComplete``; a model that called tools waits for results.
"""

from __future__ import annotations

import base64
import binascii
import copy
from collections.abc import Iterator, Sequence

from workbench import regex
from workbench.errors import WireError
from workbench.ir import NOTHING, Anomaly, ApiError, JsonValue, Message, ModelResponse, Opaque, Part, Segment, Source
from workbench.lazy_dataclass import replace
from workbench.protocols.common.error_body import read_error
from workbench.protocols.common.reading import Notes
from workbench.protocols.gemini_live.declaration import PROTOCOL
from workbench.protocols.shapes.contents.nodes import key_of, member
from workbench.protocols.shapes.contents.parts import read_part
from workbench.protocols.shapes.contents.response import read_usage
from workbench.protocols.shapes.contents.stream_parts import GrowingPart, StreamedPart, WholeItem, place_part
from workbench.wire import SseEvent, loads, type_words

KEYS = ("serverContent", "toolCall", "toolCallCancellation", "usageMetadata")
BESIDE = ("setupComplete", "goAway", "sessionResumptionUpdate", "voiceActivity", "voiceActivityDetectionSignal")

_CONTENT = "/serverContent/modelTurn/parts"
_SPOKEN = "/serverContent/outputTranscription"
_CALLS = "/toolCall/functionCalls"
_CALL = "/functionCall"
_RATE = regex.compile(r"^audio/(?:pcm|l16)\b.*?\brate=(\d{1,6})")


class _LiveCall(WholeItem):
    """A call, which is in a separate list and not in a part."""

    def is_call(self, call: JsonValue) -> bool:
        return False  # of the list itself: a second one there is another call

    def place(self, suffix: str) -> tuple[Segment, ...]:
        return (Segment(self.events[0], self.origin + suffix.removeprefix(_CALL)),)


class LiveStreamDecoder:
    """Builds the response of one turn. Never raises; linear in the messages."""

    def __init__(self) -> None:
        self._items: list[tuple[str, WholeItem | GrowingPart]] = []
        self._counts: dict[str, int] = {}
        self._top: dict[str, JsonValue] = {}
        self._usage: dict[str, JsonValue] = {}
        self._role = "model"
        self._has_turn = self._is_cut = False
        self._sound: list[int] = []
        self._sound_bytes = 0
        self._sound_type = ""
        self._cancelled: list[JsonValue] = []
        self._anomalies: list[Anomaly] = []
        self._strays: list[JsonValue] = []
        self._error: ApiError | None = None
        self._ended: int | None = None
        self._called: int | None = None
        self._last = -1

    def __deepcopy__(self, memo: object) -> LiveStreamDecoder:
        made = copy.copy(self)
        made._items = [(at, item.copy()) for at, item in self._items]
        for name in ("_counts", "_top", "_usage", "_sound", "_cancelled", "_anomalies", "_strays"):
            setattr(made, name, getattr(self, name).copy())
        return made

    def feed(self, event: SseEvent) -> None:
        """Take one message."""
        number = self._last = event.number
        if event.data is None:
            return
        try:
            value = loads(event.data)
        except WireError as error:
            slug = "stream.framing" if event.terminated else "stream.truncated"
            self._note(slug, f"the data of a message is {error.what}", "", number)
            return
        if not isinstance(value, dict) or not any(member(value, key) is not None for key in (*KEYS, *BESIDE)):
            self._odd(value, number)
            return
        self._feed_content(value, number)
        self._feed_calls(value, number)
        counts = member(value, "usageMetadata")
        if isinstance(counts, dict):
            self._usage.update(counts)
        cancelled = member(member(value, "toolCallCancellation"), "ids")
        self._cancelled += cancelled if isinstance(cancelled, list) else []
        held = {key_of(value, key) for key in ("serverContent", "toolCall", "toolCallCancellation")}
        held |= {key_of(value, "usageMetadata")} if isinstance(counts, dict) else set()
        self._top.update((key, inner) for key, inner in value.items() if key not in held)

    def _feed_content(self, value: dict[str, JsonValue], number: int) -> None:
        key = key_of(value, "serverContent")
        content = value.get(key)
        if not isinstance(content, dict):
            return
        held = {key_of(content, name) for name in ("modelTurn", "outputTranscription")}
        self._keep("serverContent", {k: v for k, v in content.items() if k not in held or not isinstance(v, dict)})
        turn_key = key_of(content, "modelTurn")
        turn, parts = content.get(turn_key), member(content.get(turn_key), "parts")
        if isinstance(member(turn, "role"), str):
            self._role = member(turn, "role")
        if isinstance(turn, dict):
            self._has_turn = True
            self._keep("modelTurn", {k: v for k, v in turn.items() if k not in ("parts", "role")})
        for n, part in enumerate(parts if isinstance(parts, list) else ()):
            self._feed_part(part, number, f"/{key}/{turn_key}/parts/{n}", is_first=not n)
        spoken = key_of(content, "outputTranscription")
        text = member(content.get(spoken), "text")
        if isinstance(content.get(spoken), dict):
            self._keep("outputTranscription", {k: v for k, v in content[spoken].items() if k != "text"})
        if isinstance(text, str):
            self._grow(_SPOKEN, text, number, f"/{key}/{spoken}/text", is_thought=False)
        is_over = member(content, "turnComplete")
        self._ended = number if is_over is True else self._ended
        self._is_cut = is_over is False

    def _keep(self, name: str, members: dict[str, JsonValue]) -> None:
        """Keep members without a field in the IR; the last value of a key counts."""
        if members:
            self._top[name] = {**self._top.get(name, {}), **members}

    def _feed_part(self, part: JsonValue, number: int, origin: str, *, is_first: bool) -> None:
        text, blob = member(part, "text"), member(part, "inlineData")
        if isinstance(text, str) and part.keys() <= {"text", "thought"}:
            if not is_first and self._items:
                self._end_item()
            self._grow(_CONTENT, text, number, f"{origin}/text", is_thought=part.get("thought") is True)
        elif isinstance(blob, dict) and str(member(blob, "mimeType")).startswith("audio/"):
            self._sound.append(number)
            self._sound_bytes += _size(blob.get("data"))
            self._sound_type = str(member(blob, "mimeType"))
        else:
            self._called = number if member(part, "functionCall") is not None else self._called
            self._add(_CONTENT, WholeItem(part, number, origin))

    def _feed_calls(self, value: dict[str, JsonValue], number: int) -> None:
        key = key_of(value, "toolCall")
        calls = member(value.get(key), "functionCalls")
        if key in value and not isinstance(calls, list):
            self._note("content.shape", f"'functionCalls' is {type_words(calls)}, not a list", "/toolCall", number)
        if isinstance(value.get(key), dict):
            self._keep("toolCall", {k: v for k, v in value[key].items() if v is not calls})
        for n, call in enumerate(calls if isinstance(calls, list) else ()):
            self._called = number
            if member(call, "id") is not None and any(item.is_call(call) for _, item in self._items):
                continue  # it came in the content of the model already (mastra issue 22969)
            inner = f"/{key}/{key_of(value[key], 'functionCalls')}/{n}"
            self._add(_CALLS, _LiveCall({"functionCall": call}, number, inner))

    def _grow(self, stem: str, text: str, number: int, origin: str, *, is_thought: bool) -> None:
        last = self._items[-1] if self._items else None
        item = last[1] if last and last[0].startswith(stem) else None
        if not isinstance(item, GrowingPart) or item.is_over or item.is_thought is not is_thought:
            item = GrowingPart(is_thought=is_thought)
            self._add(stem, item)
        item.pieces.texts.append(text)
        item.pieces.events.append(number)
        item.pieces.pointers.append(origin)

    def _add(self, stem: str, item: WholeItem | GrowingPart) -> None:
        self._end_item()
        number = self._counts.get(stem, 0)
        self._counts[stem] = number + 1
        self._items.append((stem if stem == _SPOKEN and not number else f"{stem}/{number}", item))

    def _end_item(self) -> None:
        last = self._items[-1][1] if self._items else None
        if isinstance(last, GrowingPart):
            last.is_over = True

    def _odd(self, value: JsonValue, number: int) -> None:
        error = read_error(value)
        if error:
            self._error = self._error or error
            self._note("stream.error-event", "the stream contains an error", "/error", number)
        else:
            self._note("stream.framing", f"a message is {type_words(value)}, which is an unknown kind", "", number)
            self._strays.append(value)

    # -- what it adds up to

    def result(self) -> ModelResponse:
        """The response so far."""
        found = list(self._anomalies)
        parts = [part for at, item in self._items for part in self._read(at, item, found)]
        if self._sound:
            parts.append(self._sound_part())
        message = Message(self._role, tuple(parts), NOTHING, "")
        return replace(
            self.about(),
            messages=(message,) if parts or self._has_turn else (),
            stop=self._stop(),
            anomalies=(*found, *self._ending()),
            finish_events=tuple(n for n in (self._ended,) if n is not None),
        )

    def _read(self, at: str, item: WholeItem | GrowingPart, found: list[Anomaly]) -> Iterator[Part]:
        notes, events = Notes(""), tuple(dict.fromkeys(item.events))
        for part in read_part(item.value(), at, notes):
            placed = place_part(part, at, item, events)
            if isinstance(item, _LiveCall):
                fields = {name: suffix.removeprefix(_CALL) for name, suffix in placed.source.fields.items()}
                placed = replace(placed, source=replace(placed.source, fields=fields))
            yield placed
        found += (a if a.events else replace(a, events=events) for a in notes.anomalies)

    def _sound_part(self) -> Part:
        told: dict[str, JsonValue] = {"bytes": self._sound_bytes, "events": len(self._sound)}
        rate = _RATE.search(self._sound_type)
        if rate and int(rate[1]):
            told["seconds"] = round(self._sound_bytes / (2 * int(rate[1])), 3)
        return Opaque("audio", told, Source("/audio", {}, {}, tuple(self._sound)))

    @property
    def growing(self) -> Sequence[StreamedPart]:
        return [item for _, item in self._items]

    def about(self) -> ModelResponse:
        """The response without its content."""
        more: dict[str, JsonValue] = {"toolCallCancellation": {"ids": list(self._cancelled)}} if self._cancelled else {}
        strays: dict[str, JsonValue] = {"unknown_events": list(self._strays)} if self._strays else {}
        return ModelResponse(
            PROTOCOL,
            finish_reason=self._reason(),
            usage=read_usage(_counts(self._usage)),
            error=self._error,
            is_stream=True,
            is_complete=self._ended is not None,
            params={**copy.deepcopy(self._top), **more, **strays} or NOTHING,
        )

    def _is_waiting(self) -> bool:
        """The model called tools, and waits for their results: nothing more has to come."""
        return self._called is not None and not self._is_cut

    def _reason(self) -> str | None:
        """Why the model stopped: the server's reason, that it was interrupted, that it waits, that it is over."""
        content = self._top.get("serverContent", {})
        given = member(content, "turnCompleteReason")
        if isinstance(given, str):
            return given
        if member(content, "interrupted") is True:
            return "interrupted"
        if self._ended is not None:
            return "turnComplete"
        return "toolCall" if self._is_waiting() else None

    def _stop(self) -> str | None:
        reason = self._reason()
        if reason in ("turnComplete", "toolCall"):
            return "tool_calls" if self._called is not None else "stop"
        return None if reason is None else "other"

    def _ending(self) -> Iterator[Anomaly]:
        if self._error or self._last < 0 or self._ended is not None or self._is_waiting():
            return
        yield Anomaly("stream.no-terminator", "the messages end without turnComplete", "", (self._last,))

    def _note(self, slug: str, message: str, below: str, event: int) -> None:
        self._anomalies.append(Anomaly(slug, message, below, (event,)))


def _counts(usage: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The counts, those of the response under the name that they have over HTTP."""
    made = member(usage, "responseTokenCount")
    return usage if made is None else {**usage, "candidatesTokenCount": made}


def _size(text: JsonValue) -> int:
    try:
        return len(base64.b64decode(text)) if isinstance(text, str) else 0
    except (binascii.Error, ValueError):
        return 0
