"""Effects of each block of a stream on the message, in words.

Nearly every block adds characters to a part, and the decoded response has the source of each string. The effects of
other blocks are found by comparing the response before and after. For everything except parts (a finish reason, counts,
an error) the block is decoded alone. So nothing here depends on a protocol.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from workbench import protocols, regex
from workbench.errors import WireError
from workbench.ir import Anomaly, JsonValue, Message, ModelResponse, Part, Segment, Usage
from workbench.protocols.clients.event_effects import Effect, What, effects_between, noun_of, repeated_field, strings
from workbench.protocols.clients.steps import Steps, text_of
from workbench.wire import SseEvent, is_sealed, loads, value_at, without_repeated_prefix

MOST_COMPARED = 2000
"""Blocks of a stream of which the answers before and after are compared: each costs as much as the stream so far."""
REMEMBERED = 512
"""Blocks whose effects are kept."""

_TYPE_KEYS = ("type", "object")
_PREFIXES = ("chat.completion.", "response.")
_STRINGS = ("text", "input", "signature", "data")
_PINGS = ("ping", "keepalive")
_CLOSES = regex.compile(r"(?:[._-]|(?<=[a-z])(?=[A-Z]))(?:stop|end|done)$", re.IGNORECASE)
"""Endings of event names that end a part: ``block_stop``, ``contentBlockStop``, ``tool-call-end``, ``output.done``."""


class Effects:
    """Effects of the blocks of one stream. Made once; ``of`` looks at one block.

    Args:
        response: what the whole stream was decoded to; None where it was not.
        events: every block.
        steps: the same stream step by step, if the caller has it.
    """

    def __init__(self, response: ModelResponse | None, events: Sequence[SseEvent], steps: Steps | None = None) -> None:
        self._events = events
        self._response = response
        known = response is not None and response.protocol in protocols.protocols()
        self._adapter = protocols.get(response.protocol) if response and known else None
        self.steps = steps or (Steps(self._adapter, events) if self._adapter else None)
        self._parts: dict[int, list[tuple[Message, Part]]] = {}
        for message in response.messages if response else ():
            for part in message.parts:
                for number in part.source.events:
                    self._parts.setdefault(number, []).append((message, part))
        self.anomalies: Mapping[int, list[Anomaly]] = {}
        found: dict[int, list[Anomaly]] = {}
        for anomaly in response.anomalies if response else ():
            for number in anomaly.events:
                found.setdefault(number, []).append(anomaly)
        self.anomalies = found
        self.of = lru_cache(REMEMBERED)(self._of)

    def type_of(self, event: SseEvent) -> str:
        """Type of a block: its event field, else the type in its data; empty if neither is there."""
        return _short(self._type(event))

    def _type(self, event: SseEvent) -> str:
        if event.name and not is_sealed(event):
            return event.name
        if event.data is None:
            return "(comment)" if event.comments else event.name or "(no data)"
        value = _value(event)
        if not isinstance(value, dict):
            return (
                without_repeated_prefix(event.data)[:24].decode("utf-8", "replace") if value is None else "(no object)"
            )
        kind = next((value[key] for key in _TYPE_KEYS if isinstance(value.get(key), str)), None)
        if kind is not None:
            return str(kind)
        only = next(iter(value)) if len(value) == 1 else ""
        return only if only and isinstance(value[only], dict) else event.name or ""

    def _of(self, number: int) -> tuple[Effect, ...]:
        """Effects of a block, the most important first; never empty."""
        event = self._events[number]
        if event.data is None:
            return (Effect(What.COMMENT if event.comments else What.NOTHING, text="a block without data"),)
        value = _value(event)
        effects = self._additions(number, value) or [*self._to_parts(number, value)]
        effects += self._beside(event, value, has_parts=bool(effects))
        return tuple(effects) or (self._nothing(event, value),)

    def _additions(self, number: int, value: JsonValue) -> list[Effect]:
        """Effects of a block that only adds to strings; empty for any other block."""
        effects: list[Effect] = []
        for message, part in self._parts.get(number, ()):
            pieces = _pieces(part, number, value)
            if part.source.events[0] == number or not any(pieces.values()):
                return []
            pointer, noun = message.absolute(part), noun_of(part)
            effects += [
                Effect(What.ADDED, pointer, noun, field, len(text), text) for field, text in pieces.items() if text
            ]
        return effects

    def _to_parts(self, number: int, value: JsonValue) -> Iterator[Effect]:
        """Effects of a block on parts, from the responses before and after it."""
        effects: list[Effect] = []
        is_compared = self.steps is not None and number < min(MOST_COMPARED, len(self.steps))
        if self.steps and is_compared:
            effects = [*effects_between(self.steps.after(number - 1), self.steps.after(number), value)]
        known = {message.absolute(part): part for message, part in self._parts.get(number, ())}
        closed = [pointer for pointer, part in known.items() if self._is_end_of(part, number)]
        quiet = (What.NOTHING, What.CHANGED)
        yield from (deed for deed in effects if deed.part not in closed or deed.what not in quiet)
        for pointer, part in known.items():
            noun = noun_of(part)
            field = "" if is_compared else repeated_field(value, part)
            if field:
                yield Effect(What.REPEATED, pointer, noun, field)
            if pointer in closed:
                yield Effect(What.CLOSED, pointer, noun)
            elif not field and not effects:
                yield Effect(
                    What.NOTHING, pointer, noun, text=f"{'adds nothing to' if is_compared else 'refers to'} {noun}"
                )

    def _is_end_of(self, part: Part, number: int) -> bool:
        """The block is the last one of a part, and its name says so."""
        events = part.source.events
        is_last = len(events) > 1 and events[-1] == number
        return is_last and _CLOSES.search(self._type(self._events[number])) is not None

    def _beside(self, event: SseEvent, value: JsonValue, *, has_parts: bool) -> Iterator[Effect]:
        """Effects of a block other than those on parts; it is read alone."""
        if self._adapter is None:
            return
        effect = self._alone(event)
        if not has_parts and not effect.is_complete and effect.error is None and self._begins(event.number):
            yield Effect(What.BEGAN, noun="the message")
        if effect.finish_reason is not None:
            yield Effect(What.FINISHED, text=effect.finish_reason)
        if effect.usage and usage_words(effect.usage):
            yield Effect(What.USAGE, text=usage_words(effect.usage))
        if effect.error:
            yield Effect(What.ERROR, text=effect.error.message)
        kind = value.get("type") if isinstance(value, dict) else None
        if kind in _PINGS:
            yield Effect(What.PING)
        if effect.is_complete and (effect.finish_reason is None or not self._ends_later(event.number)):
            if self._repeats_all(value):
                yield Effect(What.REPEATED, noun="the response")
            yield Effect(What.ENDED)

    def _begins(self, number: int) -> bool:
        """Before the block there was no message, and then there is one."""
        if not self.steps or number >= min(MOST_COMPARED, len(self.steps)):
            return False
        before, after = self.steps.after(number - 1), self.steps.after(number)
        return before.id is None and not before.messages and bool(after.id or after.messages)

    def _ends_later(self, number: int) -> bool:
        """A later block with data still belongs to the answer: a finish reason is not the end then."""
        return any(event.data is not None for event in self._events[number + 1 : number + 3])

    def _nothing(self, event: SseEvent, value: JsonValue) -> Effect:
        """A block that changed nothing: the end of a part, the answer's again, or one that says nothing."""
        if not isinstance(value, dict):
            is_end = without_repeated_prefix(event.data or b"") == b"[DONE]"
            return Effect(What.ENDED) if is_end else Effect(What.NOTHING, text="cannot be read")
        last = [part for _, part in self._parts.get(event.number - 1, ())][-1:]
        if last and last[0].source.events[-1] < event.number and _CLOSES.search(self._type(event)):
            return Effect(What.CLOSED, noun=noun_of(last[0]))
        return Effect(What.NOTHING, text="nothing new" if self._alone(event).id is not None else "")

    def _alone(self, event: SseEvent) -> ModelResponse:
        """The response that one block alone decodes to."""
        if self._adapter is None:
            return ModelResponse("")
        decoder = self._adapter.stream_decoder()
        decoder.feed(event)
        return decoder.result()

    def _repeats_all(self, value: JsonValue) -> bool:
        parts = [part for message in (self._response.messages if self._response else ()) for part in message.parts]
        texts = {text for part in parts if (text := text_of(part)) and text != "{}"}
        return bool(texts) and texts <= set(strings(value))


