"""The session as a story, for ``show --as story``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.rules import Inspector
    from workbench.views import Story, StoryItem

WIDTH = 120
"""Columns of a line; longer texts are cut."""


def read(inspector: Inspector) -> Story:
    """The story of a whole session."""
    from workbench.rules import by_cause
    from workbench.views import StoryBuilder

    builder = StoryBuilder()
    for _ in inspector.steps():
        pass
    for row in inspector.rows:
        builder.add(row, inspector.read_exchange(row.index))
    return builder.story(by_cause(finding for row in inspector.rows for finding in row.findings))


def as_text(story: Story, indices: Sequence[int]) -> Iterator[str]:
    """A line for each item of some exchanges, everything unfolded."""
    from workbench.safetext import clip
    from workbench.views import column_text, story_digits, story_line

    digits = story_digits(story)
    for number, item in enumerate(story.items):
        if item.exchange in indices:
            is_open = True if story.has_below(number) else None
            yield clip(column_text(story_line(item, WIDTH, digits, is_open=is_open)), WIDTH)


def as_json(story: Story, indices: Sequence[int]) -> list[JsonValue]:
    """The items of some exchanges."""
    return [_value(item) for item in story.items if item.exchange in indices]


def _value(item: StoryItem) -> JsonValue:
    return {
        "kind": item.kind,
        "depth": item.depth,
        "exchange": item.exchange,
        "side": item.side or None,
        "pointer": item.pointer if item.side else None,
        "label": item.label,
        "text": item.text,
        "note": item.note,
        "seconds": item.seconds,
        "at": item.at,
        "severity": item.severity or None,
        "failed": item.is_failed,
    }
