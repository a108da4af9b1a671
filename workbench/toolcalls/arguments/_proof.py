"""Proves that a repair lost nothing: every text, number and literal of the broken text is in the value, in order.

The value is laid over the text it was made from. Between its keys and values only punctuation, matching brackets,
comments and fences are allowed; a string may have other quotes or none, a literal may be Python's. If the text can be
read in two ways (an inner bracket is missing, a quote inside a string is followed by a comma), the repair is refused:
it may be right, but that cannot be known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from workbench import limits, regex
from workbench.ir import JsonValue

__all__ = ["Lossy", "prove"]

_BLANK = regex.compile(r"(?:\s++|//[^\n]*+|#[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_GAP = regex.compile(r"(?:[\s,;]++|//[^\n]*+|#[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
_LITERAL = regex.compile(r"(?i)\b(?:true|false|null|none|nan)\b")
_COMMENT = regex.compile(r"//[^\n]*+|#[^\n]*+|/\*.*?\*/", re.DOTALL)
_NUMBER = regex.compile(r"[-+]?[\d.][\d._eE+-]*")
_LITERALS = {True: ("true", "True", "TRUE"), False: ("false", "False", "FALSE"), None: ("null", "None", "none", "NULL")}
_WORDS_OF_NOTHING = ("nan", "infinity", "-infinity", "undefined", "inf", "-inf")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`"}
_UNICODE = regex.compile(r"u([0-9a-fA-F]{4})")
_AROUND = regex.compile(r"""[{}\[\]":=\d]|\.\.\.|…""")
_FENCE = regex.compile(r"```[\w-]*|</?[\w|▁:.-]+>")


class Lossy(Exception):
    """Raised if the repaired value is not certainly the meaning of the text. The message names the position."""


def prove(text: str, value: JsonValue) -> tuple[str, ...]:
    """Describe the changes of a repair.

    Args:
        text: the broken text.
        value: the repaired value.

    Raises:
        Lossy: a part of the text is not in the value, or the text can be read differently.
    """
    reading = _Reading(text)
    start = reading.opening("{" if isinstance(value, dict) else "[")
    end = reading.value(value, start, 0)
    reading.check_ending(end)
    if start:
        reading.check_outside(text[:start])
    reading.check_outside(text[end:])
    return tuple(dict.fromkeys(reading.changes))


