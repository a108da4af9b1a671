"""The library: the sessions on this machine (examples, recent files, recordings, sessions of known clients).

In: folders of Workbench and of installed clients, read-only. Out: the sections of Home, a summary of each session, and
metrics over many sessions. It may import the core and the rooms up to ``send``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.library import clean_verdict, home_sections, home_state, paths, session_import
    from workbench.library.home_sections import EXAMPLES, FOUND, LIVE, SWITCHED_OFF, Section, SessionItem
    from workbench.library.metrics import SessionMetrics, files, gather
    from workbench.library.session_import import ImportSummary
    from workbench.library.session_summary import SessionSummary, describe_file, file_size
    from workbench.library.verdict_store import FileKey, KeptVerdict, VerdictStore
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "EXAMPLES",
    "FOUND",
    "LIVE",
    "SWITCHED_OFF",
    "FileKey",
    "ImportSummary",
    "KeptVerdict",
    "Section",
    "SessionItem",
    "SessionMetrics",
    "SessionSummary",
    "VerdictStore",
    "clean_verdict",
    "describe_file",
    "file_size",
    "files",
    "gather",
    "home_sections",
    "home_state",
    "paths",
    "session_import",
]
