"""Assistant turns of a growing history, matched with received responses: only new and changed ones are built again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from typing import Protocol, TypeVar

from workbench.chain._replay_duties import LedgerTurn, Turns, is_question
from workbench.chain.received_answers import MatchMemory, ReceivedAnswer, ReceivedAnswers, join_items
from workbench.fingerprint import ANSWERING
from workbench.ir import Message
from workbench.protocols import HistoryPrefix, fact


class TurnValues(Protocol):
    """A value for each turn of a history."""

    def __len__(self) -> int: ...

    def add(self, turns: Sequence[LedgerTurn]) -> None:
        """Derive the values of further turns."""

    def cut(self, count: int) -> None:
        """Forget all but the values of the first turns."""


V = TypeVar("V", bound=TurnValues)

_MOST_KINDS = 4
"""Number of kinds of values that are kept for turns: a history is rarely read under more terms."""


class GrowingTurns:
    """A fold over a history: its assistant turns, as the latest request shows them.

    A fork takes the turns with it, because requests usually continue the fork. If a request continues the other
    history, that one builds them again.

    Args:
        itemized: true if messages are items: neighbouring ones are one response.
    """

    def __init__(self, itemized: bool) -> None:
        self.itemized = itemized
        self._count = 0
        self._answer_places: list[int] = []
        self._question_places: list[int] = []
        self._starts: list[int] = []  # of each run of places that shows one answer, its first place
        self._runs: list[int] = []  # of each place, its run
        self._forget()

    def _forget(self) -> None:
        """Begin without turns."""
        self._memory = MatchMemory()
        self._turns = Turns()
        self._unchanged_runs = 0  # first runs that are as they were when the turns were built
        self._user_count = 0  # questions there were then
        self._values: dict[Hashable, TurnValues] = {}

    def read(self, messages: Sequence[Message]) -> None:
        for n in range(self._count, len(messages)):
            if messages[n].role in ANSWERING:
                if self.itemized and self._answer_places and self._answer_places[-1] == n - 1:
                    self._unchanged_runs = min(self._unchanged_runs, len(self._starts) - 1)
                else:
                    self._starts.append(len(self._answer_places))
                self._answer_places.append(n)
                self._runs.append(len(self._starts) - 1)
            elif is_question(messages[n]):
                self._question_places.append(n)
        self._count = len(messages)

    def fork(self, length: int) -> GrowingTurns:
        other = GrowingTurns(self.itemized)
        other._count = min(length, self._count)
        other._answer_places = self._answer_places[: bisect_left(self._answer_places, length)]
        other._question_places = self._question_places[: bisect_left(self._question_places, length)]
        other._runs = self._runs[: len(other._answer_places)]
        count = other._runs[-1] + 1 if other._runs else 0
        other._starts = self._starts[:count]
        is_divided = len(other._runs) < len(self._runs) and self._runs[len(other._runs)] == count - 1
        other._unchanged_runs = min(self._unchanged_runs, count - is_divided)
        other._memory, other._turns, other._values = self._memory, self._turns, self._values
        other._memory.cut(count - is_divided)
        other._keep_values_of_first(other._turns.drop(bisect_left(other._turns.all, length, key=_last)))
        other._user_count = self._user_count
        if len(other._question_places) < len(self._question_places):
            other._keep_values_of_first(other._turns.open_again(length))
            other._user_count = -1
        self._forget()
        return other

    def turns(self, messages: HistoryPrefix, received: ReceivedAnswers) -> Turns | None:
        """The turns of a request, matched with received responses; None if the history continues after the request."""
        if len(messages) != self._count:
            return None
        changed = received.match_again(
            len(self._starts), lambda n: self._answer(messages, n), self._memory, self._unchanged_runs
        )
        self._unchanged_runs = len(self._starts)
        turns, rebuild_from = self._turns, self._built_places()
        if changed < len(self._starts) and self._starts[changed] < rebuild_from:
            self._keep_values_of_first(
                turns.drop(bisect_left(turns.all, self._answer_places[self._starts[changed]], key=_last))
            )
            rebuild_from = self._built_places()
        if len(self._question_places) > self._user_count:
            self._keep_values_of_first(turns.end_again(self._question_places, messages))
            self._user_count = len(self._question_places)
        last = turns.all[-1] if turns.all else None
        had_reasoning = last is not None and last.loop.has_reasoning
        if last and rebuild_from < len(self._answer_places) and self._answer_places[rebuild_from] == last.last + 1:
            self._keep_values_of_first(last.number)
        for place, run in zip(self._answer_places[rebuild_from:], self._runs[rebuild_from:], strict=True):
            turns.add(place, self._memory.found[run], messages, self._question_places, received)
        if last and last.loop.has_reasoning != had_reasoning:
            self._keep_values_of_first(last.loop.first)
        return turns

    def values(self, kind: Hashable, make: Callable[[], V]) -> V:
        """Values of all turns, each derived once as long as the turn is the same.

        Args:
            kind: what the values depend on, in addition to the turn.
            make: an empty list of such values.
        """
        if kind not in self._values:
            self._values[kind] = make()
        known: V = self._values.pop(kind)  # type: ignore[assignment]
        self._values[kind] = known
        known.add(self._turns.all[len(known) :])
        while len(self._values) > _MOST_KINDS:
            del self._values[next(iter(self._values))]
        return known

    def _answer(self, messages: Sequence[Message], run: int) -> ReceivedAnswer:
        stop = self._starts[run + 1] if run + 1 < len(self._starts) else len(self._answer_places)
        parts = [messages[n] for n in self._answer_places[self._starts[run] : stop]]
        return ReceivedAnswer(join_items(parts)) if self.itemized else fact(parts[0], ReceivedAnswer)

    def _built_places(self) -> int:
        """Number of places that are in the turns."""
        return bisect_left(self._answer_places, self._turns.all[-1].last) + 1 if self._turns.all else 0

    def _keep_values_of_first(self, count: int) -> None:
        """Keep the values of the first turns alone: others have changed."""
        for known in self._values.values():
            known.cut(count)


def _last(turn: LedgerTurn) -> int:
    return turn.last
