"""The dialogs of a recording: start one, and what to point a client at."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from workbench import resources
from workbench.errors import WorkbenchError
from workbench.shelf import paths, upstreams
from workbench.tui.running import RecorderTrouble
from workbench.tui.screens.choose import offer_new
from workbench.tui.screens.form import Field, Form, Offer, Suggestion

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.running import Running


class Started(Message):
    """The recorder listens, or could not be started."""

    def __init__(self, running: Running | None, error: Exception | None = None) -> None:
        super().__init__()
        self.running = running
        self.error = error


class RecordScreen(Form["Running"]):
    """Asks where traffic goes and where to write it, and starts a recorder. Answers with it once it listens."""

    BINDINGS: ClassVar = []

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        name = time.strftime("%Y%m%d-%H%M%S", time.localtime(clock()))
        out = resources.state_folder("recordings") / f"{name}.wb"
        self.fields = [
            Field("upstreams", "Record traffic to", "providers, URLs, NAME=URL · ↓ chooses · enter starts"),
            Field("out", "into a session file", "secrets are replaced before they reach it", str(out)),
        ]
        self._is_starting = False

    def offer(self, field: str, text: str) -> Offer:
        if field == "out":
            return offer_new(text)
        before, space, begun = text.rpartition(" ")
        fitting = [name for name in upstreams.KNOWN if name.startswith(begun)]
        made = [Suggestion(f"{n:<12} {upstreams.KNOWN[n]}", before + space + n, is_final=False) for n in fitting]
        common = made[0].text if len(made) == 1 else ""
        return Offer(made, common, "" if made else "no provider known by this name: a URL will do")

    def submit(self, field: str, text: str) -> None:
        out = paths.meant(self.value("out"))
        try:
            chosen = upstreams.parse(self.value("upstreams"))
        except WorkbenchError as error:
            self.say(str(error))
            self.go("upstreams")
            return
        if not self.value("out").strip() or out.exists():
            self.say(
                f"{self.value('out').strip()} exists: a recording is a file of its own"
                if out.name
                else "name a file to write"
            )
            self.go("out")
        elif not self._is_starting:
            self._is_starting = True
            self.say("starting the recorder …", "")
            self._start(chosen, out)

    @work(thread=True, group="record", exit_on_error=False)
    def _start(self, chosen: dict[str, str], out: Path) -> None:
        app = cast("WorkbenchApp", self.app)

        def trouble(text: str) -> None:
            app.post_message(RecorderTrouble(text))

        try:
            running = app.recordings.start(chosen, out, trouble)
        except (WorkbenchError, OSError) as error:
            self.post_message(Started(None, error))
            return
        if get_current_worker().is_cancelled or not self.is_attached:
            running.recording.stop()  # the dialog was left meanwhile
        else:
            self.post_message(Started(running))

    def on_started(self, message: Started) -> None:
        self._is_starting = False
        if message.running:
            self.dismiss(message.running)
        else:
            self.say(f"the recorder did not start: {message.error}")
