"""Tracks whether a position in prose is inside Markdown code: quoted calls are no calls."""

from __future__ import annotations

from workbench import regex

_CODE = regex.compile(r"(?:\A|\n)[ \t>]*(`{3,}|~{3,})|(\n)|(`+)")


class MarkdownCode:
    """State of a text position: inside a fence, or after backticks opened on the same line."""

    __slots__ = ("_fence", "_is_line_start", "_span", "_unread")

    def __init__(self) -> None:
        self._unread: list[str] = []
        self.reset()

    def reset(self) -> None:
        """Restart at the start of a line."""
        self._unread.clear()
        self._fence = ""
        self._span = 0
        self._is_line_start = True

    def pass_over(self, text: str) -> None:
        """Process prose before the position."""
        self._unread.append(text)

    def is_quoted(self) -> bool:
        """True if the position after all processed text is inside code."""
        text = "".join(self._unread)
        self._unread.clear()
        if not text:
            return bool(self._fence or self._span)
        for found in _CODE.finditer(text):
            if found[1] and (found.start() > 0 or self._is_line_start or found[0][0] == "\n"):
                self._at_fence(found[1])
            elif found[2]:
                self._span = 0
            elif not self._fence:
                run = len(found[3] or found[1])
                self._span = 0 if self._span == run else self._span or run
        line = text.rpartition("\n")[2]
        self._is_line_start = not line.strip(" \t>") and ("\n" in text or self._is_line_start)
        return bool(self._fence or self._span)

    def _at_fence(self, mark: str) -> None:
        self._span = 0
        if not self._fence:
            self._fence = mark
        elif mark.startswith(self._fence):
            self._fence = ""
