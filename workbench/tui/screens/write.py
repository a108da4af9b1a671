"""Asks where a body is to be written, and writes it."""

from __future__ import annotations

from pathlib import Path

from workbench.library import paths
from workbench.tui.screens.choose import offer_new
from workbench.tui.screens.form import Field, Form, Offer
from workbench.views import size


class WriteScreen(Form[Path]):
    """Answers with the file that was written. A file that is there already is never replaced.

    Args:
        body: what is written.
        name: what it may be called.
    """

    def __init__(self, body: bytes, name: str) -> None:
        super().__init__()
        self.body = body
        self.fields = [Field("path", f"Write {size(len(body))} to", "tab completes · enter writes · esc", name)]

    def offer(self, field: str, text: str) -> Offer:
        return offer_new(text)

    def submit(self, field: str, text: str) -> None:
        if not text.strip():
            self.say("type the name of a file")
            return
        path = paths.expand(text)
        try:
            with path.open("xb") as file:
                file.write(self.body)
        except FileExistsError:
            self.say(f"{path} exists: choose another name")
        except (OSError, ValueError) as error:
            self.say(f"not written: {error}")
        else:
            self.dismiss(path)
