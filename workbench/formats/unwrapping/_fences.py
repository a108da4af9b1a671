"""Divides Markdown into fenced blocks and the text around them."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench import regex

_OPEN = regex.compile(
    r"^(?P<indent>[ \t>]*(?:[-*][ ])?)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)\r?$", re.MULTILINE
)


class MarkdownPiece(NamedTuple):
    """A part of a text.

    Attributes:
        start, end: of its content.
        info: info string of the fence ("json"); None outside a fence.
        content: without the fence and its common indentation.
    """

    start: int
    end: int
    info: str | None
    content: str


def pieces(text: str) -> list[MarkdownPiece]:
    """Parts of a text in order; one part without fences."""
    found: list[MarkdownPiece] = []
    at = 0
    while opened := _OPEN.search(text, at):
        fence, indent = opened["fence"], opened["indent"]
        begin = min(opened.end() + 1, len(text))
        closing = re.compile(rf"^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*\r?$", re.MULTILINE)
        closed = closing.search(text, begin)
        end = closed.start() if closed else len(text)
        found.append(MarkdownPiece(at, opened.start(), None, text[at : opened.start()]))
        content = text[begin:end]
        if indent:
            content = re.sub(rf"(?m)^(?:{re.escape(indent)}|[ \t>]{{0,{len(indent)}}})", "", content)
        found.append(MarkdownPiece(begin, end, opened["info"].strip(), content))
        at = closed.end() if closed else len(text)
    found.append(MarkdownPiece(at, len(text), None, text[at:]))
    return [piece for piece in found if piece.content.strip()]
