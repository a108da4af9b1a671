"""What every test of the app shares: a home folder of its own."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from weakref import WeakKeyDictionary
from zlib import crc32

import pytest
from rich.console import RenderableType
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.styles import RulesMap
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from workbench.config import resources
from workbench.library import session_summary

_parse = Stylesheet._parse_rules
_parsed: dict[tuple[object, ...], list[RuleSet]] = {}


def _parse_once(
    self: Stylesheet,
    css: str,
    read_from: CSSLocation,
    is_default_rules: bool = False,
    tie_breaker: int = 0,
    scope: str = "",
) -> list[RuleSet]:
    """Parse a style sheet once for all apps of a run: each app would parse those of Textual's widgets again."""
    key = (css, read_from, is_default_rules, tie_breaker, scope, tuple(self._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse(self, css, read_from, is_default_rules, tie_breaker, scope)
    return _parsed[key]


Stylesheet._parse_rules = _parse_once  # type: ignore[method-assign]

_apply, _replace = Stylesheet.apply, Stylesheet.replace_rules
Key = tuple[object, ...]
_matched: dict[Key, tuple[tuple[bool, ...], RulesMap]] = {}
"""Rules that may be of a node, and what selectors see of it and of those it is in → its signs, and its styles."""
_candidates: WeakKeyDictionary[Stylesheet, tuple[list[RuleSet], dict[Key, Key]]] = WeakKeyDictionary()
SIGNS = ("_has_hover_style", "_has_focus_within", "_has_order_style", "_has_odd_or_even")


def _apply_known(self: Stylesheet, node: DOMNode, *, animate: bool = False, cache: object = None) -> None:
    """Match nodes that selectors cannot tell apart once in a run: each app matches those of a screen ten times.

    Textual puts what depends on no neighbour into the cache that it is given: only that is known here.
    """
    key = (_rules_for(self, node), *map(_seen, node.css_path_nodes))
    if key not in _matched:
        found: dict[Key, RulesMap] = {}
        _apply(self, node, animate=animate, cache=found)
        signs = tuple(getattr(node, sign) for sign in SIGNS)
        _matched.update((key, (signs, rules)) for rules in found.values())
        return
    signs, rules = _matched[key]
    for sign, holds in zip(SIGNS, signs, strict=True):
        setattr(node, sign, holds)
    self.replace_rules(node, rules, animate=animate)
    self._process_component_classes(node)


def _rules_for(sheet: Stylesheet, node: DOMNode) -> Key:
    """The rules whose last selector may match a node; parsed once, each of them is there as long as the run."""
    if sheet not in _candidates or _candidates[sheet][0] is not sheet.rules:
        _candidates[sheet] = sheet.rules, {}
    known, named = _candidates[sheet][1], (type(node), node._id, node.classes)
    if named not in known:
        names = sheet.rules_map.keys() & node._selector_names
        allowed = {id(rule) for name in names for rule in sheet.rules_map[name]}
        known[named] = tuple(id(rule) for rule in sheet.rules if id(rule) in allowed)
    return known[named]


def _seen(node: DOMNode) -> Key:
    """What a selector sees of a node alone."""
    if isinstance(node, Widget):
        return type(node), node._id, node.classes, node._pseudo_classes_cache_key, node.can_focus
    return type(node), node._id, node.classes, node.pseudo_classes


def _replace_changed(node: DOMNode, rules: RulesMap, animate: bool = False) -> None:
    """Leave a node alone that has these styles."""
    if animate or node.styles.base._rules != rules:
        _replace(node, rules, animate)


Stylesheet.apply = _apply_known  # type: ignore[method-assign]
Stylesheet.replace_rules = staticmethod(_replace_changed)  # type: ignore[method-assign]

PAINTED = 6
"""Of so many presses on a screen, what one led to is painted even if the test does not read it."""

_update, _press = Compositor.render_update, Pilot.press


def _render_what_is_looked_at(
    self: Compositor, full: bool = False, screen_stack: list[Screen[object]] | None = None, simplify: bool = False
) -> RenderableType | None:
    """Paint no frame that goes nowhere: without a terminal Textual paints each one, and throws it away."""
    if full:
        return _update(self, full, screen_stack, simplify)
    visible_screen_stack.set(screen_stack or [])
    self._dirty_regions.clear()
    return None


_painted: WeakKeyDictionary[Screen[object], int] = WeakKeyDictionary()
"""Presses on each screen."""


async def _press_and_paint(self: Pilot[object], *keys: str) -> None:
    """Paint what every sixth press leads to, and each new screen: a widget that cannot be painted fails the test.

    What a test reads is painted anyway.
    """
    await _press(self, *keys)
    if self.app.screen_stack:
        screen = self.app.screen
        _painted[screen] = _painted.get(screen, -1) + 1
        if _painted[screen] % PAINTED == 0:
            screen._compositor.render_strips()


Compositor.render_update = _render_what_is_looked_at  # type: ignore[assignment,method-assign]
Pilot.press = _press_and_paint  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run a case of several sizes at one of them, which the test's name picks; ``--every`` runs it at all."""
    if config.getoption("--every"):
        return
    cases: defaultdict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in filter(_is_of_app, items):
        values = item.callspec.params if hasattr(item, "callspec") else {}
        if "size" in values:
            cases[item.nodeid.partition("[")[0], repr({**values, "size": ""})].append(item)
    kept = {sizes[crc32(name.encode()) % len(sizes)] for (name, _), sizes in cases.items()}
    left_out = {item for sizes in cases.values() for item in sizes} - kept
    if left_out:
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]


HERE = f"{Path(__file__).parent}/"


def _is_of_app(item: pytest.Item) -> bool:
    return str(item.path).startswith(HERE)  # in a tenth of the time of ``is_relative_to``, for all tests there are


def pytest_collection_finish(session: pytest.Session) -> None:
    """Inspect the example sessions before the processes part: each of them would do it for itself."""
    if session.config.getoption("--processes") > 1 and any(map(_is_of_app, session.items)):
        _summaries()


@pytest.fixture(scope="session")
def summaries() -> Path:
    """The summaries of the example sessions, which Home lists: it would inspect each of them for itself."""
    return _summaries()


def _summaries() -> Path:
    for path in resources.folder("sessions").glob("*.jsonl"):
        session_summary.describe_file(path)
    return resources.cache_folder() / session_summary.NAME


@pytest.fixture(autouse=True)
def own_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, give_contracts: Callable[[Path], None], summaries: Path
) -> Path:
    """An empty home folder: the app looks for sessions there, and remembers what was opened."""
    home = tmp_path / "home"
    home.mkdir()
    give_contracts(home)
    shutil.copy(summaries, home / ".cache" / "workbench")
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home
