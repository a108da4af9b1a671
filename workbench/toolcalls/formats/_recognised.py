"""Whether a text has anything in it that shows that a model wrote it: a call, a control marker, a section."""

from __future__ import annotations

import re

from workbench.toolcalls.formats import debris, find

_SECTION = re.compile(
    r"\A\s*(?:<think(?:ing)?>|<mm:think>|<reasoning>|\[THINK\]|<\|channel\|>|<\|START_THINKING\|>)"
    r"|^[ \t]*(?:</think(?:ing)?>|</mm:think>|\[/THINK\])[ \t]*$",
    re.MULTILINE,
)


def is_marked(text: str) -> bool:
    """It holds a call in a known format, a control marker that stands alone, or a section of reasoning."""
    if _SECTION.search(text):
        return True
    calls = find(text, is_thought_shown=True)
    return bool(calls or debris(text, calls))
