"""One key: its id, its action, and its readable form."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

_SIGNS = {"slash": "/", "backslash": "\\", "at": "@", "minus": "-", "plus": "+", "underscore": "_"}
_READABLE = {"down": "↓", "up": "↑", "left": "←", "right": "→", "pagedown": "pgdn", "pageup": "pgup", "escape": "esc"}


def readable(name: str) -> str:
    """A key as people read it: ``question_mark`` → ``?``, ``pagedown`` → ``pgdn``, ``,`` and ``space`` by name."""
    if len(name) == 1 or name in _READABLE:
        return _READABLE.get(name, name)
    if name in _SIGNS:
        return _SIGNS[name]
    try:
        sign = unicodedata.lookup(name.replace("_", " ").upper())
    except KeyError:
        return name
    return sign if sign.isprintable() and not sign.isspace() and sign != "," else name


class Key(NamedTuple):
    """One key.

    Attributes:
        id: its scope and name; stable, because users' ``keys.yaml`` files contain it.
        keys: keys as Textual or people name them (``question_mark``, ``?``), separated by commas; the footer shows
            the first.
        action: the action that it runs.
        word: its effect in a word or two (footer, palette).
        text: its effect in a sentence (help).
        rank: importance in the footer, from 1; if there is little room the highest ranks go first; 0 to leave it out.
    """

    id: str
    keys: str
    action: str
    word: str
    text: str
    rank: int = 0

    @property
    def scope(self) -> str:
        """Scope in which the key is active: a name of ``SCOPES``."""
        return self.id.partition(".")[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The keys as people read them."""
        return tuple(readable(name) for name in self.keys.split(",") if name)

    @property
    def show(self) -> str:
        """The first key as people read it; "" if there is none."""
        return self.names[0] if self.keys else ""


def search_keys(scope: str, rank: int = 7) -> tuple[Key, ...]:
    """The keys of a search in the panes of a screen."""
    return (
        Key(
            f"{scope}.search", "/", "search", "search", "search this pane; n continues the search in another pane", rank
        ),
        Key(f"{scope}.next-match", "n", "match(1)", "next match", "next match of the search"),
        Key(f"{scope}.previous-match", "N", "match(-1)", "previous match", "previous match of the search"),
        Key(f"{scope}.leave", "escape", "leave", "back", "end the search; else go back"),
    )
