"""Find a provider's message template in a pasted text, even if the text was changed on its way.

Both are converted to a plain form: small letters, no quotes and backslashes, whitespace and underscores alike, no
letter twice in a row (providers write "preceeding", people correct it). The literal pieces of the template are then
looked for with ``str.find``, outward from the longest one that is found: no regular expression runs over the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache

from workbench import regex
from workbench.lazy_dataclass import dataclass
from workbench.named_tuple import NamedTuple

_ESCAPE = regex.compile(r"(?<!\\)\\++(?:u([0-9a-fA-F]{4})|[nrt])")
_DROPPED = frozenset("\"'`\\‘’“”")
_PIECE = regex.compile(r"\S.{0,39}\S*")
_VALUE_END = regex.compile(r"[\"'`\\\n\r<>;]|[.!](?:\s|$)")
_SENTENCE_END = regex.compile(r"[\"\\\n\r<>]|['`]\s*(?:[}\])]|,\s*['\"]|$)|(?<=[.!])(?:\s|$)")
_GOES_ON = regex.compile(r"[`'\":]?(?:[ \t]+[`'\"(\[]{0,2}[A-Za-z0-9\]]|[a-z])")
"""After a match: more words of the same sentence follow, and no wrapping closes it."""

_ONE = r"(?:`[^`]*`|'[^']*'|\"[^\"]*\"|[^\s`'\",]+)"
_VALUE = regex.compile(rf"[\s.,:;]*{_ONE}(?:,\s*{_ONE})*")
"""Text in place of a variable: a word or a quotation, or a list of them."""
_FIELD = regex.compile(r"\{([a-z]+)\}")
_SENTENCE = regex.compile(r"(?<=[.!:]) ")

NUMBERS = frozenset(("message", "part", "call", "tool", "first", "item", "line", "column", "char", "limit", "length"))
"""Variables with a number as value; a template with anything else there does not match."""

LONGEST_VALUE = 400
"""Limit of characters of a variable's value: a list of ten ids."""

BETWEEN = 4
"""Limit of punctuation characters between two pieces."""

SHORTEST = 10
"""Minimum length in characters of the piece that the search begins with."""

OCCURRENCES = 8
"""Limit of places where the longest piece is tried."""

_PUNCTUATION = " .,:;\t\r\n"


@dataclass(frozen=True, slots=True)
class Plain:
    """A text in plain form; character ``n`` of it was character ``origin[n]`` of ``text``."""

    text: str
    plain: str
    origin: tuple[int, ...]

    def place(self, at: int) -> int:
        """Offset in the text of a character of the plain form; the length of the text for positions past the end."""
        return self.origin[at] if at < len(self.origin) else len(self.text)

    def slice(self, start: int, end: int) -> str:
        """The original of a range of the plain form, with the dropped characters after it."""
        return self.text[self.place(start) : self.place(end)]

    def is_inside_word(self, at: int) -> bool:
        """Letters or digits on both sides of a character of the plain form, with nothing between that was dropped."""
        if not 0 < at < len(self.plain):
            return False
        return self.text[self.origin[at - 1] : self.origin[at] + 1].isalnum()

    def sentence(self, start: int, end: int) -> str:
        """The original of a range, and what follows it up to the end of its sentence or quotation."""
        first, last = self.place(start), self.place(end - 1) + 1
        after = self.text[last : last + LONGEST_VALUE]
        return self.text[first:last] + _SENTENCE_END.split(after, maxsplit=1)[0]


class _Letters(dict[str, tuple[str, bool]]):
    """Character → its plain form, empty if it is dropped; and whether it is not there twice in a row."""

    def __missing__(self, char: str) -> tuple[str, bool]:
        letter = " " if char == "_" or char.isspace() else char.lower()[:1]
        self[char] = found = ("" if char in _DROPPED else letter, letter.isalpha() or letter == " ")
        return found


_LETTERS = _Letters()


def plain_text(text: str) -> Plain:
    """The plain form of a text; escapes of JSON are resolved first, however often it was wrapped."""
    text = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else " ", text)
    letters, origin, last = [], [], ""
    for n, char in enumerate(text):
        letter, is_once = _LETTERS[char]
        if letter and not (is_once and letter == last):
            letters.append(letter)
            origin.append(n)
            last = letter
    return Plain(text, "".join(letters), tuple(origin))


