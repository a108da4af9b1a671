"""Parts of an answer while they arrive, as stream decoders show them."""

from __future__ import annotations

from dataclasses import replace

from workbench.ir import Part, Reasoning, Source, Text
from workbench.protocols.common import think_tags
from workbench.protocols.common.pieces import Pieces

_ITSELF = Source("", {"text": ""})


class GrowingText:
    """A text or reasoning that grows, from some piece of a string on (``adapters.Growing``).

    Args:
        begins: the part, its text empty.
        pieces: the string that it is made of; what is in it already belongs to an earlier part.
        is_tagged: reasoning may be in the text, in tags.
    """

    def __init__(self, begins: Text | Reasoning, pieces: Pieces, *, is_tagged: bool = False) -> None:
        self.is_tagged = is_tagged
        self._begins = begins
        self._pieces = pieces
        self._start = len(pieces.texts)
        self._stop: int | None = None

    @property
    def is_over(self) -> bool:
        return self._stop is not None

    def end(self) -> None:
        """End this part: later pieces of the string belong to another one."""
        if self._stop is None:
            self._stop = len(self._pieces.texts)

    def opening(self) -> Part | None:
        return self._begins

    def since(self, count: int) -> list[str]:
        return self._pieces.texts[self._start + count : self._stop]

    def parts(self) -> tuple[Part, ...]:
        text = "".join(self.since(0))
        if self.is_tagged:
            return tuple(think_tags.parts(Text(text, source=_ITSELF)))
        return (replace(self._begins, text=text),)


class WholePart:
    """A part that came whole; often two, a proof and what it proves."""

    is_over, is_tagged = True, False

    def __init__(self, *parts: Part) -> None:
        self._parts = parts

    def opening(self) -> Part | None:
        return None

    def since(self, count: int) -> list[str]:
        return []

    def parts(self) -> tuple[Part, ...]:
        return self._parts
