"""Replaces private text inside JSON in place: nothing else changes, and no offset moves.

JSON text is read token by token as far as possible, so that truncated bodies and stream pieces work as well. A string
that contains JSON is processed in turn, at any depth.

Makes stand-ins for private words: same length in characters and in UTF-8, same case, same word same stand-in.
A word is a run of letters, a number a run of three or more digits. Words of one or two letters, shorter numbers,
punctuation and whitespace are kept: they give a text its shape. A stand-in is recognisable: it has no vowel and its
last letter is a check letter (a number has only the digits 7, 8 and 9), so replacing twice changes nothing.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random
from typing import Final

from workbench import regex
from workbench.errors import WireError
from workbench.formats.exporters._value_cache import ValueCache
from workbench.lazy_dataclass import dataclass, field
from workbench.protocols import grammars
from workbench.wire import ObjectList, decode, encode, loads

_TOKEN: Final = regex.compile(
    r'"(?P<string>(?:[^"\\]|\\.)*+)(?P<closed>"?)|[{}\[\],:]|(?P<number>-?[0-9][0-9.eE+-]*)', re.DOTALL
)
_UNIT: Final = regex.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_SIMPLE: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_IS_JSON: Final = regex.compile(r'\s*(?:\{\s*(?:"|\}\s*\Z|\Z)|\[\s*(?:[{\["\]]|-?\d+\s*[,\]]|\Z))')

STRUCTURE: Final = frozenset({
    "$id", "$ref", "$schema", "anthropic_beta",
    "anthropic_version", "behavior", "blockReason", "caller", "category", "const", "createTime",
    "create_time", "createdAt", "created_at", "detail", "done_reason", "effort", "encoding", "enum",
    "event_type", "execution", "finish", "finishReason", "finish_reason", "format", "include", "media_type",
    "mimeType", "mime_type", "modalities", "modality", "mode", "model", "modelVersion", "native_finish_reason",
    "object", "pattern", "phase", "probability", "provider", "reason", "reasoning_effort", "required",
    "responseModalities", "response_format", "role", "serviceTier", "service_tier", "status", "status_code",
    "stopReason", "stop_reason", "system_fingerprint", "thinkingLevel", "thinking_level", "thinking_mode",
    "threshold", "toolChoice", "tool_choice", "truncation", "ttl", "framing", "type", "verbosity",
})  # fmt: skip
"""Members with strings that belong to the protocol or a tool's contract, except in tool arguments and results."""

_SCHEMA: Final = frozenset({"$id", "$ref", "$schema", "const", "enum", "pattern", "required"})
_NAME: Final = regex.compile(r"[^\s\\]*")
"""A protocol value: one word, not text."""

_ID: Final = regex.compile(r"(?:.*_)?ids?|.*[a-z]I[dD]")
_OF_PEOPLE: Final = regex.compile(r"(?i).*(?:user|account|session|safety|organi[sz]ation|project|customer).*")
_SEALED: Final = frozenset({"signature", "encrypted_content", "thoughtSignature", "thought_signature", "encrypted"})
_TOOLS: Final = frozenset({"args", "arguments", "input", "response", "parameters"})
"""Members that contain tool arguments or results as objects; ``response`` only in Gemini's functionResponse."""

_GEMINI: Final = ("functionResponse", "function_response")


@dataclass(slots=True)
class _Level:
    """An open list or object. ``key``: of the member being read."""

    is_object: bool
    of: str
    is_private: bool
    key: str = ""
    wants_key: bool = field(default=True)


@dataclass(slots=True)
class PrivateJson:
    """Replaces private text in JSON."""

    words: StandIns
    _values: ValueCache[str, str] = field(default_factory=ValueCache, repr=False)
    _strings: ValueCache[tuple[str, str], str] = field(default_factory=ValueCache, repr=False)
    _elements: ValueCache[tuple[str, bytes], bytes] = field(default_factory=ValueCache, repr=False)

    def body(self, text: str, fixed: dict[int, str] | None = None) -> str:
        """Process JSON text.

        Args:
            text: the text, complete or truncated.
            fixed: offset of a string → its new text, for strings already processed.
        """
        return _JsonPass(self, text, fixed or {}, is_private=False).run()

    def request(self, data: bytes, runs: Sequence[ObjectList]) -> bytes:
        """Process JSON text with known lists; repeated elements are not processed again.

        Args:
            data: an object.
            runs: ``jsontext.runs`` of it.
        """
        pieces, at = list[bytes](), 0
        walk = _JsonPass(self, "", {}, is_private=False)
        for run in runs:
            for start, end in run.spans:
                pieces.append(encode(walk.then(decode(data[at:start]))) if at < run.start else data[at:start])
                element = data[start:end]
                pieces.append(self._elements.get((run.key, element), 2 * len(element), self._element))
                at = end
        return b"".join((*pieces, encode(walk.then(decode(data[at:])))))

    def string(self, raw: str, key: str) -> str:
        """New raw content of a string member, with its original escapes."""
        return self._strings.get((key if key in _SEALED else "", raw), 2 * len(raw), self._string)

    def value(self, text: str, key: str = "") -> str:
        """New text of a string member; every character keeps its position."""
        if key in _SEALED:
            return self.words.seal(text)
        return self._values.get(text, 2 * len(text), self._value)

    def _string(self, found: tuple[str, str]) -> str:
        key, raw = found
        return rewrite_string(raw, lambda text: self.value(text, key))

    def _element(self, found: tuple[str, bytes]) -> bytes:
        key, data = found
        walk = _JsonPass(self, "", {}, is_private=False)
        walk.levels = [_Level(True, "", False, key, wants_key=False), _Level(False, key, False)]
        return encode(walk.then(decode(data)))

    def _value(self, text: str) -> str:
        if _IS_JSON.match(text):
            return _JsonPass(self, text, {}, is_private=True).run()
        if text[:1] == '"' and text[-1:] == '"' and len(text) > 1 and _is_string(text):
            return '"' + rewrite_string(text[1:-1], self.value) + '"'
        return self.words.text(text)


