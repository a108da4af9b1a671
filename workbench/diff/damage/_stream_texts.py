"""Texts of a stream: the pieces of texts and the rest, damage to the pieces, and whether they were held back."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from workbench.diff.damage._texts import text_change
from workbench.diff.damage._values import Fingerprints
from workbench.diff.damage.kinds import DamageKind
from workbench.diff.wire import common, common_end
from workbench.errors import WireError
from workbench.ir import JsonValue, Part, Reasoning
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.wire import SseEvent, loads

Key = tuple[int, str, int, str]
"""A growing text: number of its message, kind of its part, number among these, field."""

COMMENT, PING, DONE, USAGE, FINISH, ERROR, CHUNK = (
    *("comment", "ping", "[DONE]", "usage", "finish reason", "error", "chunk"),
)
QUIET = frozenset({COMMENT, PING})
"""Events without content."""

_TERMINAL = frozenset({"message_stop", "message-end", "response.completed", "response.incomplete", "response.failed"})
_OF_ITEMS = "response."
"""Prefix of item events. They name their text, and a later event repeats it whole; a delta is still a piece."""

_COUNTERS = ("sequence_number", "obfuscation")
"""Members that number events or pad them: no content."""


@dataclass(eq=False, slots=True)
class StreamEvent:
    """One event.

    Attributes:
        label: its type, in words that are shown.
        rest: its value without the pieces of texts; its data if that is no JSON.
        pieces: text → its piece in this event.
        key, order: fingerprints of ``rest``, without and with the order of keys.
    """

    source: SseEvent
    label: str
    rest: JsonValue
    pieces: dict[Key, str] = field(default_factory=dict)
    key: int = 0
    order: int = 0

    @property
    def number(self) -> int:
        """Position in the stream."""
        return self.source.number


class StreamTexts:
    """One stream as events and growing texts.

    Attributes:
        decoded: the exchange of the response.
        events: in order, without an incomplete last one.
        at: text → pointer into the accumulated message.
    """

    def __init__(self, decoded: DecodedExchange) -> None:
        self.decoded = decoded
        self.at: dict[Key, str] = {}
        pieces = self._pieces()
        self.events = [self._event(event, pieces.get(event.number, {})) for event in decoded.events if event.terminated]

    @cached_property
    def by_number(self) -> dict[int, StreamEvent]:
        """Events by number in the stream; an incomplete event has none."""
        return {event.number: event for event in self.events}

    @cached_property
    def texts(self) -> dict[Key, list[tuple[int, str]]]:
        """Every text as (event, non-empty piece), in order."""
        found: dict[Key, list[tuple[int, str]]] = {}
        for event in self.events:
            for key, piece in event.pieces.items():
                if piece:
                    found.setdefault(key, []).append((event.number, piece))
        return found

    @cached_property
    def full_texts(self) -> dict[Key, str]:
        """Every text, joined."""
        return {key: "".join(piece for _, piece in pieces) for key, pieces in self.texts.items()}

    def _pieces(self) -> dict[int, dict[str, Key]]:
        """Event → pointer of a piece in it → the text it belongs to."""
        found: dict[int, dict[str, Key]] = {}
        for number, message in enumerate(self.decoded.messages(RESPONSE)):
            counts: dict[str, int] = {}
            for part in message.parts:
                kind = _kind(part)
                nth = counts[kind] = counts.get(kind, -1) + 1
                for name, segments in part.source.segments.items():
                    if name in ("id", "name", "tool_call_id") and len(segments) < 2:
                        continue
                    key = (number, kind, nth, name)
                    for segment in segments:
                        if found.setdefault(segment.event, {}).setdefault(segment.pointer, key) is key:
                            self.at.setdefault(key, message.absolute(part, name))
        return found

    def _event(self, source: SseEvent, pieces: dict[str, Key]) -> StreamEvent:
        value, is_json = event_value(source)
        event = StreamEvent(source, _label(source, value), value)
        if is_json and isinstance(value, dict):
            if event.label.startswith(_OF_ITEMS):
                key = _item_text_key(event.label, value)
                pieces = {"/delta": key} if key else {}
                self.at.update({key: f"/events/{source.number}/delta"} if key and key not in self.at else {})
            for pointer, key in pieces.items():
                text = _take_text(value, pointer)
                if text is not None:
                    event.pieces[key] = event.pieces.get(key, "") + text
            value.update((name, None) for name in _COUNTERS if name in value)
        prints = Fingerprints(value)
        event.key = hash((prints.key(value), source.comments if source.data is None else ()))
        event.order = prints.order(value)
        return event


def _item_text_key(label: str, value: JsonValue) -> Key | None:
    """Key of the text that an item event names."""
    if not label.endswith(".delta") or not isinstance(value.get("delta"), str):
        return None
    rows = (value.get(name) for name in ("output_index", "content_index", "summary_index"))
    return 0, f"{label} {[row for row in rows if isinstance(row, int)]}", 0, "delta"


def _kind(part: Part) -> str:
    return f"{type(part).__name__} {part.carrier.value}" if isinstance(part, Reasoning) else type(part).__name__


def event_value(source: SseEvent) -> tuple[JsonValue, bool]:
    """(data of an event, True if it is JSON); else a text or None."""
    if source.data is None:
        return None, False
    try:
        return loads(source.data), True
    except WireError:
        return source.data.decode("utf-8", "replace"), False


def _label(source: SseEvent, value: JsonValue) -> str:
    if source.data is None:
        return COMMENT
    if not isinstance(value, dict):
        return DONE if source.data.strip() == b"[DONE]" else source.name or CHUNK
    named = value.get("type") or source.name
    if isinstance(named, str) and named:
        return named
    if "error" in value:
        return ERROR
    choices = value.get("choices")
    if value.get("usage") and not choices and "candidates" not in value:
        return USAGE
    if isinstance(choices, list) and any(isinstance(c, dict) and c.get("finish_reason") for c in choices):
        return FINISH
    return CHUNK


def is_end(label: str) -> bool:
    """True for an event that ends the stream."""
    return label == DONE or label in _TERMINAL


def _take_text(value: JsonValue, pointer: str) -> str | None:
    """Remove and return the text at a pointer of a value; None if there is none."""
    *steps, last = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]] or [""]
    node = value
    for step in steps:
        node = node[int(step)] if isinstance(node, list) else node.get(step)
        if node is None:
            return None
    if isinstance(node, list):
        return None
    text = node.get(last) if isinstance(node, dict) else None
    if isinstance(text, str):
        node[last] = ""
        return text
    return None


def runs(events: Sequence[StreamEvent]) -> Iterator[Key]:
    """Keys of the growing texts in order, one for each run of pieces."""
    last = None
    for event in events:
        for key, piece in event.pieces.items():
            if piece and key != last:
                yield key
                last = key


class PiecesDamage(NamedTuple):
    """Damage to ``places`` pieces; ``is_tail``: all that is lost was at the end."""

    kind: DamageKind
    words: str
    places: int = 1
    is_tail: bool = False

    @property
    def is_same_meaning(self) -> bool:
        """True if the pieces add up to the same value."""
        return self.kind in (DamageKind.EVENTS_RECUT, DamageKind.ARGUMENTS_RESPELLED)


def of_pieces(olds: list[str], news: list[str]) -> PiecesDamage:
    """Classify the damage to a text whose pieces differ."""
    old, new = "".join(olds), "".join(news)
    if old == new:
        return PiecesDamage(DamageKind.EVENTS_RECUT, f"{len(olds):,} deltas became {len(news):,}")
    if len(olds) == len(news) and Counter(olds) == Counter(news):
        return PiecesDamage(DamageKind.EVENTS_REORDERED, "the deltas are in a different order")
    missing = _missing(olds, new)
    if missing is not None and (len(olds) > 1 or not new):
        is_tail = missing == list(range(len(olds) - len(missing), len(olds)))
        return PiecesDamage(DamageKind.DELTAS_LOST, _count(missing, olds), len(missing), is_tail and len(missing) > 0)
    more = _missing(news, old)
    known = set(olds)
    if more is not None and len(news) > 1 and all(news[n] in known for n in more):
        return PiecesDamage(DamageKind.DELTAS_REPEATED, _count(more, news), len(more))
    kind, words = text_change(old, new)
    if kind in (DamageKind.TEXT_CUT, DamageKind.VALUE_CHANGED) and len(new) < len(old):
        head = common(old, new)
        if head + common_end(old[head:], new[head:]) == len(new) and len(news) > 1:
            count = len(old) - len(new)
            return PiecesDamage(DamageKind.DELTAS_LOST, f"{count:,} characters", 1, head == len(new))
    return PiecesDamage(kind, words)


def _count(rows: list[int], pieces: list[str]) -> str:
    if len(rows) == len(pieces):
        return f"all {len(pieces):,} deltas"
    return f"{len(rows):,} of {len(pieces):,} deltas"


def _missing(pieces: list[str], text: str) -> list[int] | None:
    """Numbers of the pieces that are missing, if the others make up the text; None otherwise."""
    at, missing = 0, list[int]()
    for n, piece in enumerate(pieces):
        if text.startswith(piece, at):
            at += len(piece)
        else:
            missing.append(n)
    return missing if at == len(text) and missing else None


LEAST_SPREAD = 0.1
"""Least duration of a stream, in seconds, for which a delay can be detected."""

LEAST_SHARE = 0.4
"""Least share of that time during which nothing was forwarded while more arrived."""

_TOGETHER = 0.004
"""Seconds within which two arrivals count as one."""

_FEWEST = 3
"""Least number of arrivals upstream."""


class StreamDelay(NamedTuple):
    """A stream that was held back.

    Attributes:
        spread: seconds over which it arrived.
        share: share of them during which it was held, 0 to 1.
        arrivals: number of arrivals, upstream and at the client.
        is_late: nothing was forwarded until everything had arrived.
    """

    spread: float
    share: float
    arrivals: tuple[int, int]
    is_late: bool

    @property
    def words(self) -> str:
        """Description for people."""
        arrivals, deliveries = self.arrivals
        if self.is_late and deliveries > 1:
            return f"received over {self.spread:.2f} s, but nothing was forwarded until the end"
        return f"received in {arrivals:,} chunks over {self.spread:.2f} s, forwarded in {deliveries:,}"


def stream_delay(upstream: StreamTexts, client: StreamTexts) -> StreamDelay | None:
    """Delay of a stream on its way to the client; None if it was not held back, or times are unknown."""
    points = _points(upstream, client)
    if len(points) < _FEWEST:
        return _by_chunks(upstream.decoded, client.decoded)
    sent, received = [sent for sent, _ in points], [received for _, received in points]
    spread = max(sent) - min(sent)
    arrivals = _count_bytes(sent)
    if spread < LEAST_SPREAD or arrivals < _FEWEST:
        return None
    waited, first = 0.0, 0
    for n in range(1, len(points) + 1):
        if n == len(points) or received[n] - received[n - 1] > _TOGETHER:
            waited += max(0.0, max(sent[first:n]) - sent[first])
            first = n
    deliveries = _count_bytes(received)
    is_late = _is_late(upstream.decoded, client.decoded, points[0][1], max(sent))
    if waited >= max(LEAST_SHARE * spread, LEAST_SPREAD / 2) and deliveries <= 0.7 * arrivals:
        return StreamDelay(spread, waited / spread, (arrivals, deliveries), is_late)
    return StreamDelay(spread, 1.0, (arrivals, deliveries), True) if is_late else None


def _by_chunks(upstream: DecodedExchange, client: DecodedExchange) -> StreamDelay | None:
    """Fallback if a content coding hides which bytes are which: all arrived at once that was sent over time."""
    bodies = (d.exchange.response.body if d.exchange.response else None for d in (upstream, client))
    sent, received = ([chunk.at for chunk in body.chunks] if body else [] for body in bodies)
    if len(sent) < _FEWEST or not received or not (upstream.events and client.events):
        return None
    spread = sent[-1] - sent[0]
    is_held = spread >= LEAST_SPREAD and _count_bytes(sent) >= _FEWEST and _count_bytes(received) == 1
    return StreamDelay(spread, 1.0, (_count_bytes(sent), 1), False) if is_held else None


def _count_bytes(times: list[float]) -> int:
    return 1 + sum(b - a > _TOGETHER for a, b in pairwise(times))


def _is_late(upstream: DecodedExchange, client: DecodedExchange, first: float, last: float) -> bool:
    """True if the client got its first piece after the last one had arrived, by clocks that agree."""
    outer, inner = client.exchange, upstream.exchange
    if outer.started_at is None or inner.started_at is None or outer.duration is None or inner.duration is None:
        return False
    shift = inner.started_at - outer.started_at
    is_within = 0 <= shift <= 5.0 and shift + inner.duration <= outer.duration + 0.05
    return is_within and first >= shift + last - _TOGETHER


def _points(upstream: StreamTexts, client: StreamTexts) -> list[tuple[float, float]]:
    """(arrival time, forwarding time) of the same content, in seconds from the start of each exchange."""
    texts = _by_texts(upstream, client)
    return texts if len(texts) >= _FEWEST else _by_events(upstream, client)


def _by_texts(upstream: StreamTexts, client: StreamTexts) -> list[tuple[float, float]]:
    """Points by the length of the texts so far: valid however the events are cut."""
    theirs, mine = _text_growth(upstream), _text_growth(client)
    if not theirs or not mine:
        return []
    ends = [length for length, _ in mine]
    found = []
    for length, at in theirs:
        row = bisect_left(ends, length)
        if row < len(mine):
            found.append((at, mine[row][1]))
    return found


def _text_growth(stream: StreamTexts) -> list[tuple[int, float]]:
    """(characters so far, arrival time)."""
    found, length = list[tuple[int, float]](), 0
    for event in stream.events:
        size = sum(map(len, event.pieces.values()))
        at = stream.decoded.arrival(event.source) if size else None
        if at is not None:
            length += size
            found.append((length, at))
    return found


def _by_events(upstream: StreamTexts, client: StreamTexts) -> list[tuple[float, float]]:
    if len(upstream.events) != len(client.events):
        return []
    pairs = (
        (upstream.decoded.arrival(a.source), client.decoded.arrival(b.source))
        for a, b in zip(upstream.events, client.events, strict=True)
    )
    return [(a, b) for a, b in pairs if a is not None and b is not None]
