"""Responses that a client received in a conversation, and the turn of a history that contains each of them."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from workbench.chain._reasoning_replay import content
from workbench.fingerprint import call_digest, looks_unique, visible_text
from workbench.ir import Message, ModelResponse, Part, Source
from workbench.lazy_dataclass import dataclass, field, replace

_NEIGHBOURS = 8
"""Limit of responses with one call id, equal calls or equal text that are compared, nearest first: counters repeat."""


class ReceivedAnswer:
    """Content of one message of a response, or of a history, by which both are compared.

    Attributes:
        exchange: where it was received, -1 for a message of a history.
        ids: call ids, as sent; empty if it has none.
        blocks: its reasoning.
    """

    def __init__(self, message: Message, exchange: int = -1) -> None:
        self.exchange = exchange
        self.ids = tuple([c.id for _, c in message.tool_calls() if c.id])
        self.blocks = tuple([r for _, r in message.reasoning()])
        self._message = message

    @cached_property
    def text(self) -> str:
        """Its readable text."""
        return visible_text(self._message)

    @cached_property
    def unique(self) -> frozenset[str]:
        """Call ids that are not counters."""
        return frozenset(filter(looks_unique, self.ids))

    @cached_property
    def calls(self) -> tuple[int, ...]:
        """Fingerprints of names and arguments of its calls."""
        return tuple([call_digest(c) for _, c in self._message.tool_calls()])

    @cached_property
    def contents(self) -> tuple[tuple[str, str, int], ...]:
        """Content of its reasoning that has to stay unchanged."""
        return tuple(content(b) for b in self.blocks)


def without_segments(response: ModelResponse) -> ModelResponse:
    """A streamed response without the sources of its deltas: later exchanges need only its content and its events.

    A long session keeps all of its responses, and the source of a delta takes more memory than its text.
    """
    if not response.is_stream:
        return response
    messages = [replace(message, parts=tuple(map(_without_segments, message.parts))) for message in response.messages]
    return replace(response, messages=tuple(messages))


def _without_segments(part: Part) -> Part:
    source = part.source
    if not source.segments:
        return part
    return replace(part, source=Source(source.pointer, source.fields, events=source.events, slices=source.slices))


def join_items(messages: Sequence[Message]) -> Message:
    """Items of one response, joined to one message; sources in it are those of the items."""
    first = messages[0]
    return first if len(messages) == 1 else Message(first.role, tuple(p for m in messages for p in m.parts))


@dataclass(slots=True)
class ReceivedAnswers:
    """The responses of a conversation in order of arrival, indexed by call id, by calls and by text."""

    answers: list[ReceivedAnswer] = field(default_factory=list)
    _by_id: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _by_calls: defaultdict[tuple[int, ...], list[int]] = field(default_factory=lambda: defaultdict(list))
    _by_text: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _end: int | None = None
    _drops: list[int] = field(default_factory=list)
    _thoughts: list[int] = field(default_factory=list)
    _by_call: _CallIndex = field(default_factory=lambda: _CallIndex())

    @classmethod
    def of(cls, answers: Iterable[tuple[int, ModelResponse]]) -> ReceivedAnswers:
        """The index of (exchange, response) pairs."""
        received = cls()
        for exchange, response in answers:
            received.add(exchange, response)
        return received

    def add(self, exchange: int, response: ModelResponse) -> None:
        """Append a response: each of its choices."""
        for messages in response.choices:
            answer = ReceivedAnswer(join_items(messages), exchange)
            for call_id in dict.fromkeys(answer.ids):
                self._by_id[call_id].append(len(self.answers))
            if answer.calls:
                self._by_calls[answer.calls].append(len(self.answers))
            elif answer.text:
                self._by_text[answer.text].append(len(self.answers))
            if answer.blocks:
                self._thoughts.append(len(self.answers))
            self.answers.append(answer)

    def drop(self, exchange: int) -> None:
        """Remove what was added last: the response of an exchange."""
        self._drops.append(exchange)
        while self.answers and self.answers[-1].exchange == exchange:
            answer = self.answers.pop()
            self._by_call.cut(len(self.answers), answer)
            if answer.blocks:
                self._thoughts.pop()
            for call_id in dict.fromkeys(answer.ids):
                self._by_id[call_id].pop()
            if answer.calls:
                self._by_calls[answer.calls].pop()
            elif answer.text:
                self._by_text[answer.text].pop()

    def before(self, exchange: int) -> ReceivedAnswers:
        """Responses that had been received when an exchange was sent; shares this index."""
        end = len(self.answers)
        while end and self.answers[end - 1].exchange == exchange:  # nearly always there is no later one
            end -= 1
        if end and self.answers[end - 1].exchange > exchange:
            end = bisect_left(self.answers, exchange, key=lambda a: a.exchange)
        indices = (self._by_id, self._by_calls, self._by_text)
        return ReceivedAnswers(self.answers, *indices, end, self._drops, self._thoughts, self._by_call)

    def latest_with(self, call_id: str) -> ReceivedAnswer | None:
        """Position of the latest response with a call of this id."""
        return self._latest(self._by_id.get(call_id, ()))

    def latest_saying(self, call: int) -> ReceivedAnswer | None:
        """Position of the latest response with a call of this fingerprint."""
        return self._latest(self._by_call.read(self.answers).get(call, ()))

    def _latest(self, positions: Sequence[int]) -> ReceivedAnswer | None:
        at = bisect_left(positions, len(self))
        return self.answers[positions[at - 1]] if at else None

    def thoughts(self) -> Sequence[int]:
        """Positions of the responses with reasoning."""
        return self._thoughts[: bisect_left(self._thoughts, len(self))]

    def __len__(self) -> int:
        return len(self.answers) if self._end is None else self._end

    def match(self, history: Sequence[ReceivedAnswer]) -> list[int | None]:
        """For each assistant message of a history, the position of the response that it repeats; None if unknown.

        Found by call ids, else by equal calls if one of the two has no ids (Gemini's need none), else by equal text,
        else by order between neighbours that are found. The last message is looked up first, because the nearest
        responses are the most likely.
        """
        found: list[int | None] = [None] * len(history)
        later = len(self)
        for n in range(len(history) - 1, -1, -1):
            found[n] = position = self._find(history[n], later)
            later = later if position is None else min(later, position)
        self._fill(history.__getitem__, found)
        return found

    def match_again(
        self, count: int, answer_in_history: Callable[[int], ReceivedAnswer], memory: MatchMemory, same: int
    ) -> int:
        """``match`` for a history that grew, with its result in ``memory.found``.

        New responses and turns can change the match of an old turn only through the position of the next turn, or if a
        new response has a unique call id of an old turn. So turns are looked up from the last one back, until nothing
        of this differs.

        Args:
            count: number of assistant messages.
            answer_in_history: the assistant message of a number.
            memory: result of the last call for this history.
            same: number of messages at the beginning that are unchanged.

        Returns:
            Number of messages at the beginning whose match is unchanged.
        """
        if not len(self) and not memory.length:  # nothing was received, neither now nor before
            known = min(same, len(memory.found), count)
            memory.found, memory.raw, memory.later = [None] * count, [], []
            return known
        memory.prepare(self.answers, self._drops, len(self))
        if memory.length == len(self) and len(memory.found) == count == same:
            return same  # asked again under other terms
        new = self.answers[memory.length : len(self)] if memory.first_with else ()
        ids = (i for answer in new for i in answer.unique)
        known = min(same, len(memory.raw), *(memory.first_with[i] for i in ids if i in memory.first_with), count)
        later, number, found, bounds = len(self), count - 1, [], []
        while number >= 0 and not (number < known and memory.later[number] == later):
            position = self._find(answer_in_history(number), later)
            found.append(position)
            bounds.append(later)
            later = later if position is None else min(later, position)
            number -= 1
        start = number + 1
        memory.raw[start:], memory.later[start:] = reversed(found), reversed(bounds)
        for n in range(start, count):
            for call_id in answer_in_history(n).unique:
                memory.first_with.setdefault(call_id, n)
        while start and memory.raw[start - 1] is None:
            start -= 1
        filled = memory.found[:start] + memory.raw[start:]
        self._fill(answer_in_history, filled, start)
        before, memory.found, memory.length = memory.found, filled, len(self)
        pairs = enumerate(zip(before[start:], filled[start:], strict=False), start)
        return min(same, next((n for n, (old, new) in pairs if old != new), min(len(before), count)))

    def _find(self, replayed: ReceivedAnswer, later: int) -> int | None:
        near = {p for i in replayed.ids for p in self._near(self._by_id.get(i, ()), later)}
        candidates = [p for p in near if _same_calls(replayed, self.answers[p], is_earlier=p < later)]
        if not candidates:
            candidates = [
                p for p in self._near(self._alike(replayed), later) if p < later and self._may_be(replayed, p)
            ]
        if len(candidates) < 2:
            return candidates[0] if candidates else None

        def rank(position: int) -> tuple[bool, bool, bool, int]:
            answer = self.answers[position]
            same = (answer.contents == replayed.contents, answer.calls == replayed.calls, answer.text == replayed.text)
            return (*same, position)

        return max(candidates, key=rank)

    def _alike(self, replayed: ReceivedAnswer) -> Sequence[int]:
        """The answers with the same calls, or with the same text and no calls."""
        return self._by_calls.get(replayed.calls, ()) if replayed.calls else self._by_text.get(replayed.text, ())

    def _may_be(self, replayed: ReceivedAnswer, position: int) -> bool:
        """True if its ids do not distinguish it from that response."""
        return not replayed.ids or not self.answers[position].ids

    def _near(self, positions: Sequence[int], later: int) -> Sequence[int]:
        """The candidates just before and just after the answer of the next turn."""
        end = bisect_left(positions, len(self))
        at = min(bisect_left(positions, later), end)
        return positions[max(0, at - _NEIGHBOURS) : min(end, at + _NEIGHBOURS)]

    def _fill(self, history: Callable[[int], ReceivedAnswer], found: list[int | None], start: int = 0) -> None:
        """Match what is left by order, where as many turns as answers are left between two known ones.

        Args:
            history: the turn of a number.
            found: its positions; those that are filled in are changed.
            start: number of the first turn to look at, 0 or behind a known one.
        """
        for stop in [n for n in range(start, len(found)) if found[n] is not None] + [len(found)]:
            first = (found[start - 1] or 0) + 1 if start else 0
            last = found[stop] if stop < len(found) else len(self)
            turns, answers = range(start, stop), range(first, last if last is not None else 0)
            if turns and len(turns) == len(answers):
                for n, position in zip(turns, answers, strict=True):
                    if _may_show(history(n), self.answers[position]):
                        found[n] = position
            start = stop + 1


class _CallIndex:
    """Positions of answers by the fingerprints of their calls, which are computed where somebody asks."""

    def __init__(self) -> None:
        self._positions: defaultdict[int, list[int]] = defaultdict(list)
        self._count = 0

    def read(self, answers: Sequence[ReceivedAnswer]) -> dict[int, list[int]]:
        """The index of all answers."""
        for position in range(self._count, len(answers)):
            for call in dict.fromkeys(answers[position].calls):
                self._positions[call].append(position)
        self._count = len(answers)
        return self._positions

    def cut(self, count: int, answer: ReceivedAnswer) -> None:
        """Forget the last answer; so many are left."""
        if count < self._count:
            for call in dict.fromkeys(answer.calls):
                self._positions[call].pop()
            self._count = count


@dataclass(slots=True)
class MatchMemory:
    """Result of the last ``ReceivedAnswers.match_again``.

    Attributes:
        answers, drops: identity of what was received; for another conversation, or after a response was removed, the
            result is not reused.
        length: number of responses at that time.
        raw: positions found by id, calls or text.
        later: for each, the position of the next turn at that time.
        found: the positions, with those found by order filled in.
        first_with: unique call id → the first turn that has it.
    """

    answers: list[ReceivedAnswer] = field(default_factory=list)
    drops: int = 0
    length: int = 0
    raw: list[int | None] = field(default_factory=list)
    later: list[int] = field(default_factory=list)
    found: list[int | None] = field(default_factory=list)
    first_with: dict[str, int] = field(default_factory=dict)

    def prepare(self, answers: list[ReceivedAnswer], drops: Sequence[int], length: int) -> None:
        """Forget everything if it does not hold for these responses."""
        if self.answers is not answers or self.drops != len(drops) or self.length > length:
            self.answers, self.drops, self.length = answers, len(drops), 0
            self.raw, self.later, self.found, self.first_with = [], [], [], {}

    def cut(self, count: int) -> None:
        """Forget all turns but the first ones. A call id of a later turn costs one lookup without a result."""
        del self.raw[count:], self.later[count:], self.found[count:]


def _same_calls(replayed: ReceivedAnswer, answer: ReceivedAnswer, *, is_earlier: bool) -> bool:
    """They share a call: by an id that is no counter, or by name and arguments too and in the order of arrival."""
    if replayed.unique & answer.unique:
        return True
    return is_earlier and bool(set(replayed.calls) & set(answer.calls))


def _may_show(replayed: ReceivedAnswer, answer: ReceivedAnswer) -> bool:
    """True if both can be the same answer: same calls, no other ids, and one text contains the other."""
    if replayed.calls != answer.calls or bool(replayed.text) != bool(answer.text):
        return False
    if replayed.ids and answer.ids and not set(replayed.ids) & set(answer.ids):
        return False
    return replayed.text in answer.text or answer.text in replayed.text
