"""Histories that grow: each request repeats the messages of the one before it and adds a few.

A ``GrowingHistory`` holds such messages in order, with results computed along them (``Fold``). The messages of a
request are a ``HistoryPrefix`` of it: what was computed for the messages that it repeats is not computed again. A
history that differs from some message on is a fork, which shares the results up to there. ``fact`` keeps a result that
depends on one message alone, wherever the message is repeated.

This changes only the time of an inspection, and never its result.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain, takewhile
from operator import eq, itemgetter
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from workbench.ir import NOTHING, Anomaly, JsonValue, Message, Part

T = TypeVar("T")

FEW = 32
"""New messages of a known history that are looked at one by one; of more, those of each kind are found together."""


class MessageKind:
    """A group of messages with the same role, part classes and shape; all of them share one object.

    Attributes:
        role: their role, as decoded.
        part_types: classes of their parts.
        shape: their shape (``MessageShape``); None if it is not known.
        asked: test and terms → true if messages of this kind are asked.
        facts: what was found out about it (``fact``).
    """

    __slots__ = ("asked", "facts", "part_types", "role", "shape")

    def __init__(self, role: str, part_types: frozenset[type], shape: HasFacts | None) -> None:
        self.role, self.part_types, self.shape = role, part_types, shape
        self.asked: dict[Hashable, bool] = {}
        self.facts: dict[Any, Any] = {}

    def asks(self, key: Hashable, test: Callable[..., object], terms: tuple[Any, ...]) -> bool:
        """True if messages of this kind are asked a test; ``key`` is that of ``question_key``."""
        found = self.asked.get(key)
        if found is None:
            wanted: frozenset[type] | None = getattr(test, "part_types", None)
            may: May | None = getattr(test, "may_be_of_shape", None)
            of_kind: May | None = getattr(test, "may_be_of_kind", None)
            found = wanted is None or not wanted.isdisjoint(self.part_types)
            if found and of_kind is not None:
                found = bool(of_kind(self, *terms))
            if found and may is not None and self.shape is not None:
                found = bool(fact(self.shape, may, *terms))
            self.asked[key] = found
        return found


class KindSet:
    """The kinds of the messages of a history; histories with the same kinds share one object.

    Attributes:
        facts: what was found out about it (``fact``).
        silent: keys of the tests that messages of none of the kinds are asked.
    """

    __slots__ = ("facts", "kinds", "silent")

    def __init__(self, kinds: frozenset[MessageKind]) -> None:
        self.kinds = kinds
        self.facts: dict[Any, Any] = {}
        self.silent: set[Hashable] = set()


_MOST_SETS = 512
"""Sets of kinds that are kept: a client makes requests with a dozen."""

_kind_sets: dict[frozenset[MessageKind], KindSet] = {}


def _kind_set(kinds: Iterable[MessageKind]) -> KindSet:
    """The set of these kinds: one object for all that have it, as long as it is kept."""
    key = frozenset(kinds)
    found = _kind_sets.get(key)
    if found is None:
        if len(_kind_sets) >= _MOST_SETS:
            _kind_sets.clear()
        found = _kind_sets[key] = KindSet(key)
    return found


_shapeless: dict[Any, Any] = {}


def message_kind(role: str, parts: Iterable[Part], shape: HasFacts | None = None) -> MessageKind:
    """The kind of a message with such a role, such parts and such a shape."""
    part_types = frozenset(map(type, parts))
    kinds, key = _shapeless if shape is None else shape.facts, (MessageKind, role, part_types)
    if key not in kinds:
        kinds[key] = MessageKind(role, part_types, shape)
    return kinds[key]  # type: ignore[no-any-return]


class RepeatedMessage(Message):
    """A message that may be repeated, with the facts computed from it. It equals the same message without them.

    Args:
        facts: function that computed a fact → the fact; shared by the same message at several places.
        text: bytes of the message.
        kind: its kind.
    """

    __slots__ = ("facts", "kind", "text")
    facts: dict[Any, Any]
    kind: MessageKind
    text: bytes

    def __init__(
        self,
        role: str,
        parts: tuple[Part, ...],
        extra: Mapping[str, JsonValue] = NOTHING,
        pointer: str = "",
        facts: dict[Any, Any] | None = None,
        text: bytes = b"",
        kind: MessageKind | None = None,
    ) -> None:
        super().__init__(role, parts, extra, pointer)
        _put_facts(self, {} if facts is None else facts)
        _put_kind(self, kind or message_kind(role, parts))
        _put_text(self, text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return (self.role, self.parts, self.extra) == (other.role, other.parts, other.extra)

    __hash__ = Message.__hash__

    def __repr__(self) -> str:
        return repr(Message(self.role, self.parts, self.extra, self.pointer))


_put_facts, _put_kind, _put_text = (vars(RepeatedMessage)[name].__set__ for name in ("facts", "kind", "text"))


def text_of(message: Message) -> bytes | None:
    """Bytes of a message that may be repeated; None if it was decoded with its whole request."""
    return message.text if isinstance(message, RepeatedMessage) else None


Test = TypeVar("Test", bound=Callable[..., object])


def asked_of(*part_types: type) -> Callable[[Test], Test]:
    """Declare that a test is true of no message without a part of one of these classes: no other one is asked."""

    def declare(test: Test) -> Test:
        setattr(test, "part_types", frozenset(part_types))  # noqa: B010 (a function has no such attribute by itself)
        return test

    return declare


May: TypeAlias = Callable[..., object]
"""Attribute of a test: what is asked of the shape of a message (``may_be_of_shape``), or of its kind."""


def asked_of_kind(may: May) -> Callable[[Test], Test]:
    """Declare that a test is true of no message whose kind rules it out.

    Args:
        may: ``may(kind, *terms)``, a function of a module; false if the test is true of no message of the kind.
    """

    def declare(test: Test) -> Test:
        setattr(test, "may_be_of_kind", may)  # noqa: B010 (a function has no such attribute by itself)
        return test

    return declare


def asked_together(may: Callable[[Sequence[Message]], object]) -> Callable[[Test], Test]:
    """Declare how messages are asked a test, without terms, at once.

    Args:
        may: false of messages if the test is true of none of them: one look at all of them takes less time.
    """

    def declare(test: Test) -> Test:
        setattr(test, "may_be_of_any", may)  # noqa: B010 (a function has no such attribute by itself)
        return test

    return declare


class Fold(Protocol):
    """A result that is computed message by message."""

    def read(self, messages: Sequence[Message]) -> None:
        """Read the messages of a history that were not read yet; the argument has all of them."""

    def fork(self, length: int) -> Self:
        """The same result for only the first messages."""


F = TypeVar("F", bound=Fold)


class GrowingHistory:
    """Messages that requests repeat, in order.

    Attributes:
        messages: the messages, each with its index.
        kinds: kind → indices of the messages of that kind, in order.
        texts: their bytes.
        anomalies: (index, anomaly) of their anomalies; pointers are absolute.
        size: number of bytes of the texts.
    """

    def __init__(self) -> None:
        self.messages: list[RepeatedMessage] = []
        self.kinds: defaultdict[MessageKind, list[int]] = defaultdict(list)
        self.texts: list[bytes] = []
        self.anomalies: list[tuple[int, Anomaly]] = []
        self.size = 0
        self._folds: dict[Hashable, Fold] = {}
        self._matches: dict[Hashable, Matches] = {}
        self._kind_set: KindSet | None = None

    def count_shared(self, texts: Sequence[bytes]) -> int:
        """Number of messages at the beginning that have these texts."""
        return len(self.texts) if self.texts == texts[: len(self.texts)] else count_alike(self.texts, texts)

    def append(self, text: bytes, message: RepeatedMessage, anomalies: Iterable[Anomaly]) -> None:
        """Add a message."""
        same = self.kinds[message.kind]
        if not same:
            self._kind_set = None
        same.append(len(self.messages))
        for anomaly in anomalies:
            self.anomalies.append((len(self.texts), anomaly))
        self.messages.append(message)
        self.texts.append(text)
        self.size += len(text)

    def count_anomalies(self, length: int) -> int:
        """Number of anomalies of the first messages."""
        return bisect_left(self.anomalies, length, key=itemgetter(0))

    def fork(self, length: int) -> GrowingHistory:
        """Another history that begins with the first messages of this one."""
        other = GrowingHistory()
        other.messages, other.texts = self.messages[:length], self.texts[:length]
        for kind, indices in self.kinds.items():
            if indices[0] < length:
                other.kinds[kind] = indices[: bisect_left(indices, length)]
        other.size = self.size - sum(map(len, self.texts[length:]))
        other.anomalies = self.anomalies[: self.count_anomalies(length)]
        other._folds = {key: fold.fork(length) for key, fold in self._folds.items()}
        other._matches = {key: found.fork(length) for key, found in self._matches.items()}
        return other

    def prefix(self, length: int) -> HistoryPrefix:
        """The first messages."""
        found = HistoryPrefix(self.messages if length == len(self.messages) else self.messages[:length])
        found.history = self
        return found

    def fold(self, make: Callable[..., F], *terms: Hashable) -> F:
        """The fold ``make(*terms)``, after it has read all messages."""
        key = (make, terms)
        found = self._folds.get(key)
        if found is None:
            found = self._folds[key] = make(*terms)
        found.read(self.messages)
        return found  # type: ignore[return-value]

    @property
    def kind_set(self) -> KindSet:
        """The kinds of its messages."""
        if self._kind_set is None:
            self._kind_set = _kind_set(self.kinds)
        return self._kind_set

    def ask(self, test: Callable[..., object], terms: tuple[Any, ...]) -> Sequence[int]:
        """Indices of all its messages of which ``test(message, *terms)`` is true, in order."""
        key: Hashable = (test, terms) if terms else test  # one object for all messages, as in ``fact``
        kinds = self._kind_set or self.kind_set
        if key in kinds.silent:
            return ()
        found = self._matches.get(key)
        if found is None:
            if not any([kind.asks(key, test, terms) for kind in kinds.kinds]):
                kinds.silent.add(key)
                return ()
            found = self._matches[key] = Matches(key, test, terms)
        if found.count < len(self.messages):
            found.read(self)
        return found.indices


def kind_set_of(messages: Sequence[Message]) -> KindSet:
    """The kinds of messages that may come again; of a history perhaps those of later ones, too."""
    if isinstance(messages, HistoryPrefix):
        return messages.history.kind_set
    return _kind_set([m.kind if isinstance(m, RepeatedMessage) else message_kind(m.role, m.parts) for m in messages])


def count_alike(some: Iterable[bytes], others: Iterable[bytes]) -> int:
    """Number of texts at the beginning that are equal."""
    return sum(1 for _ in takewhile(bool, map(eq, some, others)))


class HistoryPrefix(tuple[Message, ...]):
    """The messages of a request, which are the first ones of a growing history."""

    history: GrowingHistory

    @property
    def size(self) -> int:
        """Number of bytes of their texts."""
        return self.history.size - sum(map(len, self.history.texts[len(self) :]))

    def fold(self, make: Callable[..., F], *terms: Hashable) -> F:
        """The fold ``make(*terms)``, after it has read at least these messages; it may have read later ones, too."""
        return self.history.fold(make, *terms)


class Matches:
    """Indices of the messages of which ``test(message, *terms)`` is true, in order.

    A message is not asked if the classes of its parts (``asked_of``) or its shape (``asked_by_shape``) rule it out.

    Attributes:
        count: number of messages that were asked.
    """

    __slots__ = ("_key", "_terms", "_test", "count", "indices")

    def __init__(self, key: Hashable, test: Callable[..., object], terms: tuple[Any, ...]) -> None:
        self._key, self._test, self._terms = key, test, terms
        self.indices: list[int] = []
        self.count = 0

    def read(self, history: GrowingHistory) -> None:
        """Ask the messages that were not asked yet."""
        test, terms, key, messages = self._test, self._terms, self._key, history.messages
        is_much = not self.count or len(messages) - self.count > FEW
        candidates = self._candidates(history) if is_much else range(self.count, len(messages))
        if (may_be_of_any := getattr(test, "may_be_of_any", None)) is not None:
            unknown = [message for n in candidates if key not in (message := messages[n]).facts]
            if len(unknown) > 1 and not may_be_of_any(unknown):
                for message in unknown:
                    message.facts[key] = False
        for n in candidates:
            message = messages[n]
            is_asked = message.kind.asked.get(key)
            if not (message.kind.asks(key, test, terms) if is_asked is None else is_asked):
                continue
            facts = message.facts
            known = facts.get(key, facts)
            if known is facts:
                known = facts[key] = test(message, *terms)
            if known:
                self.indices.append(n)
        self.count = len(messages)

    def _candidates(self, history: GrowingHistory) -> Sequence[int]:
        """Indices of the messages that were not asked yet and are of a kind that is asked."""
        start, key, found = self.count, self._key, list[list[int]]()
        for kind, some in history.kinds.items():
            is_asked = kind.asked.get(key)
            if kind.asks(key, self._test, self._terms) if is_asked is None else is_asked:
                found.append(some)
        new = [some[bisect_left(some, start) :] for some in found] if start else found
        return new[0] if len(new) == 1 else sorted(chain.from_iterable(new))

    def fork(self, length: int) -> Matches:
        """The same for the first messages alone."""
        other = Matches(self._key, self._test, self._terms)
        other.indices, other.count = self.indices[: bisect_left(self.indices, length)], min(length, self.count)
        return other


class MergedTurns:
    """For each message: its turn, and the parts of that turn before it. Neighbours of one role are one turn."""

    def __init__(self) -> None:
        self.places: list[tuple[int, int]] = []
        self._ends: list[tuple[str, int]] = []  # of each message, its role, and the parts of its turn up to its end

    def read(self, messages: Sequence[Message]) -> None:
        turn = self.places[-1][0] if self.places else -1
        last, parts = self._ends[-1] if self._ends else (None, 0)
        for message in messages[len(self.places) :]:
            if message.role != last:
                turn, last, parts = turn + 1, message.role, 0
            self.places.append((turn, parts))
            parts += len(message.parts)
            self._ends.append((message.role, parts))

    def fork(self, length: int) -> MergedTurns:
        other = MergedTurns()
        other.places, other._ends = self.places[:length], self._ends[:length]
        return other


def merged_turns(messages: tuple[Message, ...]) -> Sequence[tuple[int, int]]:
    """For each message: its turn, and the parts of that turn before it."""
    if isinstance(messages, HistoryPrefix):
        return messages.fold(MergedTurns).places[: len(messages)]
    found = MergedTurns()
    found.read(messages)
    return found.places


class HasFacts(Protocol):
    """Object that keeps facts about itself."""

    @property
    def facts(self) -> dict[Any, Any]: ...


def fact(known: Message | HasFacts, find: Callable[..., T], *terms: Any) -> T:
    """The result of ``find(known, *terms)``, computed once for a message that may be repeated, or for an exchange.

    Args:
        find: a function of a module whose result depends only on its arguments; of a message, not on its position.
        terms: further arguments; hashable.
    """
    if type(known) is Message:
        return find(known, *terms)
    facts: dict[Any, Any] = known.facts  # type: ignore[union-attr]
    key = (find, terms) if terms else find
    found = facts.get(key, facts)
    if found is facts:
        found = facts[key] = find(known, *terms)
    return found  # type: ignore[no-any-return]


def last_where(messages: Sequence[Message], test: Callable[..., object], *terms: Any) -> int:
    """Index of the last message of which ``test(message, *terms)`` is true; -1 if it is true of none."""
    if isinstance(messages, HistoryPrefix):
        found = messages.history.ask(test, terms)
        at = bisect_left(found, len(messages))
        return found[at - 1] if at else -1
    return next((n for n in range(len(messages) - 1, -1, -1) if fact(messages[n], test, *terms)), -1)


def where(
    messages: Sequence[Message], test: Callable[..., object], *terms: Any, start: int = 0
) -> Sequence[tuple[int, Message]]:
    """(index, message) of each message of which ``test(message, *terms)`` is true, from an index on."""
    if type(messages) is HistoryPrefix:
        found = messages.history.ask(test, terms)
        if not found or found[-1] < start:
            return ()
        return [(n, messages[n]) for n in found[bisect_left(found, start) : bisect_left(found, len(messages))]]
    return [(n, message) for n, message in enumerate(messages[start:], start) if fact(message, test, *terms)]
