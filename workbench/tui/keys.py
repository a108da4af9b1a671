"""Every key of the app in one table: bindings, footer, help screen and palette are all made from it."""

from __future__ import annotations

from typing import NamedTuple

from textual.binding import Binding, BindingType


class Key(NamedTuple):
    """One key.

    Attributes:
        keys: as Textual names them, separated by commas.
        action: what it runs.
        show: the key as people read it.
        word: what it does, in a word or two (footer, palette).
        text: what it does, in a sentence (help).
        rank: importance in the footer, from 1: what there is no room for goes last first; 0 to leave it out.
    """

    keys: str
    action: str
    show: str
    word: str
    text: str
    rank: int = 0


PANE = (
    Key("j,down", "move(1)", "j ↓", "down", "next line; the selection follows in every pane"),
    Key("k,up", "move(-1)", "k ↑", "up", "previous line"),
    Key("ctrl+d,pagedown", "page(1)", "pgdn", "page down", "a page down (also ctrl+d)"),
    Key("ctrl+u,pageup", "page(-1)", "pgup", "page up", "a page up (also ctrl+u)"),
    Key("g,home", "end(-1)", "g", "first", "first line"),
    Key("G,end", "end(1)", "G", "last", "last line"),
    Key("enter", "enter", "enter", "open", "open it: a part in full, the bytes of a finding"),
)

WIRE = (
    Key("l,right", "token(1)", "l →", "next value", "next value on the line"),
    Key("h,left", "token(-1)", "h ←", "previous value", "previous value on the line"),
    Key("H", "headers", "H", "headers", "show or hide the HTTP headers"),
)

SESSION = (
    Key("n", "next(1)", "n", "next break", "next break across exchanges: an error, else a warning", 1),
    Key("p", "next(-1)", "p", "previous", "previous break", 2),
    Key("N", "match(-1)", "N", "previous match", "previous match while a search is active; n is the next"),
    Key("w", "warning(1)", "w", "next warning", "next warning, across exchanges", 9),
    Key("W", "warning(-1)", "W", "previous warning", "previous warning"),
    Key("tab", "pane(1)", "tab", "pane", "next pane", 5),
    Key("shift+tab", "pane(-1)", "shift+tab", "previous pane", "previous pane"),
    Key("1", "show('exchanges')", "1", "exchanges", "the exchanges of the session"),
    Key("2", "show('wire')", "2", "wire", "the bytes"),
    Key("3", "show('ir')", "3", "IR", "what the bytes say"),
    Key("4", "show('reasoning')", "4", "reasoning", "the reasoning ledger"),
    Key("5", "show('closure')", "5", "closure", "calls and their results"),
    Key("6", "show('findings')", "6", "findings", "what is wrong"),
    Key("r", "side", "r", "other side", "the other side on the wire: request or response", 7),
    Key("right_square_bracket", "exchange(1)", "]", "next exchange", "next exchange, from any pane"),
    Key("left_square_bracket", "exchange(-1)", "[", "previous exchange", "previous exchange, from any pane"),
    Key("z", "zoom", "z", "zoom", "the focused pane alone, and back", 8),
    Key("slash", "search", "/", "search", "search in the focused pane", 6),
    Key("question_mark,f1", "help", "?", "help", "this list", 3),
    Key("colon", "app.command_palette", ":", "palette", "every command by name (also ctrl+p)"),
    Key("escape", "leave", "esc", "leave", "leave the search, the zoom, or go back to the findings"),
    Key("q", "back", "q", "back", "leave the session", 4),
)

SEARCH = (  # what the footer shows instead while a search is active
    Key("n", "next(1)", "n", "next match", "next match, while a search is active", 1),
    Key("N", "match(-1)", "N", "previous match", "previous match", 4),
    Key("escape", "leave", "esc", "end search", "end the search: then n goes through the breaks again", 2),
    Key("question_mark,f1", "help", "?", "help", "this list", 3),
)

HOME = (
    Key("o", "ask_path", "o", "open a file", "open a file by its path", 2),
    Key("question_mark,f1", "help", "?", "help", "this list", 3),
    Key("colon", "app.command_palette", ":", "palette", "every command by name (also ctrl+p)"),
    Key("q", "app.quit", "q", "quit", "leave the program", 4),
)
OPEN_EXAMPLE = Key("enter", "enter", "enter", "open", "open the session under the cursor", 1)


def bindings(keys: tuple[Key, ...]) -> list[BindingType]:
    """The table as Textual's bindings; ids allow remapping."""
    return [Binding(k.keys, k.action, k.word, show=False, id=f"{k.word}".replace(" ", "-")) for k in keys]
