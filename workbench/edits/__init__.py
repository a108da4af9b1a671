"""Edits of requests: pure functions; only the edited bytes change.

In: a request and a change. Out: the edited request and the change that undoes it. ``elements`` lists what can be
edited, ``operations`` and ``additions`` edit it, ``request`` applies changes to bytes and undoes them; ``assessment``
judges an edit, and ``signatures`` finds the signatures that it invalidates.
It may import the core and the rooms up to ``filters``.
"""

from __future__ import annotations

from workbench.edits.request import (
    HEADERS,
    Change,
    SetHeader,
    Splice,
    apply_changes,
    apply_splices,
    diff_splices,
    inverse,
    json_problem,
    text_of,
    with_body,
)

__all__ = [
    "HEADERS",
    "Change",
    "SetHeader",
    "Splice",
    "apply_changes",
    "apply_splices",
    "diff_splices",
    "inverse",
    "json_problem",
    "text_of",
    "with_body",
]
