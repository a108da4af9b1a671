"""Reads untrusted YAML as data: the types of JSON, and bytes.

Laws of this file:

* Nothing but null, booleans, numbers, text, bytes, lists and dicts with text keys comes out. A tag that is not one of
  theirs (``!!python/object/apply``, ``!ruby/…``) is dropped and its node kept as data. A container with one scalar in
  it is that scalar where a key is expected: serializers write text of a class of their own so.
* A plain scalar is resolved only where every YAML 1.1 writer would have quoted a text of that look: ``null``, ``yes``,
  ``12``, ``1.5``. Dates, base-60, octal and underscored numbers stay text. Keys are text as written.
* It is read event by event: neither depth nor aliases can cost more than their cap.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from workbench import regex
from workbench.errors import UnreadableInput
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.limits import MAX_YAML_DEPTH, MAX_YAML_DOCUMENTS, MAX_YAML_NODES, SNIPPET

if TYPE_CHECKING:
    from yaml import MarkedYAMLError
    from yaml.events import Event

_STANDARD = "tag:yaml.org,2002:"
_BINARY = ("binary", "!binary")
"""Tag of bytes without its standard prefix: Ruby writes it as a local tag."""
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {
    spelled: value
    for word, value in {"yes": True, "no": False, "true": True, "false": False, "on": True, "off": False}.items()
    for spelled in (word, word.capitalize(), word.upper())
}
_NUMBER = regex.compile(r"[-+]?(?:0|[1-9][0-9]{0,4000})(?P<fraction>\.[0-9]*(?:[eE][-+][0-9]+)?)?")
_SPECIAL = {
    sign + spelled: float(sign + word)
    for word, spellings in {"inf": (".inf", ".Inf", ".INF"), "nan": (".nan", ".NaN", ".NAN")}.items()
    for spelled in spellings
    for sign in ("", "+", "-")
    if word == "inf" or not sign
}


def load(text: bytes | str, *, name: str) -> JsonValue:
    """Value of a text with one YAML document.

    Args:
        text: the document; bytes are UTF-8, or UTF-16 with a byte order mark.
        name: name of the text in errors.

    Returns:
        None, bool, int, float, str, list, dict with str keys, and bytes for ``!!binary`` and ``!binary``. Values
        repeated by an alias are one shared object: treat them as read-only.

    Raises:
        UnreadableInput: not YAML, more than one document, or over a limit; with the line.
    """
    return next(iter(_parse(text, _Builder(name))), None)


def load_all(text: bytes | str, *, name: str) -> list[JsonValue]:
    """Values of a text with any number of YAML documents. As ``load``; the limits apply to all of them together."""
    return _parse(text, _Builder(name, most=MAX_YAML_DOCUMENTS))


def _parse(text: bytes | str, builder: _Builder) -> list[JsonValue]:
    import yaml

    name = builder.name
    decoded = text if isinstance(text, str) else _decode(text, name)
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return builder.build(yaml.parse(decoded, Loader=loader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _refusal(name, line, _problem(error)) from error
    except yaml.reader.ReaderError as error:
        line = decoded.count("\n", 0, error.position) + 1
        raise _refusal(name, line, f"not YAML: character {error.character!r}: {error.reason}") from error
    except UnicodeError as error:
        raise _refusal(name, 1, "not YAML: it contains a lone surrogate") from error


def _problem(error: MarkedYAMLError) -> str:
    """Reason for a refusal; libyaml from 0.2.6 on refuses deep nesting itself, before it yields an event."""
    problem = error.problem or error.context
    deep = "maximum nesting depth" in (problem or "")
    return f"nested deeper than {MAX_YAML_DEPTH}" if deep else f"not YAML: {problem}"


def _decode(data: bytes, name: str) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refusal(name, line, f"not {error.encoding} text at byte {error.start}") from error


def _refusal(name: str, line: int, what: str) -> UnreadableInput:
    return UnreadableInput(what[:SNIPPET], where=f"{name}:{line}")


@dataclass(slots=True)
class _Open:
    """A container being filled.

    Attributes:
        before: number of nodes when it started.
        is_key: it is a key of its mapping.
    """

    value: list[JsonValue] | dict[str, JsonValue]
    before: int
    anchor: str | None
    is_key: bool = False
    key: str | None = None


@dataclass(slots=True)
class _Builder:
    name: str
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[JsonValue, int]] = field(default_factory=dict)
    nodes: int = 0
    most: int = 1
    documents: int = 0
    roots: list[JsonValue] = field(default_factory=list)

    def build(self, events: Iterator[Event]) -> list[JsonValue]:
        from yaml import events as kinds

        handlers: dict[type[Event], Callable[[Any], None]] = {
            kinds.ScalarEvent: self.scalar,
            kinds.SequenceStartEvent: lambda event: self.begin([], event),
            kinds.MappingStartEvent: lambda event: self.begin({}, event),
            kinds.SequenceEndEvent: self.end,
            kinds.MappingEndEvent: self.end,
            kinds.AliasEvent: self.alias,
            kinds.DocumentStartEvent: self.document,
        }
        for event in events:
            if handler := handlers.get(type(event)):
                handler(event)
        return self.roots

    def document(self, event: Event) -> None:
        self.documents += 1
        self.anchors.clear()
        if self.documents > self.most:
            raise self.refuse(
                event, f"more than {'one YAML document' if self.most == 1 else f'{self.most:,} documents'}"
            )

    def scalar(self, event: Any) -> None:
        self.count(event, 1)
        value = event.value if self.wants_key() else self.resolve(event)
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)
        self.put(event, value)

    def resolve(self, event: Any) -> JsonValue:
        """Value of a scalar; ``implicit[0]`` is set for a plain scalar without a tag."""
        if event.implicit[0]:
            return _plain(event.value)
        tag = (event.tag or "").removeprefix(_STANDARD)
        if tag in _BINARY:
            return self.binary(event)
        return _plain(event.value) if tag in ("int", "float", "bool", "null") else event.value

    def binary(self, event: Any) -> bytes:
        try:
            return base64.b64decode("".join(event.value.split()), validate=True)
        except (binascii.Error, ValueError) as error:
            raise self.refuse(event, f"!!binary is not base64: {error}") from error

    def begin(self, value: list[JsonValue] | dict[str, JsonValue], event: Any) -> None:
        self.count(event, 1)
        is_key = self.wants_key()
        if len(self.stack) >= MAX_YAML_DEPTH:
            raise self.refuse(event, f"nested deeper than {MAX_YAML_DEPTH}")
        if event.anchor:
            self.anchors.pop(event.anchor, None)
        if not is_key:
            self.put(event, value)
        self.stack.append(_Open(value, self.nodes - 1, event.anchor, is_key))

    def end(self, event: Event) -> None:
        node = self.stack.pop()
        value: JsonValue = node.value
        if node.is_key:
            value = _only_scalar(node.value)
            if value is None:
                raise self.refuse(event, "a list or mapping cannot be a key; use a string")
            self.put(event, value)
        if node.anchor:
            self.anchors[node.anchor] = (value, self.nodes - node.before)

    def alias(self, event: Any) -> None:
        if event.anchor not in self.anchors:
            raise self.refuse(event, f"alias {event.anchor!r} has no complete anchor before it")
        value, size = self.anchors[event.anchor]
        self.count(event, size)
        if self.wants_key() and not isinstance(value, str):
            raise self.refuse(event, f"alias {event.anchor!r}, used as a key, does not refer to text")
        self.put(event, value)

    def wants_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].key is None and isinstance(self.stack[-1].value, dict)

    def put(self, event: Event, value: JsonValue) -> None:
        if not self.stack:
            self.roots.append(value)
            return
        top = self.stack[-1]
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is None:
            top.key = value
        else:
            top.value[top.key] = value
            top.key = None

    def count(self, event: Event, nodes: int) -> None:
        self.nodes += nodes
        if self.nodes > MAX_YAML_NODES:
            raise self.refuse(event, f"more than {MAX_YAML_NODES:,} nodes after alias expansion")

    def refuse(self, event: Event, what: str) -> UnreadableInput:
        mark: Any = event.start_mark
        return _refusal(self.name, mark.line + 1 if mark else 1, what)


def _only_scalar(value: JsonValue) -> str | None:
    """Text of the only scalar in nested containers of one item; None otherwise."""
    while isinstance(value, list | dict) and len(value) == 1:
        value = next(iter(value.values() if isinstance(value, dict) else value))
    if value is None or isinstance(value, list | dict | bytes):
        return None
    return value if isinstance(value, str) else str(value)


def _plain(text: str) -> JsonValue:
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if match := _NUMBER.fullmatch(text):
        return float(text) if match["fraction"] else int(text)
    return _SPECIAL.get(text, text)
