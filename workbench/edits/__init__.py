"""Edits of requests: pure, and only what is edited changes.

``elements`` lists what can be edited, ``operations`` and ``additions`` edit it, ``request`` does changes to bytes and
takes them back; ``live`` says what an edit means, and ``signed`` which signatures it unbinds.
"""

from __future__ import annotations

from workbench.edits.request import (
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
