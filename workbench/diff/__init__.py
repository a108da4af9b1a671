"""Differences between two bodies: in bytes, in meaning, and in spelling where the meaning is the same.

In: two bodies, exchanges or sessions. Out: the first difference, the byte ranges and the changes that differ. The first
difference matters most: a provider's cache reads a request up to there, and the chain was whole up to there.
It may import the core and the rooms up to ``protocols``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.diff.meaning import ItemChange, ItemChangeKind, item_changes
from workbench.diff.wire import Hunk, first_difference, hunks
from workbench.fronts import lazy
from workbench.lazy_dataclass import dataclass
from workbench.wire import JsonIndex

if TYPE_CHECKING:
    from workbench.diff.comparison import (
        AnswerItem,
        Ask,
        Comparison,
        ItemPair,
        compare_answers,
        compare_exchanges,
        compare_hops,
        compare_sessions,
        hops_of,
    )
    from workbench.diff.content import ContentLoss, content_losses
    from workbench.diff.meaning import ValueDifference
    from workbench.diff.wire import align, common, common_end
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "AnswerItem",
    "Ask",
    "Comparison",
    "ContentLoss",
    "Difference",
    "Hunk",
    "ItemChange",
    "ItemChangeKind",
    "ItemPair",
    "ValueDifference",
    "align",
    "common",
    "common_end",
    "compare",
    "compare_answers",
    "compare_exchanges",
    "compare_hops",
    "compare_indexed",
    "compare_sessions",
    "content_losses",
    "hops_of",
    "item_changes",
]


@dataclass(frozen=True, slots=True)
class Difference:
    """Two bodies compared.

    Attributes:
        first: offset of the first byte that differs in either body; None if they are equal.
        hunks: every range of bytes that differs, in order; between them the bodies are equal.
        changes: the changed items, in the order of the second body.
        is_read: both are JSON; else only ``hunks`` is meaningful.
    """

    before: bytes
    after: bytes
    first: int | None
    hunks: tuple[Hunk, ...]
    changes: tuple[ItemChange, ...]
    is_read: bool

    @property
    def unchanged_share(self) -> float:
        """Share of the second body before the first difference, 0 to 1."""
        if self.first is None or not self.after:
            return 1.0
        return min(self.first / len(self.after), 1.0)


def compare(before: bytes, after: bytes) -> Difference:
    """Compare two bodies (content-decoded). Never raises: bodies that are no JSON are compared as bytes."""
    return compare_indexed(JsonIndex(before), JsonIndex(after))


def compare_indexed(a: JsonIndex, b: JsonIndex) -> Difference:
    """The same for bodies with an index: lookups already made are not repeated."""
    before, after = a.text, b.text
    found = item_changes(a, b)
    return Difference(
        before, after, first_difference(before, after), hunks(a, b), found or (), is_read=found is not None
    )
