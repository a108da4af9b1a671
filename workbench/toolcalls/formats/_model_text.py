"""Detects text that a model wrote: with a call, a control marker, or a reasoning section."""

from __future__ import annotations

import re

from workbench import regex
from workbench.toolcalls.formats._find import find, stray_markers

_SECTION = regex.compile(
    r"\A\s*(?:<think(?:ing)?>|<mm:think>|<reasoning>|\[THINK\]|<\|channel\|>|<\|START_THINKING\|>)"
    r"|^[ \t]*(?:</think(?:ing)?>|</mm:think>|\[/THINK\])[ \t]*$",
    re.MULTILINE,
)


def is_marked(text: str) -> bool:
    """True for a call in a known format, a lone control marker, or a reasoning section."""
    if _SECTION.search(text):
        return True
    calls = find(text, is_thought_shown=True)
    return bool(calls or stray_markers(text, calls))
