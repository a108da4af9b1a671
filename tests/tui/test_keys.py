"""The table of keys is what is bound, shown and listed."""

from __future__ import annotations

import pytest

from workbench.tui import keys
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.branches import BranchesScreen
from workbench.tui.screens.breakpoints.screen import BreakpointsScreen
from workbench.tui.screens.byte_search import ByteSearchScreen
from workbench.tui.screens.comparing.screen import ComparingScreen
from workbench.tui.screens.continue_conversation.screen import ContinuingScreen
from workbench.tui.screens.conversion import ConversionScreen
from workbench.tui.screens.copy import CopyScreen
from workbench.tui.screens.correcting import CorrectingScreen
from workbench.tui.screens.diff import DiffScreen
from workbench.tui.screens.edit.screen import EditScreen
from workbench.tui.screens.exporting import ExportScreen
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.home import HomePane, HomeScreen
from workbench.tui.screens.lab.screen import LabScreen
from workbench.tui.screens.lab.step import StepScreen
from workbench.tui.screens.ladder import LadderScreen
from workbench.tui.screens.matrix import MatrixScreen
from workbench.tui.screens.metrics import MetricsScreen
from workbench.tui.screens.minimizing import MinimizingScreen
from workbench.tui.screens.passages import PassagesScreen
from workbench.tui.screens.repairs import RepairsScreen
from workbench.tui.screens.send import SendScreen
from workbench.tui.screens.send_answer.screen import AnswerScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.screens.story.screen import StoryScreen
from workbench.tui.screens.stream import StreamScreen
from workbench.tui.screens.surveying import SurveyScreen
from workbench.tui.screens.tools import ToolsScreen
from workbench.tui.screens.whatif.screen import WhatIfScreen
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.story import TimePane
from workbench.tui.widgets.wire import WirePane

OWNERS: dict[str, type] = {
    "global": WorkbenchApp,
    "pane": LineView,
    "wire": WirePane,
    "bytes": BodyPane,
    "bytesearch": ByteSearchScreen,
    "session": SessionScreen,
    "home": HomeScreen,
    "help": HelpScreen,
    "diff": DiffScreen,
    "repairs": RepairsScreen,
    "conversion": ConversionScreen,
    "tools": ToolsScreen,
    "passages": PassagesScreen,
    "matrix": MatrixScreen,
    "compare": ComparingScreen,
    "ladder": LadderScreen,
    "copy": CopyScreen,
    "stream": StreamScreen,
    "story": StoryScreen,
    "lanes": TimePane,
    "edit": EditScreen,
    "branches": BranchesScreen,
    "breaks": BreakpointsScreen,
    "send": SendScreen,
    "answer": AnswerScreen,
    "continue": ContinuingScreen,
    "correcting": CorrectingScreen,
    "what-if": WhatIfScreen,
    "export": ExportScreen,
    "minimize": MinimizingScreen,
    "lab": LabScreen,
    "step": StepScreen,
    "metrics": MetricsScreen,
    "survey": SurveyScreen,
}
"""Who binds a scope. A new scope names its screen or pane here."""


def test_every_key_has_its_action() -> None:
    assert set(OWNERS) == set(keys.SCOPES)
    for name, scope in keys.SCOPES.items():
        for key in scope.keys:
            action = key.action.partition("(")[0]
            owner = WorkbenchApp if action.startswith("app.") else OWNERS[name]
            assert hasattr(owner, f"action_{action.removeprefix('app.')}"), key
    assert hasattr(HomePane, "action_" + keys.OPEN_EXAMPLE.action)


def test_every_table_is_bound_where_it_is_said_to_be() -> None:
    for name, scope in keys.SCOPES.items():
        bound = {b.id for _, b in OWNERS[name]._merge_bindings()}  # type: ignore[attr-defined]
        assert {key.id for key in scope.keys} <= bound, name


def test_ids_are_unique_and_name_their_scope() -> None:
    rows = [key for scope in keys.SCOPES.values() for key in scope.keys]
    assert len({key.id for key in rows}) == len(rows)
    for name, scope in keys.SCOPES.items():
        assert {key.scope for key in scope.keys} == {name}


def test_no_key_means_two_things_in_one_place() -> None:
    for name, scope in keys.SCOPES.items():
        own = [n for key in scope.keys for n in key.names]
        assert len(own) == len(set(own)), name
        for other in scope.over:
            taken = {n: key.id for key in keys.SCOPES[other].keys for n in key.names}
            assert {n: taken[n] for n in own if n in taken} == {}, (name, other)


def test_the_footer_of_a_search_names_keys_that_are_bound() -> None:
    table = keys.table()
    for key in (*keys.SEARCH, keys.OPEN_EXAMPLE):
        assert (key.keys, key.action) == (table[key.id].keys, table[key.id].action)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("n", "n"),
        ("question_mark", "?"),
        ("slash", "/"),
        ("left_square_bracket", "["),
        ("pagedown", "pgdn"),
        ("escape", "esc"),
        ("space", "space"),
        ("tab", "tab"),
        ("ctrl+z", "ctrl+z"),
        ("f1", "f1"),
        ("comma", "comma"),
        ("ampersand", "&"),
        ("apostrophe", "'"),
    ],
)
def test_a_key_is_shown_as_people_read_it(name: str, shown: str) -> None:
    assert keys.readable(name) == shown
