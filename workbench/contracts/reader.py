"""Read a data file strictly: every value is read by its type, and every error names file and pointer."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.errors import ProfileError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.provenance import escape


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a data file, and its place."""

    value: JsonValue
    file: str
    pointer: str = ""

    def fail(self, what: str) -> ProfileError:
        """The error for this node."""
        return ProfileError(what, where=f"{self.file}#{self.pointer}")

    def only(self, *keys: str) -> Node:
        """The node itself, if it is a mapping with no other keys. Raises the error otherwise."""
        for key in self._mapping():
            if key not in keys:
                raise self.fail(f"unknown key {key!r}")
        return self

    def get(self, key: str) -> Node:
        """The node under a key; its value is None if the key is absent."""
        return Node(self._mapping().get(key), self.file, f"{self.pointer}/{escape(key)}")

    def members(self) -> Iterator[tuple[str, Node]]:
        """(key, node) of a mapping; empty for None."""
        return ((key, self.get(key)) for key in self._mapping())

    def items(self) -> Iterator[Node]:
        """The elements of a list; empty for None."""
        if self.value is not None and not isinstance(self.value, list):
            raise self.fail("not a list")
        return (Node(v, self.file, f"{self.pointer}/{n}") for n, v in enumerate(self.value or ()))

    def text(self, default: str | None = None) -> str:
        """Text; ``default`` for None, if there is a default."""
        if self.value is None and default is not None:
            return default
        if not isinstance(self.value, str):
            raise self.fail("not text" if self.value is not None else "missing")
        return self.value

    def number(self) -> int:
        """A whole number."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.fail("not a whole number")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """A list of texts; () for None."""
        return tuple(item.text() for item in self.items())

    def _mapping(self) -> dict[str, JsonValue]:
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.fail("not a mapping")
        return self.value
