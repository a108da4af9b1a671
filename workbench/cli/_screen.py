"""Whether the terminal can show the app."""

from __future__ import annotations

import sys

from workbench.errors import UsageError

CHROME = "─│▌▸●✗…"
"""Some of the characters every screen is made of."""


def require() -> None:
    """Refuse a terminal that would show escapes in place of lines and signs.

    Raises:
        UsageError: standard error, which the app paints on, cannot hold them.
    """
    try:
        CHROME.encode(getattr(sys.__stderr__, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        raise UsageError(
            "the screen needs a UTF-8 terminal",
            hint="set LC_ALL=C.UTF-8, or let workbench check FILE print the same as text",
        ) from None
