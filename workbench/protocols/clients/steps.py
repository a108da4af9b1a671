"""Our own accumulation, event by event: the message after any block of a stream, without reading from the start again.

A decoder is copied every so many blocks on the way; a step back starts from the copy before it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from copy import deepcopy

from workbench.ir import Message, ModelResponse, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass
from workbench.protocols import Adapter, StreamDecoder
from workbench.wire import SseEvent, dumps

COPIES = 32
"""Copies of the decoder over a whole stream: each holds the pieces up to it, so that many would cost memory."""
LEAST_BETWEEN = 128
"""Blocks between two copies at least: to read so many takes under a millisecond."""
REMEMBERED = 8
"""Answers kept: stepping asks for the message before and after an event, again and again."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """Characters ``start`` to ``end`` of a part's text that an event carried (or changed)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StreamStep:
    """The answer after one event.

    Attributes:
        event: number of the block, from zero.
        after: the answer as decoded so far.
        lit: (message, part) → what the event added to the part's text; an empty range where it began the part, or
            changed something else of it.
    """

    event: int
    after: ModelResponse
    lit: dict[tuple[int, int], Highlight]


class Steps:
    """Every step of one stream.

    Args:
        adapter: of the stream's protocol; its decoders can be copied with ``copy.deepcopy``.
        events: every block.
    """

    def __init__(self, adapter: Adapter, events: Sequence[SseEvent]) -> None:
        self._events = events
        self._between = max(LEAST_BETWEEN, len(events) // COPIES)
        self._copies: list[StreamDecoder] = [adapter.stream_decoder()]  # before block 0, _between, 2 * _between …
        self._decoder, self._at = deepcopy(self._copies[0]), 0
        self._known: OrderedDict[int, ModelResponse] = OrderedDict()

    def __len__(self) -> int:
        return len(self._events)

    def grow(self, events: Sequence[SseEvent]) -> None:
        """More blocks came after those there were; what was read of these is kept."""
        self._events = events
        while len(events) // COPIES >= 2 * self._between:
            self._between *= 2
            del self._copies[1::2]

    def step(self, event: int) -> StreamStep:
        """The answer after a block, and what that block did to it."""
        before, after = self.after(event - 1), self.after(event)
        return StreamStep(event, after, dict(changes(before, after)))

    def after(self, event: int) -> ModelResponse:
        """The answer once a block was read; -1 for before the first."""
        known = self._known.get(event)
        if known is None:
            self._go(event + 1)
            known = self._known[event] = self._decoder.result()
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return known

    def _go(self, count: int) -> None:
        """Have the decoder hold so many blocks and no more."""
        nearest = min(count // self._between, len(self._copies) - 1) * self._between
        if not nearest <= self._at <= count:
            self._decoder, self._at = deepcopy(self._copies[nearest // self._between]), nearest
        for event in self._events[self._at : count]:
            self._decoder.feed(event)
            self._at += 1
            if self._at == len(self._copies) * self._between:
                self._copies.append(deepcopy(self._decoder))


def changes(before: ModelResponse, after: ModelResponse) -> Iterator[tuple[tuple[int, int], Highlight]]:
    """Text that is in ``after`` and was not in ``before``, part by part."""
    for m, p, old, part in pairs(before, after):
        yield (m, p), Highlight(0, len(text_of(part))) if old is None else _highlight(text_of(old), text_of(part))


def pairs(before: ModelResponse, after: ModelResponse) -> Iterator[tuple[int, int, Part | None, Part]]:
    """(message, part, part before, part after) for every part that an event changed."""
    for m, message in enumerate(after.messages):
        held = dict(_keyed_parts(before.messages[m])) if m < len(before.messages) else {}
        for p, (place, part) in enumerate(_keyed_parts(message)):
            old = held.get(place)
            if old is None or (old is not part and (old != part or old.source.events != part.source.events)):
                yield m, p, old, part


def _keyed_parts(message: Message) -> Iterator[tuple[tuple[str, type[Part], int], Part]]:
    """The parts of a message, each with what is its own as long as the message grows: several may share a pointer."""
    counts: dict[tuple[str, type[Part]], int] = {}
    for part in message.parts:
        of = part.source.pointer, type(part)
        counts[of] = counts.get(of, -1) + 1
        yield (*of, counts[of]), part


def _highlight(old: str, new: str) -> Highlight:
    if new.startswith(old):
        return Highlight(len(old), len(new))
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return Highlight(same, len(new))


def text_of(part: Part) -> str:
    """The string of a part that grows: text, reasoning, argument text; of other parts their value as JSON."""
    match part:
        case Text(text=text):
            return text
        case Reasoning(text=text):
            return text or ""
        case ToolCallIR(raw=raw, input=value):
            return (
                raw if raw is not None else value if isinstance(value, str) else "" if value is None else _json(value)
            )
        case ToolResultIR():
            return "".join(text_of(p) for p in part.content if isinstance(p, Text))
    return _json(getattr(part, "value", None))


def _json(value: object) -> str:
    return dumps(value).decode("utf-8", "replace")
