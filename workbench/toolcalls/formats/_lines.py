"""Parser for calls without a tag: holds text from a line that may start a call until that is decided.

Without tags only the complete text can tell a call from an ordinary response, so a possible call is not certain before
the text ends. Prose before it is handed out at once.
"""

from __future__ import annotations

from typing import Final, Protocol

from workbench import regex
from workbench.toolcalls.formats import Prose, ProseOrCall, TextCall

HOLD, RELEASE, RESTART = range(3)
"""Meaning of a further line. HOLD: it may still be a call. RELEASE: all held text is prose. RESTART: the text before
this line is prose, and this line is read as the first one."""

_LINES: Final = regex.compile(r"[^\n]*\n|[^\n]+")
_FENCE: Final = regex.compile(r"[ \t>]*(`{3,}|~{3,})")
_THINK: Final = regex.compile(r"<(/?)think>")


class LineReader(Protocol):
    """Decides about lines for one format. One reader reads one text."""

    def begins(self, line: str, before: str, *, is_start: bool, is_whole: bool) -> bool | None:
        """True if a line outside code fences starts a call for certain, None while it may, False if it does not.

        Args:
            line: the line so far, including its line break.
            before: the previous non-blank line of prose.
            is_start: only blanks and reasoning precede it.
            is_whole: the line is complete.
        """
        ...

    def continues(self, line: str) -> int:
        """HOLD, RELEASE or RESTART for a held line, the first one included."""
        ...

    def read(self, text: str, start: int, *, is_nested: bool) -> list[TextCall]:
        """The calls in the text held to the end, positions counted from ``start``."""
        ...


class LineParser:
    """Reads one text with a reader (``workbench.toolcalls.formats.TextParser``)."""

    def __init__(self, reader: LineReader) -> None:
        self._reader = reader
        self._line: list[str] = []  # of the current line: what is not handed out
        self._seen: list[str] = []  # of the current line: what is
        self._pending: list[str] = []
        self._at = 0  # where what is held or not handed out begins
        self._is_holding = False
        self._is_prose = False  # the current line is
        self._may_begin = False  # the current line does, however it goes on
        self._fence = ""
        self._before = ""
        self._is_start = True
        self._is_nested = False
        self._out: list[ProseOrCall] = []

    def feed(self, text: str) -> list[ProseOrCall]:
        self._out = []
        if "\n" not in text:
            self._piece(text)
        else:
            for line in _LINES.findall(text):
                self._piece(line)
        return self._out

    def close(self) -> list[ProseOrCall]:
        self._out = []
        if self._line:
            self._end_line("".join(self._line))
        if self._is_holding:
            self._finish("".join(self._pending))
        return self._out

    def _piece(self, text: str) -> None:
        """Process a piece of one line."""
        is_whole = text.endswith("\n")
        if self._is_prose:
            self._emit(text)
            self._seen.append(text)
            if is_whole:
                self._prose_line("".join(self._seen))
            return
        self._line.append(text)
        if is_whole:
            self._end_line("".join(self._line))
        elif not self._is_holding and not self._may_begin and len(self._line) < 600:
            line = "".join(self._line)
            verdict = self._verdict(line, is_whole=False)
            self._may_begin = verdict is True
            if verdict is False:
                self._is_prose = True
                self._emit(line)
                self._seen, self._line = [line], []

    def _verdict(self, line: str, *, is_whole: bool) -> bool | None:
        if self._fence:
            return False
        return self._reader.begins(line, self._before, is_start=self._is_start, is_whole=is_whole)

    def _end_line(self, line: str) -> None:
        """Finish a line that was not handed out."""
        self._line, self._may_begin = [], False
        if not self._is_holding:
            if not self._verdict(line, is_whole=True):
                self._emit(line)
                self._prose_line(line)
                return
            self._is_holding = True
        verdict = self._reader.continues(line)
        if verdict == RESTART and self._pending:
            self._release()
            self._end_line(line)
            return
        self._pending.append(line)
        if verdict != HOLD:
            self._release()

    def _release(self) -> None:
        text = "".join(self._pending)
        self._pending = []
        self._is_holding = False
        self._emit(text)
        for line in _LINES.findall(text[-2000:])[-3:]:
            self._before = line if line.strip() else self._before
        self._is_start = False

    def _prose_line(self, line: str) -> None:
        """Finish a line of prose."""
        self._seen, self._is_prose = [], False
        fence = _FENCE.match(line)
        if fence and not self._fence:
            self._fence = fence[1]
        elif fence and fence[1].startswith(self._fence) and not line[fence.end() :].strip():
            self._fence = ""
        tags = [*_THINK.finditer(line)] if "think>" in line else []
        if tags:
            self._is_nested = not tags[-1][1]
            self._is_start = not self._is_nested and not line[tags[-1].end() :].strip()
        elif line.strip() and not self._is_nested:
            self._is_start = False
        self._before = line if line.strip() else self._before

    def _emit(self, text: str) -> None:
        if text:
            self._out.append(Prose(text, self._at, self._at + len(text)))
            self._at += len(text)

    def _finish(self, text: str) -> None:
        base = self._at
        for call in self._reader.read(text, base, is_nested=self._is_nested):
            self._emit(text[self._at - base : call.start - base])
            self._out.append(call)
            self._at = call.end
        self._emit(text[self._at - base :])
