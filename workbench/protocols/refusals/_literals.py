"""Texts of which a pattern needs one: where none of them is in a text, the pattern need not be tried.

A pattern is read only as far as that takes. Whatever else is in it (classes, conditions, what may be missing) needs
nothing, and a pattern with flags of its own is always tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from workbench import regex

_TOKEN = regex.compile(
    r"(?P<quantity>[?*+]|\{\d+,?\d*\}|\{,\d+\})[?+]?|\((?P<group>\?:|\?P<\w+>|\?[^)]|(?!\?))|(?P<bar>\|)|(?P<close>\))"
    r"|(?P<letters>[^\\()\[{|?*+.^$]+)"
    r"|(?P<class>\[\^?\]?(?:\\.|[^\]\\])*\]|\\(?:x..|u.{4}|U.{8}|\d+|[A-Za-z])|[.^$])|\\?(?P<letter>.)",
    re.DOTALL,
)
_UNREAD = regex.compile(r"\(\?[a-zA-OQ-Z(>]|\(\?P[=>]|\\N")
"""Flags, conditions and references: what is around them is not read."""
_WITHOUT_WIDTH = ("\\b", "\\B", "\\A", "\\Z")
_ABOUT_PLACES = ("?=", "?!", "?<")
"""Beginnings of groups that only look ahead or behind."""

Needs = frozenset[str]
"""Texts of which one is needed; none if nothing is."""

NOTHING: Needs = frozenset()


@cache
def needs_of(pattern: str) -> Needs:
    """Texts of which at least one is in every text that a pattern (with regard to case) matches; empty if unknown."""
    return NOTHING if _UNREAD.search(pattern) else _LiteralReader(_TOKEN.finditer(pattern)).alternatives()


def _best(parts: list[Needs]) -> Needs:
    """Of what a sequence needs, the part that is rarest: its shortest text is the longest."""
    return max((part for part in parts if part), key=lambda part: (min(map(len, part)), -len(part)), default=NOTHING)


class _LiteralReader:
    """Reads the tokens of a pattern, one group after the other."""

    def __init__(self, tokens: Iterator[re.Match[str]]) -> None:
        self._tokens = tokens

    def alternatives(self) -> Needs:
        """Texts of which the alternatives up to the end of a group need one; none if an alternative needs no text."""
        branches = [_Sequence()]
        for token in self._tokens:
            if token["close"]:
                break
            if token["bar"]:
                branches.append(_Sequence())
            else:
                self._add(branches[-1], token)
        found = [branch.needs() for branch in branches]
        return NOTHING.union(*found) if all(found) else NOTHING

    def _add(self, branch: _Sequence, token: re.Match[str]) -> None:
        if letters := token["letters"] or token["letter"]:
            branch.letters(letters)
        elif token["quantity"]:
            branch.repeat(token["quantity"])
        elif token["class"]:
            if token["class"] not in _WITHOUT_WIDTH:
                branch.part(NOTHING)
        else:
            inner = self.alternatives()
            branch.part(NOTHING if (token["group"] or "").startswith(_ABOUT_PLACES) else inner)


class _Sequence:
    """A sequence of letters, classes and groups in a pattern; neighbouring letters are one text."""

    def __init__(self) -> None:
        self._parts: list[Needs] = []
        self._run = ""
        self._is_letter = False

    def letters(self, letters: str) -> None:
        """The next letters."""
        self._run += letters
        self._is_letter = True

    def part(self, needs: Needs) -> None:
        """A group or a class."""
        self._end()
        self._parts.append(needs)
        self._is_letter = False

    def repeat(self, quantity: str) -> None:
        """The last letter, group or class may be there several times, or not at all."""
        is_optional = quantity[0] in "?*" or quantity.startswith(("{0", "{,"))
        if self._is_letter and is_optional:
            self._run = self._run[:-1]
        elif is_optional:
            self._parts[-1:] = [NOTHING]
        self._end()
        self._is_letter = False

    def needs(self) -> Needs:
        """Texts of which one is needed."""
        self._end()
        return _best(self._parts)

    def _end(self) -> None:
        if self._run:
            self._parts.append(frozenset({self._run}))
        self._run = ""
