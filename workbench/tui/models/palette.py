"""The palette: every action in force, in groups; the recent and the most useful ones first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from workbench.tui.key import Key
from workbench.views import Line, Span, line

CHANGE, LOOK, MOVE, PROGRAM = "act: change and send", "look", "move", "program"
GROUPS = (CHANGE, LOOK, MOVE, PROGRAM)
"""Groups of the palette, in its order."""
RECENT, USEFUL = "recently used", "useful here"
MOST = 5
"""Actions in each of the two groups on top."""

_MOVES = frozenset(
    {"back", "bar", "break", "close", "end", "jump", "leave", "move", "origin", "page", "pane", "show", "token"}
)
# fmt: off
_CHANGES = frozenset({
    "add", "again", "answer", "apply", "arm", "branch", "continue", "copy", "corrections", "dials", "drop",
    "duplicate", "edit", "editor", "export", "import", "inspect", "limits", "mark", "mark_all", "mark_due",
    "minimize", "model", "name", "note", "raw", "record", "redact", "redo", "remove", "rename", "repairs",
    "run", "run_all", "run_one", "samples", "send", "send_all", "shift", "step", "stop", "target", "unbound",
    "undo", "what_if", "write", "write_json",
})
# fmt: on
"""Names of actions that move, and of those that change or send something; all others show something."""


class PaletteRow(NamedTuple):
    """A row: an action by its number in the given list, or the title of a group."""

    action: int | None
    line: Line


KEY = 7
"""Columns of a key, if it is not longer."""


def group(key: Key) -> str:
    """Group of an action."""
    name = key.id.partition(".")[2]
    action = key.action.partition("(")[0]
    if key.scope == "global":
        return PROGRAM
    if action in _MOVES or name.startswith(("next-", "previous-")):
        return MOVE
    return CHANGE if action in _CHANGES else LOOK


def palette_rows(actions: Sequence[Key], typed: str, recent: Sequence[str]) -> list[PaletteRow]:
    """Rows for a typed text: all actions in their groups, or those that match, the best first.

    Args:
        recent: ids of the actions used before, the last one first.
    """
    if typed.strip():
        return [PaletteRow(number, _line(actions[number])) for number in _matches(actions, typed)]
    by_id = {key.id: number for number, key in enumerate(actions)}
    groups = {RECENT: [by_id[id] for id in recent if id in by_id][:MOST]}
    groups[USEFUL] = [number for number in _by_rank(actions) if number not in groups[RECENT]][:MOST]
    listed = {number for numbers in groups.values() for number in numbers}
    for number in sorted(range(len(actions)), key=lambda number: not actions[number].rank):
        if number not in listed:
            groups.setdefault(group(actions[number]), []).append(number)
    rows: list[PaletteRow] = []
    for title in (RECENT, USEFUL, *GROUPS):
        if numbers := groups.get(title):
            rows.append(PaletteRow(None, line(Span(title, "role strong"))))
            rows += [PaletteRow(number, _line(actions[number])) for number in numbers]
    return rows


def _by_rank(actions: Sequence[Key]) -> list[int]:
    """Actions of the footer that show or change something, the most important first."""
    ranked = [n for n, key in enumerate(actions) if key.rank and group(key) in (CHANGE, LOOK)]
    return sorted(ranked, key=lambda number: actions[number].rank)


def _matches(actions: Sequence[Key], typed: str) -> Iterator[int]:
    """Actions that contain every typed word; those whose name begins with the text come first."""
    wanted = typed.casefold().split()
    found = []
    for number, key in enumerate(actions):
        word, text = key.word.casefold(), f"{key.word} {key.text}".casefold()
        if all(part in text for part in wanted):
            found.append((not word.startswith(wanted[0]), wanted[0] not in word, number))
    return (number for *_, number in sorted(found))


def _line(key: Key) -> Line:
    text = key.text.removeprefix(f"{key.word}: ")
    show = Span(f"{key.show} ", "accent strong", max(KEY, len(key.show) + 1))
    return line(show, Span(f"{key.word} ", "strong", 18), Span(text, "muted"))
