"""Formats of other programs: importers read them, exporters write them.

In: files, pasted text, or exchanges to export. Out: sessions, or files in another program's format.
It may import the core and the rooms up to ``views``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.formats import exporters, exporting, output_files
    from workbench.formats.exporting import ExportRequest
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "ExportRequest",
    "exporters",
    "exporting",
    "output_files",
]
