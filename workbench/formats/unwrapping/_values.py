r"""Reads values written as JSON, Python, JavaScript or SDK objects, without any of their parsers.

Supported are JSON with comments and trailing commas (JSON5), Python literals and ``repr`` of dictionaries and bytes,
JavaScript object literals, and calls with literal arguments: ``ChatCompletion(id='x', choices=[Choice(…)])``,
``JSON.stringify({…})``. Nothing is evaluated: other syntax is refused with its offset. Every character is read once,
and containers are nested at most ``MAX_DEPTH`` deep.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from workbench import regex
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, field

MAX_DEPTH: Final = 100
"""Limit of nested containers. Real bodies stay under 40; each level takes three calls in this module."""

_SPACE = regex.compile(r"(?:\s+|//[^\n]*|/\*.{0,4096}?\*/|(?<![^\s,{\[(])#[^\n]*)*", re.DOTALL)
_NUMBER = regex.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F]{1,32}|(?:\d[\d_]{0,400})?(?:\.\d{0,400})?(?:[eE][-+]?\d{1,4})?)(?![\w.])"
)
_JSON_NUMBER = regex.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?\Z")
QUOTES: Final = ("'", '"', "`", "\u201c", "\u2018")
_PREFIX = regex.compile(r"[rRbBuUfF]{0,2}(?=['\"`\u201c\u2018])")
_STRINGS = {
    "\u201c": regex.compile(r"\u201c((?:[^\u201d\\\n]|\\.)*+)\u201d", re.DOTALL),  # as word processors write quotes
    "\u2018": regex.compile(r"\u2018((?:[^\u2019\\\n]|\\.)*+)\u2019", re.DOTALL),
    '"': regex.compile(r'"((?:[^"\\\n]|\\.)*+)"', re.DOTALL),
    "'": regex.compile(r"'((?:[^'\\\n]|\\.)*+)'", re.DOTALL),
    "`": regex.compile(r"`((?:[^`\\$]|\\.|\$(?!\{))*+)`", re.DOTALL),
    '"""': regex.compile(r'"""((?:[^"\\]|\\.|"(?!""))*+)"""', re.DOTALL),
    "'''": regex.compile(r"'''((?:[^'\\]|\\.|'(?!''))*+)'''", re.DOTALL),
}
_NAME = regex.compile(r"[^\W\d][\w$]*(?:\??\.[^\W\d][\w$]*)*|\$[\w$]+(?:\.[\w$]+)*")
_OBJECT = regex.compile(r"<(?:[^<>'\"\n]|'[^'\n]*'|\"[^\"\n]*\"|<[^<>\n]*>){1,300}>")
_ENUM = regex.compile(r"<[\w.]+: ('[^'\n]*'|\d+)>")
_ESCAPE = regex.compile(
    r"\\(\r?\n|x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)", re.DOTALL
)
_OCTAL: Final = "01234567"
_ONE: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "\n": "", "\r\n": ""}
_WORDS: Final[Mapping[str, JsonValue]] = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None, "undefined": None,
}  # fmt: skip
_JSON_WORDS: Final = frozenset({"true", "false", "null"})
_SHOWN_ONLY = regex.compile(
    r"\[(?:Object|Array|Function|AsyncFunction|GeneratorFunction|class|Circular|Getter|Setter|Symbol|Map|Set|Buffer)\b"
    r"[^\[\]\n]{0,120}(?:\[[^\[\]\n]{0,60}\][^\[\]\n]{0,60})?\]"
)
"""Placeholder that Node prints for a hidden value or key."""

_CLASS = regex.compile(r"[A-Z]\w{0,60}(?:[ ]\[[^\[\]\n]{0,60}\]|\([^()\n]{0,20}\)(?=[ ][{\[]))?[ ](?=[{\[])")
"""Class name that Node prints before a value."""

_OMITTED: Final = frozenset({"NOT_GIVEN", "NotGiven", "omit", "Omit"})
_CLOSERS: Final = {"{": "}", "[": "]", "(": ")"}


