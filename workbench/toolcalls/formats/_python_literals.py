"""Python calls with literal arguments, ``f(a=1, b="x")``, read without Python's own parser.

Python's parser would refuse what models write all the same (``from="x"``, ``true``, ``007``) and overflows on hostile
nesting. What is not a literal is refused; nothing is ever evaluated. Facts: vLLM's pythonic parsers.
"""

from __future__ import annotations

import re
from typing import Final

from workbench import regex
from workbench.ir import JsonValue
from workbench.named_tuple import NamedTuple

MAX_DEPTH: Final = 100
"""Limit of nested containers. Each takes two calls of this module; real arguments stay under ten."""

_SPACE: Final = regex.compile(r"(?:[ \t\r\n\f]|\\\r?\n|#[^\n]*)*")
_NAME: Final = regex.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_NUMBER: Final = regex.compile(
    r"[+-]?\s*(?:0[xX][0-9a-fA-F_]{1,32}|(?:\d[\d_]{0,308})?\.?\d[\d_]{0,308}\.?(?:[eE][+-]?\d{1,4})?)(?![\w.])"
)
_STRING: Final = regex.compile(
    r"""([rRuU]?)(?:'''((?:[^\\]|\\.)*?)'''|\"\"\"((?:[^\\]|\\.)*?)\"\"\"|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")""",
    re.DOTALL,
)
_STRUCTURE: Final = regex.compile(_STRING.pattern + r"|\\.|[\[\](){}]", re.DOTALL)
_ESCAPE: Final = regex.compile(r"\\(\r?\n|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)", re.DOTALL)
_QUOTE: Final = regex.compile(r"""\\.|'{3}|"{3}|['"]|\n""", re.DOTALL)
_ONE: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "\n": "", "\r\n": ""}
_NOT_JSON: Final = "a tuple or set, which JSON does not support"
_WORDS: Final = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}


class NotPythonLiteral(Exception):
    """Raised if the text is not a literal at this index, and must be left alone."""


class PythonCall(NamedTuple):
    """One call.

    Attributes:
        input: None where an argument is not a literal.
        raw: the text between the parentheses.
        start, end: of the call in the text that was read.
        problems: what is wrong, each a few words.
    """

    name: str
    input: dict[str, JsonValue] | None
    raw: str
    start: int
    end: int
    problems: tuple[str, ...] = ()


