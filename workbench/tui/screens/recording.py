"""Dialog of a running recording: how to point clients at it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.screen import ModalScreen

from workbench.tui.bars import Ways
from workbench.tui.models.recording import keys_used, recording_lines, settings
from workbench.tui.panes.text import TextPane

if TYPE_CHECKING:
    from workbench.tui.running import StartedRecording


class RecordingScreen(ModalScreen[Path]):
    """Answers with the session file to open, or None."""

    CSS_PATH = "text.tcss"
    BINDINGS: ClassVar = [
        ("enter", "open", "open"),
        ("y", "copy", "copy the variables"),
        ("escape,q", "dismiss(None)", "close"),
    ]

    def __init__(self, running: StartedRecording) -> None:
        super().__init__()
        self.running = running

    def compose(self) -> ComposeResult:
        yield TextPane(" recording · enter open · y copy the variables · esc back ")
        yield Ways(("enter", "open"), ("y", "copy the variables"), ("esc", "back"))

    def on_mount(self) -> None:
        self.query_one(TextPane).show(
            recording_lines(self.running.plan, self.running.recording.urls, keys_used(self.running.plan, os.environ))
        )

    def on_line_view_activation(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        self.dismiss(self.running.recording.out)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard("\n".join(settings(self.running.plan.bases, self.running.recording.urls)))
        self.notify("variables copied, if the terminal allows it", markup=False)
