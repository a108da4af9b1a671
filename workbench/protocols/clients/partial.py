"""Incomplete JSON as clients parse it: complete values are kept, open ones are closed."""

from __future__ import annotations

import re
from typing import Final

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.wire import loads

_SPACE: Final = regex.compile(r"[ \t\r\n]*")
_STRING: Final = regex.compile(r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*"')
_STRING_BEGUN: Final = regex.compile(
    r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z'
)
_NUMBER: Final = regex.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_BEGUN: Final = regex.compile(r"-?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?)?\Z")
_WORD: Final = regex.compile(r"true|false|null")
_WORDS: Final = ("true", "false", "null")


class _PartialJsonReader:
    """Goes through the text once; remembers where it could be cut so that closing what is open makes it whole."""

    def __init__(self, text: str, *, is_lenient: bool) -> None:
        self.text = text
        self.is_lenient = is_lenient
        self.open: list[str] = []
        self.cut = (-1, "")
        self.at = 0

    def read(self) -> int | None:
        """The end of the first whole value; None if the text ends inside it. Raises WireError if it is not JSON."""
        self._value()
        while self.open:
            self._skip()
            if self.at >= len(self.text) or (self.is_lenient and self._lacks_comma()):
                return None
            self._member()
        return self.at if self.cut[0] == self.at else None

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _lacks_comma(self) -> bool:
        """Behind a member is neither a comma nor the end."""
        return self.text[self._before()] not in "{[," and self.text[self.at] not in (",", self.open[-1])

    def _member(self) -> None:
        """Read on inside an open object or array: an end, or a comma and another value."""
        char, closer = self.text[self.at], self.open[-1]
        is_first = self.text[self._before()] in "{["
        if char == closer and (is_first or self.text[self._before()] != ","):
            self.at += 1
            self.open.pop()
            self._mark()
            return
        if not is_first:
            if char != ",":
                raise self._wrong()
            self.at += 1
            self._skip()
        if closer == "}":
            self._key()
        if self.at < len(self.text):
            self._value()

    def _before(self) -> int:
        at = self.at - 1
        while self.text[at] in " \t\r\n":
            at -= 1
        return at

    def _key(self) -> None:
        if not self._string():
            return
        self._skip()
        if self.at < len(self.text):
            if self.text[self.at] != ":":
                raise self._wrong()
            self.at += 1

    def _value(self) -> None:
        self._skip()
        char = self.text[self.at : self.at + 1]
        if char in ("{", "["):
            self.open.append("}" if char == "{" else "]")
            self.at += 1
            self._mark()
        elif char == '"':
            if self._string():
                self._mark()
        elif char and (char == "-" or char.isdigit()):
            self._number()
        elif char:
            self._word()

    def _string(self) -> bool:
        """A whole string; False where the text ends in it."""
        found = _STRING.match(self.text, self.at)
        if found:
            self.at = found.end()
            return True
        if self.at < len(self.text) and not _STRING_BEGUN.match(self.text, self.at):
            raise self._wrong()
        self.at = len(self.text)
        return False

    def _number(self) -> None:
        found = _NUMBER.match(self.text, self.at)
        if _NUMBER_BEGUN.match(self.text, self.at):
            is_whole = found is not None and found.end() == len(self.text)
            self.at = len(self.text)
            if is_whole and self.is_lenient:
                self._mark()
            return
        if found is None or self.text[found.end()] in "0123456789.eE+-":
            raise self._wrong()
        self.at = found.end()
        self._mark()

    def _word(self) -> None:
        found = _WORD.match(self.text, self.at)
        if found:
            self.at = found.end()
            self._mark()
            return
        rest = self.text[self.at : self.at + 6]
        if not any(word.startswith(rest) for word in _WORDS):
            raise self._wrong()
        self.at = len(self.text)

    def _mark(self) -> None:
        self.cut = (self.at, "") if not self.open else (self.at, "?")

    def _wrong(self) -> WireError:
        return WireError("not JSON", where=f"character {self.at}", hint="see the arguments as sent")

    def closed_text(self) -> str:
        """The text up to where it can be cut, and what closes it."""
        end = self.cut[0]
        if end < 0:
            raise WireError("no JSON value has started yet", where="the arguments", hint="wait for more of the stream")
        return self.text[:end] + _closers(self.text[:end])


def _closers(text: str) -> str:
    closers: list[str] = []
    for found in re.finditer(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', text, re.DOTALL):
        match found.group():
            case "{":
                closers.append("}")
            case "[":
                closers.append("]")
            case "}" | "]":
                closers.pop()
    return "".join(reversed(closers))


def read_partial(text: str, *, is_lenient: bool) -> JsonValue:
    """The value of a text that may end early.

    Args:
        text: the beginning of a JSON text.
        is_lenient: a number the text ends with counts, although more digits may come; what follows the first whole
            value, or a member without its comma, is passed over instead of refused (``jiter`` 0.19, ``partial_mode``).

    Raises:
        WireError: no beginning of a JSON text, or no value has begun.
    """
    reader = _PartialJsonReader(text, is_lenient=is_lenient)
    end = reader.read()
    if end is None:
        return loads(reader.closed_text())
    if not is_lenient and text[end:].strip(" \t\r\n"):
        raise WireError("text after the value", where=f"character {end}", hint="see the arguments as sent")
    return loads(text[:end])