def usage_words(usage: Usage) -> str:
    """Token counts: ``5 input, 3 output``."""
    named = (("input", usage.input), ("output", usage.output), ("reasoning", usage.reasoning))
    return ", ".join(f"{count:,} {name}" for name, count in named if count is not None)


def _value(event: SseEvent) -> JsonValue:
    try:
        return loads(without_repeated_prefix(event.data or b""))
    except WireError:
        return None


def _short(kind: str) -> str:
    """A type without the name of what all of them are of."""
    return next((kind.removeprefix(p) for p in _PREFIXES if kind.startswith(p) and kind != p), kind)


def _pieces(part: Part, number: int, value: JsonValue) -> dict[str, str]:
    """Texts that a block adds to a part that arrives in several pieces, by field."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    for field in _STRINGS:
        segments = part.source.segments.get(field, ())
        for segment in _of_event(segments, number) if len(segments) > 1 else ():
            text = value_at(value, segment.pointer)
            if isinstance(text, str) and segment.pointer not in seen:
                seen.add(segment.pointer)
                found[field] = found.get(field, "") + text
    return found


def _of_event(segments: Sequence[Segment], number: int) -> Iterator[Segment]:
    at = bisect_left(segments, number, key=lambda s: s.event)
    while at < len(segments) and segments[at].event == number:
        yield segments[at]
        at += 1
