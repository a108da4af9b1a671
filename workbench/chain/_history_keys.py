"""What a request tells: its fingerprints, added up from the first message on, and the keys they are found by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from workbench.chain.fingerprint import ANSWERING, SYSTEM, Item, items, looks_unique
from workbench.ir import Message, ModelRequest, Part, Text
from workbench.protocols import fact


class State(NamedTuple):
    """Everything that was said up to some point.

    Attributes:
        hop: place of recording: the same history seen at two places makes two conversations.
        base: fingerprint of the instructions, 0 for none.
        plain, exact: what was said so far, without and with call ids.
    """

    hop: str
    base: int = 0
    plain: int = 0
    exact: int = 0


@dataclass(slots=True)
class HistoryKeys:
    """One request, and what may be put behind it.

    Attributes:
        model: whom it asks.
        hop, base: as in ``State``.
        items: what the messages say.
        plain, exact: fingerprints of the first n items together, for every n from zero.
        ends: number of items after each message.
    """

    model: str | None
    hop: str
    base: int
    items: list[Item]
    plain: list[int]
    exact: list[int]
    ends: list[int]

    @classmethod
    def after(cls, start: State, model: str | None) -> HistoryKeys:
        """Nothing yet, on top of a state."""
        return cls(model, start.hop, start.base, [], [start.plain], [start.exact], [])

    def tell(self, messages: Iterable[Message]) -> HistoryKeys:
        """Add messages of a request."""
        for message in messages:
            if message.role not in SYSTEM:
                self._add(fact(message, _items_of))
            self.ends.append(len(self.items))
        return self

    def with_answer(self, messages: Iterable[Message]) -> HistoryKeys:
        """The same with an answer behind it, which may be several items."""
        told = HistoryKeys(self.model, self.hop, self.base, [*self.items], [*self.plain], [*self.exact], self.ends)
        for message in messages:
            told._add(items(message, is_answer=True))
        return told

    def _add(self, said: Iterable[Item]) -> None:
        plain, exact = self.plain[-1], self.exact[-1]
        for item in said:
            plain, exact = hash((plain, item.plain)), hash((exact, item.exact))
            self.items.append(item)
            self.plain.append(plain)
            self.exact.append(exact)

    @property
    def end(self) -> State:
        """The state after the last message."""
        return State(self.hop, self.base, self.plain[-1], self.exact[-1])

    def whole(self, n: int) -> tuple[int, int]:
        """Keys of the first n items, the stronger first: as they are; under other instructions, ids, to any model."""
        return (
            hash(("whole", self.model, self.hop, self.base, self.exact[n])),
            hash(("any", self.hop, self.plain[n])),
        )

    def runs(self) -> Iterator[tuple[int, int]]:
        """(start, stop) of neighbouring items that the model said, last run first."""
        stop = len(self.items)
        while stop:
            if self.items[stop - 1].is_answer:
                start = stop - 1
                while start and self.items[start - 1].is_answer:
                    start -= 1
                yield start, stop
                stop = start
            else:
                stop -= 1

    def request_key(self, n: int) -> int:
        """Key of a request with the first n items."""
        return hash(("asked", self.hop, self.base, self.plain[n]))

    def retelling_key(self, n: int) -> int:
        """Key of a request with the first n items under any instructions."""
        return hash(("retold", self.hop, self.plain[n]))

    def near(self, before: int, start: int, stop: int) -> int | None:
        """Key of a run behind the first ``before`` items: what is between them and the run may change."""
        if not before and not self.base:
            return None
        return hash(("near", self.hop, self.base, self.plain[before], self._run(start, stop)))

    def pair(self, start: int, stop: int) -> int | None:
        """Key of a run and the one item before it."""
        return hash(("pair", self.hop, self.items[start - 1].plain, self._run(start, stop))) if start else None

    def call(self, item: Item) -> int:
        """Key of a call: its id, and where that is a counter what is called too."""
        return hash(("call", self.hop, item.call_id, 0 if looks_unique(item.call_id or "") else item.plain))

    def _run(self, start: int, stop: int) -> tuple[int, ...]:
        return tuple(i.plain for i in self.items[start:stop])


def _items_of(message: Message) -> tuple[Item, ...]:
    """What a message of a request says."""
    return tuple(items(message, is_answer=message.role in ANSWERING))


def beginning(request: ModelRequest | None, hop: str) -> State:
    """The state before the first message: the longest instruction, for short ones hold what changes every time."""
    parts: list[Part] = list(request.system if request else ())
    for message in request.messages if request else ():
        if message.role not in SYSTEM:
            break
        parts += message.parts
    longest = max((p.text.strip() for p in parts if isinstance(p, Text)), key=len, default="")
    return State(hop, hash(longest) if longest else 0)
