"""Items of a story, and which of them are visible."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from workbench.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class StoryItem:
    """One row of the story.

    Attributes:
        kind: ``"conversation"``, ``"earlier"`` (messages from before the recording), ``"history"`` (the client has
            changed it), ``"message"``, ``"reasoning"``, ``"text"``, ``"call"``, ``"tool-hop"`` (the request to a tool
            server that carried the call above it out), ``"result"``, ``"attempts"`` (failed ones, repeated unchanged),
            ``"error"``, ``"finding"``, ``"part"`` (media and unknown parts), ``"others"`` (no model exchanges) and
            ``"other"`` (one of them).
        exchange: index of the exchange; ``side`` and ``pointer`` are the place in it, empty for the whole exchange.
        depth: depth in the tree; the items of a greater depth that follow belong to this one.
        label: role, name of the tool, status or rule.
        text: full text, untrusted.
        note: facts in words.
        seconds: duration: of a conversation, of the provider's answer, of a client until it sends the tool result.
        at: seconds since the beginning of the session, at the first item of an exchange; None elsewhere.
        is_first: it is the first item of its exchange.
        severity: the worst finding in it, for a conversation and for findings.
        is_folded: the items below are hidden at first.
        is_failed: a tool result that says it is an error.
    """

    kind: str
    exchange: int
    side: str = ""
    pointer: str = ""
    depth: int = 0
    label: str = ""
    text: str = ""
    note: str = ""
    seconds: float | None = None
    at: float | None = None
    is_first: bool = False
    severity: str = ""
    is_folded: bool = False
    is_failed: bool = False


@dataclass(frozen=True, slots=True)
class Story:
    """The items of a session in reading order. ``read``: number of exchanges that it was made from."""

    items: tuple[StoryItem, ...] = ()
    read: int = 0

    def end_of(self, number: int) -> int:
        """Number after the last item that belongs to one."""
        depth = self.items[number].depth
        below = takewhile(lambda n: self.items[n].depth > depth, range(number + 1, len(self.items)))
        return number + 1 + sum(1 for _ in below)

    def has_below(self, number: int) -> bool:
        """True if other items belong to one."""
        return number + 1 < len(self.items) and self.items[number + 1].depth > self.items[number].depth

    def parent_of(self, number: int) -> int | None:
        """Number of the item that one belongs to; None at the top."""
        depth = self.items[number].depth
        return next((n for n in range(number - 1, -1, -1) if self.items[n].depth < depth), None)

    def visible_items(self, toggled: frozenset[int] = frozenset()) -> Sequence[int]:
        """Numbers of the visible items; ``toggled`` are folded the other way round than at first."""
        visible, number = [], 0
        while number < len(self.items):
            visible.append(number)
            is_folded = self.items[number].is_folded != (number in toggled)
            number = self.end_of(number) if is_folded else number + 1
        return visible
