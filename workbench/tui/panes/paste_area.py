"""A few lines of pasted text."""

from __future__ import annotations

from dataclasses import replace

from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

from workbench.safetext import visible

MOST = 200_000
"""Characters kept of a pasted text: the lookup reads no more."""


class PastedText(TextArea):
    """Input of untrusted text: control and hidden characters are escaped as they are pasted."""

    def edit(self, edit: Edit) -> EditResult:
        lines = edit.text[:MOST].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return super().edit(replace(edit, text="\n".join(map(visible, lines))))
