"""Tags of a format: finds them in a text, and their possible beginnings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Final

from workbench import regex
from workbench.named_tuple import NamedTuple

MAX_TAG: Final = 600
"""Longest tag in characters: patterns of variable tags must stay below, so that text can be cut anywhere."""

VALUE = r"""(?:"[^"<>\n]{0,256}"|'[^'<>\n]{0,256}'|[^\s"'<>]{0,255}[^\s"'<>/])"""
"""Pattern of an attribute's value, in quotes or without."""

BLANK = r"\s{0,8}"
"""Blanks allowed inside a tag."""

_NEGATED = regex.compile(r"\[\^[^\]]*\]")
_ANY = regex.compile(r"\\[SDW]|(?<!\\)\.")

NESTED_OPEN, NESTED_CLOSE = "think", "think_end"
"""Kinds of the tags around reasoning; ``Tags`` adds ``<think>`` and ``</think>`` by itself."""


class TagSpec(NamedTuple):
    r"""One kind of tag.

    Attributes:
        kind: what the format calls it; several specs may share a kind.
        head: how it begins: a literal, in which a blank stands for optional blanks; or the patterns of its characters.
        tail: pattern of the variable rest, at most 512 characters long; "" where the head is all.
        open_tail: pattern of every beginning of the tail.
    """

    kind: str
    head: str | Sequence[str]
    tail: str = ""
    open_tail: str = "[^<>]{0,512}"


class Tag(NamedTuple):
    """A tag in the text; ``start`` and ``end`` are characters of the whole text."""

    kind: str
    start: int
    end: int
    text: str


class Tags:
    """The tags of a format.

    Attributes:
        pattern: finds a tag; ``kind(match)`` says which.
        first: the character every tag begins with, "" where there are several.
        last: the character every tag ends with, "" where there are several.
    """

    def __init__(self, *specs: TagSpec) -> None:
        every = (*specs, TagSpec(NESTED_OPEN, "<think>"), TagSpec(NESTED_CLOSE, "</think>"))
        heads = [_atoms(s.head) for s in every]
        shared = heads[0][0] if all(h[0] == heads[0][0] for h in heads) else ""
        cut = 1 if shared else 0
        self.first: Final = shared.removeprefix("\\")
        self._firsts: Final = regex.compile("|".join(dict.fromkeys(h[0] for h in heads)))
        self._kinds = ["", *(s.kind for s in every)]
        bodies = [f"({''.join(h[cut:])}{s.tail})" for h, s in zip(heads, every, strict=True)]
        self.pattern: Final = regex.compile(f"{shared}(?:{'|'.join(bodies)})")
        beginnings = [_beginnings([*h, *([s.open_tail] if s.tail else [])]) for h, s in zip(heads, every, strict=True)]
        self._partial: Final = regex.compile(rf"(?:{'|'.join(beginnings)})\Z")
        ends = {(s.tail or h[-1])[-1] for h, s in zip(heads, every, strict=True)}
        self.last: Final = ends.pop() if len(ends) == 1 else ""
        rests = (f"{''.join(h[cut:])}{s.tail}" for h, s in zip(heads, every, strict=True))
        self._rests = list(zip((s.kind for s in every), rests, strict=True))
        self._open_ended = frozenset(s.kind for s in every if s.tail)
        self._inside = [(*h, s.tail[:-1]) if s.tail else h[:-1] for h, s in zip(heads, every, strict=True)]

    @cached_property
    def is_simple(self) -> bool:
        """True if every tag begins with ``first`` and ends with ``last``, which is nowhere else in it."""
        return bool(self.first and self.last) and all(_is_without(self.last, atoms) for atoms in self._inside)

    def kind(self, match: re.Match[str]) -> str:
        """Kind of a tag that was found."""
        return self._kinds[match.lastindex or 0]

    def pattern_of(self, kinds: Collection[str]) -> str:
        """Pattern of tags of some kinds, without what all tags begin with, and without groups."""
        return f"(?:{'|'.join(pattern for kind, pattern in self._rests if kind in kinds)})"

    def end_of(self, kinds: Collection[str]) -> str:
        """Pattern of the last characters of tags of some kinds, for tags that end with ``last``.

        It also finds ``last`` where the text before it is not known.
        """
        before, is_known, blank = set[str](), True, ""
        for (kind, _), atoms in zip(self._rests, self._inside, strict=True):
            if kind in kinds:
                is_known = is_known and kind not in self._open_ended
                before.add(next(atom for atom in reversed(atoms) if atom != BLANK))
                blank = BLANK if atoms[-1] == BLANK else blank
        last = re.escape(self.last)
        return rf"(?:\A|{'|'.join(sorted(before))}){blank}{last}" if is_known else last

    @property
    def kinds(self) -> frozenset[str]:
        """Every kind of tag."""
        return frozenset(self._kinds[1:])

    def is_beginning(self, text: str) -> bool:
        """True if the whole text is the beginning of a tag, or a tag."""
        return self._partial.match(text) is not None

    def find_beginning(self, text: str, at: int = 0) -> int:
        """Index of the first character that may begin a tag; -1 if there is none."""
        if self.first:
            return text.find(self.first, at)
        found = self._firsts.search(text, at)
        return found.start() if found else -1

    def find_partial(self, text: str, at: int) -> int:
        """Start of an incomplete tag at the end of ``text[at:]``; ``len(text)`` if there is none."""
        size = len(text)
        at = self.find_beginning(text, max(at, size - MAX_TAG))
        found = self._partial.search(text, at) if at >= 0 else None
        return found.start() if found else size


def _is_without(char: str, patterns: Iterable[str]) -> bool:
    """True if no match of the patterns can hold a character; false if in doubt."""
    classes = (found for pattern in patterns for found in _NEGATED.findall(pattern))
    rest = "".join(_NEGATED.sub("", pattern) for pattern in patterns)
    return all(char in negated for negated in classes) and char not in rest and not _ANY.search(rest)


def _atoms(head: str | Sequence[str]) -> list[str]:
    if not isinstance(head, str):
        return list(head)
    return [BLANK if c == " " else re.escape(c) for c in head]


def _beginnings(atoms: list[str]) -> str:
    """Pattern of every proper beginning of a tag."""
    pattern = ""
    for atom in reversed(atoms[1:]):
        pattern = f"(?:{atom}{pattern})?"
    return atoms[0] + pattern
