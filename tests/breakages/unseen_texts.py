"""Grades of error texts without what may have been written for them: an estimate for texts that nobody has read yet.

Each pattern of a kind, a statement or a validator is cut at its outermost ``|``. While a text is graded, a piece is
switched off that fits known texts of no other source, or whose match of this text needs a word (an inner alternative,
as in ``(?:unknown|undeclared) tool``) that no known text of another source needs; so are templates of contracts, and
pieces of the table of phrases.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import pairwise
from typing import Any
from unittest import mock

from tests.breakages import scoring, unseen_phrases
from workbench.contracts import error_texts
from workbench.contracts.known_texts import known_texts, texts_without_rule
from workbench.contracts.template import plain_text
from workbench.lazy_dataclass import replace
from workbench.protocols.refusals import _classify, _kinds, _phrases, _statements, _validators
from workbench.protocols.refusals._literals import needs_of
from workbench.regex import RowsByText

Row = Any
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|P?<[=!\w]\w*>?))?|[)|]|[^\\\[()|]+", re.DOTALL)
_CHOICE = re.compile(r"\((?:\?(?::|P<\w+>))?")
"""Beginnings of groups that choose; the others look around."""


class _Rows(RowsByText[Row]):
    """Rows of a table of which some are switched off."""

    def __init__(self, rows: Iterable[tuple[Iterable[str], Row]], off: set[int]) -> None:
        super().__init__(rows)
        self._off = off

    def fitting(self, whole: str) -> list[Row]:
        return [row for row in super().fitting(whole) if id(row) not in self._off]


class _Sequence(tuple[Row, ...]):
    """Rows that are tried in their order, of which some are switched off.

    Attributes:
        off: numbers (``id``) of these rows.
    """

    off: set[int]

    def __iter__(self) -> Iterator[Row]:
        return (row for row in super().__iter__() if id(row) not in self.off)


class Tables:
    """The tables in pieces, and the sources of the known texts that need each piece or a word of it."""

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self.off: set[int] = set()
        table = _kinds.table()
        kinds = {name: replace(kind, which=self._sequence(_which(kind.which))) for name, kind in table.kinds.items()}
        self._whiches = [kind.which for kind in kinds.values()]
        sure, seldom = (self._by_words(_kind_pieces(each.rows, kinds), "pattern") for each in (table.sure, table.texts))
        codes, words = ({key: kinds[kind.name] for key, kind in each.items()} for each in (table.codes, table.words))
        statuses = {status: kinds[kind.name] for status, kind in table.statuses.items()}
        self.kinds = replace(table, kinds=kinds, codes=codes, words=words, sure=sure, texts=seldom, statuses=statuses)
        self.statements = self._by_words(_statement_pieces(_statements._rows().rows), "says")
        validators = _validators._table()
        self.validators = validators._replace(readers=self._sequence(validators.readers))
        self.templates = {
            known: _Rows(((one.template.needs, one) for one in known() if one.template.needs), self.off)
            for known in (known_texts, texts_without_rule)
        }
        self._sources: defaultdict[Hashable, set[str]] = defaultdict(set)
        self._needs: defaultdict[str, set[tuple[int, Hashable]]] = defaultdict(set)
        self.phrases = unseen_phrases.Phrases(alternatives)
        self._phrases_of = {row["text"]: set(self.phrases.needs_of(row["text"])) for row in rows}
        for row in rows:
            for piece in self._phrases_of[row["text"]]:
                self._sources[piece].add(row["source"])
            for piece, need in self._needs_of(row["text"]):
                self._sources[need].add(row["source"])
                self._needs[row["text"]].add((piece, need))

    def _sequence(self, rows: Iterable[Row]) -> _Sequence:
        made = _Sequence(rows)
        made.off = self.off
        return made

    def _by_words(self, rows: Iterable[Row], name: str) -> _Rows:
        return _Rows(((needs_of(getattr(row, name).pattern), row) for row in rows), self.off)

    def _needs_of(self, text: str) -> Iterator[tuple[int, Hashable]]:
        """(piece, itself or a word of it) of all that a text needs to be known."""
        small = _classify._plain(text).translate(_classify._SMALL)
        for row, pattern in self._fitting(small):
            if pattern.search(small):
                yield id(row), id(row)
                for without in choices(pattern.pattern):
                    if not _compiled(without).search(small):
                        yield id(row), (id(row), without)
        haystack = plain_text(text)
        for known in self.templates.values():
            for one in known.fitting(haystack.plain):
                if (found := one.template.find(haystack)) and error_texts._is_enough(one, found):
                    yield id(one), id(one)

    def _fitting(self, small: str) -> Iterator[tuple[Row, re.Pattern[str]]]:
        for table in (self.kinds.sure, self.kinds.texts):
            yield from ((row, row.pattern) for row in table.fitting(small))
        yield from ((row, row.says) for row in self.statements.fitting(small))
        yield from ((row, row[0]) for rows in (*self._whiches, self.validators.readers) for row in rows)

    def switch_off_for(self, row: dict[str, str]) -> None:
        """Switch off what only the source of a text bears out."""
        self.off.clear()
        self.off.update(piece for piece, need in self._needs[row["text"]] if self._sources[need] == {row["source"]})
        needs = self._phrases_of[row["text"]]
        self.phrases.off = unseen_phrases.only_of(needs, self._sources, row["source"])

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """The pieces in place of the tables."""
        with ExitStack() as stack:
            for place, name, value in (
                (_classify, "table", lambda: self.kinds),
                (_statements, "_rows", lambda: self.statements),
                (_validators, "_table", lambda: self.validators),
                (_phrases, "_table", self.phrases.table),
                (error_texts, "_by_needs", self.templates.__getitem__),
                (error_texts, "_is_empty_talk", error_texts._is_empty_talk.__wrapped__),
            ):
                stack.enter_context(mock.patch.object(place, name, value))
            yield


def grades(rows: list[dict[str, str]]) -> list[str]:
    """The grade of each row without what only its own source bears out."""
    tables, found = Tables(rows), []
    with tables.in_use():
        for row in rows:
            tables.switch_off_for(row)
            found.append(scoring.grade_text(row))
    return found


def line(found: Iterable[str]) -> str:
    """The grades in words."""
    counts = Counter(found)
    told = ", ".join(f"{counts[name]} {name}" for name in scoring.TEXT_GRADES if counts[name])
    return f"unseen: {told} ({100 * counts['right'] // (counts.total() or 1)} % right)"


def _which(rows: Iterable[tuple[re.Pattern[str], str]]) -> Iterator[tuple[re.Pattern[str], str]]:
    return ((_compiled(piece), rule) for pattern, rule in rows for piece in alternatives(pattern.pattern))


def _kind_pieces(rows: Iterable[Row], kinds: dict[str, Row]) -> Iterator[Row]:
    for row in rows:
        for piece in alternatives(row.pattern.pattern):
            yield row._replace(pattern=_compiled(piece), kind=kinds[row.kind.name])


def _statement_pieces(rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        for says in alternatives(row.says.pattern):
            for piece in alternatives(says[3:-1]):
                yield row._replace(says=_compiled(piece))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def alternatives(pattern: str) -> list[str]:
    """A pattern, cut at its outermost bars."""
    depth, pieces = 0, [""]
    for token in _TOKEN.findall(pattern):
        depth += token.startswith("(") - (token == ")")
        if token == "|" and not depth:
            pieces.append("")
        else:
            pieces[-1] += token
    return pieces


@cache
def choices(pattern: str) -> tuple[str, ...]:
    """A pattern without one alternative of a group in it, for each such alternative."""
    tokens = _TOKEN.findall(pattern)
    found, open_groups = list[str](), list[list[int]]()
    for n, token in enumerate(tokens):
        if token.startswith("("):
            open_groups.append([n])
        elif token == "|" and open_groups:
            open_groups[-1].append(n)
        elif token == ")":
            bars = [*open_groups.pop(), n]
            if len(bars) > 2 and _CHOICE.fullmatch(tokens[bars[0]]):
                found += [_without(tokens, *ends) for ends in pairwise(bars)]
    return tuple(found)


def _without(tokens: list[str], start: int, end: int) -> str:
    """The tokens without an alternative, which begins behind a bar or behind the beginning of its group."""
    is_first = tokens[start] != "|"
    return "".join(tokens[: start + is_first] + tokens[end + is_first :])
