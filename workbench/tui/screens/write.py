"""Asks for the file to write a body to, and writes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.library import paths
from workbench.safetext import visible
from workbench.tui.screens.choose import offer_new
from workbench.tui.screens.form import Field, FormOffer, FormScreen
from workbench.views import size

if TYPE_CHECKING:
    from textual.screen import Screen


def write_body(screen: Screen[Any], body: bytes, name: str) -> None:
    """Ask for a file, write a body to it, and confirm that on the screen.

    Args:
        name: suggested file name.
    """

    def confirm(path: Path | None) -> None:
        if path:
            screen.notify(visible(f"written: {path}"), markup=False)

    screen.app.push_screen(WriteScreen(body, name), confirm)


class WriteScreen(FormScreen[Path]):
    """Writes a body and answers with the path. An existing file is never replaced.

    Args:
        name: suggested file name.
    """

    def __init__(self, body: bytes, name: str) -> None:
        super().__init__()
        self.body = body
        self.fields = [Field("path", f"Write {size(len(body))} to", "the path of a new file", name)]

    def offer(self, field: str, text: str) -> FormOffer:
        return offer_new(text)

    def submit(self, field: str, text: str) -> None:
        if not text.strip():
            self.say("type the name of a file")
            return
        path, is_begun = paths.expand(text), False
        try:
            with path.open("xb") as file:
                is_begun = True
                file.write(self.body)
        except FileExistsError:
            self.say(f"{path} exists: choose another name")
        except OSError as error:
            if is_begun:
                path.unlink(missing_ok=True)  # else the next try finds a part of the file, and calls it one that exists
            self.say(f"not written: {error.strerror or error}")
        except ValueError as error:
            self.say(f"not written: {error}")
        else:
            self.dismiss(path)
