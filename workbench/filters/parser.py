"""Parses expressions: any text is parsed, or refused with ``FilterError``.

or    = and { "or" and }
and   = not { ["and"] not }
not   = ("-" | "!" | "not") not | "(" or ")" | term
term  = KEY OP VALUE | WORD | QUOTED
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from workbench import regex
from workbench.errors import FilterError, did_you_mean
from workbench.filters.expression import (
    BARE,
    BY_NAME,
    EXPECTED,
    And,
    Expression,
    FilterKey,
    Not,
    Or,
    Term,
    ValueKind,
    amount,
    status_class,
)

MAX_LENGTH = 2000
MAX_DEPTH = 40
"""Limit of nested parentheses and negations."""

_TERM: Final = regex.compile(r"([A-Za-z][A-Za-z0-9_-]*)(>=|<=|[:=~<>])")
_QUOTED: Final = regex.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_COMPARED: Final = regex.compile(r">=|<=|[<>=]")


def parse(text: str) -> Expression:
    """Parse an expression; one without conditions matches everything.

    Raises:
        FilterError: the text is not an expression; the error has the place and the reason.
    """
    if len(text) > MAX_LENGTH:
        raise FilterError(f"longer than {MAX_LENGTH:,} characters", MAX_LENGTH, len(text))
    reader = _ExpressionReader(text)
    found = reader.either(0)
    if reader.at < len(text):
        raise FilterError("unmatched )", reader.at, reader.at + 1)
    return found


class _Value(NamedTuple):
    text: str
    start: int
    end: int
    is_quoted: bool


class _ExpressionReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._skip()

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _is_word(self, *words: str) -> str:
        """The word at this position if it is one of these; empty otherwise."""
        found = BARE.match(self.text, self.at)
        return found[0].lower() if found and found[0].lower() in words else ""

    def _take(self, length: int) -> None:
        self.at += length
        self._skip()

    def either(self, depth: int) -> Expression:
        parts = [self._all(depth)]
        while self._is_word("or"):
            if parts[-1] == And():
                raise FilterError("'or' has nothing before it", self.at, self.at + 2, hint="a condition was expected")
            self._take(2)
            start = self.at
            parts.append(self._all(depth))
            if parts[-1] == And():
                raise FilterError("'or' has nothing after it", start, start, hint="a condition was expected")
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all(self, depth: int) -> Expression:
        parts: list[Expression] = []
        while self.at < len(self.text) and self.text[self.at] != ")" and not self._is_word("or"):
            if self._is_word("and"):
                if not parts:
                    raise FilterError("'and' has nothing before it", self.at, self.at + 3)
                self._take(3)
                self._expect("and")
            parts.append(self._one(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _expect(self, after: str) -> None:
        """Raise FilterError unless a condition follows."""
        if self.at >= len(self.text) or self.text[self.at] == ")" or self._is_word("and", "or"):
            raise FilterError(f"{after} has nothing after it", self.at, self.at, hint="a condition was expected")

    def _one(self, depth: int) -> Expression:
        if depth > MAX_DEPTH:
            raise FilterError(f"more than {MAX_DEPTH} levels", self.at, self.at + 1, hint="use fewer parentheses")
        sign = self._is_word("not") or (self.text[self.at] if self.text[self.at] in "-!" else "")
        if sign:
            self._take(len(sign))
            self._expect(sign)
            return Not(self._one(depth + 1))
        if self.text[self.at] == "(":
            return self._group(depth)
        return self._term()

    def _group(self, depth: int) -> Expression:
        start = self.at
        self._take(1)
        found = self.either(depth + 1)
        if self.at >= len(self.text):
            raise FilterError("unmatched (", start, start + 1)
        if found == And():
            raise FilterError("empty ( )", start, self.at + 1, hint="a condition was expected")
        self._take(1)
        return found

    def _term(self) -> Term:
        found = _TERM.match(self.text, self.at)
        if not found:
            word = self._value("")
            if not word.text:
                raise FilterError("nothing to search for", word.start, max(word.end, word.start + 1))
            return Term("", "~", word.text)
        key = BY_NAME.get(found[1].lower())
        if key is None:
            hint = did_you_mean(found[1].lower(), BY_NAME) or "put the text in quotes to search for the words"
            raise FilterError(f"unknown key {found[1]!r}", self.at, found.end(1), hint=hint)
        self.at = found.end()
        op = found[2]
        if op == ":" and (compared := _COMPARED.match(self.text, self.at)):
            op = compared[0]
            self.at = compared.end()
        return self._value_term(key, op, found.start(), self._value(op))

    def _value(self, op: str) -> _Value:
        """The value at this position: quoted, bare, or nothing."""
        start = self.at
        quoted = _QUOTED.match(self.text, start)
        if quoted:
            self._take(quoted.end() - start)
            return _Value(re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL), start, quoted.end(), True)
        if self.text.startswith('"', start):
            raise FilterError("an unclosed quote", start, len(self.text), hint='a closing " was expected')
        bare = BARE.match(self.text, start)
        if bare is None:
            if self.text.startswith("\\", start):
                raise FilterError("a backslash outside quotes", start, start + 1, hint="put the value in quotes")
            self._skip()
            return _Value("", start, start, False)
        self._take(bare.end() - start)
        return _Value(bare[0], start, bare.end(), False)

    def _value_term(self, key: FilterKey, op: str, start: int, value: _Value) -> Term:
        if key.kind is ValueKind.FLAG:
            if value.text or op != ":":
                hint = f"write {key.name}: or -{key.name}:"
                raise FilterError(f"{key.name} does not accept a value", start, value.end, hint=hint)
            return Term(key.name, ":", "")
        if not value.text and (op != ":" or value.is_quoted):
            raise FilterError(f"{key.name}{op} has no value", value.start, value.end, hint=_expectation(key))
        if key.kind is ValueKind.TEXT:
            if op not in (":", "=", "~"):
                raise FilterError(f"{key.name} is text, not a number", start, value.end, hint=_expectation(key))
            return Term(key.name, op, value.text)
        return _numeric(key, op, value)


def _numeric(key: FilterKey, op: str, value: _Value) -> Term:
    """A condition on a number. ``=`` is the same as ``:``."""
    op = ":" if op == "=" else op
    low, dots, high = value.text.partition("..")
    is_range = op == ":" and bool(dots) and bool(low or high)
    numbers = [n for n in (low, high) if n] if is_range else [value.text] if value.text else []
    is_class = op == ":" and key.kind is ValueKind.STATUS and status_class(value.text) is not None
    is_read = op != "~" and not value.is_quoted and all(amount(key.kind, n) is not None for n in numbers)
    if not is_read and not is_class:
        raise FilterError(
            f"{value.text!r} is not a value of {key.name}", value.start, value.end, hint=_expectation(key)
        )
    return Term(key.name, "..", low, high) if is_range else Term(key.name, op, value.text)


def _expectation(key: FilterKey) -> str:
    if key.kind is ValueKind.TEXT:
        return f"expected a value, as in {key.example}"
    return f"expected {EXPECTED[key.kind]}"
