"""Event streams that build a response from steps.

    stream := interaction.created (interaction.status_update | step)* interaction.completed  |  … error
    step   := step.start step.delta* step.stop                     one index each

(``types/interactions/interactionsseevent.py`` of the ``google-genai`` SDK 3.4; recordings, which end with
``event: done``.) Every event names its type in ``event_type``. Until May 2026 the names were ``interaction.start``,
``content.start``, ``content.delta``, ``content.stop`` and ``interaction.complete``. Unknown events are
tolerated and kept. Any other difference is an anomaly.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.ir import MILD, Anomaly, JsonValue, ModelResponse
from workbench.protocols import StreamingPart
from workbench.protocols.common.error_body import read_error, verbatim
from workbench.protocols.common.pieces import Pieces, WholePart
from workbench.protocols.common.reading import string_or_none
from workbench.protocols.common.stream_notes import StreamNotes, Value
from workbench.protocols.gemini_interactions.response import LISTS, UNFINISHED, describe, error_of, list_of
from workbench.protocols.gemini_interactions.step import CALL, FUNCTION_CALL, MEDIA, RESULT
from workbench.protocols.gemini_interactions.stream_parts import ARGUMENTS, StreamedStep, StreamedStepString, proofs
from workbench.protocols.shapes.items.stream_parts import WholeValue, order
from workbench.wire import SseEvent, type_words

BEGINS = frozenset({"interaction.created", "interaction.start", "interaction.in_progress"})
ENDS = frozenset(
    f"interaction.{name}" for name in ("completed", "complete", "requires_action", "incomplete", "failed", "cancelled")
)
STATUS = "interaction.status_update"
STEPS = frozenset(f"{of}.{name}" for of in ("step", "content") for name in ("start", "delta", "stop"))
_STRINGS = {"text": "text", "arguments_delta": "arguments", "thought_signature": "signature"}
"""Type of a delta that carries a piece of a string → its key."""

_HOLDERS = {"text": ("model_output", "text"), "arguments_delta": (FUNCTION_CALL,), "thought_signature": ("thought",)}
"""Type of a delta → types of steps it belongs to."""


class StepStreamDecoder:
    """Builds the response of one stream. Never raises; linear in the length of the stream."""

    def __init__(self) -> None:
        self.steps: list[StreamedStep] = []
        self.growing: list[StreamingPart] = []
        self.interactions: list[tuple[Value, int]] = []  # every object of the whole answer, and its event
        self.mentions: list[int] = []  # events that name the answer by its id alone
        self.key = LISTS[0]  # of the list of steps
        self._by_index: dict[int, StreamedStep] = {}
        self._growing: dict[int, dict[str, Pieces]] = {}  # by index and type of delta
        self._notes = StreamNotes()
        self._unknown: list[JsonValue] = []
        self._abandoned: list[JsonValue] = []
        self._usage: JsonValue = None
        self._status: str | None = None
        self._last = 0
        self._ended: int | None = None
        self._headless: int | None = None  # event of the first step, if no interaction had begun
        self._is_headless_inside = False  # that step had not begun either

    def feed(self, event: SseEvent) -> None:
        """Read one event. Comments, and the ``[DONE]`` that ends recorded streams, are skipped."""
        self._last = event.number
        value = self._notes.object_of(event)
        if value is not None and not self._grow(value, event.number):
            self._take(value, event)

    def result(self) -> ModelResponse:
        """The response so far."""
        read = [step.message(f"/{self.key}/{n}") for n, step in enumerate(order(self.steps))]
        messages = tuple(message for message, _ in read)
        extras = {"unknown_events": self._unknown, "abandoned_interactions": self._abandoned}
        found = self._notes.anomalies()
        found += [anomaly for _, anomalies in read for anomaly in anomalies]
        is_complete = self._ended is not None
        return describe(
            self._top() | {name: list(values) for name, values in extras.items() if values},
            messages,
            error=self._notes.error,
            is_stream=True,
            is_complete=is_complete,
            anomalies=(*found, *self._ending()),
            finish_events=() if self._ended is None else (self._ended,),
        )

    def about(self) -> ModelResponse:
        """The response without its content: id, model, token counts."""
        return describe({k: v for k, v in self._top().items() if k != "status"}, (), is_stream=True)

    def _top(self) -> Value:
        """Members other than the steps; a status reported on the way counts if no event ended the stream."""
        top: Value = {}
        for value, _ in self.interactions:
            top.update((k, v) for k, v in value.items() if k not in LISTS or not isinstance(v, list))
        if self._ended is None:
            top.pop("status", None)
        if self._usage is not None:
            top.setdefault("usage", self._usage)
        if self._status is not None:
            top.setdefault("status", self._status)
        return top

    def _grow(self, value: Value, number: int) -> bool:
        """Take the next piece of a string that has begun: nearly every event."""
        try:
            delta = value["delta"]
            kind = delta["type"]
            pieces = self._growing[value["index"]][kind]
            piece = delta[_STRINGS[kind]]
        except (KeyError, TypeError):
            return False
        if type(piece) is not str or "metadata" in value or self._ended is not None:
            return False
        pieces.texts.append(piece)
        pieces.events.append(number)
        pieces.pointers.append(f"/delta/{_STRINGS[kind]}")
        return True

    def _take(self, value: Value, event: SseEvent) -> None:
        number, kind = event.number, value.get("event_type", event.name)
        if not isinstance(kind, str) or kind == "error":
            if not self._fail(value, number, is_error=kind == "error"):
                self._notes.add("stream.framing", "an event without a type", number)
                self._unknown.append(value)
            return
        if event.name not in (None, kind):
            self._notes.add(
                "stream.framing", f"an event is named {event.name!r:.80}, but its type is {kind!r:.80}", number
            )
        if self._ended is not None and kind not in BEGINS:
            self._notes.add("stream.framing", "events after the end of the stream", number)
        if kind in BEGINS or kind in ENDS:
            self._interaction(value, kind, number)
        elif kind == STATUS:
            self._status_update(value, number)
        elif kind in STEPS:
            self._step_event(value, kind, number)
        elif not self._fail(value, number, is_error=False):
            self._unknown.append(value)

    # -- the whole answer

    def _interaction(self, value: Value, kind: str, number: int) -> None:
        members = self._notes.object_at("interaction", value, number)
        if kind in BEGINS and (self._ended is not None or self.steps):
            self._abandon(number)
        self.interactions.append((members, number))
        if members.get("error") or (kind in ENDS and error_of(members)):
            self._notes.fail(error_of(members) or verbatim(members.get("error")), number)
        if kind not in ENDS:
            return
        self._ended = number
        self._growing.clear()
        key = list_of(members)
        steps = members.get(key)
        for n, step in enumerate(steps if isinstance(steps, list) else ()):
            self._final(step, n, number, f"/interaction/{key}/{n}")

    def _abandon(self, number: int) -> None:
        """A stream that starts again: earlier events belong to another response."""
        self._notes.add("stream.block-order", "a second start: the response starts again", number)
        self._abandoned.append({**self._top(), self.key: [step.value() for step in order(self.steps)]})
        for collection in (self.steps, self.growing, self.interactions, self.mentions, self._by_index, self._growing):
            collection.clear()
        self._ended = self._notes.error = self._status = self._usage = None

    def _status_update(self, value: Value, number: int) -> None:
        self.mentions.append(number)
        status = string_or_none(value.get("status"))
        if isinstance(value.get("usage"), dict):
            self._usage = value["usage"]
        if status is not None and status not in UNFINISHED:
            self._status = status

    def _final(self, value: JsonValue, n: int, number: int, pointer: str) -> None:
        """A step as the last event has it."""
        step = self._by_index.get(n)
        if step is None or step.final is not None:
            step = self._open(n, None)
            step.mark("", number)
        elif not step.is_done:
            self._notes.add("stream.block-order", f"step {step.index} has no stop event", number, f"/{self.key}/{n}")
        step.final = n
        self._stop(step)
        step.say(WholeValue("", value, number, pointer, is_last=True))

    # -- steps

    def _open(self, index: int | None, kind: str | None) -> StreamedStep:
        if not self.interactions and self._headless is None:
            self._headless = self._last
        step = StreamedStep(index, kind)
        self.steps.append(step)
        if index is not None:
            self._by_index[index] = step
            self._growing.pop(index, None)
        return step

    def _step_event(self, value: Value, kind: str, number: int) -> None:
        of, _, what = kind.partition(".")
        if of == "content":
            self.key = LISTS[1]
        if what == "start":
            self._start(value, "step" if "step" in value else of, number)
        elif what == "delta":
            self._delta(value, number)
        else:
            step = self._find(value, None, number)
            step.mark("", number)
            for key in ("usage", "step_usage"):
                if key in value:
                    step.say(WholeValue(f"/{key}", value[key], number, f"/{key}", is_last=False))
            self._stop(step)

    def _start(self, value: Value, key: str, number: int) -> None:
        found, index = self._notes.object_at(key, value, number), value.get("index")
        if type(index) is not int:
            self._notes.add("stream.index", "an event of a step has no step index", number)
            index = len(self.steps)
        if index in self._by_index:
            self._notes.add("stream.index", f"index {index} is used again", number, f"/{self.key}/{len(self.steps)}")
        step = self._open(index, None)
        step.mark("", number)
        if found:
            step.begin(found, number, f"/{key}")
        if step.kind == FUNCTION_CALL:
            self.growing += (WholePart(proof) for proof in proofs(step))
            self._show(step, ARGUMENTS)

    def _find(self, value: Value, kind: str | None, number: int) -> StreamedStep:
        """The step that an event belongs to; a new one where it never began."""
        index = value.get("index")
        if type(index) is not int:
            self._notes.add("stream.index", "an event of a step has no step index", number)
            step = self.steps[-1] if self.steps else None
        else:
            step = self._by_index.get(index)
        if step is None:
            self._miss_beginning(index, number)
            step = self._open(index if type(index) is int else None, kind)
        elif step.is_done:
            self._notes.add("stream.block-order", f"an event of step {step.index}, which has stopped", number)
        return step

    def _miss_beginning(self, index: JsonValue, number: int) -> None:
        """A step was not started; where the interaction was not started before it, that is the fault."""
        if self.interactions or self.steps:
            self._notes.add("stream.block-order", f"an event of step {index!r:.20}, which was not started", number)
        else:
            self._is_headless_inside = True

    def _stop(self, step: StreamedStep) -> None:
        """The step is complete: values that were not streamed are shown."""
        if not step.is_done:
            parts = () if step.kind == FUNCTION_CALL else step.message("")[0].parts
            if step.kind == "thought":
                self.growing += (WholePart(proof) for proof in proofs(step))
            elif not step.is_shown and parts:
                self.growing.append(WholePart(*parts))
        step.is_done = True
        if step.index is not None:
            self._growing.pop(step.index, None)

    def _show(self, step: StreamedStep, at: str) -> None:
        step.is_shown = True
        self.growing.append(StreamedStepString(step, at))

    # -- deltas

    def _delta(self, value: Value, number: int) -> None:
        delta = self._notes.object_at("delta", value, number)
        kind = delta.get("type")
        if not isinstance(kind, str):
            self._notes.add("content.shape", "a delta without a type", number)
            self._unknown.append(value)
            return
        metadata = value.get("metadata")
        total = metadata.get("total_usage") if isinstance(metadata, dict) else None
        self._usage = total if isinstance(total, dict) else self._usage
        holders = _HOLDERS.get(kind, ())
        step = self._find(value, holders[0] if holders else None, number)
        if holders and step.kind not in (*holders, None):
            message = f"{kind!r} in step {step.index}, which is of type {step.kind!r:.80}"
            self._notes.add("stream.block-order", message, number)
        if kind in _STRINGS:
            self._string(step, delta, kind, value, number)
        elif kind == "thought_summary":
            self._summary(step, delta.get("content"), number)
        elif kind == "text_annotation_delta":
            step.mark("", number)
            found = delta.get("annotations")
            for n, annotation in enumerate(found if isinstance(found, list) else ()):
                step.annotate(annotation, number, f"/delta/annotations/{n}")
        elif kind in MEDIA:
            self._whole(step, "/content", delta, number, "/delta")
        elif kind.endswith((CALL, RESULT)):
            step.mark("", number)
            for key in delta.keys() - {"type"}:
                step.say(WholeValue(f"/{key}", delta[key], number, f"/delta/{key}", is_last=False))
        else:
            self._whole(step, "/unknown_deltas", delta, number, "/delta")

    def _string(self, step: StreamedStep, delta: Value, kind: str, value: Value, number: int) -> None:
        """A piece of a string: the first of its kind in its step, or one that says more than that."""
        key = _STRINGS[kind]
        piece = delta.get(key)
        if not isinstance(piece, str):
            self._notes.add("content.shape", f"a delta whose {key!r} is {type_words(piece)}, not a string", number)
            self._whole(step, "/unknown_deltas", delta, number, "/delta")
            return
        at = step.text("/content") if key == "text" else f"/{key}"
        self._piece(step, at, piece, number, f"/delta/{key}")
        if step.index is not None and self._by_index.get(step.index) is step and not step.is_done:
            self._growing.setdefault(step.index, {})[kind] = step.grow(at)

    def _piece(self, step: StreamedStep, at: str, piece: str, number: int, pointer: str) -> None:
        is_text = at.endswith("/text")
        if is_text and at not in step.text_pointers:
            step.text_pointers.add(at)
            self._show(step, at)
        step.grow(at).add(piece, number, pointer)

    def _summary(self, step: StreamedStep, content: JsonValue, number: int) -> None:
        """The next piece of a summary; a picture is one by itself."""
        text = content.get("text") if isinstance(content, dict) else None
        if isinstance(text, str) and content.get("type", "text") == "text":
            self._piece(step, step.text("/summary"), text, number, "/delta/content/text")
        elif isinstance(content, dict):
            self._whole(step, "/summary", content, number, "/delta/content")
        else:
            self._notes.add("content.shape", f"a summary is {type_words(content)}, not a content object", number)

    def _whole(self, step: StreamedStep, key: str, value: JsonValue, number: int, pointer: str) -> None:
        """An entry of a list of the step, which comes whole; strings that grew before it are over."""
        place = step.entry(key)
        step.mark(place, number)
        step.say(WholeValue(place, value, number, pointer, is_last=False))
        if step.index is not None and key == "/content":
            self._growing.get(step.index, {}).pop("text", None)

    # -- what is wrong

    def _fail(self, value: Value, number: int, *, is_error: bool) -> bool:
        """Take an error event; False where it holds no error."""
        error = read_error(value) if is_error or "error" in value else None
        if error is None and not is_error:
            return False
        self._notes.fail(error or verbatim(value), number)
        return True

    def _ending(self) -> Iterator[Anomaly]:
        """Anomalies that only the end shows. After an error event no other end is expected."""
        if self._headless is not None:
            lacks = "id" if self._is_headless_inside else ""
            mild, what = ("", "content begins") if lacks else (MILD, "steps begin")
            message = f"the {what} without interaction.created"
            yield Anomaly(f"stream.framing{mild}", message, "", (self._headless,), lacks)
        if self._notes.error is not None:
            return
        for n, step in enumerate(order(self.steps)):
            if step.is_done:
                continue
            events = step.events("")
            if self._ended is not None:
                yield Anomaly("stream.block-order", f"step {step.index} has no stop event", f"/{self.key}/{n}", events)
            else:
                message, events = f"the stream ends inside step {step.index}", tuple(sorted({*events, self._last}))
                yield Anomaly("stream.truncated", message, f"/{self.key}/{n}", events)
        if self._ended is None and not self._notes.is_cut and all(step.is_done for step in self.steps):
            yield Anomaly("stream.no-terminator", "the stream ends without interaction.completed", "", (self._last,))