_plain_value = lru_cache(maxsize=256)(plain_text)
"""``plain`` of a text of at most ``LONGEST_VALUE``: the same one follows many templates."""


class TemplatePiece(NamedTuple):
    """A literal of a template in plain form.

    Attributes:
        before: the variable before it; empty if there is none.
        is_path: it is part of the path that a message begins with, which is often left out.
        ends: a sentence ends with it.
        splits_word: the variable before it continues a word of the template, as in ``call{index}``.
    """

    before: str
    text: str
    is_path: bool
    ends: bool = False
    splits_word: bool = False


class TemplateMatch(NamedTuple):
    """A template in a text.

    Attributes:
        weight: literal characters that were found, in whole pieces.
        agrees: the same, plus the part of the next piece that is found.
        whole: literal characters of the template.
        pieces: the literals that were found.
        leads: the template was found from its beginning, except for the path that it begins with.
        departs: within one sentence, the text continues differently from the template: it means something else.
        start, end: range in the plain form.
        values: variable → its value.
    """

    weight: int
    agrees: int
    whole: int
    pieces: tuple[str, ...]
    leads: bool
    departs: bool
    start: int
    end: int
    values: Mapping[str, str]


@dataclass(frozen=True)
class Template:
    """A message with ``{name}`` for variable parts."""

    message: str

    @cached_property
    def pieces(self) -> tuple[TemplatePiece, ...]:
        parts = _FIELD.split(self.message)
        found: list[TemplatePiece] = []
        in_path = True
        for n in range(0, len(parts), 2):
            before = parts[n - 1] if n else ""
            splits_word = n > 0 and parts[n - 2][-1:].isalnum()
            for literal in _cut(parts[n]):
                in_path = in_path and " " not in literal.strip()
                if text := plain_text(literal).plain.strip(_PUNCTUATION):
                    found.append(TemplatePiece(before, text, in_path, literal.rstrip()[-1:] in (".", "!"), splits_word))
                    before = ""
        return tuple(found)

    @cached_property
    def last(self) -> str:
        """The variable at the end; empty if the template ends with a literal."""
        parts = _FIELD.split(self.message)
        return parts[-2] if len(parts) > 1 and not plain_text(parts[-1]).plain.strip(_PUNCTUATION) else ""

    @cached_property
    def variables(self) -> frozenset[str]:
        """Names of the variables."""
        return frozenset(_FIELD.findall(self.message))

    @cached_property
    def whole(self) -> int:
        return sum(len(p.text) for p in self.pieces)

    @property
    def needs(self) -> tuple[str, ...]:
        """Texts of which one has to be in the plain form of a text in which this template is found."""
        return tuple(text for _, text in self._anchors)

    @cached_property
    def _anchors(self) -> tuple[tuple[int, str], ...]:
        """Number and text of the pieces that a text is searched for, the longest first."""
        found = ((n, piece.text) for n, piece in enumerate(self.pieces) if len(piece.text) >= SHORTEST)
        return tuple(sorted(found, key=lambda anchor: -len(anchor[1])))

    def find(self, text: Plain) -> TemplateMatch | None:
        """The best match of this template in a text; None if no piece of ten characters is found."""
        for anchor, piece in self._anchors:
            if piece in text.plain:  # nearly always it is not
                places = [self._around(text, anchor, at) for at in _places(text.plain, piece)]
                return max(places, key=lambda found: found.weight)
        return None

    def _around(self, text: Plain, anchor: int, at: int) -> TemplateMatch:
        values: dict[str, str] = {}
        first, start = self._leftward(text, anchor, at, values)
        last, end = self._match_right(text, anchor, at + len(self.pieces[anchor].text), values)
        found = tuple(piece.text for piece in self.pieces[first : last + 1])
        leads = all(piece.is_path for piece in self.pieces[:first])
        departs, weight_after = self._after(text, last, end) if last + 1 < len(self.pieces) else (False, 0)
        weight = sum(map(len, found))
        return TemplateMatch(weight, weight + weight_after, self.whole, found, leads, departs, start, end, values)

    def _after(self, text: Plain, last: int, end: int) -> tuple[bool, int]:
        """(the text says something else here than the next piece, and does not merely stop; its letters that agree)."""
        after = self.pieces[last + 1]
        if self.pieces[last].ends:
            return False, 0
        rest = text.text[text.place(end - 1) + 1 :][:LONGEST_VALUE]
        if after.before:
            return bool(_GOES_ON.match(_VALUE.sub("", rest, count=1))), 0
        start = _plain_value(rest).plain.lstrip(_PUNCTUATION)
        shared = _prefix(start, after.text).rstrip()
        return bool(_GOES_ON.match(rest[_through(rest, shared) :])), len(shared)

    def _leftward(self, text: Plain, anchor: int, start: int, values: dict[str, str]) -> tuple[int, int]:
        """(first piece that follows on to the left, where it starts)."""
        for n in range(anchor, 0, -1):
            before, piece = self.pieces[n].before, self.pieces[n - 1].text
            first = max(0, start - len(piece) - _reach(before))
            found = text.plain.rfind(piece, first, start)
            while found >= 0 and self._splits_word(text, n, found + len(piece)):
                found = text.plain.rfind(piece, first, found + len(piece) - 1)
            if found < 0:
                _take(values, before, _word_before(text, start))
                return n, start
            _take(values, before, text.slice(found + len(piece), start))
            start = found
        _take(values, self.pieces[0].before, _word_before(text, start))
        return 0, start

    def _match_right(self, text: Plain, anchor: int, end: int, values: dict[str, str]) -> tuple[int, int]:
        """(last piece that follows on to the right, where it ends)."""
        for n, piece in enumerate(self.pieces[anchor + 1 :], anchor + 1):
            if self._splits_word(text, n, end):
                return n - 1, end
            last = end + len(piece.text) + _reach(piece.before)
            found = text.plain.find(piece.text, end, last)
            while found >= 0 and self._splits_word(text, n + 1, found + len(piece.text)):
                found = text.plain.find(piece.text, found + 1, last)
            if found < 0:
                _take(values, piece.before, _words_after(text, end))
                return n - 1, end
            _take(values, piece.before, text.slice(end, found))
            end = found + len(piece.text)
        if not self._splits_word(text, len(self.pieces), end):
            _take(values, self.last, _words_after(text, end))
        return len(self.pieces) - 1, end

    def _splits_word(self, text: Plain, n: int, at: int) -> bool:
        """The variable before piece ``n`` (at the end: ``last``) would begin inside a word of the text."""
        if n < len(self.pieces):
            variable, is_allowed = self.pieces[n].before, self.pieces[n].splits_word
        else:
            variable, is_allowed = self.last, bool(re.search(r"[^\W_]\{[a-z]+\}\W*$", self.message))
        return bool(variable) and not is_allowed and text.is_inside_word(at)


