"""The story of a session for a report: its lines, and where each one is in the bodies that the report shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from workbench.lazy_dataclass import dataclass
from workbench.rules import Inspector, by_cause
from workbench.views import Story, StoryBuilder, StoryItem, duration

MOST_LINES = 1_000
"""Lines of a story in a report."""

MOST_OF_A_LINE = 300

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class StoryText:
    """A line of the story.

    Attributes:
        number: its number, also of its bytes.
        groups: numbers of the calls that it belongs to: a call, its results, and the reasoning that led to it.
        spans: its bytes in the content-decoded body of its side; empty if they are not shown.
    """

    number: int
    exchange: int
    side: str
    depth: int
    kind: str
    label: str
    text: str
    note: str
    severity: str
    groups: tuple[int, ...] = ()
    spans: Spans = ()


def story_texts(inspector: Inspector, indices: Collection[int], with_bodies: Collection[int]) -> Sequence[StoryText]:
    """Lines of the story of some exchanges.

    Args:
        with_bodies: exchanges whose bodies the report shows.
    """
    builder = StoryBuilder()
    for row in inspector.rows:
        builder.add(row, inspector.read_exchange(row.index))
    story = builder.story(by_cause(f for row in inspector.rows for f in row.findings))
    groups = _groups(story)
    numbers = [n for n, item in enumerate(story.items) if item.exchange in indices][:MOST_LINES]
    return [_text(inspector, n, story.items[n], groups.get(n, ()), with_bodies) for n in numbers]


def _groups(story: Story) -> Mapping[int, tuple[int, ...]]:
    """Items that belong to calls: the call itself, what is below it, the reasoning of the same response."""
    found: dict[int, list[int]] = {}
    for number, item in enumerate(story.items):
        if item.kind == "call":
            for below in range(number, story.end_of(number)):
                found.setdefault(below, []).append(number)
            for before in range(number - 1, -1, -1):
                other = story.items[before]
                if other.exchange != item.exchange or other.side != item.side:
                    break
                if other.kind == "reasoning":
                    found.setdefault(before, []).append(number)
    return {number: tuple(calls) for number, calls in found.items()}


def _text(
    inspector: Inspector, number: int, item: StoryItem, groups: tuple[int, ...], with_bodies: Collection[int]
) -> StoryText:
    seconds = duration(item.seconds)
    note = " · ".join(filter(None, (item.note, f"after {seconds}" if seconds and item.kind == "result" else seconds)))
    label = "failed" if item.is_failed else item.label
    spans = _spans(inspector, item) if item.side and item.exchange in with_bodies else ()
    return StoryText(
        number,
        item.exchange,
        item.side,
        item.depth,
        item.kind,
        label,
        item.text[:MOST_OF_A_LINE],
        note,
        item.severity,
        groups,
        spans,
    )


def _spans(inspector: Inspector, item: StoryItem) -> Spans:
    decoded = inspector.read_exchange(item.exchange)
    return tuple(sorted(decoded.place(item.side, item.pointer).spans)) if decoded else ()
