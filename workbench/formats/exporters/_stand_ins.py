"""Makes stand-ins for private words: same length in characters and in UTF-8, same case, same word same stand-in.

A word is a run of letters, a number a run of three or more digits. Words of one or two letters, shorter numbers,
punctuation and white space are kept: they give a text its shape. A stand-in is recognisable: it has no vowel and its
last letter is a check letter (a number has only the digits 7, 8 and 9), so replacing twice changes nothing.
"""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import field
from functools import lru_cache
from random import Random
from typing import Final

from workbench import regex
from workbench.lazy_dataclass import dataclass

_LETTERS: Final = "bcdfghjklmnpqrstvwxz"
_DIGITS: Final = "789"
_HEX: Final = regex.compile("[0-9a-f]+|[0-9A-F]+")
_STANDARD: Final = str.maketrans("-_", "+/")
"""Maps the URL-safe alphabet of base64 to the standard one; clients use either."""

_TRIES: Final = 64
_TOKEN: Final = regex.compile(
    r"\\(?:u[0-9a-fA-F]{4}|[A-Za-z])"  # an escape of a text that is source code, or JSON inside other text
    r"|(?P<sealed>[A-Za-z0-9+/_=-]{100,})"  # too long for text: media, signatures, sealed reasoning
    r"|(?P<word>[A-Za-z]{3,})"
    r"|(?P<number>(?<![0-9])(?<![0-9][eE])(?<![0-9][eE][+-])[0-9]{3,})"
    r"|(?P<other>[^\W\d_A-Za-z]+)"
)


@dataclass(slots=True)
class StandIns:
    """Stand-ins of one export.

    Attributes:
        kept: names, their words in lower case, and numbers that are kept because they belong to the contract.
        kept_text: text that is kept everywhere: tags, known phrases.
        salt: makes stand-ins of different exports unlinkable; random by default.
    """

    kept: frozenset[str]
    kept_text: re.Pattern[str]
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    keeps_numbers: bool = False
    _words: dict[str, str] = field(default_factory=dict, repr=False)
    _numbers: set[str] = field(default_factory=set, repr=False)
    _taken: set[str] = field(default_factory=set, repr=False)

    def replaces(self, word: str) -> bool:
        """True if a lower-case word or a number gets a stand-in."""
        return word in self._words or word in self._numbers

    def text(self, text: str) -> str:
        """The text with stand-ins for private words; every character keeps its position."""
        if text.lower() in self.kept:
            return text
        pieces, at = list[str](), 0
        for found in self.kept_text.finditer(text):
            pieces += (_TOKEN.sub(self._token, text[at : found.start()]), found[0])
            at = found.end()
        return "".join((*pieces, _TOKEN.sub(self._token, text[at:])))

    def seal(self, text: str) -> str:
        """Replace every letter and digit of text without words, such as base64, by one of its kind."""
        if _is_sealed_stand_in(text) or text.lower() in self.kept:
            return text
        draw = Random(self._digest(text.rstrip("=").translate(_STANDARD)))
        letters = "bcdf" if _HEX.fullmatch(text) else _LETTERS
        lower, upper, digits = (draw.choices(pool, k=len(text)) for pool in (letters, letters.upper(), _DIGITS))
        return "".join(_of_kind(char, lower[n], upper[n], digits[n]) for n, char in enumerate(text))

    def number(self, digits: str) -> str:
        """A number in stand-in digits."""
        if self.keeps_numbers or digits in self.kept or not set(digits).difference(_DIGITS):
            return digits
        self._numbers.add(digits)
        return "".join(Random(self._digest(digits)).choices(_DIGITS, k=len(digits)))

    def _token(self, found: re.Match[str]) -> str:
        kind, text = found.lastgroup, found[0]
        if kind == "word":
            return self._word(text)
        if kind == "number":
            return self.number(text)
        if kind == "other":
            return _in_other_letters(text, Random(self._digest(text)))
        if kind == "sealed":
            return self.seal(text) if _looks_sealed(text) else _LOOSE.sub(self._token, text)
        return text

    def _word(self, word: str) -> str:
        lower = word.lower()
        if lower in self.kept:
            return word
        stand_in = self._words.get(lower)
        if stand_in is None:
            stand_in = self._words[lower] = self._new(lower)
        return "".join(c.upper() if of.isupper() else c for c, of in zip(stand_in, word, strict=True))

    def _new(self, word: str) -> str:
        """A stand-in that no other word has, as long as there are free ones."""
        if is_stand_in(word):
            return word
        draw = Random(self._digest(word))
        made = word
        for _ in range(_TRIES):
            first = "".join(draw.choices(_LETTERS, k=len(word) - 1))
            made = first + _check(first)
            if made not in self._taken:
                break
        self._taken.add(made)
        return made

    def _digest(self, text: str) -> bytes:
        return hmac.digest(self.salt, text.encode("utf-8", "surrogatepass"), "sha256")


_LOOSE: Final = regex.compile(_TOKEN.pattern.replace("{100,}", "(?!)"))
"""Tokens of a long run that is text: a path, words joined by underscores."""


def _looks_sealed(text: str) -> bool:
    kinds = (str.islower, str.isupper, str.isdigit)
    return all(any(map(kind, text)) for kind in kinds) and max(map(len, re.split("[/_-]", text))) > 24


def _check(letters: str) -> str:
    return _LETTERS[sum(n * _LETTERS.index(c) for n, c in enumerate(letters, 1)) % len(_LETTERS)]


def is_stand_in(word: str) -> bool:
    """True if a lower-case word is a stand-in."""
    return not set(word).difference(_LETTERS) and _check(word[:-1]) == word[-1]


def _is_sealed_stand_in(text: str) -> bool:
    return not re.search("[aeiouyAEIOUY0-6]", text)


def _of_kind(char: str, lower: str, upper: str, digit: str) -> str:
    if not char.isascii():
        return char
    return lower if char.islower() else upper if char.isupper() else digit if char.isdigit() else char


def _in_other_letters(word: str, draw: Random) -> str:
    """A word of another script, in letters of the same block, each as long in UTF-8 as the one it replaces."""
    pools = [_pool(ord(char) & ~0x3F) for char in word]
    if all(not pool or char in pool for pool, char in zip(pools, word, strict=True)):
        return word
    return "".join(draw.choice(pool) if pool else char for pool, char in zip(pools, word, strict=True))


@lru_cache(maxsize=256)
def _pool(start: int) -> str:
    """Every fourth letter of a block of sixty-four characters."""
    letters = [char for char in map(chr, range(start, start + 64)) if char.isalpha() and char.isprintable()]
    return "".join(letters[::4])
