"""The keys, from the table that binds them."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import ModalScreen

from workbench.tui.keys import Key
from workbench.tui.lines import BLANK, Line, Span, line
from workbench.tui.panes.lineview import LineView

Tables = tuple[tuple[str, tuple[Key, ...]], ...]

LEGEND = (
    ("✗ error", "error", "the provider refuses it, or the chain is broken"),
    ("! warning", "warning", "accepted here, but it will bite"),
    ("· info", "info", "no break: a call whose result has yet to come"),
    ("▌ selected", "accent", "the selection: the same thing in every pane"),
    ("┆ related", "accent", "result of the selected call, call of the selected result"),
    ("▸ cursor", "accent", "where the keys act; ▹ not selected yet: enter does"),
    ("●│ lane", "accent", "a conversation each; │ it goes on further down"),
    ("⊘ cut", "warning", "exchanges: aborted, incomplete or torn"),
    ("? unread", "warning", "not all could be read; in the IR a block nobody knows"),
    ("◆ call", "call", "a call of a tool; ◇ its result"),
    ("∴ reasoning", "reasoning", "reasoning, in whatever field it travels"),
    ("▣ media", "", "an image, a sound or a document"),
    ("⏎", "muted", "an end of line in a text that is shown on one line"),
    ("● closed", "ok", "the call has its result; ○ it has yet to come"),
    ("✓ sent", "ok", "reasoning went back; ✗ it should have; · not owed"),
    ("\\x1b", "form", "a character that acts or hides, never sent as it is"),
)


def help_lines(tables: Tables) -> list[Line]:
    """Every key with what it does, and what the signs mean."""
    made: list[Line] = []
    for title, keys in tables:
        made.append(line(Span(title, "role")))
        made += [line(Span(f"  {k.show}", "accent strong", 14), k.text) for k in keys]
        made.append(BLANK)
    made.append(line(Span("signs", "role")))
    return made + [
        line("  ", Span(sign, style), Span(" " * (12 - len(sign)) + meaning)) for sign, style, meaning in LEGEND
    ]


class HelpPane(LineView):
    """The lines of the help."""

    def __init__(self, lines: list[Line]) -> None:
        super().__init__()
        self.lines = lines
        self.title(line(" keys · esc closes "))

    def count(self) -> int:
        return len(self.lines)

    def head(self, item: int, width: int) -> Line:
        return self.lines[item]


class HelpScreen(ModalScreen[None]):
    """Over the screen it explains; any of its keys closes it."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar = [("escape,q,question_mark,f1", "dismiss", "close")]

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self.tables = tables

    def compose(self) -> ComposeResult:
        yield HelpPane(help_lines(self.tables))
