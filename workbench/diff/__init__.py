"""Differences between two bodies: in bytes, in meaning, and in spelling where the meaning is the same.

In: two bodies, exchanges or sessions. Out: the first difference, the byte ranges and the changes that differ. The first
difference matters most: a provider's cache reads a request up to there, and the chain was whole up to there.
It may import the core and the rooms up to ``convert``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.diff.meaning import Change, Kind, changes
from workbench.diff.wire import Hunk, first_difference, hunks
from workbench.fronts import lazy
from workbench.wire import JsonIndex

if TYPE_CHECKING:
    from workbench.diff.comparison import (
        Ask,
        Comparison,
        Item,
        Pair,
        compare_answers,
        compare_exchanges,
        compare_hops,
        compare_sessions,
        hops_of,
    )
    from workbench.diff.meaning import Detail
    from workbench.diff.said import Lost, lost
    from workbench.diff.wire import align, common, common_end
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "Ask",
    "Change",
    "Comparison",
    "Detail",
    "Difference",
    "Hunk",
    "Item",
    "Kind",
    "Lost",
    "Pair",
    "align",
    "common",
    "common_end",
    "compare",
    "compare_answers",
    "compare_exchanges",
    "compare_hops",
    "compare_indexed",
    "compare_sessions",
    "hops_of",
    "lost",
]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two bodies against one another.

    Attributes:
        first: offset of the first byte that differs in either body; None where they are equal.
        hunks: every range of bytes that differs, in order; between them the bodies are equal.
        changes: what that means, in order of the second body.
        is_read: both are JSON; else only ``hunks`` says something.
    """

    before: bytes
    after: bytes
    first: int | None
    hunks: tuple[Hunk, ...]
    changes: tuple[Change, ...]
    is_read: bool

    @property
    def shared(self) -> float:
        """How much of the second body stands unchanged at its beginning, 0 to 1."""
        if self.first is None or not self.after:
            return 1.0
        return min(self.first / len(self.after), 1.0)


def compare(before: bytes, after: bytes) -> Difference:
    """The differences between two bodies (content-decoded). Never raises: what is no JSON is compared as bytes."""
    return compare_indexed(JsonIndex(before), JsonIndex(after))


def compare_indexed(a: JsonIndex, b: JsonIndex) -> Difference:
    """The same of bodies that are indexed already: what was looked up in one is not looked up again."""
    before, after = a.text, b.text
    found = changes(a, b)
    return Difference(
        before, after, first_difference(before, after), hunks(a, b), found or (), is_read=found is not None
    )
