"""Edits of requests: pure, and only what is edited changes.

In: a request and a change. Out: the edited request and the change that undoes it. ``elements`` lists what can be
edited, ``operations`` and ``additions`` edit it, ``request`` applies changes to bytes and undoes them; ``live`` says
what an edit means, and ``signed`` which signatures it invalidates.
It may import the core and the rooms up to ``filters``.
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