class _Reading:
    """A text with a value laid over it; positions are characters of the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.changes: list[str] = []
        self.missing = 0
        self._at_end: list[tuple[int, str, int]] = []  # (depth, kind, members) of containers that end where it ends

    def opening(self, bracket: str) -> int:
        start = self.text.find(bracket)
        if start < 0:
            raise Lossy("the text contains no opening brace")
        return start

    def fail(self, at: int, what: str) -> Lossy:
        seen = self.text[at : at + limits.SNIPPET // 4]
        return Lossy(f"{what} at character {at + 1}: {seen!r}" if seen else f"{what} (at the end of the text)")

    def value(self, value: JsonValue, at: int, depth: int) -> int:
        """Lay one value over the text from ``at`` on; where it ends."""
        at = self.blank(at)
        if depth > limits.MAX_REPAIR_DEPTH:
            raise self.fail(at, "the text is nested too deeply")
        if isinstance(value, dict):
            return self.members(list(value.items()), at, depth, "{}")
        if isinstance(value, list):
            return self.members([(None, v) for v in value], at, depth, "[]")
        if isinstance(value, str):
            return self.string(value, at)
        if value is None or isinstance(value, bool):
            return self.literal(value, at)
        return self.number(value, at)

    def blank(self, at: int, gap: re.Pattern[str] = _BLANK) -> int:
        found = gap.match(self.text, at)
        end = found.end() if found else at
        for comment in _COMMENT.finditer(self.text, at, end):
            if re.search(r'["{}\[\]]', comment[0]):
                raise self.fail(comment.start(), "a part may be a comment or a value")
            self.changes.append("a comment was removed")
        return end

    def members(self, members: list[tuple[str | None, JsonValue]], at: int, depth: int, brackets: str) -> int:
        if self.text[at : at + 1] != brackets[0]:
            raise self.fail(at, f"{brackets[0]} is missing")
        at += 1
        for number, (key, value) in enumerate(members):
            at = self.separator(at, first=number == 0, is_object=key is not None)
            if key is not None:
                at = self.blank(self.string(key, at, is_key=True))
                if self.text[at : at + 1] != ":":
                    raise self.fail(at, "a colon is missing")
                at += 1
            at = self.value(value, at, depth + 1)
        return self.closing(at, depth, brackets, len(members))

    def separator(self, at: int, *, first: bool, is_object: bool) -> int:
        end = self.blank(at, _GAP)
        marks = "".join(_COMMENT.sub("", self.text[at:end]).split())
        is_line = is_object and "\n" in self.text[at:end]
        if not (marks or first or is_line) and self.text[at - 1] in "\"'" and self.text[end : end + 1] in ('"', "'"):
            raise self.fail(at, "two strings may be parts of one string")
        if marks != ("" if first else ","):
            self.changes.append("a comma was added" if not marks else "commas were corrected")
        return end

    def closing(self, at: int, depth: int, brackets: str, members: int) -> int:
        end = self.blank(at, _GAP)
        if "," in self.text[at:end] or ";" in self.text[at:end]:
            self.changes.append("a trailing comma was removed")
        here = self.text[end : end + 1]
        is_out = not here or here in "]})" or self.text.startswith(("```", "</"), end)
        if here == brackets[1]:
            is_last = not self.text[end + 1 :].strip("]} \t\r\n`;")
            end += 1
        elif not is_out:
            raise self.fail(end, "text that would be removed")
        else:
            self.missing += 1
            self.changes.append(f"a closing {brackets[1]} was added")
            is_last = here not in (")",) and not self.text[end:].strip("]} \t\r\n`;")
            if here == ")":
                raise self.fail(end, "an unexpected bracket")
        if is_last:
            self._at_end.append((depth, brackets, members))
        return end

    def check_ending(self, end: int) -> None:
        """If brackets are missing, the end of the text must show where they belong."""
        if not self.missing:
            return
        last = self.text[:end].rstrip("\r\n\t ,;`")[-1:]
        if last not in (*_QUOTES.values(), "]", "}"):
            raise self.fail(len(self.text), "the text may be truncated inside its last value")
        kinds: dict[str, int] = {}
        for depth, brackets, members in self._at_end:
            if brackets in kinds and (kinds[brackets] > 1 or members > 1):
                raise Lossy(f"a closing {brackets[1]} is missing, and there is more than one possible place for it")
            kinds[brackets] = max(members if depth else 0, kinds.get(brackets, 0))

    def check_outside(self, text: str) -> None:
        """Allow a fence, markup, stray closing brackets or a few words around the value."""
        rest = _FENCE.sub("", text)
        if rest != text:
            self.changes.append("a code fence or markup around the JSON was removed")
        bare = rest.strip()
        if bare.strip("]});, \r\n\t`") != bare:
            self.changes.append("stray punctuation around the JSON was removed")
        bare = bare.strip("]});, \r\n\t`'")
        words = _COMMENT.sub(" ", bare).strip()
        if words != bare:
            self.changes.append("a comment was removed")
        words = words.removesuffix(":")
        is_list = bool(words) and (self.missing or rest.strip()[:1] in (",", ":"))
        if _AROUND.search(words) or is_list or _LITERAL.search(words):
            raise Lossy(f"several values are possible, because {words[: limits.SNIPPET // 4]!r} is next to the value")
        if words:
            self.changes.append(f"the words {words[: limits.SNIPPET // 4]!r} next to the JSON were removed")

    def literal(self, value: JsonValue, at: int) -> int:
        for word in _LITERALS[value]:
            if self.text.startswith(word, at):
                if word != _LITERALS[value][0]:
                    self.changes.append(f"{word} was read as {_LITERALS[value][0]}")
                return self.check_delimiter(at + len(word))
        raise self.fail(at, "a repair would change this value")

    def number(self, value: JsonValue, at: int) -> int:
        found = _NUMBER.match(self.text, at)
        try:
            spelled = found[0].replace("_", "") if found else ""
            same = (int(spelled) if isinstance(value, int) else float(spelled)) == value
            finite = math.isfinite(value)
        except (ValueError, OverflowError):
            same = finite = False
        if found is None or not same or not finite:
            raise self.fail(at, "a repair would change this number")
        if re.match(r"[-+]?0\d", spelled):
            raise self.fail(at, "a number with a leading zero may be an octal number or a code")
        if not re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", found[0]):
            self.changes.append("the notation of a number was corrected")
        return self.check_delimiter(found.end())

    def check_delimiter(self, at: int) -> int:
        if self.text[at : at + 1] and not re.match(r"[\s,;:\]}/#`]", self.text[at]):
            raise self.fail(at, "text that would be removed")
        return at

    def string(self, value: str, at: int, *, is_key: bool = False) -> int:
        quote = _QUOTES.get(self.text[at : at + 1], "")
        if quote:
            end = self.content(value, at + 1, quote)
            if self.text[end : end + 1] != quote:
                raise self.fail(end, "a string is incomplete")
            if quote != '"':
                self.changes.append("quotes were corrected")
            return self.check_delimiter(end + 1)
        return self.bare(value, at, is_key)

    def bare(self, value: str, at: int, is_key: bool) -> int:
        """A text without quotes, or without the first of them."""
        if not value or not self.text.startswith(value, at):
            raise self.fail(at, "a value is missing, or a repair would change it")
        words = value.lower()
        if words in _WORDS_OF_NOTHING or (not is_key and any(w.startswith(words) for w in ("true", "false", "null"))):
            raise self.fail(at, "this is not a JSON value")
        if re.match(r"[-+.\d]", value) or re.search(r"[\"'`{}\[\],\n]|//|#", value):
            raise self.fail(at, "text without quotes may mean something else")
        self.changes.append("quotes were added")
        end = at + len(value)
        if self.text[end : end + 1] in ('"', "'"):
            end += 1
        return self.check_delimiter(end)

    def content(self, value: str, at: int, quote: str) -> int:
        """Match the characters of a text with its spelling; return the offset of its closing quote."""
        text, done, odd, controls = self.text, 0, False, False
        while done < len(value):
            here = text[at : at + 1]
            if not here:
                raise self.fail(at, "a string is incomplete")
            if here == "\\":
                chars, at, is_odd, is_control = self.escape(value, done, at)
                odd, controls = odd or is_odd, controls or is_control
                done += chars
                continue
            if here != value[done]:
                raise self.fail(at, "a part of a string would be removed")
            if here == quote:
                self.inner_quote(at)
            elif here < " ":
                self.changes.append("a raw control character was escaped")
            at, done = at + 1, done + 1
        if odd and controls:
            raise self.fail(at, "backslashes may or may not be escapes")
        return at

    def escape(self, value: str, done: int, at: int) -> tuple[int, int, bool, bool]:
        r"""(characters of the value, position behind, was no JSON escape, was \n, \t and the like)."""
        following = self.text[at + 1 : at + 2]
        unicode = _UNICODE.match(self.text, at + 1)
        if unicode:
            return *self.unicode(value, done, at), False, False
        char = _ESCAPES.get(following)
        if char is not None and value[done] == char:
            if following == "'":
                self.changes.append("an escape was corrected")
            return 1, at + 2, False, char < " "
        if char is None and following not in ("", "u", "x") and value.startswith("\\" + following, done):
            self.changes.append("a lone backslash was escaped")
            return 2, at + 2, True, False
        raise self.fail(at, "a part of a string would be removed")

    def unicode(self, value: str, done: int, at: int) -> tuple[int, int]:
        code, end = int(self.text[at + 2 : at + 6], 16), at + 6
        low = _UNICODE.match(self.text, end + 1) if self.text[end : end + 1] == "\\" else None
        if 0xD800 <= code < 0xDC00 and low and 0xDC00 <= int(low[1], 16) < 0xE000:
            code = 0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00
            end += 6
        if value[done] != chr(code):
            raise self.fail(at, "a part of a string would be removed")
        return 1, end

    def inner_quote(self, at: int) -> None:
        """Distinguish a quote inside a text from one that ends it."""
        after = self.text[self.blank_only(at + 1) :][:1]
        before = self.text[:at].rstrip()[-1:]
        if after in ("", *",:}];+") or before in (*',:{["+',):
            raise self.fail(at, "a quote inside a string may also end the string")
        self.changes.append("a quote inside a string was escaped")

    def blank_only(self, at: int) -> int:
        while self.text[at : at + 1].isspace():
            at += 1
        return at


def duplicates(text: str) -> Iterator[str]:
    """The halves of a text that is one text written twice."""
    stripped = text.strip()
    half, odd = divmod(len(stripped), 2)
    if not odd and half and stripped[:half] == stripped[half:]:
        yield stripped[:half]
