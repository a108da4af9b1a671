"""Pages of a rule and of a contract."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import ModalScreen

from workbench.tui.bars import Ways
from workbench.tui.service import in_words
from workbench.tui.widgets.text import TextPane


class PageReady(Message):
    """Text of a page."""

    def __init__(self, text: list[str]) -> None:
        super().__init__()
        self.text = text


class PageScreen(ModalScreen[None]):
    """Page of a rule: explanation, evidence, fix, error messages of providers, examples."""

    CSS_PATH = "text.tcss"
    BINDINGS: ClassVar = [("escape,q", "dismiss(None)", "close")]

    def __init__(self, rule: str) -> None:
        super().__init__()
        self.rule = rule

    def compose(self) -> ComposeResult:
        yield TextPane(f" {self.rule} · esc back ", has_links=True)
        yield Ways(("pane.down", "down"), ("pane.up", "up"), ("pane.page-down", "page down"), ("esc", "back"))

    def on_mount(self) -> None:
        self.call_after_refresh(lambda: self._read(self.query_one(TextPane).text_width))

    @work(thread=True, group="page", exit_on_error=False)
    def _read(self, width: int) -> None:
        try:
            text = self.lines(width)
        except Exception as error:
            text = [f"cannot read this page: {in_words(error)}"]
        self.post_message(PageReady(text))

    def lines(self, width: int) -> list[str]:
        """Lines of the page. Called in a thread."""
        from workbench.contracts import pages

        page = pages.page(self.rule) if self.rule in pages.slugs() else None
        return list(pages.lines(page, width)) if page else [f"{self.rule} has no page"]

    def on_page_ready(self, message: PageReady) -> None:
        self.query_one(TextPane).show(message.text)


class ContractPageScreen(PageScreen):
    """Facts of a contract, each with source and date. ``rule`` is the label of the contract."""

    def lines(self, width: int) -> list[str]:
        from workbench import contracts

        name, _, variant = self.rule.partition(":")
        if name not in contracts.names():
            return [contracts.get(self.rule).note]
        return list(contracts.lines(contracts.read(name), contracts.Part(variant), width))
