"""What a gateway did to a stream: to its events, to the texts that grow in them, to its framing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from workbench.diff.damage._folded import CHUNK, COMMENT, FINISH, QUIET, USAGE, Event, Folded, is_end, runs, value_of
from workbench.diff.damage._grouped import grouped
from workbench.diff.damage._pieces import of_pieces
from workbench.diff.damage._spelling import respelled
from workbench.diff.damage._times import held
from workbench.diff.damage._values import Change, changes
from workbench.diff.damage.kinds import Damage, Kind
from workbench.diff.wire import common
from workbench.ir import JsonValue
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.wire import Framing, State

_MOST_ENTERED = 10_000
"""Pairs of events of one label that are compared member by member; of more, the first ones tell."""

_CRLF, _TIGHT = re.compile(rb"\r\n"), re.compile(rb"(?m)^data:(?! )")


def of_streams(upstream: DecodedExchange, client: DecodedExchange, *, timed: bool = True) -> list[Damage]:
    """What happened to a stream on its way to the client, the first divergence first.

    Args:
        timed: whether one is the other passed on, so that the times of both tell.
    """
    is_same = upstream.response_text == client.response_text
    if is_same and not timed:
        return []
    old, new = Folded(upstream), Folded(client)
    found = [] if is_same else _Streams(old, new).found
    return [*grouped(RESPONSE, found, _Offsets(old, new)), *(_late(old, new) if timed else ())]


def held_back(upstream: DecodedExchange, client: DecodedExchange) -> list[Damage]:
    """That a stream was held back, whatever else became of it, in any two protocols."""
    return _late(Folded(upstream), Folded(client))


def _late(upstream: Folded, client: Folded) -> list[Damage]:
    found = held(upstream, client)
    return [Damage(Kind.BUFFERED, RESPONSE, "", "", found.words, is_same_meaning=True)] if found else []


class _Offsets:
    """Where changes of events and of accumulated texts stand in the bytes."""

    def __init__(self, old: Folded, new: Folded) -> None:
        self._old, self._new = old, new
        self._same = common(old.decoded.response_text, new.decoded.response_text)

    def offsets(self, change: Change) -> tuple[int | None, int | None]:
        """Of the first bytes that differ."""
        if change.bytes:
            return change.bytes
        return self._at(self._old, change.was), self._at(self._new, change.at)

    def _at(self, stream: Folded, pointer: str) -> int | None:
        event = re.match(r"/events/(\d+)", pointer)
        if event:
            found = stream.by_number.get(int(event[1]))
            return found.source.start if found else None
        if not pointer:
            return self._same
        span = stream.decoded.place(RESPONSE, pointer).span
        return span[0] if span else None


class _Streams:
    """Two streams that differ."""

    def __init__(self, old: Folded, new: Folded) -> None:
        self.old, self.new = old, new
        self.found: list[Change] = []
        self._is_recut = False
        if self._is_beginning():
            self._cut_off("")
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
            self._add(Kind.FRAMING_CHANGED, words="other bytes between the events", is_same_meaning=True)

    def _add(self, kind: Kind, was: str = "", at: str = "", **facts: object) -> None:
        self.found.append(Change(kind, was, at, **facts))  # type: ignore[arg-type]

    def _is_beginning(self) -> bool:
        """The connection ended before the answer did, and nothing else happened."""
        states = self.old.decoded.exchange.state, self.new.decoded.exchange.state
        mine, theirs = ([(e.order, e.pieces) for e in stream.events] for stream in (self.old, self.new))
        return states == (State.COMPLETE, State.ABORTED) and len(theirs) < len(mine) and mine[: len(theirs)] == theirs

    def _is_event_by_event(self) -> bool:
        """The same events in the same order, and no text that is only cut anew: each against its counterpart."""
        old, new = self.old, self.new
        if [event.label for event in old.events] != [event.label for event in new.events]:
            return False
        if old.joined == new.joined:
            return old.texts == new.texts
        rows = [[(event.key, *event.pieces.values()) for event in stream.events] for stream in (old, new)]
        return Counter(rows[0]) != Counter(rows[1])

    def _open_end(self) -> None:
        """A last event that is not whole: clients drop it."""
        last = self.new.decoded.events[-1]
        if self.old.decoded.events[-1].terminated and not last.terminated:
            at = f"/events/{last.number}"
            self._add(Kind.TRUNCATED, at, at, words="the last event is not whole", bytes=(last.start, last.start))

    def _texts(self) -> None:
        """Pieces that were cut anew, lost, repeated or changed."""
        cut: list[tuple[int, int]] = []
        sizes = [0, 0]
        for key, olds in self.old.texts.items():
            news = self.new.texts.get(key, [])
            at = self.old.at.get(key, "")
            if [piece for _, piece in olds] == [piece for _, piece in news]:
                continue
            made = of_pieces([piece for _, piece in olds], [piece for _, piece in news])
            first = next((n for n, (a, b) in enumerate(zip(olds, news, strict=False)) if a[1] != b[1]), 0)
            if made.kind is Kind.EVENTS_RECUT:
                cut.append((olds[first][0], news[first][0]))
                sizes = [sizes[0] + len(olds), sizes[1] + len(news)]
                self._is_recut = True
                continue
            self._is_recut |= made.kind not in (Kind.DELTAS_LOST, Kind.DELTAS_REPEATED)
            start = self._first(olds[first][0], news[first][0] if news else None)
            facts = {"words": made.words, "places": made.places, "bytes": start}
            if made.kind is Kind.DELTAS_LOST and self._is_cut_off(made.is_tail):
                self._cut_off(at)
            else:
                self._add(made.kind, at, self.new.at.get(key, at), is_same_meaning=made.is_same_meaning, **facts)
        for key in self.new.texts.keys() - self.old.texts.keys():
            self._add(Kind.FIELD_ADDED, "", self.new.at.get(key, ""), words="a text that did not come")
        counts = [sum(bool(event.pieces) for event in stream.events) for stream in (self.old, self.new)]
        if counts[0] != counts[1] and not cut and not self.found:
            words = f"{abs(counts[0] - counts[1]):,} empty pieces {'went' if counts[0] > counts[1] else 'came'}"
            self._is_recut = True
            self._add(Kind.EVENTS_RECUT, words=words, is_same_meaning=True)
        if cut:
            start = min(cut)
            words = f"{sizes[0]:,} pieces became {sizes[1]:,}"
            facts = {"words": words, "is_same_meaning": True, "bytes": self._first(*start)}
            self._add(Kind.EVENTS_RECUT, f"/events/{start[0]}", f"/events/{start[1]}", **facts)

    def _is_cut_off(self, is_tail: bool) -> bool:
        old, new = self.old.decoded.response, self.new.decoded.response
        return is_tail and bool(old and new and old.is_complete and not new.is_complete)

    def _cut_off(self, pointer: str) -> None:
        """The stream ends before its end: what is missing at its end is one damage."""
        if not any(change.kind is Kind.TRUNCATED for change in self.found):
            came, went = len(self.old.events), len(self.new.events)
            self._add(Kind.TRUNCATED, pointer, pointer, words=f"{came:,} events received, {went:,} forwarded", places=1)

    def _first(self, was: int, at: int | None) -> tuple[int, int] | None:
        """The first byte that differs in two events."""
        if at is None:
            return None
        a, b = (s.by_number[n].source for s, n in ((self.old, was), (self.new, at)))
        texts = (self.old.decoded.response_text, self.new.decoded.response_text)
        same = common(texts[0][a.start : a.end], texts[1][b.start : b.end])
        return a.start + same, b.start + same

    def _events(self) -> list[tuple[Event, Event]]:
        """Pairs the events that bring no text one by one, those that do where they are cut alike; names the rest."""
        pairs, gone, came = _matched(_plain(self.old.events), _plain(self.new.events))
        said, cost = self._says_the_same()
        gone, came = self._merged(gone, self.new, said, cost), self._merged(came, self.old, said, cost)
        self._missing(gone)
        for label, events in _by_label(came).items():
            words = f"{len(events):,} of them: {label}" if len(events) > 1 else label
            facts = {"words": words, "places": len(events), "is_same_meaning": label in QUIET}
            at = f"/events/{events[0].number}"
            self._add(Kind.EVENTS_ADDED, at, at, bytes=(events[0].source.start,) * 2, **facts)
        texts = [[event for event in stream.events if event.pieces] for stream in (self.old, self.new)]
        if not self._is_recut and len(texts[0]) == len(texts[1]):
            return [*pairs, *zip(*texts, strict=True)]
        firsts = [{event.key: event for event in reversed(events)} for events in texts]
        pairs += [(event, firsts[1][key]) for key, event in firsts[0].items() if key in firsts[1]]
        left = [[e for key, e in mine.items() if key not in other] for mine, other in (firsts, firsts[::-1])]
        return pairs if said and self._is_recut else [*pairs, *_matched(*left, exact=False)[0]]

    def _missing(self, gone: list[Event]) -> None:
        if any(change.kind is Kind.TRUNCATED for change in self.found):
            last = max((event.number for event in gone), default=0)
            gone = [event for event in gone if event.label in QUIET and event.number < last]
        for label, events in _by_label(gone).items():
            words = f"{len(events):,} of them: {label}" if len(events) > 1 else label
            if is_end(label):
                words += ", which ends the stream"
            at = f"/events/{events[0].number}"
            facts = {"words": words, "places": len(events), "is_same_meaning": label in QUIET}
            self._add(Kind.EVENTS_DROPPED, at, at, bytes=None, **facts)

    def _says_the_same(self) -> tuple[bool, bool]:
        """Both answers say the same and end alike; and they cost the same."""
        old, new = self.old.decoded.response, self.new.decoded.response
        if old is None or new is None:
            return False, False
        return (old.messages, old.finish_reason) == (new.messages, new.finish_reason), old.usage == new.usage

    def _merged(self, events: list[Event], other: Folded, said: bool, cost: bool) -> list[Event]:
        """Without what stands in another event now, or came out of one: nothing of it is lost."""
        cost = cost and not any(e.label == USAGE for e in other.events)
        moved = [e for e in events if (e.label == FINISH and said) or (e.label == USAGE and cost)]
        if moved and not self._is_recut:
            at = f"/events/{moved[0].number}"
            self._add(
                Kind.EVENTS_RECUT, at, at, words=f"put together otherwise: {moved[0].label}", is_same_meaning=True
            )
            self._is_recut = True
        is_quiet = said and self._is_recut
        return [e for e in events if e not in moved and not (is_quiet and e.label == CHUNK)]

    def _order(self, pairs: list[tuple[Event, Event]]) -> None:
        rows = sorted((a.number, b.number) for a, b in pairs if a.label not in QUIET)
        numbers = [b for _, b in rows] if not self._is_recut else []
        moved = next((n for n in range(1, len(numbers)) if numbers[n] < numbers[n - 1]), None)
        if moved is not None:
            was, at = rows[moved - 1]
            self._add(Kind.EVENTS_REORDERED, f"/events/{was}", f"/events/{at}")
            return
        mine, theirs = list(runs(self.old.events)), list(runs(self.new.events))
        if mine != theirs and set(mine) == set(theirs):
            words = f"{len(mine):,} runs of pieces became {len(theirs):,}"
            self._add(Kind.EVENTS_REORDERED, words=words)

    def _fields(self, pairs: list[tuple[Event, Event]]) -> None:
        """What is another value in events that belong together."""
        entered: Counter[str] = Counter()
        names, ids, is_whole = 0, 0, self._is_event_by_event()
        for a, b in sorted(pairs, key=lambda pair: pair[1].number):
            names += a.source.name is not None and b.source.name is None
            ids += a.source.id is not None and b.source.id is None
            if (a.order == b.order and (a.pieces == b.pieces or not is_whole)) or entered[b.label] >= _MOST_ENTERED:
                continue
            entered[b.label] += 1
            self._entered(a, b, *(value_of(e.source)[0] if is_whole else e.rest for e in (a, b)))
        for kind, count, is_same in ((Kind.EVENT_NAMES_LOST, names, False), (Kind.EVENT_IDS_LOST, ids, True)):
            if count:
                self._add(kind, "/events/0", "/events/0", places=count, is_same_meaning=is_same)
        came = sum(b.source.name is not None and a.source.name is None for a, b in pairs)
        if came:
            self._add(Kind.FRAMING_CHANGED, words="event names were added", places=came, is_same_meaning=True)

    def _entered(self, a: Event, b: Event, old: JsonValue, new: JsonValue) -> None:
        for change in changes(old, new):
            if change.kind is Kind.FIELD_DROPPED and not change.before:
                change = replace(change, kind=Kind.EMPTY_DROPPED)
            was, at = f"/events/{a.number}{change.was}", f"/events/{b.number}{change.at}"
            self.found.append(replace(change, was=was, at=at, bytes=self._first(a.number, b.number)))

    def _framing(self) -> None:
        a, b = self.old.decoded, self.new.decoded
        if a.framing is not b.framing and a.framing and b.framing:
            self._add(Kind.FRAMING_CHANGED, words=f"{a.framing.value} became {b.framing.value}")
            return
        if a.framing is not Framing.SSE:
            return
        old, new = a.response_text, b.response_text
        how = []
        if bool(_CRLF.search(old)) != bool(_CRLF.search(new)):
            how.append("line ends: " + ("LF became CRLF" if _CRLF.search(new) else "CRLF became LF"))
        if bool(_TIGHT.search(old)) != bool(_TIGHT.search(new)):
            how.append("the space behind the colon")
        if any(len(e.source.data_spans) > 1 for e in self.old.events) != any(
            len(e.source.data_spans) > 1 for e in self.new.events
        ):
            how.append("data on several lines")
        if how:
            self._add(Kind.FRAMING_CHANGED, words=", ".join(how), is_same_meaning=True)

    def _spelling(self) -> None:
        old, new = (b"\n".join(e.source.data for e in s.events if e.source.data) for s in (self.old, self.new))
        for found in respelled(old, new):
            facts = {"words": found.words, "places": found.places, "is_same_meaning": True}
            self._add(found.kind, "", "", **facts)


def _plain(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if not event.pieces]


def _matched(
    olds: Sequence[Event], news: Sequence[Event], *, exact: bool = True
) -> tuple[list[tuple[Event, Event]], list[Event], list[Event]]:
    """Pairs of events: those that say the same first, then in their order those of one label; and what is left."""
    pairs: list[tuple[Event, Event]] = []
    for name in ("key", "label") if exact else ("label",):
        rows: dict[object, list[Event]] = {}
        for event in reversed(olds):
            rows.setdefault(getattr(event, name), []).append(event)
        left: list[Event] = []
        taken: set[int] = set()
        for event in news:
            row = rows.get(getattr(event, name))
            if row and (name == "key" or event.label != COMMENT):
                pairs.append((row.pop(), event))
                taken.add(pairs[-1][0].number)
            else:
                left.append(event)
        olds, news = [event for event in olds if event.number not in taken], left
    return pairs, list(olds), list(news)


def _by_label(events: Iterable[Event]) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    for event in events:
        found.setdefault(event.label, []).append(event)
    return found
