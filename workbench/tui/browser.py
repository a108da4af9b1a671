"""The browser the app is shown in, when ``--web`` serves it: it ends with its page."""

from __future__ import annotations

from textual import messages
from textual.drivers.web_driver import WebDriver


class Browser(WebDriver):
    """Web driver that quits the app when its input ends; Textual's own keeps running after the server has died."""

    def run_input_thread(self) -> None:
        super().run_input_thread()
        self._app.post_message(messages.ExitApp())
