"""What a test goes through in a loop, in part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")


class Thin(Protocol):
    """Every n-th of what is found; all of it with ``--every``."""

    def __call__(self, found: Iterable[T], n: int) -> Iterator[T]: ...
