"""Tags after JSON between tags: a tag inside a JSON string is text, unless that string has no end.

A closing tag may be inside a JSON string; regular expressions that use the first one cut such calls short. Here it
counts only outside of strings, unless the text is no JSON: then the first one counts after all. ``JsonBody`` decides
while the text arrives, ``StringWatch`` and ``calls_behind`` afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import WireError
from workbench.ir import JsonValue, ToolDef
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.toolcalls.formats import Prose, ProseOrCall, TextCall
from workbench.toolcalls.formats._scan import BACK, END, GO_ON, Block, Grammar, TagParser
from workbench.toolcalls.formats._tags import Tag
from workbench.toolcalls.json_text import JsonTracker, toggles
from workbench.wire import loads


@dataclass(slots=True)
class JsonBody:
    """JSON while the tag that ends it is searched.

    Attributes:
        value: all of the JSON, if the first tag ended it; else None.
        passed: end of the first closing tag that seemed to be inside a string; -1 while there is none.
    """

    tracker: JsonTracker = field(default_factory=JsonTracker)
    is_fresh: bool = True
    value: JsonValue = None
    passed: int = -1

    def at_tag(self, block: Block, tag: Tag, *, closes: bool) -> int:
        """GO_ON if the tag is text of a string, BACK to the end of the JSON, END if the tag counts."""
        text = block.between()
        if closes and self.is_fresh and self._is_json(text):
            return END
        self.is_fresh = False
        self.tracker.find(text)
        if self.tracker.is_broken and self.passed >= 0:
            block.back = self.passed
            return BACK
        if not self.tracker.is_inside_string or self.tracker.is_broken:
            return END
        if closes and self.passed < 0:
            self.passed = block.back = tag.end
        self.tracker.find(tag.text)
        return GO_ON

    def _is_json(self, text: str) -> bool:
        try:
            self.value = loads(text)
        except WireError:
            return False
        return True


class StringWatch:
    """Decides whether a tag inside a call is in a JSON string. Called for every tag from a position on, in order.

    Args:
        seen: pieces of the block before the position.
        skips: characters of the next piece before it.
    """

    __slots__ = ("_is_inside", "_seen", "_skips")

    def __init__(self, seen: int = 0, skips: int = 0) -> None:
        self._seen = seen
        self._skips = skips
        self._is_inside = False

    def new(self, block: Block, tag: Tag) -> str:
        """Text between the previous tag and this one."""
        text = "".join(block.pieces[self._seen :])[self._skips :]
        self._seen, self._skips = len(block.pieces), len(tag.text)
        return text

    def is_inside(self, block: Block, tag: Tag) -> bool:
        """True if the tag is in a string."""
        if toggles(self.new(block, tag)):
            self._is_inside = not self._is_inside
        return self._is_inside


def calls_behind(grammar: Grammar, text: str, at: int, tools: Sequence[ToolDef], *, is_nested: bool) -> list[TextCall]:
    """Calls in text from character ``at`` of the whole on: a JSON string that seemed to continue had no end.

    This happens at most once: text that was inside strings is outside of them in the second reading.
    """
    parser = TagParser(grammar, tools)
    found: list[ProseOrCall] = [*parser.feed(text), *parser.close()]
    calls = (f for f in found if not isinstance(f, Prose))
    return [replace(c, start=c.start + at, end=c.end + at, is_nested=c.is_nested or is_nested) for c in calls]


def json_is_over(block: Block, start: int, tag: Tag) -> bool:
    """The JSON value of a block ended before a tag; otherwise the tag is inside it.

    Args:
        start: where the value begins in the block's text, asked for at its first tag alone.
    """
    if block.state is None:
        block.state = JsonTracker()
        block.state.find(block.text(), start)
    else:
        block.state.find(block.between())
    if not block.state.is_over:
        block.state.find(tag.text)
        return False
    return True
