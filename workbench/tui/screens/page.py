"""The page of a rule."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import ModalScreen

from workbench.tui.panes.text import TextPane


class PageRead(Message):
    """The page is there."""

    def __init__(self, text: list[str]) -> None:
        super().__init__()
        self.text = text


class PageScreen(ModalScreen[None]):
    """What, why, what to look for, how to mend it, who refuses it, examples."""

    CSS_PATH = "text.tcss"
    BINDINGS: ClassVar = [("escape,q", "dismiss(None)", "close")]

    def __init__(self, rule: str) -> None:
        super().__init__()
        self.rule = rule

    def compose(self) -> ComposeResult:
        yield TextPane(f" {self.rule} · esc closes ")

    def on_mount(self) -> None:
        self.call_after_refresh(lambda: self._read(self.query_one(TextPane).text_width))

    @work(thread=True, group="page", exit_on_error=False)
    def _read(self, width: int) -> None:
        from workbench.rules import pages

        page = pages.page(self.rule) if self.rule in pages.slugs() else None
        self.post_message(PageRead(list(pages.lines(page, width)) if page else [f"{self.rule} has no page"]))

    def on_page_read(self, message: PageRead) -> None:
        self.query_one(TextPane).show(message.text)
