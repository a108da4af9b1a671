"""Reasoning that a model writes into its visible text: ``<think>…</think>``.

Facts: templates of DeepSeek, Qwen and MiniMax models, which often open the tag in the prompt, so that the text holds
only its end; MiniMax M3 writes ``<mm:think>``. Text that merely talks about the tags is left alone: an opening tag
counts at the beginning of the text, and after that behind another block or at the beginning of a line; a closing tag
without its opening one counts once, where a line begins or ends with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench import regex
from workbench.ir import Carrier, Part, Reasoning, Text
from workbench.lazy_dataclass import replace
from workbench.named_tuple import NamedTuple

_TAG = r"(think|thinking|mm:think)>"
_LEADING = regex.compile(rf"\s*<{_TAG}")
_LATER = regex.compile(rf"^<{_TAG}", re.MULTILINE)
_LONE_END = regex.compile(rf"^</{_TAG}|</{_TAG}(?=[ \t]*$)", re.MULTILINE)


class TaggedSpan(NamedTuple):
    """Characters ``start`` to ``end`` of the text, tags left out."""

    is_reasoning: bool
    start: int
    end: int


def split(text: str) -> tuple[TaggedSpan, ...]:
    """The text as reasoning and visible text, in order; empty visible pieces are left out.

    Without tags it is one piece. Reasoning whose end is missing continues to the end of the text.
    """
    if "think>" not in text:
        return (TaggedSpan(False, 0, len(text)),)
    return tuple(piece for piece in _pieces(text) if piece.is_reasoning or piece.start < piece.end)


def parts(text: Text) -> Iterator[Part]:
    """A text of the model, with reasoning in it as separate parts."""
    pieces = split(text.text)
    if not any(piece.is_reasoning for piece in pieces):
        yield text
        return
    for n, piece in enumerate(pieces):
        source = replace(text.source, slices={"text": (piece.start, piece.end)})
        if n:  # further keys of the block are told once
            source = replace(source, fields={"text": source.fields["text"]})
        piece_text, extra = text.text[piece.start : piece.end], {} if n else text.extra
        if piece.is_reasoning:
            yield Reasoning(Carrier.THINK_TEXT, piece_text, extra=extra, source=source)
        else:
            yield Text(piece_text, extra, source)


def _pieces(text: str) -> Iterator[TaggedSpan]:
    opened = _LEADING.match(text)
    at = 0
    if not opened:
        closed = _LONE_END.search(text)
        if closed and not _LATER.search(text, 0, closed.start()):
            yield TaggedSpan(True, 0, closed.start())
            at = closed.end()
        opened = _next(text, at) if closed else None
    while opened:
        if opened.start() > at and text[at : opened.start()].strip():
            yield TaggedSpan(False, at, opened.start())
        tag = f"</{opened[1]}>"
        end = text.find(tag, opened.end())
        yield TaggedSpan(True, opened.end(), end if end >= 0 else len(text))
        at = end + len(tag) if end >= 0 else len(text)
        opened = _next(text, at) if end >= 0 else None
    yield TaggedSpan(False, at, len(text))


def _next(text: str, at: int) -> re.Match[str] | None:
    return _LEADING.match(text, at) or _LATER.search(text, at)


class Splitter:
    """Splits a text that arrives in pieces: what leaves early is what ``split`` says of the whole.

    But for one thing: that all of a text was reasoning shows only in a closing tag that has no opening one. What left
    by then left as text, and so does what follows.
    """

    def __init__(self) -> None:
        self._state = self._leading
        self._text = ""  # what nothing is known of yet
        self._blank: list[str] = []  # space before it
        self._end = ""  # the tag that ends the reasoning
        self._open: list[str] = []  # of a text without tags at its beginning: all of it
        self._sent = 0

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """(is it reasoning, its text) of everything that is certain so far; neighbours of one kind are one piece.

        An empty text is between two pieces of reasoning that are not one.
        """
        found = list[tuple[bool, str]]()
        waits = self._state in (self._leading, self._between)
        if waits and not self._text and (not text or text.isspace()):
            self._blank.append(text)
            return found
        self._text = "".join((*self._blank, self._text, text))
        self._blank.clear()
        while self._state(found):
            pass
        if self._text.isspace():
            self._blank.append(self._text)
            self._text = ""
        return found

    def close(self) -> list[tuple[bool, str]]:
        """The rest, when the text is over."""
        rest, self._text = "".join((*self._blank, self._text)), ""
        if self._state == self._inside:
            return [(True, rest)]
        if self._state == self._visible or self._state == self._between:
            return [(False, rest)] if rest else []
        whole = "".join((*self._open, rest))
        pieces = split(whole)
        if any(piece.is_reasoning and piece.start < self._sent for piece in pieces):
            return [(False, whole[self._sent :])]
        found = list[tuple[bool, str]]()
        for piece in pieces:
            if piece.is_reasoning and found:
                found.append((False, ""))
            if piece.is_reasoning or piece.end > self._sent:
                found.append((piece.is_reasoning, whole[max(piece.start, self._sent) : piece.end]))
        return found

    def _leading(self, found: list[tuple[bool, str]]) -> bool:
        """True while the text so far can still be a tag at the beginning."""
        opened = _LEADING.match(self._text)
        if opened:
            self._enter(opened, found)
        elif _may_open(self._text.lstrip()):
            return False
        else:
            self._state = self._plain
        return True

    def _plain(self, found: list[tuple[bool, str]]) -> bool:
        """The text began without a tag: it continues as it is until there is one that may count."""
        tag = _ODD.search(self._text)
        if tag:
            self._state = self._unknown
        cut = tag.start() if tag else _safe(self._text)
        if cut:
            found.append((False, self._text[:cut]))
            self._open.append(self._text[:cut])
            self._sent += cut
            self._text = self._text[cut:]
        return False

    def _unknown(self, found: list[tuple[bool, str]]) -> bool:
        """The meaning of its tags is certain only in the complete text."""
        self._open.append(self._text)
        self._text = ""
        return False

    def _inside(self, found: list[tuple[bool, str]]) -> bool:
        at = self._text.find(self._end)
        cut = at if at >= 0 else _safe(self._text)
        if cut:
            found.append((True, self._text[:cut]))
        self._text = self._text[cut + (len(self._end) if at >= 0 else 0) :]
        if at >= 0:
            self._state = self._between
        return at >= 0

    def _between(self, found: list[tuple[bool, str]]) -> bool:
        """Behind reasoning: more of it, or text."""
        opened = _LEADING.match(self._text)
        if opened:
            found.append((False, ""))
            self._enter(opened, found)
        elif _may_open(self._text.lstrip()):
            return False
        else:
            self._state = self._visible
        return True

    def _visible(self, found: list[tuple[bool, str]]) -> bool:
        opened = _NEXT.search(self._text)
        cut = opened.start() + 1 if opened else _safe(self._text)
        if cut:
            found.append((False, self._text[:cut]))
        self._text = self._text[cut:]
        if opened:
            tag = _LEADING.match(self._text)
            assert tag is not None
            self._enter(tag, found)
        return opened is not None

    def _enter(self, opened: re.Match[str], found: list[tuple[bool, str]]) -> None:
        found.append((True, ""))
        self._end = f"</{opened[1]}>"
        self._text = self._text[opened.end() :]
        self._state = self._inside


_ODD = regex.compile(rf"\n<{_TAG}|</{_TAG}")
_NEXT = regex.compile(rf"\n<{_TAG}")
_OPENING = ("<think>", "<thinking>", "<mm:think>")
_TAGS = (*(f"\n{tag}" for tag in _OPENING), *(tag.replace("<", "</") for tag in _OPENING))


def _may_open(text: str) -> bool:
    """The text may continue to be an opening tag."""
    return any(tag.startswith(text) for tag in _OPENING)


def _safe(text: str) -> int:
    """Position of the last piece of a text that may become a tag; the text's end if there is none."""
    if "<" not in text and not text.endswith("\n"):
        return len(text)
    tail = range(max(len(text) - max(map(len, _TAGS)), 0), len(text))
    return next((n for n in tail if any(tag.startswith(text[n:]) for tag in _TAGS)), len(text))