def rewrite_string(raw: str, change: Callable[[str], str]) -> str:
    """Raw content of a JSON string with new text, each character in the escape form of the one it replaces."""
    if "\\" not in raw:
        return change(raw)
    units = _UNIT.findall(raw)
    before = list(map(_decode_unit, units))
    after = change("".join(before))
    return "".join(
        unit if new == old else _like(unit, new) for unit, old, new in zip(units, before, after, strict=True)
    )


def _decode_unit(unit: str) -> str:
    if len(unit) == 1:
        return unit
    if len(unit) == 12:
        high, low = int(unit[2:6], 16), int(unit[8:], 16)
        return chr(0x10000 + ((high & 0x3FF) << 10 | low & 0x3FF))
    return chr(int(unit[2:], 16)) if len(unit) == 6 else _SIMPLE.get(unit[1], unit[1])


def _like(unit: str, char: str) -> str:
    if len(unit) == 6:
        return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else unit
    if len(unit) == 2:
        return unit  # an escape that JSON does not know: what it stands for cannot be written otherwise
    if len(unit) == 12:
        low = ord(char) - 0x10000
        return f"\\u{0xD800 | low >> 10:04x}\\u{0xDC00 | low & 0x3FF:04x}" if low >= 0 else unit
    return char


def _is_string(text: str) -> bool:
    try:
        return isinstance(loads(text), str)
    except WireError:
        return False


class _JsonPass:
    """One pass over one text."""

    def __init__(self, maker: PrivateJson, text: str, fixed: dict[int, str], *, is_private: bool) -> None:
        self.maker, self.text, self.fixed, self.is_private = maker, text, fixed, is_private
        self.levels: list[_Level] = []

    def then(self, text: str) -> str:
        """Process the next piece of the text, which must start and end between tokens."""
        self.text = text
        return self.run()

    def run(self) -> str:
        pieces, at = list[str](), 0
        for found in _TOKEN.finditer(self.text):
            if at < found.start():
                pieces.append(self._between(self.text[at : found.start()]))
            pieces.append(self._token(found))
            at = found.end()
        return "".join((*pieces, self._between(self.text[at:])))

    def _between(self, text: str) -> str:
        """White space and literals; in invalid JSON, anything."""
        return text if text.strip() in ("", "true", "false", "null", "data:") else self.maker.words.text(text)

    def _token(self, found: re.Match[str]) -> str:
        text, top = found[0], self.levels[-1] if self.levels else None
        if found["string"] is not None:
            return self._string(found, top)
        if found["number"]:
            return self._number(text) if self._in_tool(top) else text
        if text in "{[":
            self._open(text == "{", top)
        elif text in "}]":
            self.levels and self.levels.pop()
        elif top:
            top.wants_key = text == ","
        return text

    def _open(self, is_object: bool, top: _Level | None) -> None:
        of = "" if top is None else top.key if top.is_object else top.of
        holder = top.of if top else ""
        is_tool = is_object and top is not None and top.is_object and of in _TOOLS
        is_tool = is_tool and (of not in ("response", "parameters") or holder in _GEMINI)
        is_private = self.is_private if top is None else top.is_private or is_tool
        self.levels.append(_Level(is_object, of, is_private))

    def _string(self, found: re.Match[str], top: _Level | None) -> str:
        raw, end = found["string"], found["closed"]
        if top and top.is_object and top.wants_key:
            top.key = raw
            is_ours = top.is_private and top.of != "response"  # adapters know the names by which a result is told
            return f'"{rewrite_string(raw, self.maker.words.text)}{end}' if is_ours else found[0]
        if found.start() in self.fixed:
            return f'"{rewrite_string(raw, lambda _: self.fixed[found.start()])}{end}'
        key = "" if top is None else top.key if top.is_object else top.of
        if not self._in_tool(top) and _is_structure(key, raw):
            return found[0]
        return f'"{self.maker.string(raw, key)}{end}'

    def _in_tool(self, top: _Level | None) -> bool:
        return top.is_private if top else self.is_private

    def _number(self, text: str) -> str:
        if "e" in text.lower():
            return text
        return re.sub("[0-9]{3,}", lambda found: self.maker.words.number(found[0]), text)


