"""Tags inside JSON strings, and reading anew where such a string had no end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.ir import ToolDef
from workbench.textcalls import Finding, Prose, TextCall
from workbench.textcalls._json_text import toggles
from workbench.textcalls._scan import Block, Grammar, Tag, TagParser


class StringWatch:
    """Whether a tag inside a call stands in a JSON string. Asked about every tag from a place on, in order.

    Args:
        seen: pieces of the block that go before the place.
        skips: characters of the next piece that do.
    """

    __slots__ = ("_is_inside", "_seen", "_skips")

    def __init__(self, seen: int = 0, skips: int = 0) -> None:
        self._seen = seen
        self._skips = skips
        self._is_inside = False

    def new(self, block: Block, tag: Tag) -> str:
        """The text between the tag before and this one."""
        text = "".join(block.pieces[self._seen :])[self._skips :]
        self._seen, self._skips = len(block.pieces), len(tag.text)
        return text

    def is_inside(self, block: Block, tag: Tag) -> bool:
        """The tag stands in a string."""
        if toggles(self.new(block, tag)):
            self._is_inside = not self._is_inside
        return self._is_inside


def calls_behind(grammar: Grammar, text: str, at: int, tools: Sequence[ToolDef], *, is_nested: bool) -> list[TextCall]:
    """Calls in a text that stands at character ``at`` of the whole: a JSON string that seemed to go on had no end.

    This happens once at most: what stood inside of strings stands outside of them when it is read anew.
    """
    parser = TagParser(grammar, tools)
    found: list[Finding] = [*parser.feed(text), *parser.close()]
    calls = (f for f in found if not isinstance(f, Prose))
    return [replace(c, start=c.start + at, end=c.end + at, is_nested=c.is_nested or is_nested) for c in calls]
