"""Fingerprints of a request, added up from the first message on, and the keys they are found by."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from workbench.fingerprint import ANSWERING, SYSTEM, Item, items, looks_unique
from workbench.ir import Message, ModelRequest, Part, Text
from workbench.named_tuple import NamedTuple
from workbench.protocols import HistoryPrefix, fact

if TYPE_CHECKING:
    from workbench.chain._found_keys import FoundKeys


class HistoryState(NamedTuple):
    """Key of a history up to some message.

    Attributes:
        hop: name of the hop: the same history at two hops is two conversations.
        base: fingerprint of the instructions; 0 if there are none.
        plain, exact: fingerprints of the history so far, without and with call ids.
    """

    hop: str
    base: int = 0
    plain: int = 0
    exact: int = 0


class ItemChain:
    """Items of messages, one after another, with running fingerprints: a fold over a history.

    Attributes:
        items: texts, calls and results of the messages.
        plain, exact: fingerprints of the first n items together, for every n from zero; without and with call ids.
        ends: number of items after each message.
        found: keys by which the history was found, for each kind of request.
        fingerprint_ends: number of items that are noted, for each place.
    """

    def __init__(self, plain: int = 0, exact: int = 0) -> None:
        self.found: dict[object, FoundKeys] = {}
        self.fingerprint_ends: dict[object, int] = {}
        self.items: list[Item] = []
        self.plain, self.exact = [plain], [exact]
        self.ends: list[int] = []

    def read(self, messages: Sequence[Message]) -> None:
        for n in range(len(self.ends), len(messages)):
            if messages[n].role not in SYSTEM:
                self.add(fact(messages[n], _items_of))
            self.ends.append(len(self.items))

    def add(self, new_items: Iterable[Item]) -> None:
        """Append items."""
        plain, exact = self.plain[-1], self.exact[-1]
        for item in new_items:
            plain, exact = hash((plain, item.plain)), hash((exact, item.exact))
            self.items.append(item)
            self.plain.append(plain)
            self.exact.append(exact)

    def fork(self, length: int) -> ItemChain:
        other = ItemChain()
        other.ends = self.ends[:length]
        count = other.ends[-1] if other.ends else 0
        other.items, other.plain, other.exact = self.items[:count], self.plain[: count + 1], self.exact[: count + 1]
        end = other.count_settled(count)
        other.fingerprint_ends = {place: min(noted, count) for place, noted in self.fingerprint_ends.items()}
        other.found = {kind: found.first(end) for kind, found in self.found.items()}
        return other

    def count_settled(self, count: int) -> int:
        """Number of items before the last item of a history of this length, and before its last run of model items."""
        end = count - 1
        while end > 0 and self.items[end].is_answer and self.items[end - 1].is_answer:
            end -= 1
        return max(end, 0)


class HistoryKeys:
    """Keys of one request, and of what may follow it.

    Attributes:
        model: name of the model that it is sent to.
        hop, base: as in ``HistoryState``.
        chain: items of its messages; items of a longer history may follow.
        count: number of items of this request.
        ends: number of messages of this request.
    """

    def __init__(self, start: HistoryState, model: str | None, messages: Sequence[Message]) -> None:
        self.model, self.hop, self.base = model, start.hop, start.base
        if isinstance(messages, HistoryPrefix) and not (start.plain or start.exact):
            self.chain = messages.fold(ItemChain)
        else:
            self.chain = ItemChain(start.plain, start.exact)
            self.chain.read(messages)
        self.ends = len(messages)
        self.count = self.chain.ends[self.ends - 1] if messages else 0

    @property
    def items(self) -> Iterator[Item]:
        """The items of the history, from the first on."""
        return islice(self.chain.items, self.count)

    def message_after(self, count: int) -> int | None:
        """Index of the message that begins after the first items; None if these end within a message."""
        at = bisect_right(self.chain.ends, count, hi=self.ends)
        return at if self.chain.ends[at - 1] == count else None

    def messages_at(self, count: int) -> Iterable[int]:
        """Numbers of messages of the request that have this many items together, the largest first; never zero."""
        ends = self.chain.ends
        return range(bisect_right(ends, count, hi=self.ends), bisect_left(ends, count, hi=self.ends), -1)

    def with_answer(self, messages: Iterable[Message]) -> ItemChain:
        """The items of a response, with fingerprints of everything up to each of them."""
        answer = ItemChain(self.chain.plain[self.count], self.chain.exact[self.count])
        for message in messages:
            answer.add(items(message, is_answer=True))
        return answer

    def state(self, answer: ItemChain) -> HistoryState:
        """The state after a response."""
        return HistoryState(self.hop, self.base, answer.plain[-1], answer.exact[-1])

    def whole(self, plain: int, exact: int) -> tuple[int, int]:
        """Keys of the whole history up to an item, by its fingerprints.

        The stronger key comes first: unchanged; then with other instructions and ids, to any model.
        """
        return hash(("whole", self.model, self.hop, self.base, exact)), hash(("any", self.hop, plain))

    def run(self, start: int, stop: int) -> tuple[int, ...]:
        """Fingerprints of the items of a run."""
        return tuple(i.plain for i in self.chain.items[start:stop])

    def request_key(self, n: int) -> int:
        """Key of a request with the first n items."""
        return hash(("asked", self.hop, self.base, self.chain.plain[n]))

    def retelling_key(self, n: int) -> int:
        """Key of a request with the first n items under any instructions."""
        return hash(("retold", self.hop, self.chain.plain[n]))

    def near(self, before: int, run: tuple[int, ...]) -> int | None:
        """Key of a run that follows the first ``before`` items: what is between them and the run may change."""
        if not before and not self.base:
            return None
        return hash(("near", self.hop, self.base, self.chain.plain[before], run))

    def pair(self, start: int, run: tuple[int, ...]) -> int | None:
        """Key of a run and the one item before it."""
        return hash(("pair", self.hop, self.chain.items[start - 1].plain, run)) if start else None

    def call(self, item: Item) -> int:
        """Key of a call: its id; also name and arguments if the id is only a counter."""
        return hash(("call", self.hop, item.call_id, 0 if looks_unique(item.call_id or "") else item.plain))


def _items_of(message: Message) -> tuple[Item, ...]:
    """Items of a message of a request."""
    return tuple(items(message, is_answer=message.role in ANSWERING))


def beginning(request: ModelRequest | None, hop: str) -> HistoryState:
    """The state before the first message: of the longest instruction, because short ones change every time."""
    parts: list[Part] = list(request.system if request else ())
    for message in request.messages if request else ():
        if message.role not in SYSTEM:
            break
        parts += message.parts
    longest = max((p.text.strip() for p in parts if isinstance(p, Text)), key=len, default="")
    return HistoryState(hop, hash(longest) if longest else 0)
