"""Ids and names that a target does not take: rewritten deterministically, and never two into one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256

from workbench.ir import Message, ToolCallIR, ToolResultIR
from workbench.protocols import Capabilities

_ODD = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST = 64
Place = tuple[int, int]
"""(message, part) of a call or result."""


def rewritten(words: Iterable[str], fits: Callable[[str], bool], longest: int | None) -> dict[str, str]:
    """Each word → one that fits; words that fit stay, and no two become the same."""
    distinct = list(dict.fromkeys(words))
    taken = {word for word in distinct if fits(word)}
    new = {word: word for word in taken}
    for word in distinct:
        if word not in new:
            new[word] = next(w for w in _candidates(word, longest) if fits(w) and w not in taken)
            taken.add(new[word])
    return new


def _candidates(word: str, longest: int | None) -> Iterator[str]:
    most = min(longest or _LONGEST, _LONGEST)
    plain = _ODD.sub("_", word)
    if plain != word or len(plain) > most:
        yield plain[:most]
    for n in range(1000):
        digest = sha256(f"{n}:{word}".encode("utf-8", "surrogatepass")).hexdigest()
        for kept in (most - 9, 0):
            yield f"{plain[: max(kept, 0)]}_{digest[:8]}"[-most:]
        yield from (digest[:length] for length in range(most, 0, -1))
    yield word  # nothing fits a pattern like that


def fitting(pattern: str, longest: int | None) -> Callable[[str], bool]:
    """Whether a word matches a pattern in full, and is short enough."""
    whole = re.compile(pattern) if pattern else None
    return lambda word: (
        bool(word) and (longest is None or len(word) <= longest) and (whole is None or bool(whole.fullmatch(word)))
    )


class Ids:
    """The ids of a conversation, as the target takes them.

    Attributes:
        new: old id → new one.
        made: place of a call or result without id → the id it is given: its number in the conversation.
        names: id → name of the tool that was called with it.
        origin: new id → old one (None or "" where there was none), for those that differ.
    """

    def __init__(self, messages: Sequence[Message], capabilities: Capabilities) -> None:
        places = list(_places(messages))
        fits = fitting(capabilities.id_pattern, capabilities.id_max_length)
        given = [old for _, part in places if (old := _id(part))]
        self.names = {p.id: p.name for _, p in places if isinstance(p, ToolCallIR) and p.id and p.name}
        missing = _pairs(places)
        total = len(dict.fromkeys(missing.values()))
        made = rewritten([*dict.fromkeys(given), *(f"\0{n}" for n in range(total))], fits, capabilities.id_max_length)
        self.new = {old: made[old] for old in given}
        named = _positional(total, set(self.new.values()), fits) or [made[f"\0{n}"] for n in range(total)]
        self.made: dict[Place, str] = {place: named[n] for place, n in missing.items()}
        self.called = {n: p.name for place, p in places if (n := missing.get(place)) is not None and _is_call(p)}
        self.numbers = missing
        self.origin: dict[str, str | None] = {new: old for old, new in self.new.items() if old != new}
        for place, part in places:
            if place in missing:
                self.origin.setdefault(self.made[place], _id(part))

    def name_of(self, place: Place, result: ToolResultIR) -> str | None:
        """Name of the tool that a result answers, where its call says so."""
        if place in self.numbers:
            return self.called.get(self.numbers[place])
        return self.names.get(result.tool_call_id or "")


class AnswerIds:
    """The same for an answer whose calls come one after the other.

    Args:
        capabilities: of the target.
        choose: old id (None where there is none) → the one to write, None for the one that is made here.
    """

    called: Mapping[int, str | None] = {}
    numbers: Mapping[Place, int] = {}

    def __init__(self, capabilities: Capabilities, choose: Callable[[str | None], str | None] | None = None) -> None:
        self._fits = fitting(capabilities.id_pattern, capabilities.id_max_length)
        self._longest = capabilities.id_max_length
        self._choose = choose or (lambda old: None)
        self._taken: set[str] = set()
        self._unnamed: list[str] = []
        self.new: dict[str, str] = {}
        self.made: dict[Place, str] = {}
        self.origin: dict[str, str | None] = {}

    def take(self, old: str | None) -> str:
        """The id of the next call."""
        if old and old in self.new:
            return self.new[old]
        new = self._choose(old) or self._free(old)
        self._taken.add(new)
        if old:
            self.new[old] = new
        else:
            self._unnamed.append(new)
        if new != old:
            self.origin[new] = old
        return new

    def settle(self, messages: Sequence[Message]) -> None:
        """Give ids to the calls of the whole answer, those that have theirs the same."""
        self.made.clear()
        unnamed = iter(tuple(self._unnamed))
        for place, part in _places(messages):
            if not _id(part):
                self.made[place] = next(unnamed, None) or self.take(None)
            else:
                self.take(_id(part))

    def name_of(self, place: Place, result: ToolResultIR) -> str | None:
        """An answer holds no results that a client gave."""
        return None

    def _free(self, old: str | None) -> str:
        words = (
            _candidates(old, self._longest) if old else (f"call_{n + 1}" for n in itertools.count(len(self._unnamed)))
        )
        if old and self._fits(old) and old not in self._taken:
            return old
        return next(word for word in words if word not in self._taken and (not old or self._fits(word)))


def _id(part: ToolCallIR | ToolResultIR) -> str | None:
    return part.id if isinstance(part, ToolCallIR) else part.tool_call_id


def _is_call(part: ToolCallIR | ToolResultIR) -> bool:
    return isinstance(part, ToolCallIR)


def _positional(count: int, taken: set[str], fits: Callable[[str], bool]) -> list[str]:
    """``call_1``, ``call_2`` …; nothing where such names do not fit or are taken."""
    words = [f"call_{n + 1}" for n in range(count)]
    return words if all(fits(word) and word not in taken for word in words) else []


def _places(messages: Sequence[Message]) -> Iterator[tuple[Place, ToolCallIR | ToolResultIR]]:
    for m, message in enumerate(messages):
        if message.role == "assistant":
            yield from (((m, n), call) for n, call in message.tool_calls())
        elif message.role == "tool":
            yield from (((m, n), result) for n, result in message.tool_results())


def _pairs(places: Sequence[tuple[Place, ToolCallIR | ToolResultIR]]) -> Mapping[Place, int]:
    """Calls and results without id → their number; a result has that of the call it answers, by name and order."""
    numbers: dict[Place, int] = {}
    count, answer, pending = 0, -1, list[tuple[str | None, int]]()
    for place, part in places:
        if isinstance(part, ToolCallIR):
            if place[0] != answer:
                answer, pending = place[0], []
            if not part.id:
                pending.append((part.name, count))
                numbers[place] = count
                count += 1
        elif not part.tool_call_id:
            found = next((call for call in pending if part.name in (None, call[0])), None) or next(iter(pending), None)
            if found:
                pending.remove(found)
                numbers[place] = found[1]
            else:
                numbers[place] = count
                count += 1
    return numbers
