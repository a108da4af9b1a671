"""Reasoning that a model writes into its visible text: ``<think>…</think>``.

Facts: templates of DeepSeek, Qwen and MiniMax models, which often open the tag in the prompt, so that the text holds
only its end; MiniMax M3 writes ``<mm:think>``. Text that merely talks about the tags is left alone: an opening tag
counts at the beginning of the text, and after that behind another block or at the beginning of a line; a closing tag
without its opening one counts once, where a line begins or ends with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from workbench.ir import Carrier, Part, Reasoning, Text

_TAG = r"(think|thinking|mm:think)>"
_LEADING = re.compile(rf"\s*<{_TAG}")
_LATER = re.compile(rf"^<{_TAG}", re.MULTILINE)
_LONE_END = re.compile(rf"^</{_TAG}|</{_TAG}(?=[ \t]*$)", re.MULTILINE)


class Piece(NamedTuple):
    """Characters ``start`` to ``end`` of the text, tags left out."""

    is_reasoning: bool
    start: int
    end: int


def split(text: str) -> tuple[Piece, ...]:
    """The text as reasoning and visible text, in order; empty visible pieces are left out.

    Without tags it is one piece. Reasoning whose end is missing goes on to the end of the text.
    """
    if "think>" not in text:
        return (Piece(False, 0, len(text)),)
    return tuple(piece for piece in _pieces(text) if piece.is_reasoning or piece.start < piece.end)


def parts(text: Text) -> Iterator[Part]:
    """A text of the model, with the reasoning it wrote into it as parts of its own."""
    pieces = split(text.text)
    if not any(piece.is_reasoning for piece in pieces):
        yield text
        return
    for n, piece in enumerate(pieces):
        source = replace(text.source, slices={"text": (piece.start, piece.end)})
        if n:  # further keys of the block are told once
            source = replace(source, fields={"text": source.fields["text"]})
        said, extra = text.text[piece.start : piece.end], {} if n else text.extra
        if piece.is_reasoning:
            yield Reasoning(Carrier.THINK_TEXT, said, extra=extra, source=source)
        else:
            yield Text(said, extra, source)


def _pieces(text: str) -> Iterator[Piece]:
    opened = _LEADING.match(text)
    at = 0
    if not opened:
        closed = _LONE_END.search(text)
        if closed and not _LATER.search(text, 0, closed.start()):
            yield Piece(True, 0, closed.start())
            at = closed.end()
        opened = _next(text, at) if closed else None
    while opened:
        if opened.start() > at and text[at : opened.start()].strip():
            yield Piece(False, at, opened.start())
        tag = f"</{opened[1]}>"
        end = text.find(tag, opened.end())
        yield Piece(True, opened.end(), end if end >= 0 else len(text))
        at = end + len(tag) if end >= 0 else len(text)
        opened = _next(text, at) if end >= 0 else None
    yield Piece(False, at, len(text))


def _next(text: str, at: int) -> re.Match[str] | None:
    return _LEADING.match(text, at) or _LATER.search(text, at)
