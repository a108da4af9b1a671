"""Edits of requests: pure, and only what is edited changes. What becomes of an edit is somebody else's to say."""

from __future__ import annotations

from workbench.editing.request import (
    HEADERS,
    Change,
    SetHeader,
    Splice,
    between,
    edited,
    inverse,
    problem,
    spliced,
    text_of,
    with_body,
)

__all__ = [
    "HEADERS",
    "Change",
    "SetHeader",
    "Splice",
    "between",
    "edited",
    "inverse",
    "problem",
    "spliced",
    "text_of",
    "with_body",
]
