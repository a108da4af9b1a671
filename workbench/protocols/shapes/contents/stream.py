"""Streams of answers: every event is a whole answer whose parts are the next ones.

Facts: ``generate_content_stream`` of the ``google-genai`` SDK 3.4; recordings. There are no event names and no terminal
event: a chunk with a ``finishReason`` (or a ``blockReason``) ends the answer. Counts are running totals.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import partial

from workbench.errors import WireError
from workbench.ir import MILD, Anomaly, ApiError, JsonValue, ModelResponse
from workbench.protocols.common.error_body import read_error
from workbench.protocols.common.reading import string_or_none
from workbench.protocols.shapes.contents.nodes import key_of, member
from workbench.protocols.shapes.contents.request import unwrap
from workbench.protocols.shapes.contents.response import ENVELOPE, KEYS, describe, error_in
from workbench.protocols.shapes.contents.stream_parts import Candidate, StreamedPart
from workbench.wire import SseEvent, loads, type_words

_END_OF_STREAM = b"[DONE]"


class ContentsStreamDecoder:
    """Builds the response of one stream. Never raises; linear in the length of the stream."""

    def __init__(self) -> None:
        self._outer: dict[str, JsonValue] = {}
        self._top: dict[str, JsonValue] = {}
        self._usage: dict[str, JsonValue] = {}
        self._candidates: dict[int, Candidate] = {}
        self._noted: dict[tuple[str, str, str], list[int]] = {}
        self._strays: list[JsonValue] = []
        self._blocked: list[int] = []
        self._error: ApiError | None = None
        self._at: str | None = None
        self._last = -1

    def __deepcopy__(self, memo: object) -> ContentsStreamDecoder:
        """One that continues by itself. What it read of the wire never changes, and is shared."""
        copied = copy.copy(self)
        copied._outer, copied._top, copied._usage = self._outer.copy(), self._top.copy(), self._usage.copy()
        copied._noted = {key: events.copy() for key, events in self._noted.items()}
        copied._strays, copied._blocked = self._strays.copy(), self._blocked.copy()
        copied._candidates = {n: c.copy(partial(copied._note_in, n)) for n, c in self._candidates.items()}
        return copied

    def feed(self, event: SseEvent) -> None:
        """Take one block. Blocks of comments alone say nothing."""
        number = self._last = event.number
        if event.data is None:
            return
        try:
            chunk = loads(event.data)
        except WireError as error:
            self._unreadable(event, error)
            return
        inner, at = unwrap(chunk, ENVELOPE, KEYS)
        if type(inner) is not dict:
            self._odd(chunk, number)
            return
        if self._at is None:
            self._at = at
        if at:
            self._outer.update((k, v) for k, v in chunk.items() if k != ENVELOPE)
        if inner.get("error") or not any(key in inner for key in KEYS):
            self._odd(inner, number)
        self._feed_top(inner, number)
        candidates = inner.get("candidates")
        if type(candidates) is list:
            for n, candidate in enumerate(candidates):
                self._feed_candidate(candidate, n, number, f"{at}/candidates/{n}")
        elif candidates is not None:
            self._note("content.shape", f"'candidates' is {type_words(candidates)}, not a list", "/candidates", number)

    def result(self) -> ModelResponse:
        """The response so far."""
        at, anomalies = self._at or "", list[Anomaly]()
        order = sorted(self._candidates)
        messages = tuple(
            self._candidates[n].message(f"{at}/candidates/{place}/content", anomalies) for place, n in enumerate(order)
        )
        inner = {**self._top, "candidates": [self._candidates[n].beside for n in order]}
        if self._usage:
            inner["usageMetadata"] = self._usage.copy()
        if self._strays:
            inner["unknown_events"] = self._strays.copy()
        noted = [Anomaly(slug, what, at + below, tuple(n)) for (slug, what, below), n in self._noted.items()]
        found = [*noted, *anomalies, *self._endings(order, at)]
        found.sort(key=lambda anomaly: anomaly.events[:1])
        first = self._candidates[order[0]] if order else None
        return ModelResponse(
            **describe({**self._outer, ENVELOPE: inner} if at else inner, messages),
            messages=messages,
            error=self._error,
            is_stream=True,
            is_complete=self._is_complete(),
            anomalies=tuple(found),
            finish_events=tuple(first.finish_events if first and first.finish_events else self._blocked),
        )

    @property
    def growing(self) -> Sequence[StreamedPart]:
        """Parts as they arrive."""
        first = self._candidates.get(0)
        return first.items if first else ()

    def about(self) -> ModelResponse:
        """The response without its content: id, model, token counts."""
        inner = {**self._top, "usageMetadata": self._usage.copy()} if self._usage else self._top
        body = {**self._outer, ENVELOPE: inner} if self._at else inner
        return ModelResponse(**describe(body, ()), is_stream=True)

    def _feed_top(self, inner: dict[str, JsonValue], number: int) -> None:
        """Collect the keys next to the candidates. The last value of most keys counts."""
        counts = member(inner, "usageMetadata")
        ir_keys = ("candidates", "error", key_of(inner, "usageMetadata")) if isinstance(counts, dict) else _IR_KEYS
        if isinstance(counts, dict):
            self._usage.update(counts)
        self._top.update((k, v) for k, v in inner.items() if k not in ir_keys)
        if isinstance(member(member(inner, "promptFeedback"), "blockReason"), str):
            self._blocked.append(number)

    def _feed_candidate(self, value: JsonValue, position: int, number: int, origin: str) -> None:
        if type(value) is not dict:
            what = f"a candidate is {type_words(value)}, not an object"
            self._note("content.shape", what, "/candidates", number)
            return
        index = value.get("index")
        index = index if type(index) is int else position
        candidate = self._candidates.get(index)
        if candidate is None:
            candidate = self._candidates[index] = Candidate(partial(self._note_in, index))
        for key, inner in value.items():
            if key != "content" and key != "index":
                candidate.beside[key] = inner
        content = value.get("content")
        if candidate.finish_events and type(content) is dict and _says_something(content):
            what = "content after a finishReason: clients that stop reading at this point lose the rest"
            self._note_in(index, f"stream.finish-reason{MILD}", what, "", number)
        if member(value, "finishReason") is not None:
            candidate.finish_events.append(number)
        if type(content) is dict:
            self._feed_content(candidate, content, number, f"{origin}/content")
        elif content is not None:
            self._note_in(index, "content.shape", f"a content is {type_words(content)}, not an object", "", number)

    def _feed_content(self, candidate: Candidate, content: dict[str, JsonValue], number: int, origin: str) -> None:
        parts = content.get("parts")
        if type(parts) is list:
            candidate.feed(parts, number, f"{origin}/parts")
        elif parts is not None:
            candidate.feed([parts], number, f"{origin}/parts", is_list=False)
        for key, value in content.items():
            if key == "role" and isinstance(value, str):
                candidate.role = value
            elif key != "parts" and value is not None:
                candidate.extra[key] = value

    def _odd(self, value: JsonValue, number: int) -> None:
        """An error, or something that is no chunk."""
        is_chunk = self._is_started() and not isinstance(value, list)
        error = error_in(value) or (None if is_chunk else read_error(value))
        if error:
            self._error = self._error or error
            self._note("stream.error-event", "the stream contains an error", "/error", number)
        elif not isinstance(value, dict):
            self._note("stream.framing", f"a block contains {type_words(value)}, not an object", "", number)
            self._strays.append(value)
        elif not _is_about(value):
            self._note("stream.framing", "a block contains an object that is not a chunk", "", number)

    def _is_started(self) -> bool:
        return bool(self._candidates)

    def _unreadable(self, event: SseEvent, error: WireError) -> None:
        data = (event.data or b"").strip()
        if data == _END_OF_STREAM:
            self._note("stream.framing", "[DONE], which belongs to another protocol", "", event.number)
        elif event.terminated:
            self._note("stream.framing", f"the data of a block is {error.what}", "", event.number)
            self._strays.append(data.decode("utf-8", "replace"))
        else:
            self._note("stream.truncated", "the stream ends inside a chunk", "", event.number)

    def _note(self, slug: str, message: str, below: str, event: int) -> None:
        self._noted.setdefault((slug, message, below), []).append(event)

    def _note_in(self, index: int, slug: str, message: str, below: str, event: int) -> None:
        place = sorted(self._candidates).index(index) if index in self._candidates else 0
        self._note(slug, message, f"/candidates/{place}/content{below}", event)

    def _is_complete(self) -> bool:
        return bool(self._blocked) or (
            self._is_started() and all(candidate.finish_events for candidate in self._candidates.values())
        )

    def _endings(self, order: list[int], at: str) -> Iterator[Anomaly]:
        """Anomalies that only the end shows. After an error event no other end is expected."""
        if self._error or self._last < 0:
            return
        for place, n in enumerate(order):
            candidate = self._candidates[n]
            call = candidate.open_call()
            if call is not None:
                pointer = f"{at}/candidates/{place}/content/parts/{call}"
                events = tuple(dict.fromkeys((*candidate.items[call].events, self._last)))
                ended = bool(candidate.finish_events)
                slug = "stream.block-order" if ended else "stream.truncated"
                what = (
                    "the arguments of a call are not completed"
                    if ended
                    else "the stream ends inside the arguments of a call"
                )
                yield Anomaly(slug, what, pointer, events)
        if not self._is_complete() and not any(slug == "stream.truncated" for slug, _, _ in self._noted):
            yield Anomaly("stream.no-terminator", "the stream ends without a finishReason", at, (self._last,))


def _says_something(content: dict[str, JsonValue]) -> bool:
    """The content has a part that is more than an empty text."""
    parts = content.get("parts")
    found = parts if isinstance(parts, list) else ()
    return any(isinstance(part, dict) and (part.get("text") or set(part) - {"text", "thought"}) for part in found)


_IR_KEYS = ("candidates", "error")


def _is_about(value: dict[str, JsonValue]) -> bool:
    """A chunk that says something of the answer, although it has neither candidates nor counts."""
    return any(string_or_none(member(value, key)) for key in ("responseId", "modelVersion", "traceId"))
