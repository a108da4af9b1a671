"""Rewrites ids and names that a target does not accept: deterministic, and never two to the same."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256

from workbench import regex
from workbench.ir import Message, ToolCallIR, ToolResultIR
from workbench.protocols import Capabilities

_ODD = regex.compile(r"[^a-zA-Z0-9_-]")
_LONGEST = 64
PartPlace = tuple[int, int]
"""(message, part) indices of a call or result."""


def rewrite_words(words: Iterable[str], fits: Callable[[str], bool], longest: int | None) -> dict[str, str]:
    """Map each word to one that fits; fitting words are kept, and no two become the same."""
    distinct = list(dict.fromkeys(words))
    in_use = {word for word in distinct if fits(word)}
    new = {word: word for word in in_use}
    for word in distinct:
        if word not in new:
            new[word] = next(w for w in _candidates(word, longest) if fits(w) and w not in in_use)
            in_use.add(new[word])
    return new


def _candidates(word: str, longest: int | None) -> Iterator[str]:
    most = min(longest or _LONGEST, _LONGEST)
    plain = _ODD.sub("_", word)
    if plain != word or len(plain) > most:
        yield plain[:most]
    for n in range(1000):
        digest = sha256(f"{n}:{word}".encode("utf-8", "surrogatepass")).hexdigest()
        for prefix_length in (most - 9, 0):
            yield f"{plain[: max(prefix_length, 0)]}_{digest[:8]}"[-most:]
        yield from (digest[:length] for length in range(most, 0, -1))
    yield word  # no candidate fits the pattern


def name_check(pattern: str, longest: int | None) -> Callable[[str], bool]:
    """Return a predicate: the word matches the whole pattern and is short enough."""
    whole = re.compile(pattern) if pattern else None
    return lambda word: (
        bool(word) and (longest is None or len(word) <= longest) and (whole is None or bool(whole.fullmatch(word)))
    )


class ConversationIds:
    """Ids of a conversation in a form that the target accepts.

    Attributes:
        new: old id → new id.
        by_place: place of a call or result without id → generated id, by its number in the conversation.
        names: id → name of the called tool.
        origin: new id → old id, for changed ids only; None or empty if there was none.
    """

    def __init__(self, messages: Sequence[Message], capabilities: Capabilities) -> None:
        places = list(_places(messages))
        fits = name_check(capabilities.tools.id_pattern, capabilities.tools.id_max_length)
        old_ids = [old for _, part in places if (old := _id(part))]
        self.names = {p.id: p.name for _, p in places if isinstance(p, ToolCallIR) and p.id and p.name}
        missing = _pairs(places)
        total = len(dict.fromkeys(missing.values()))
        new_ids = rewrite_words(
            [*dict.fromkeys(old_ids), *(f"\0{n}" for n in range(total))], fits, capabilities.tools.id_max_length
        )
        self.new = {old: new_ids[old] for old in old_ids}
        named = _positional(total, set(self.new.values()), fits) or [new_ids[f"\0{n}"] for n in range(total)]
        self.by_place: dict[PartPlace, str] = {place: named[n] for place, n in missing.items()}
        self.called = {n: p.name for place, p in places if (n := missing.get(place)) is not None and _is_call(p)}
        self.numbers = missing
        self.origin: dict[str, str | None] = {new: old for old, new in self.new.items() if old != new}
        for place, part in places:
            if place in missing:
                self.origin.setdefault(self.by_place[place], _id(part))

    def name_of(self, place: PartPlace, result: ToolResultIR) -> str | None:
        """Name of the tool that a result answers, if its call has a name."""
        if place in self.numbers:
            return self.called.get(self.numbers[place])
        return self.names.get(result.tool_call_id or "")


class AnswerIds:
    """Ids of a response whose calls arrive one after the other; same interface as ``ConversationIds``.

    Args:
        capabilities: of the target.
        choose: old id, or None if there is none → the id to write; None to generate one.
    """

    called: Mapping[int, str | None] = {}
    numbers: Mapping[PartPlace, int] = {}

    def __init__(self, capabilities: Capabilities, choose: Callable[[str | None], str | None] | None = None) -> None:
        self._fits = name_check(capabilities.tools.id_pattern, capabilities.tools.id_max_length)
        self._longest = capabilities.tools.id_max_length
        self._choose = choose or (lambda old: None)
        self._in_use: set[str] = set()
        self._unnamed: list[str] = []
        self.new: dict[str, str] = {}
        self.by_place: dict[PartPlace, str] = {}
        self.origin: dict[str, str | None] = {}

    def assign(self, old: str | None) -> str:
        """Id for the next call."""
        if old and old in self.new:
            return self.new[old]
        new = self._choose(old) or self._free(old)
        self._in_use.add(new)
        if old:
            self.new[old] = new
        else:
            self._unnamed.append(new)
        if new != old:
            self.origin[new] = old
        return new

    def assign_all(self, messages: Sequence[Message]) -> None:
        """Assign ids to the calls of the whole response; calls seen before keep theirs."""
        self.by_place.clear()
        unnamed = iter(tuple(self._unnamed))
        for place, part in _places(messages):
            if not _id(part):
                self.by_place[place] = next(unnamed, None) or self.assign(None)
            else:
                self.assign(_id(part))

    def name_of(self, place: PartPlace, result: ToolResultIR) -> str | None:
        """Always None: a response holds no client results."""
        return None

    def _free(self, old: str | None) -> str:
        words = (
            _candidates(old, self._longest) if old else (f"call_{n + 1}" for n in itertools.count(len(self._unnamed)))
        )
        if old and self._fits(old) and old not in self._in_use:
            return old
        return next(word for word in words if word not in self._in_use and (not old or self._fits(word)))


def _id(part: ToolCallIR | ToolResultIR) -> str | None:
    return part.id if isinstance(part, ToolCallIR) else part.tool_call_id


def _is_call(part: ToolCallIR | ToolResultIR) -> bool:
    return isinstance(part, ToolCallIR)


def _positional(count: int, in_use: set[str], fits: Callable[[str], bool]) -> list[str]:
    """``call_1``, ``call_2`` …; empty if these do not fit or are in use."""
    words = [f"call_{n + 1}" for n in range(count)]
    return words if all(fits(word) and word not in in_use for word in words) else []


def _places(messages: Sequence[Message]) -> Iterator[tuple[PartPlace, ToolCallIR | ToolResultIR]]:
    for m, message in enumerate(messages):
        if message.role == "assistant":
            yield from (((m, n), call) for n, call in message.tool_calls())
        elif message.role == "tool":
            yield from (((m, n), result) for n, result in message.tool_results())


def _pairs(places: Sequence[tuple[PartPlace, ToolCallIR | ToolResultIR]]) -> Mapping[PartPlace, int]:
    """Calls and results without id → number; a result has the number of its call, matched by name and order."""
    numbers: dict[PartPlace, int] = {}
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
