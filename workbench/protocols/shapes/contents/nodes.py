"""Objects of a protocol whose keys have two spellings: ``functionCall`` and ``function_call`` say the same.

The wire is proto3 JSON: servers write camelCase and read both (recorded: requests in snake_case that were answered).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from workbench import regex
from workbench.ir import JsonValue
from workbench.protocols.common.reading import BlockReader, Notes

_HUMP = regex.compile(r"(?<=[a-z0-9])[A-Z]")


@cache
def snake(key: str) -> str:
    """The other spelling of a key in camelCase."""
    return _HUMP.sub(lambda found: f"_{found.group().lower()}", key)


def key_of(value: Mapping[str, JsonValue], key: str) -> str:
    """The spelling that an object has of a key; the key itself where it has none."""
    return key if key in value or snake(key) not in value else snake(key)


def member(value: JsonValue, key: str) -> JsonValue:
    """The value of a key in either spelling; None where there is none, or where ``value`` is no object."""
    return value.get(key_of(value, key)) if isinstance(value, dict) else None


def as_list(value: JsonValue, at: str) -> Iterator[tuple[JsonValue, str]]:
    """(item, pointer) of each item of a repeated field: servers take a single object for a list of one (recorded)."""
    if isinstance(value, list):
        yield from ((item, f"{at}/{n}") for n, item in enumerate(value))
    else:
        yield value, at


class ContentNode(BlockReader):
    """An object, read key by key in either spelling. Members that are not read stay in ``rest``, at their place."""

    __slots__ = ("nested",)

    def __init__(self, value: Mapping[str, JsonValue], at: str, notes: Notes) -> None:
        super().__init__(value, at, notes)
        self.keys_read = set()
        self.nested: dict[str, JsonValue] = {}

    def take(self, name: str, key: str) -> JsonValue:
        """The value of a key, of any type, as the IR field ``name``."""
        return super().take(name, key_of(self.value, key))

    def string(self, name: str, key: str) -> str | None:
        """A string; a value of another type stays in ``rest`` and is noted."""
        return super().string(name, key_of(self.value, key))

    def skip(self, key: str) -> None:
        """Pass over a key that follows from what the part is."""
        self.keys_read.add(key_of(self.value, key))

    def inside(self, key: str) -> ContentNode | None:
        """The object at a key; None where there is none. ``absorb`` it when it has been read."""
        spelled = key_of(self.value, key)
        value = self.value.get(spelled)
        if not isinstance(value, dict):
            return None
        self.keys_read.add(spelled)
        return ContentNode(value, f"{self.at}/{spelled}", self.notes)

    def absorb(self, inner: ContentNode) -> None:
        """Take over the fields of an object inside, and what nobody took of it."""
        below = inner.at[len(self.at) :]
        self.pairs += ((name, below + suffix) for name, suffix in inner.pairs)
        rest = inner.rest()
        if rest:
            self.nested[below[1:]] = rest

    def rest(self) -> Mapping[str, JsonValue]:
        """Every key that was not read; call it before ``source``."""
        return self.extra(**self.nested)