def skip(text: str, at: int) -> int:
    """Index of the next character that is neither space nor comment."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


def call(text: str, at: int) -> PythonCall | None:
    """The call at this index; None if there is none, or its end is missing."""
    name = _NAME.match(text, at)
    if not name or not text.startswith("(", name.end()):
        return None
    inside = name.end() + 1
    try:
        found, end, problems = _arguments(text, inside)
    except NotPythonLiteral:
        end = _closing(text, inside)
        if end < 0:
            return None
        return PythonCall(name[0], None, text[inside:end], at, end + 1, ("an argument is not a literal",))
    return PythonCall(name[0], found, text[inside:end], at, end + 1, tuple(dict.fromkeys(problems)))


def literal(text: str) -> JsonValue:
    """Value of a text that is one literal; None if it is not, or if JSON has no such value."""
    problems = list[str]()
    try:
        value, end = _value(text, skip(text, 0), 1, problems)
    except NotPythonLiteral:
        return None
    return value if skip(text, end) == len(text) and not problems else None


def _arguments(text: str, at: int) -> tuple[dict[str, JsonValue], int, list[str]]:
    """Keyword arguments up to the closing parenthesis, its index, and the problems."""
    found, problems = dict[str, JsonValue](), list[str]()
    at = skip(text, at)
    while not text.startswith(")", at):
        name = _NAME.match(text, at)
        equals = skip(text, name.end()) if name else at
        if not name or not text.startswith("=", equals):
            raise NotPythonLiteral
        value, at = _value(text, skip(text, equals + 1), 1, problems)
        if name[0] in found:
            problems.append("a duplicate argument")
        found[name[0]] = value
        at = skip(text, at)
        if text.startswith(",", at):
            at = skip(text, at + 1)
        elif not text.startswith(")", at):
            raise NotPythonLiteral
    return found, at, problems


def _value(text: str, at: int, depth: int, problems: list[str]) -> tuple[JsonValue, int]:
    char = text[at : at + 1]
    if char in ("[", "(", "{") and char:
        if depth > MAX_DEPTH:
            raise NotPythonLiteral
        return _mapping(text, at, depth, problems) if char == "{" else _sequence(text, at, depth, problems)
    string = _STRING.match(text, at)
    if string:
        return _join_strings(text, string)
    number = _NUMBER.match(text, at)
    if number:
        return _number(number[0], problems), number.end()
    word = _NAME.match(text, at)
    if word and word[0] in _WORDS:
        return _WORDS[word[0]], word.end()
    raise NotPythonLiteral


def _sequence(text: str, at: int, depth: int, problems: list[str]) -> tuple[JsonValue, int]:
    """A list or tuple."""
    closer = "]" if text[at] == "[" else ")"
    at = skip(text, at + 1)
    if text.startswith(closer, at):
        problems += [_NOT_JSON] if closer == ")" else []
        return [], at + 1
    first, at = _value(text, at, depth + 1, problems)
    at = skip(text, at)
    if closer == ")" and text.startswith(")", at):
        return first, at + 1
    return _rest_of_sequence(text, at, depth, problems, closer, [first])


def _rest_of_sequence(
    text: str, at: int, depth: int, problems: list[str], closer: str, values: list[JsonValue]
) -> tuple[JsonValue, int]:
    """The values after the first one."""
    while not text.startswith(closer, at):
        if not text.startswith(",", at):
            raise NotPythonLiteral
        at = skip(text, at + 1)
        if text.startswith(closer, at):
            break
        value, at = _value(text, at, depth + 1, problems)
        values.append(value)
        at = skip(text, at)
    if closer != "]":
        problems.append(_NOT_JSON)
    return values, at + 1


def _mapping(text: str, at: int, depth: int, problems: list[str]) -> tuple[JsonValue, int]:
    found = dict[str, JsonValue]()
    at = skip(text, at + 1)
    while not text.startswith("}", at):
        key, at = _value(text, at, depth + 1, problems)
        at = skip(text, at)
        if not text.startswith(":", at):
            if found:
                raise NotPythonLiteral
            return _rest_of_sequence(text, at, depth, problems, "}", [key])
        if not isinstance(key, str):
            problems.append("a key is not a string")
            key = _key_text(key)
        found[key], at = _value(text, skip(text, at + 1), depth + 1, problems)
        at = skip(text, at)
        if text.startswith(",", at):
            at = skip(text, at + 1)
        elif not text.startswith("}", at):
            raise NotPythonLiteral
    return found, at + 1


def _key_text(key: JsonValue) -> str:
    """A non-string key in the form that JSON requires."""
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    if isinstance(key, int | float):
        return repr(key)
    raise NotPythonLiteral


def _number(text: str, problems: list[str]) -> JsonValue:
    plain = re.sub(r"[\s_]", "", text)
    digits = plain.lstrip("+-")
    if digits[:2] in ("0x", "0X"):
        return int(plain, 16)
    if digits.isdigit():
        if len(digits) > 1 and digits[0] == "0":
            problems.append("a number with leading zeros")
        return int(plain)
    value = float(plain)
    if value in (float("inf"), float("-inf")):
        raise NotPythonLiteral
    return value


def _join_strings(text: str, string: re.Match[str]) -> tuple[str, int]:
    """A string joined with the adjacent strings after it, as Python does."""
    parts = list[str]()
    found: re.Match[str] | None = string
    end = string.end()
    while found:
        body = next(g for g in found.groups()[1:] if g is not None)
        parts.append(body if found[1] in ("r", "R") or "\\" not in body else _ESCAPE.sub(_unescape, body))
        end = found.end()
        found = _STRING.match(text, skip(text, end))
    return "".join(parts), end


def _unescape(escape: re.Match[str]) -> str:
    letters = escape[1]
    if letters in _ONE:
        return _ONE[letters]
    if letters[0] in "xuU" and len(letters) > 1:
        code = int(letters[1:], 16)
        return chr(code) if code <= 0x10FFFF else escape[0]
    if letters.isdigit() and letters[0] in "01234567":
        return chr(int(letters, 8))
    return letters if letters in "\\'\"" else escape[0]


def _closing(text: str, at: int) -> int:
    """Index of the parenthesis that ends a call whose arguments could not be read, or -1."""
    depth = 0
    for found in _STRUCTURE.finditer(text, at):
        char = found[0]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            if depth == 0:
                return found.start() if char == ")" else -1
            depth -= 1
    return -1


class PythonStrings:
    """Follows the strings of Python code that arrives in pieces.

    Pieces end at tags, which never divide a quote from its neighbours or a backslash from what it escapes.
    """

    __slots__ = ("_quote",)

    def __init__(self) -> None:
        self._quote = ""

    def is_inside(self, text: str) -> bool:
        """True if the place behind this piece is in a string."""
        for found in _QUOTE.finditer(text):
            mark = found[0]
            if not self._quote:
                self._quote = mark if mark[0] in "'\"" else ""
            elif mark.startswith(self._quote) or (mark == "\n" and len(self._quote) == 1):
                self._quote = ""
        return bool(self._quote)
