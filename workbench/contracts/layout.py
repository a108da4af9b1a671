"""Sections and wrapped paragraphs of the texts that explain something."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator


def section(title: str, body: Iterable[str]) -> Iterator[str]:
    """A blank line, the title, and what is under it."""
    yield ""
    yield title
    yield from body


def wrap(text: str, width: int, first: str = "  ", rest: str = "  ") -> list[str]:
    """A paragraph in lines of at most ``width``; words are never broken."""
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
