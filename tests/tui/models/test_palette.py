from __future__ import annotations

import pytest

from workbench.tui import keys
from workbench.tui.models.palette import CHANGE, LOOK, MOVE, PROGRAM, RECENT, USEFUL, group, palette_rows
from workbench.views.lines import plain

ACTIONS = [*keys.SESSION, *keys.PANE, *keys.GLOBAL]


def listed(typed: str = "", recent: tuple[str, ...] = ()) -> list[str]:
    """Titles of groups, and ids of actions."""
    rows = palette_rows(ACTIONS, typed, recent)
    return [plain(row.line) if row.action is None else ACTIONS[row.action].id for row in rows]


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("session.edit", CHANGE),
        ("session.send", CHANGE),
        ("session.repairs", CHANGE),
        ("session.matrix", LOOK),
        ("session.next-break", MOVE),
        ("pane.down", MOVE),
        ("global.help", PROGRAM),
    ],
)
def test_actions_are_grouped_by_what_they_do(id: str, name: str) -> None:
    assert group(keys.table()[id]) == name


def test_every_action_is_listed_once_the_most_useful_first() -> None:
    rows = listed()
    assert rows[:3] == [USEFUL, "session.repairs", "session.edit"]
    assert sorted(set(rows) - {USEFUL, CHANGE, LOOK, MOVE, PROGRAM}) == sorted(key.id for key in ACTIONS)
    assert len(rows) == len(set(rows))


def test_what_was_used_last_is_on_top() -> None:
    rows = listed(recent=("session.matrix", "session.edit", "home.record"))
    assert rows[:3] == [RECENT, "session.matrix", "session.edit"]
    assert rows.count("session.edit") == 1


def test_typed_words_find_names_before_sentences() -> None:
    assert listed("exp")[0] == "session.export"
    assert listed("smallest fix") == ["session.minimize"]
    assert listed("no such thing") == []