def _is_structure(key: str, raw: str) -> bool:
    if key in _SCHEMA:
        return True
    if raw in grammars.listed_values().get(key, ()):
        return True
    is_named = key in STRUCTURE or (_ID.fullmatch(key) and not _OF_PEOPLE.fullmatch(key))
    return bool(is_named and _NAME.fullmatch(raw))


_LETTERS: Final = "bcdfghjklmnpqrstvwxz"
_DIGITS: Final = "789"
_HEX: Final = regex.compile("[0-9a-f]+|[0-9A-F]+")
_STANDARD: Final = str.maketrans("-_", "+/")
"""Maps the URL-safe alphabet of base64 to the standard one; clients use either."""

_TRIES: Final = 64
_WORD: Final = regex.compile(
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
        kept_words: names, their words in lower case, and numbers that are kept because they belong to the contract.
        kept_text: text that is kept everywhere: tags, known phrases.
        salt: makes stand-ins of different exports unlinkable; random by default.
    """

    kept_words: frozenset[str]
    kept_text: re.Pattern[str]
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False)
    keeps_numbers: bool = False
    _words: dict[str, str] = field(default_factory=dict, repr=False)
    _numbers: set[str] = field(default_factory=set, repr=False)
    _in_use: set[str] = field(default_factory=set, repr=False)

    def replaces(self, word: str) -> bool:
        """True if a lower-case word or a number gets a stand-in."""
        return word in self._words or word in self._numbers

    def text(self, text: str) -> str:
        """The text with stand-ins for private words; every character keeps its position."""
        if text.lower() in self.kept_words:
            return text
        pieces, at = list[str](), 0
        for found in self.kept_text.finditer(text):
            pieces += (_WORD.sub(self._token, text[at : found.start()]), found[0])
            at = found.end()
        return "".join((*pieces, _WORD.sub(self._token, text[at:])))

    def seal(self, text: str) -> str:
        """Replace every letter and digit of text without words, such as base64, by one of its kind."""
        if _is_sealed_stand_in(text) or text.lower() in self.kept_words:
            return text
        draw = Random(self._digest(text.rstrip("=").translate(_STANDARD)))
        letters = "bcdf" if _HEX.fullmatch(text) else _LETTERS
        lower, upper, digits = (draw.choices(pool, k=len(text)) for pool in (letters, letters.upper(), _DIGITS))
        return "".join(_of_kind(char, lower[n], upper[n], digits[n]) for n, char in enumerate(text))

    def number(self, digits: str) -> str:
        """A number in stand-in digits."""
        if self.keeps_numbers or digits in self.kept_words or not set(digits).difference(_DIGITS):
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
        if lower in self.kept_words:
            return word
        stand_in = self._words.get(lower)
        if stand_in is None:
            stand_in = self._words[lower] = self._new_stand_in(lower)
        return "".join(c.upper() if of.isupper() else c for c, of in zip(stand_in, word, strict=True))

    def _new_stand_in(self, word: str) -> str:
        """A stand-in that no other word has, as long as there are free ones."""
        if is_stand_in(word):
            return word
        draw = Random(self._digest(word))
        stand_in = word
        for _ in range(_TRIES):
            first = "".join(draw.choices(_LETTERS, k=len(word) - 1))
            stand_in = first + _check_letter(first)
            if stand_in not in self._in_use:
                break
        self._in_use.add(stand_in)
        return stand_in

    def _digest(self, text: str) -> bytes:
        return hmac.digest(self.salt, text.encode("utf-8", "surrogatepass"), "sha256")


_LOOSE: Final = regex.compile(_WORD.pattern.replace("{100,}", "(?!)"))
"""Tokens of a long run that is text: a path, words joined by underscores."""


def _looks_sealed(text: str) -> bool:
    kinds = (str.islower, str.isupper, str.isdigit)
    return all(any(map(kind, text)) for kind in kinds) and max(map(len, re.split("[/_-]", text))) > 24


def _check_letter(letters: str) -> str:
    return _LETTERS[sum(n * _LETTERS.index(c) for n, c in enumerate(letters, 1)) % len(_LETTERS)]


def is_stand_in(word: str) -> bool:
    """True if a lower-case word is a stand-in."""
    return not set(word).difference(_LETTERS) and _check_letter(word[:-1]) == word[-1]


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
