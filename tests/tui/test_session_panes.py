"""The table of panes of the session screen."""

from __future__ import annotations

from pkgutil import resolve_name

import pytest

from workbench.tui import keys, session_panes
from workbench.tui.models.guide import GUIDES
from workbench.tui.models.pane_content import PaneContent
from workbench.tui.models.signs import SIGNS
from workbench.tui.models.tabs import PANES
from workbench.tui.session_panes import PaneRow
from workbench.tui.widgets.pane import Pane


@pytest.mark.parametrize("row", session_panes.PANES, ids=lambda row: row.id)
def test_a_row_names_what_there_is(row: PaneRow) -> None:
    assert issubclass(resolve_name(f"workbench.tui.widgets.{row.widget}"), Pane)
    assert not row.content or issubclass(resolve_name(f"workbench.tui.models.{row.content}"), PaneContent)
    assert row.slot in session_panes.SLOTS
    assert set(row.signs) <= set(SIGNS)


def test_tabs_keys_and_help_are_those_of_the_table() -> None:
    ids = [row.id for row in session_panes.PANES]
    assert [name for name, _ in PANES] == ids
    assert [keys.table()[f"session.{id}"].keys for id in ids] == [str(n) for n in range(1, len(ids) + 1)]
    assert set(ids) <= set(GUIDES)


def test_panes_of_an_exchange_are_in_the_order_of_their_slots() -> None:
    assert [row.id for row in session_panes.later()] == ["wire", "ir", "http", "reasoning", "closure"]
