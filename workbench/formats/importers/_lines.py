"""Reads JSON Lines, one value per line; a damaged line loses only itself.

Recognises JSON by the beginning of a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import lru_cache
from typing import NamedTuple

from workbench import regex
from workbench.errors import UnreadableInput, WireError
from workbench.formats.importers._files import HEAD
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.wire import loads

MAX_DAMAGE = 20
"""Limit of damaged lines that are listed; further ones are counted."""


class Line(NamedTuple):
    """A line with a JSON object: ``number`` counts from one, ``raw`` has no surrounding white space."""

    number: int
    raw: bytes
    value: dict[str, JsonValue]


@dataclass(slots=True)
class ImportDamage:
    """Content that could not be read, collected while reading."""

    lines: list[str] = field(default_factory=list)
    more: int = 0
    kinds: dict[str, int] = field(default_factory=dict)

    def add(self, line: str) -> None:
        if len(self.lines) < MAX_DAMAGE:
            self.lines.append(line)
        else:
            self.more += 1

    def leave_out(self, what: str) -> None:
        """Count one more item of a kind that is left out, such as ``"a part of type 'x', which is not supported"``."""
        if what in self.kinds or len(self.kinds) < MAX_DAMAGE:
            self.kinds[what] = self.kinds.get(what, 0) + 1
        else:
            self.more += 1

    def unknown(self, what: str, kind: JsonValue) -> None:
        """Count one more item of an unknown type; ``what`` is its noun ("a part")."""
        if isinstance(kind, str):
            self.leave_out(f"{what} of type {kind[:40]!r}, which is not supported")
        else:
            self.leave_out(f"{what} without a type")

    def objects(self, value: JsonValue, what: str) -> Iterator[dict[str, JsonValue]]:
        """The objects of a list; whatever else is in it, or in its place, is left out: ``what`` calls one of them."""
        if not isinstance(value, list):
            if value not in (None, "", {}):
                self.leave_out(f"a value that should be a list ({what})")
            return
        for entry in value:
            if isinstance(entry, dict):
                yield entry
            else:
                self.leave_out(f"{what} that is not an object")

    def as_lines(self) -> tuple[str, ...]:
        kinds = (f"left out: {what}{f' ({count:,} times)' if count > 1 else ''}" for what, count in self.kinds.items())
        more = (f"{self.more:,} more problems like these",) if self.more else ()
        return (*self.lines, *kinds, *more)

    def refuse(self, nothing: str) -> UnreadableInput:
        """The error if nothing usable is left."""
        told = self.as_lines()
        return UnreadableInput(f"{nothing}: {told[0]}" if told else nothing)


def split(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(number, stripped line) of every non-blank line. Lines end at LF or CRLF."""
    start = number = 0
    data = data.removeprefix(b"\xef\xbb\xbf")
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        line = data[start:end].strip()
        if line:
            yield number, line
        start = end + 1


def objects(data: bytes, damage: ImportDamage) -> Iterator[Line]:
    """The objects of a list; everything else in it is left out. ``what`` is the noun of one item."""
    for number, raw in split(data):
        try:
            value = loads(raw)
        except WireError as error:
            damage.add(f"line {number}: {_brief(error)}")
            continue
        if isinstance(value, dict):
            yield Line(number, raw, value)
        else:
            damage.add(f"line {number}: not a JSON object")


@lru_cache(maxsize=4)
def first_objects(head: bytes, count: int = 8) -> Sequence[dict[str, JsonValue]]:
    """The objects of the first complete lines in the head of a file: read once for all importers that ask."""
    found: list[dict[str, JsonValue]] = []
    whole = head if len(head) < HEAD else head[: head.rfind(b"\n") + 1]
    for number, raw in split(whole):
        if number > count or not raw.startswith(b"{"):
            break
        try:
            value = loads(raw)
        except WireError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _brief(error: WireError) -> str:
    return f"{error.what} ({error.where.split(',')[0]})" if error.where else error.what


_JSON = regex.compile(rb"\s*(?:\{\s*[\"}]|\[\s*[\[{\"\]])")
_CALL = regex.compile(rb'\s*\[?\s*\{\s*"(?:name|tool|tool_name|function|action)"\s*:\s*["{]')
_ARGUMENTS = regex.compile(rb'[,{]\s*"(?:arguments|parameters|args|input|action_input|tool_input)"\s*:')


def is_json(head: bytes) -> bool:
    """True if it starts with an object or a list."""
    return bool(_JSON.match(head))


def is_written_call(head: bytes) -> bool:
    """True if it starts like a tool call that a model wrote as text."""
    return bool(_CALL.match(head) and _ARGUMENTS.search(head, 0, 4096))