class UnreadableValue(Exception):
    """Raised if the text is not a literal.

    Args:
        what: the reason, in words.
        at: offset.
        is_end: the text ends before the value does.
    """

    def __init__(self, what: str, at: int, *, is_end: bool = False) -> None:
        super().__init__(what)
        self.what = what
        self.at = at
        self.is_end = is_end


@dataclass(frozen=True, slots=True)
class LiteralCall:
    """A call with literal arguments, ``Message(role='user')``, or of an unknown function."""

    name: str
    args: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default=NOTHING)


class _OmittedParameter:
    """A parameter that was not given."""


class ElidedValue:
    """A value that was printed without its content: ``[Object]``."""


@dataclass(slots=True)
class ValueReader:
    """Reads values from a text.

    Attributes:
        names: values of variables assigned before.
        is_json: everything read since it was set is standard JSON.
        at: end of the value read last.
    """

    text: str
    names: Mapping[str, Any] = field(default=NOTHING)
    is_json: bool = True
    at: int = 0
    _depth: int = 0

    def value(self, at: int) -> Any:
        """The value at an offset; sets ``at`` to its end. Raises NotLiteral."""
        self.at, self._depth = at, 0
        return self._value()

    def arguments(self, at: int) -> LiteralCall:
        """Arguments of a call, from its opening parenthesis. Raises NotLiteral."""
        self.at, self._depth = at, 0
        return self._call("")

    def _skip(self) -> str:
        """The next significant character; empty at the end."""
        char = self.text[self.at : self.at + 1]
        if char and (char.isspace() or char in "/#"):
            start = self.at
            found = _SPACE.match(self.text, start)
            self.at = found.end() if found else start
            self.is_json = self.is_json and not self.text[start : self.at].strip()
            char = self.text[self.at : self.at + 1]
        return char

    def _fail(self, what: str) -> UnreadableValue:
        is_end = not self.text[self.at :].strip()
        return UnreadableValue("the text ends inside a value" if is_end else what, self.at, is_end=is_end)

    def _value(self) -> Any:
        char = self._skip()
        if char == "@" and self.text.startswith(("{", "("), self.at + 1):  # PowerShell
            self.at += 1
            found = self._deeper(self._mapping if self.text[self.at] == "{" else self._items)
            return [found] if isinstance(found, dict) and self.text[self.at - 1] == ")" else found
        if char == "[" and (placeholder := _SHOWN_ONLY.match(self.text, self.at)):
            self.at, self.is_json = placeholder.end(), False
            return ElidedValue()
        if char in ("{", "["):
            return self._deeper(self._mapping if char == "{" else self._items)
        if char == "(":
            self.is_json = False
            return self._deeper(self._items)
        if char in QUOTES or (char and char in "rRbBuUfF" and _PREFIX.match(self.text, self.at)):
            return self._text()
        if char and (char.isdigit() or char in "-+."):
            return self._number()
        if char == "<":
            return self._object()
        return self._word()

    def _deeper(self, read: Any) -> Any:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnreadableValue(f"nested deeper than {MAX_DEPTH}", self.at)
        found = read()
        self._depth -= 1
        return found

    def _mapping(self) -> dict[str, Any]:
        self.at += 1
        found: dict[str, Any] = {}
        while (char := self._skip()) != "}":
            if self.text.startswith("...", self.at):
                raise self._fail("a value was left out (…)")
            key = self._key(char)
            if self._skip() not in (":", "="):
                raise self._fail("missing colon after a key")
            self.is_json = self.is_json and self.text[self.at] == ":"
            self.at += 2 if self.text.startswith("=>", self.at) else 1
            value = self._value()
            if not isinstance(value, _OmittedParameter):
                found[key] = value
            self._comma("}")
        self.at += 1
        return found

    def _key(self, char: str) -> str:
        if char == "[" and (placeholder := _SHOWN_ONLY.match(self.text, self.at)):
            self.at, self.is_json = placeholder.end(), False
            return placeholder[0]
        if char in QUOTES:
            key = self._text()
            return key if isinstance(key, str) else str(key)
        self.is_json = False
        found = _NAME.match(self.text, self.at) or _NUMBER.match(self.text, self.at)
        if not found or not found[0]:
            raise self._fail("not a key of a mapping")
        self.at = found.end()
        return found[0]

    def _items(self) -> Any:
        opened = self.text[self.at]
        closer = _CLOSERS[opened]
        self.at += 1
        found: list[Any] = []
        commas = 0
        while self._skip() != closer:
            item = self._value()
            if not isinstance(item, _OmittedParameter):
                found.append(item)
            commas += self._comma(closer)
        self.at += 1
        if opened == "(" and len(found) == 1 and not commas:
            return found[0]
        return found

    def _comma(self, closer: str) -> bool:
        char = self._skip()
        if char == ",":
            self.at += 1
            self.is_json = self.is_json and self._skip() != closer
            return True
        if char == ";" and closer == "}":  # a hash table of PowerShell
            self.at += 1
            return True
        if char != closer and not (
            closer == "}" and "\n" in self.text[max(0, self.at - 80) : self.at] and self._is_hash()
        ):
            raise self._fail("missing comma between two values")
        return False

    def _is_hash(self) -> bool:
        """True in a PowerShell hash table, where line ends separate members."""
        return bool(re.compile(r"[\"']?[\w-]+[\"']?\s*=(?!=)").match(self.text, self.at))

    def _text(self) -> Any:
        """A string, or several adjacent or added ones."""
        first = self._string()
        while True:
            end, was_json = self.at, self.is_json
            char = self._skip()
            if char == "+":
                self.at += 1
                char = self._skip()
            if char in QUOTES and char:
                more = self._string()
                if self._skip() in (":", "="):  # the key of the next member, which no comma separates
                    self.at, self.is_json = end, was_json
                    return first
                self.is_json = False
                if type(first) is not type(more):
                    raise self._fail("a text and bytes are joined")
                first += more  # type: ignore[operator]
                continue
            self.at, self.is_json = end, was_json
            return first

    def _string(self) -> str | bytes:
        prefix = _PREFIX.match(self.text, self.at)
        kind = prefix[0].lower() if prefix else ""
        start = self.at + len(kind)
        quote = self.text[start : start + 1]
        tripled = quote * 3 if quote in ("'", '"') and self.text.startswith(quote * 3, start) else quote
        if tripled not in _STRINGS or "f" in kind:
            raise self._fail("not a plain string")
        found = _STRINGS[tripled].match(self.text, start)
        if not found:
            is_end = self.text.find("\n", start) < 0 or len(tripled) == 3
            raise UnreadableValue("an unclosed string", start, is_end=is_end)
        self.at = found.end()
        self.is_json = self.is_json and tripled == '"' and not kind
        body = found[1]
        if "\\" in body and "r" not in kind:
            if self.is_json and re.search(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})', body):
                self.is_json = False
            body = _ESCAPE.sub(_unescape, body)
            if any("\ud800" <= c <= "\udfff" for c in body):
                body = body.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if "b" not in kind:
            return body
        try:
            return body.encode("latin-1")
        except UnicodeEncodeError:
            return body.encode("utf-8", "surrogateescape")

    def _number(self) -> JsonValue:
        found = _NUMBER.match(self.text, self.at)
        word = found[0] if found else ""
        if not word or word in "+-.":
            if self.text.startswith("-Infinity", self.at):
                raise self._fail("a number that JSON does not allow")
            raise self._fail("a value was left out (…)" if self.text.startswith("...", self.at) else "no value")
        self.at += len(word)
        if not _JSON_NUMBER.match(word):
            self.is_json = False
        plain = word.replace("_", "")
        try:
            return int(plain, 0) if "x" in plain.lower() else int(plain)
        except ValueError:
            pass
        try:
            return float(plain)
        except ValueError:
            raise self._fail("no number") from None

    def _object(self) -> Any:
        """``<Role.USER: 'user'>`` is its value; ``<function f at 0x…>`` is nothing."""
        self.is_json = False
        enum = _ENUM.match(self.text, self.at)
        if enum:
            self.at = enum.end()
            return enum[1][1:-1] if enum[1][0] == "'" else int(enum[1])
        found = _OBJECT.match(self.text, self.at)
        if not found:
            raise self._fail("no value")
        self.at = found.end()
        return _OmittedParameter()

    def _word(self) -> Any:
        if (named := _CLASS.match(self.text, self.at)) and named[0].strip() not in _WORDS:
            self.at, self.is_json = named.end(), False
            return self._value()
        found = _NAME.match(self.text, self.at)
        if not found:
            raise self._fail("a value was left out (…)" if self.text.startswith(("...", "…"), self.at) else "no value")
        word = found[0]
        start, self.at = self.at, found.end()
        if word in _WORDS:
            self.is_json = self.is_json and word in _JSON_WORDS
            return _WORDS[word]
        self.is_json = False
        if word in ("new", "await", "async", "return") and self.text[self.at : self.at + 1].isspace():
            return self._value()
        if self.text.startswith("(", self.at):
            return self._known_value(self._call(word))
        if word in _OMITTED:
            return _OmittedParameter()
        if word in self.names:
            return self.names[word]
        self.at = start
        raise self._fail(f"the name {word[:40]} has no known value")

    def _call(self, name: str) -> LiteralCall:
        call: LiteralCall = self._deeper(lambda: self._arguments(name))
        return call

    def _arguments(self, name: str) -> LiteralCall:
        self.at += 1
        args: list[Any] = []
        named: dict[str, Any] = {}
        while self._skip() != ")":
            key = re.compile(r"([^\W\d]\w*)\s*=(?![=>])").match(self.text, self.at)
            spread = self.text.startswith("**", self.at)
            self.at = key.end() if key else self.at + 2 * spread
            value = self._value()
            if key:
                named |= {} if isinstance(value, _OmittedParameter) else {key[1]: value}
            elif spread and isinstance(value, dict):
                named |= value
            else:
                args.append(None if isinstance(value, _OmittedParameter) else value)
            self._comma(")")
        self.at += 1
        return LiteralCall(name, tuple(args), named)

    def _known_value(self, call: LiteralCall) -> Any:
        """Value of a call: the object it creates, or the value it wraps."""
        last = call.name.rpartition(".")[2]
        if last in _OMITTED:
            return _OmittedParameter()
        if last in ("stringify", "dumps") and call.args:
            return JsonTextValue(call.args[0])
        if call.named and not call.args:
            return dict(call.named)
        if len(call.args) == 1 and not call.named:
            return call.args[0]
        if not call.args and not call.named:
            return {}
        return list(call.args)


@dataclass(frozen=True, slots=True)
class JsonTextValue:
    """A value that the surrounding program encodes as JSON text."""

    value: Any


def _unescape(match: re.Match[str]) -> str:
    word = match[1]
    if word in _ONE:
        return _ONE[word]
    if word[0] in "xuU" and len(word) > 1:
        code = int(word[1:].strip("{}"), 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    return chr(int(word, 8)) if word[0] in _OCTAL else word


def json_types(value: Any) -> JsonValue:
    """A value as JSON types; bytes become text. Raises NotLiteral if a part of it is elided."""
    if isinstance(value, ElidedValue):
        raise UnreadableValue("a nested value is missing ([Object])", 0, is_end=True)
    if isinstance(value, dict):
        return {str(k): json_types(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [json_types(v) for v in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, JsonTextValue):
        from workbench.wire import dumps

        return dumps(json_types(value.value)).decode("utf-8", "replace")
    if isinstance(value, LiteralCall):
        return {str(k): json_types(v) for k, v in value.named.items()}
    return value if isinstance(value, str | int | float | bool) else None