def _cut(literal: str) -> list[str]:
    """Sentences, and long ones in pieces: a pasted text may stop anywhere."""
    return [piece for sentence in _SENTENCE.split(literal) for piece in _PIECE.findall(sentence)]


def _reach(variable: str) -> int:
    return LONGEST_VALUE if variable else BETWEEN


def _take(values: dict[str, str], name: str, value: str) -> None:
    value = " ".join(value.strip(_PUNCTUATION + "'\"`\\").split())
    if name and value and (name not in NUMBERS or value.isdigit()):
        values[name] = value


def _places(text: str, piece: str) -> list[int]:
    places, at = list[int](), text.find(piece)
    while at >= 0 and len(places) < OCCURRENCES:
        places.append(at)
        at = text.find(piece, at + 1)
    return places


def _prefix(a: str, b: str) -> str:
    """Common prefix of two texts."""
    return a[: next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))]


def _through(text: str, words: str) -> int:
    """Characters of a text whose plain form is this."""
    if not words:
        return 0
    form = _plain_value(text)
    at = form.plain.find(words)
    return form.place(at + len(words) - 1) + 1 if at >= 0 else 0


def _word_before(text: Plain, start: int) -> str:
    at = text.place(start)
    before = text.text[max(0, at - LONGEST_VALUE) : at]
    return re.split(r"[^\w.\-\[\]]", before.rstrip(_PUNCTUATION + "'\"`\\"))[-1]


def _words_after(text: Plain, end: int) -> str:
    """Text after a place, up to a quote, a line break or the end of the sentence."""
    at = text.place(end)
    after = text.text[at : at + LONGEST_VALUE].lstrip(_PUNCTUATION + "'\"`\\")
    return _VALUE_END.split(after, maxsplit=1)[0]
