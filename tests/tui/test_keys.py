"""The table of keys is what is bound, shown and listed."""

from __future__ import annotations

from workbench.tui import keys
from workbench.tui.panes.lineview import LineView
from workbench.tui.panes.wire import WirePane
from workbench.tui.screens.home import HomePane, HomeScreen
from workbench.tui.screens.session import SessionScreen

OWNERS = (
    (keys.PANE, LineView),
    (keys.WIRE, WirePane),
    (keys.SESSION, SessionScreen),
    (keys.HOME, HomeScreen),
    ((keys.OPEN_EXAMPLE,), HomePane),
)


def test_every_key_has_its_action() -> None:
    for table, owner in OWNERS:
        for key in table:
            name = key.action.partition("(")[0]
            if not name.startswith("app."):
                assert hasattr(owner, f"action_{name}"), key


def test_no_key_means_two_things_in_one_place() -> None:
    for tables in ((keys.PANE, keys.WIRE, keys.SESSION), (keys.PANE, keys.HOME)):
        names = [name for table in tables for key in table for name in key.keys.split(",")]
        assert len(names) == len(set(names))


def test_the_footer_of_a_search_names_keys_that_are_bound() -> None:
    known = {(key.keys, key.action) for key in keys.SESSION}
    assert {(key.keys, key.action) for key in keys.SEARCH} <= known
