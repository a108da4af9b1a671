"""The table of phrases in pieces, without those that no text of another source bears out.

Pieces are terms of a thing ("schema description"), alternatives of a fault ("be neither …"), rules of a thing and a
fault, and alternatives of relations.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from functools import cache
from typing import Any

from workbench.protocols.refusals import _classify, _phrases

_SIDES = ("before", "behind")
_AROUND = re.compile(r"(\(\?<!\\S\)\(\?:)(.*)(\)\(\?[=!]\\[sS]\))", re.DOTALL)
"""What a pattern of a fault or a relation has around its alternatives."""

Piece = Hashable


class Phrases:
    """The table, and what of it each text needs.

    Attributes:
        off: pieces that are switched off.
    """

    def __init__(self, cut: Any) -> None:
        self._cut = cut
        self._whole = _phrases._table()
        self.off: frozenset[Piece] = frozenset()

    def needs_of(self, text: str) -> Iterator[Piece]:
        """The pieces of all phrases that a text has."""
        plain = _classify._plain(text)
        for place, sentence in enumerate(_phrases.sentences(plain)):
            if any(True for _ in _phrases._phrases(sentence, place)):
                yield from self._relations_in(sentence)
                yield from self._faults_in(sentence)
        words = _phrases._words(_phrases._MEMBERS.sub(" ", _phrases._CODES.sub(" ", plain)))
        for n, word in enumerate(words):
            near = tuple(words[n : n + 6])
            yield from (terms for terms, _ in self._whole.things.get(word, ()) if near[: len(terms)] == terms)

    def table(self) -> Any:
        """The table without the pieces that are off."""
        return _without(self._whole, self.off, self._cut) if self.off else self._whole

    def _relations_in(self, sentence: str) -> Iterator[Piece]:
        for pattern, _ in self._whole.relations:
            yield from _fitting(pattern, sentence, self._cut)

    def _faults_in(self, sentence: str) -> Iterator[Piece]:
        things = set(_phrases._THING.findall(sentence))
        for fault in self._whole.faults:
            for side in _SIDES:
                pieces = [*_fitting(getattr(fault, side), sentence, self._cut)]
                yield from pieces
                keys = ((thing, fault.name, side) for thing in things if pieces)
                yield from (key for key in keys if key in self._whole.rules)


def _fitting(pattern: re.Pattern[str], sentence: str, cut: Any) -> Iterator[str]:
    head, pieces, tail = _pieces(pattern.pattern, cut)
    if pattern.search(sentence):
        yield from (piece for piece in pieces if _compiled(head + piece + tail).search(sentence))


@cache
def _pieces(pattern: str, cut: Any) -> tuple[str, tuple[str, ...], str]:
    """What is before the alternatives of a pattern, these, and what is behind them."""
    found = _AROUND.fullmatch(pattern)
    assert found, pattern
    return found[1], tuple(cut(found[2])), found[3]


def _without(table: Any, off: frozenset[Piece], cut: Any) -> Any:
    def pruned(pattern: re.Pattern[str]) -> re.Pattern[str]:
        head, pieces, tail = _pieces(pattern.pattern, cut)
        return _compiled(head + ("|".join(p for p in pieces if p not in off) or r"\b\B") + tail)

    things = {first: tuple(each for each in terms if each[0] not in off) for first, terms in table.things.items()}
    faults = tuple(fault._replace(**{side: pruned(getattr(fault, side)) for side in _SIDES}) for fault in table.faults)
    rules = {key: rule for key, rule in table.rules.items() if key not in off}
    relations = tuple((pruned(pattern), rule) for pattern, rule in table.relations)
    return table._replace(things=things, faults=faults, rules=rules, relations=relations)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def only_of(needs: Iterable[Piece], sources: dict[Piece, set[str]], source: str) -> frozenset[Piece]:
    """Of some pieces those that texts of one source alone need."""
    return frozenset(piece for piece in needs if sources[piece] == {source})
