"""Damage that a gateway did to a stream: to its events, to the texts in them, to its framing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from workbench import regex
from workbench.diff.damage._grouping import group_changes
from workbench.diff.damage._spelling import spelling_changes
from workbench.diff.damage._stream_texts import (
    CHUNK,
    COMMENT,
    FINISH,
    QUIET,
    USAGE,
    StreamEvent,
    StreamTexts,
    event_value,
    is_end,
    of_pieces,
    runs,
    stream_delay,
)
from workbench.diff.damage._values import ValueChange, value_changes
from workbench.diff.damage.kinds import Damage, DamageKind
from workbench.diff.wire import common
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.wire import Framing, State

_MOST_ENTERED = 10_000
"""Pairs of events of one label that are compared member by member; of more, only the first."""

_CRLF, _TIGHT = regex.compile(rb"\r\n"), regex.compile(rb"(?m)^data:(?! )")


def stream_damages(upstream: DecodedExchange, client: DecodedExchange, *, timed: bool = True) -> list[Damage]:
    """Damage to a stream on its way to the client, the first divergence first.

    Args:
        timed: compare times as well: one stream is the other, forwarded.
    """
    is_same = upstream.response_text == client.response_text
    if is_same and not timed:
        return []
    old, new = StreamTexts(upstream), StreamTexts(client)
    found = [] if is_same else _StreamComparison(old, new).found
    return [*group_changes(RESPONSE, found, _StreamOffsets(old, new)), *(_delay_damages(old, new) if timed else ())]


def delay_damages(upstream: DecodedExchange, client: DecodedExchange) -> list[Damage]:
    """Damage of a stream that was held back, in any two protocols."""
    return _delay_damages(StreamTexts(upstream), StreamTexts(client))


def _delay_damages(upstream: StreamTexts, client: StreamTexts) -> list[Damage]:
    found = stream_delay(upstream, client)
    return [Damage(DamageKind.BUFFERED, RESPONSE, "", "", found.words, is_same_meaning=True)] if found else []


class _StreamOffsets:
    """Offsets of changes in events and in accumulated texts."""

    def __init__(self, old: StreamTexts, new: StreamTexts) -> None:
        self._old, self._new = old, new
        self._same = common(old.decoded.response_text, new.decoded.response_text)

    def offsets(self, change: ValueChange) -> tuple[int | None, int | None]:
        """Offsets of the first bytes that differ."""
        if change.bytes:
            return change.bytes
        return self._at(self._old, change.was), self._at(self._new, change.at)

    def _at(self, stream: StreamTexts, pointer: str) -> int | None:
        event = re.match(r"/events/(\d+)", pointer)
        if event:
            found = stream.by_number.get(int(event[1]))
            return found.source.start if found else None
        if not pointer:
            return self._same
        span = stream.decoded.place(RESPONSE, pointer).span
        return span[0] if span else None


class _StreamComparison:
    """Compares two streams that differ."""

    def __init__(self, old: StreamTexts, new: StreamTexts) -> None:
        self.old, self.new = old, new
        self.found: list[ValueChange] = []
        self._is_recut = False
        if self._is_beginning():
            self._report_truncation("")
            return
        if self._is_event_by_event():
            pairs = list(zip(old.events, new.events, strict=True))
        else:
            self._open_end()
            self._texts()
            pairs = self._events()
            self._order(pairs)
        self._fields(pairs)
        self._framing()
        self._spelling()
        if not self.found:
            self._add(DamageKind.FRAMING_CHANGED, words="the bytes between the events", is_same_meaning=True)

    def _add(self, kind: DamageKind, was: str = "", at: str = "", **facts: object) -> None:
        self.found.append(ValueChange(kind, was, at, **facts))  # type: ignore[arg-type]

    def _is_beginning(self) -> bool:
        """True if the connection ended before the response did, and nothing else happened."""
        states = self.old.decoded.exchange.state, self.new.decoded.exchange.state
        mine, theirs = ([(e.order, e.pieces) for e in stream.events] for stream in (self.old, self.new))
        return states == (State.COMPLETE, State.ABORTED) and len(theirs) < len(mine) and mine[: len(theirs)] == theirs

    def _is_event_by_event(self) -> bool:
        """True if labels and order are equal and no text is only cut otherwise: events are compared one by one."""
        old, new = self.old, self.new
        if [event.label for event in old.events] != [event.label for event in new.events]:
            return False
        if old.full_texts == new.full_texts:
            return old.texts == new.texts
        rows = [[(event.key, *event.pieces.values()) for event in stream.events] for stream in (old, new)]
        return Counter(rows[0]) != Counter(rows[1])

    def _open_end(self) -> None:
        """Report an incomplete last event, which clients drop."""
        last = self.new.decoded.events[-1]
        if self.old.decoded.events[-1].terminated and not last.terminated:
            at = f"/events/{last.number}"
            self._add(
                DamageKind.TRUNCATED, at, at, words="the last event is incomplete", bytes=(last.start, last.start)
            )

    def _texts(self) -> None:
        """Report texts whose pieces were re-cut, lost, repeated or changed."""
        cut: list[tuple[int, int]] = []
        sizes = [0, 0]
        for key, olds in self.old.texts.items():
            news = self.new.texts.get(key, [])
            at = self.old.at.get(key, "")
            if [piece for _, piece in olds] == [piece for _, piece in news]:
                continue
            change = of_pieces([piece for _, piece in olds], [piece for _, piece in news])
            first = next((n for n, (a, b) in enumerate(zip(olds, news, strict=False)) if a[1] != b[1]), 0)
            if change.kind is DamageKind.EVENTS_RECUT:
                cut.append((olds[first][0], news[first][0]))
                sizes = [sizes[0] + len(olds), sizes[1] + len(news)]
                self._is_recut = True
                continue
            self._is_recut |= change.kind not in (DamageKind.DELTAS_LOST, DamageKind.DELTAS_REPEATED)
            start = self._first(olds[first][0], news[first][0] if news else None)
            facts = {"words": change.words, "places": change.places, "bytes": start}
            if change.kind is DamageKind.DELTAS_LOST and self._is_truncated(change.is_tail):
                self._report_truncation(at)
            else:
                self._add(change.kind, at, self.new.at.get(key, at), is_same_meaning=change.is_same_meaning, **facts)
        for key in self.new.texts.keys() - self.old.texts.keys():
            self._add(DamageKind.FIELD_ADDED, "", self.new.at.get(key, ""), words="text that was not received")
        counts = [sum(bool(event.pieces) for event in stream.events) for stream in (self.old, self.new)]
        if counts[0] != counts[1] and not cut and not self.found:
            words = f"{abs(counts[0] - counts[1]):,} empty deltas {'removed' if counts[0] > counts[1] else 'added'}"
            self._is_recut = True
            self._add(DamageKind.EVENTS_RECUT, words=words, is_same_meaning=True)
        if cut:
            start = min(cut)
            words = f"{sizes[0]:,} deltas became {sizes[1]:,}"
            facts = {"words": words, "is_same_meaning": True, "bytes": self._first(*start)}
            self._add(DamageKind.EVENTS_RECUT, f"/events/{start[0]}", f"/events/{start[1]}", **facts)

    def _is_truncated(self, is_tail: bool) -> bool:
        old, new = self.old.decoded.response, self.new.decoded.response
        return is_tail and bool(old and new and old.is_complete and not new.is_complete)

    def _report_truncation(self, pointer: str) -> None:
        """Report a stream that stops early: all that is missing at its end is one damage."""
        if not any(change.kind is DamageKind.TRUNCATED for change in self.found):
            event_count, forwarded_count = len(self.old.events), len(self.new.events)
            self._add(
                DamageKind.TRUNCATED,
                pointer,
                pointer,
                words=f"{event_count:,} events received, {forwarded_count:,} forwarded",
                places=1,
            )

    def _first(self, was: int, at: int | None) -> tuple[int, int] | None:
        """First byte that differs in two events."""
        if at is None:
            return None
        a, b = (s.by_number[n].source for s, n in ((self.old, was), (self.new, at)))
        texts = (self.old.decoded.response_text, self.new.decoded.response_text)
        same = common(texts[0][a.start : a.end], texts[1][b.start : b.end])
        return a.start + same, b.start + same

    def _events(self) -> list[tuple[StreamEvent, StreamEvent]]:
        """Pair events without text one by one, and those with text if they are cut alike; report the rest."""
        pairs, removals, additions = _match_events(_textless(self.old.events), _textless(self.new.events))
        is_same_text, is_same_usage = self._says_the_same()
        removals, additions = (
            self._without_merged(removals, self.new, is_same_text, is_same_usage),
            self._without_merged(additions, self.old, is_same_text, is_same_usage),
        )
        self._missing(removals)
        for label, events in _by_label(additions).items():
            words = f"{len(events):,} events: {label}" if len(events) > 1 else label
            facts = {"words": words, "places": len(events), "is_same_meaning": label in QUIET}
            at = f"/events/{events[0].number}"
            self._add(DamageKind.EVENTS_ADDED, at, at, bytes=(events[0].source.start,) * 2, **facts)
        texts = [[event for event in stream.events if event.pieces] for stream in (self.old, self.new)]
        if not self._is_recut and len(texts[0]) == len(texts[1]):
            return [*pairs, *zip(*texts, strict=True)]
        firsts = [{event.key: event for event in reversed(events)} for events in texts]
        pairs += [(event, firsts[1][key]) for key, event in firsts[0].items() if key in firsts[1]]
        unpaired = [[e for key, e in mine.items() if key not in other] for mine, other in (firsts, firsts[::-1])]
        return pairs if is_same_text and self._is_recut else [*pairs, *_match_events(*unpaired, exact=False)[0]]

    def _missing(self, stream_events: list[StreamEvent]) -> None:
        if any(change.kind is DamageKind.TRUNCATED for change in self.found):
            last = max((event.number for event in stream_events), default=0)
            stream_events = [event for event in stream_events if event.label in QUIET and event.number < last]
        for label, events in _by_label(stream_events).items():
            words = f"{len(events):,} events: {label}" if len(events) > 1 else label
            if is_end(label):
                words += ", which ends the stream"
            at = f"/events/{events[0].number}"
            facts = {"words": words, "places": len(events), "is_same_meaning": label in QUIET}
            self._add(DamageKind.EVENTS_DROPPED, at, at, bytes=None, **facts)

    def _says_the_same(self) -> tuple[bool, bool]:
        """(both responses have the same messages and finish reason, both have the same usage)."""
        old, new = self.old.decoded.response, self.new.decoded.response
        if old is None or new is None:
            return False, False
        return (old.messages, old.finish_reason) == (new.messages, new.finish_reason), old.usage == new.usage

    def _without_merged(
        self, events: list[StreamEvent], other: StreamTexts, is_same_text: bool, is_same_usage: bool
    ) -> list[StreamEvent]:
        """The events without those whose content moved into or out of another event: nothing is lost."""
        is_same_usage = is_same_usage and not any(e.label == USAGE for e in other.events)
        moved = [e for e in events if (e.label == FINISH and is_same_text) or (e.label == USAGE and is_same_usage)]
        if moved and not self._is_recut:
            at = f"/events/{moved[0].number}"
            self._add(
                DamageKind.EVENTS_RECUT, at, at, words=f"grouped differently: {moved[0].label}", is_same_meaning=True
            )
            self._is_recut = True
        is_quiet = is_same_text and self._is_recut
        return [e for e in events if e not in moved and not (is_quiet and e.label == CHUNK)]

    def _order(self, pairs: list[tuple[StreamEvent, StreamEvent]]) -> None:
        rows = sorted((a.number, b.number) for a, b in pairs if a.label not in QUIET)
        numbers = [b for _, b in rows] if not self._is_recut else []
        moved = next((n for n in range(1, len(numbers)) if numbers[n] < numbers[n - 1]), None)
        if moved is not None:
            was, at = rows[moved - 1]
            self._add(DamageKind.EVENTS_REORDERED, f"/events/{was}", f"/events/{at}")
            return
        mine, theirs = list(runs(self.old.events)), list(runs(self.new.events))
        if mine != theirs and set(mine) == set(theirs):
            words = f"{len(mine):,} groups of deltas became {len(theirs):,}"
            self._add(DamageKind.EVENTS_REORDERED, words=words)

    def _fields(self, pairs: list[tuple[StreamEvent, StreamEvent]]) -> None:
        """Report changed values in events that belong together."""
        entered: Counter[str] = Counter()
        names, ids, is_whole = 0, 0, self._is_event_by_event()
        for a, b in sorted(pairs, key=lambda pair: pair[1].number):
            names += a.source.name is not None and b.source.name is None
            ids += a.source.id is not None and b.source.id is None
            if (a.order == b.order and (a.pieces == b.pieces or not is_whole)) or entered[b.label] >= _MOST_ENTERED:
                continue
            entered[b.label] += 1
            self._compare_values(a, b, *(event_value(e.source)[0] if is_whole else e.rest for e in (a, b)))
        for kind, count, is_same in (
            (DamageKind.EVENT_NAMES_LOST, names, False),
            (DamageKind.EVENT_IDS_LOST, ids, True),
        ):
            if count:
                self._add(kind, "/events/0", "/events/0", places=count, is_same_meaning=is_same)
        name_count = sum(b.source.name is not None and a.source.name is None for a, b in pairs)
        if name_count:
            self._add(
                DamageKind.FRAMING_CHANGED, words="event names were added", places=name_count, is_same_meaning=True
            )

    def _compare_values(self, a: StreamEvent, b: StreamEvent, old: JsonValue, new: JsonValue) -> None:
        for change in value_changes(old, new):
            if change.kind is DamageKind.FIELD_DROPPED and not change.before:
                change = replace(change, kind=DamageKind.EMPTY_DROPPED)
            was, at = f"/events/{a.number}{change.was}", f"/events/{b.number}{change.at}"
            self.found.append(replace(change, was=was, at=at, bytes=self._first(a.number, b.number)))

    def _framing(self) -> None:
        a, b = self.old.decoded, self.new.decoded
        if a.framing is not b.framing and a.framing and b.framing:
            self._add(DamageKind.FRAMING_CHANGED, words=f"{a.framing.value} became {b.framing.value}")
            return
        if a.framing is not Framing.SSE:
            return
        old, new = a.response_text, b.response_text
        how = []
        if bool(_CRLF.search(old)) != bool(_CRLF.search(new)):
            how.append("line endings: " + ("LF became CRLF" if _CRLF.search(new) else "CRLF became LF"))
        if bool(_TIGHT.search(old)) != bool(_TIGHT.search(new)):
            how.append("the space after the colon")
        if any(len(e.source.data_spans) > 1 for e in self.old.events) != any(
            len(e.source.data_spans) > 1 for e in self.new.events
        ):
            how.append("data split over several lines")
        if how:
            self._add(DamageKind.FRAMING_CHANGED, words=", ".join(how), is_same_meaning=True)

    def _spelling(self) -> None:
        old, new = (b"\n".join(e.source.data for e in s.events if e.source.data) for s in (self.old, self.new))
        for found in spelling_changes(old, new):
            facts = {"words": found.words, "places": found.places, "is_same_meaning": True}
            self._add(found.kind, "", "", **facts)


def _textless(events: Iterable[StreamEvent]) -> list[StreamEvent]:
    return [event for event in events if not event.pieces]


def _match_events(
    stream_events: Sequence[StreamEvent], news: Sequence[StreamEvent], *, exact: bool = True
) -> tuple[list[tuple[StreamEvent, StreamEvent]], list[StreamEvent], list[StreamEvent]]:
    """Pairs of events: equal ones first, then in order those with the same label; and the rest."""
    pairs: list[tuple[StreamEvent, StreamEvent]] = []
    for name in ("key", "label") if exact else ("label",):
        rows: dict[object, list[StreamEvent]] = {}
        for event in reversed(stream_events):
            rows.setdefault(getattr(event, name), []).append(event)
        rest: list[StreamEvent] = []
        numbers: set[int] = set()
        for event in news:
            row = rows.get(getattr(event, name))
            if row and (name == "key" or event.label != COMMENT):
                pairs.append((row.pop(), event))
                numbers.add(pairs[-1][0].number)
            else:
                rest.append(event)
        stream_events, news = [event for event in stream_events if event.number not in numbers], rest
    return pairs, list(stream_events), list(news)


def _by_label(events: Iterable[StreamEvent]) -> dict[str, list[StreamEvent]]:
    found: dict[str, list[StreamEvent]] = {}
    for event in events:
        found.setdefault(event.label, []).append(event)
    return found
