"""Places of an object's members and of the elements of a list; of a text that continues another the rest is scanned."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from workbench.wire._runs import MemberPlace, element_places, find_members
from workbench.wire.json_index import TextLayer
from workbench.wire.json_scan import ChildTable

_OPENED: Final = b'{"":[null'
"""In front of the rest of a list: an object, a list, and an element in the place of those before."""


class ListOutline:
    """An object with a list that grows from one text to the next.

    Attributes:
        list: the member that is the list.
        before, after: the members on both sides of it; the places of ``after`` count from ``end``.
        count: number of elements.
        end: end of the last element.
        tail: everything behind that.
    """

    __slots__ = ("_places", "after", "before", "count", "end", "list", "tail")

    def __init__(
        self,
        before: Sequence[MemberPlace],
        list_: MemberPlace,
        places: array[int],
        tail: bytes,
        after: Sequence[MemberPlace],
    ) -> None:
        self.before, self.list, self.after, self.tail = before, list_, after, tail
        self._places = places  # another outline may add more
        self.count = len(places) // 2
        self.end = places[-1] if places else list_.start + 1

    def place(self, number: int) -> tuple[int, int]:
        """Start and end of an element."""
        return self._places[2 * number], self._places[2 * number + 1]

    def count_kept(self, shared: int) -> int:
        """Number of first elements that another text has too, of which so many first bytes are the same."""
        return bisect_left(range(self.count), shared, key=lambda n: self._places[2 * n + 1])

    def resume(self, count: int, rest: bytes) -> ListOutline | None:
        """The outline of a text that differs from the end of an element on; None if that needs the full parser.

        Args:
            count: number of elements that it has in common, at least one.
            rest: what it has behind these.
        """
        found = outline(_OPENED + rest, "")
        if found is None or found.before or any(self._has(member.name) for member in found.after):
            return None
        shift = self._places[2 * count - 1] - len(_OPENED)
        places = self._places if len(self._places) == 2 * count else self._places[: 2 * count]
        places.extend(at + shift for at in found._places[2:])
        list_ = self.list._replace(end=found.list.end + shift)
        return ListOutline(self.before, list_, places, found.tail, found.after)

    def _has(self, name: str) -> bool:
        return name == self.list.name or any(member.name == name for member in self.before)

    def seed(self, layer: TextLayer) -> None:
        """Tell the layer of the text the children of the object and of the list, so that it need not scan them."""
        root = layer.scanner.root()
        if root is None:
            return
        whole, inner = ChildTable(is_object=True), ChildTable(is_object=False)
        for member in (*self.before, self.list, *(m.move(self.end) for m in self.after)):
            whole.add(member.name, member.key_start, member.key_end)
            whole.values.extend((member.start, member.end))
        inner.values = self._places[: 2 * self.count]
        layer.tables.update({root: whole, self.list.start: inner})


def outline(text: bytes, key: str) -> ListOutline | None:
    """The outline of an object whose member ``key`` is a list; None if that needs the full parser.

    Members and elements are only scanned, and may turn out not to be JSON when they are parsed.
    """
    members = find_members(text) or []
    number = next((n for n, member in enumerate(members) if member.name == key), None)
    places = None if number is None else element_places(text, members[number])
    if number is None or places is None:
        return None
    end = places[-1] if places else members[number].start + 1
    after = [member.move(-end) for member in members[number + 1 :]]
    return ListOutline(members[:number], members[number], places, text[end:], after)
