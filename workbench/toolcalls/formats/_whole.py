"""Blocks without a fault, read at once: most calls that models write are such.

``TagParser`` asks a format's grammar about every tag. Where nothing is wrong, one pattern gives the answer of all these
questions. So a block is held until its end has come, and the pattern reads it. If the pattern does not fit, the held
text goes through the grammar as if it had come just now. A grammar, too, says nothing of a block before its end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, Protocol

from workbench import regex
from workbench.named_tuple import NamedTuple
from workbench.toolcalls.formats import TextCall
from workbench.toolcalls.formats._tags import MAX_TAG, Tags

UNDECIDED, OPEN, HELD, ENDED, FAULTY = range(5)
"""State of a block.

UNDECIDED: it may be no call. OPEN: its end has not come. HELD: it is whole unless what follows belongs to it. ENDED: it
is whole. FAULTY: the grammar has to see its tags.
"""

MOST_READINGS: Final = 8
"""Limit of readings of one block from its start: a block with many calls would be read for each of them."""


class WholeForm(NamedTuple):
    """Form of a block without a fault.

    Attributes:
        opens, closes: kinds of the tags around it.
        begins, ends: kinds of the tags around a call in it; "" where the block is the call.
        inner: kinds of other tags in it.
    """

    tags: Tags
    opens: str
    closes: str
    begins: str = ""
    ends: str = ""
    inner: frozenset[str] = frozenset()

    def state_after(self, text: str, at: int, *, is_last: bool) -> int:
        """State of a block that has all its tags: what follows may be its closing tag once more.

        Args:
            at: index of the end of the block.
            is_last: no text comes after this one.
        """
        found = _NOT_BLANK.search(text, at)
        if found is None:
            return ENDED if is_last else HELD
        rest = found.start()
        if text[rest] != self.tags.first:
            return ENDED
        tag = self.tags.pattern.match(text, rest)
        if tag:
            return FAULTY if self.tags.kind(tag) == self.closes else ENDED
        if self.tags.find_partial(text, rest) > rest:
            return ENDED
        return FAULTY if is_last else HELD


class WholeReader(Protocol):
    """Reads the blocks of a format that are whole."""

    @property
    def form(self) -> WholeForm:
        """Form of a block without a fault."""
        ...

    def read_block(self, text: str, start: int, base: int, *, is_nested: bool) -> tuple[list[TextCall], int] | None:
        """The calls of a block and its length; None if it is not whole, or has a fault.

        Args:
            start: index of the block's opening tag.
            base: place of the text in the whole text.
        """
        ...


class Hold:
    """A block that is held back while it may be whole: decides which pieces of text matter.

    Attributes:
        awaited: text without which a piece changes nothing.
        found: the calls of the block and its length, once it is whole.
    """

    __slots__ = ("_begins", "_form", "_last", "_loud", "_mark", "_readings", "_rest", "_state", "awaited", "found")

    def __init__(self, form: WholeForm) -> None:
        self._form = form
        self._loud, self._last, self._begins = _patterns(form)
        self._readings = self._mark = 0
        self._state = UNDECIDED
        self._rest = self.awaited = ""
        self.found: tuple[list[TextCall], int] | None = None

    def renew(self, text: str, end: int, state: int) -> bool:
        """Continue to hold a block; False if the grammar has to see it.

        Args:
            end: index of the end of the block if it is HELD, else of its opening tag.
        """
        self._state, self._mark, self.awaited = state, 0, ""
        if state == UNDECIDED:
            self._rest = text[end:].lstrip()
            return True
        self._readings += 1
        return self._readings <= MOST_READINGS and self._advance(text[end:])

    def take(self, pieces: Sequence[str]) -> bool:
        """Take new text; True while nothing can be said of the block.

        Args:
            pieces: what came since ``renew``; the last is new.
        """
        if self._state == OPEN:
            before = pieces[-2] if len(pieces) > 1 else self._rest
            if not self._last.search(before[-1:] + pieces[-1]):
                return True
            text = self._rest + "".join(pieces[self._mark :])
        elif self._state == HELD:
            text = self._rest + pieces[-1]
        else:
            self._rest = (self._rest + pieces[-1]).lstrip()
            return bool(self._rest) and self._form.tags.is_beginning(self._rest)
        self._mark = len(pieces)
        return self._advance(text)

    def _advance(self, text: str) -> bool:
        """Go over the tags of a text that follows the last one; True if the end of the block has not come with it."""
        tags = self._form.tags
        while True:
            if self._state == OPEN:
                found = self._loud.search(text)
                if not found:
                    self._rest, self.awaited = text[-MAX_TAG:], tags.last
                    return True
                if found.lastgroup != _ENDS:
                    return False
                text, self._state = text[found.end() :], HELD
            text = text.lstrip()
            if not text or (text[0] == tags.first and len(text) < MAX_TAG and tags.last not in text):
                self._rest, self.awaited = text, ""
                return True
            if self.found or not self._begins.match(text):
                return False
            self._state = OPEN


_ENDS: Final = "ends"
_NOT_BLANK: Final = regex.compile(r"\S")


@cache
def _patterns(form: WholeForm) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Patterns of the tags that may end a block, of their ends, and of a call's opening tag."""
    tags = form.tags
    loud = tags.kinds - form.inner - {form.begins, form.ends}
    ends = f"|(?P<{_ENDS}>{tags.pattern_of((form.ends,))})" if form.ends else ""
    return (
        regex.compile(f"{tags.first}(?:{tags.pattern_of(loud)}{ends})"),
        regex.compile(tags.end_of(loud | {form.ends})),
        regex.compile(f"{tags.first}{tags.pattern_of((form.begins,))}" if form.begins else "(?!)"),
    )
