from __future__ import annotations

import ast
from pathlib import Path

import pytest
from rich.style import Style

from tests.tui import samples
from workbench.glyphs import SIGNS as ASCII
from workbench.tui import keys, paint
from workbench.tui.models.guide import GUIDES, LEAST_COLUMN, help_lines
from workbench.tui.models.ir import node_line
from workbench.tui.models.signs import SIGNS
from workbench.tui.models.tabs import PANES
from workbench.views import chain, words
from workbench.views.lines import Line, plain

TUI = Path(__file__).resolve().parents[3] / "workbench" / "tui"
TABLES = [(scope.title, scope.keys) for scope in keys.SCOPES.values()]
OF_OTHER_PLACES = set("…–—←↑→↓“”‘’⋮·\ufffd▁▂▃▅▆▇")
"""Punctuation, arrows and the heights of a sparkline, which say themselves what they mean."""


def test_every_pane_has_a_guide_and_every_guide_knows_its_signs() -> None:
    assert {name for name, _ in PANES} <= set(GUIDES)
    assert {name for guide in GUIDES.values() for name in guide.signs} <= set(SIGNS)


def test_every_sign_is_explained_whatever_the_pane() -> None:
    looks = [*chain.CALL_LOOK.values(), *chain.REPLAY_LOOK.values()]
    nodes = samples.opened(samples.TOOL_LOOP, 1).outline.nodes
    shown = {plain(node_line(n)).strip()[0] for n in nodes if n.kind == "part"}
    signs = {*words.SEVERITY_GLYPH.values(), *(glyph for glyph, _ in looks), *(s for s in shown if s > "\x7f")}
    for guide in (None, *GUIDES.values()):
        text = "\n".join(plain(made) for made in help_lines(guide, TABLES, 70))
        assert {s for s in (signs | set(ASCII)) - OF_OTHER_PLACES if s not in text} == set()


def test_the_signs_of_the_stream_screen_say_what_they_mean_there() -> None:
    shown = {"events": set("!≠▸"), "built": set("▌◆∴⏎"), "clients": set("✓≠")}
    for name, signs in shown.items():
        assert {SIGNS[sign][0][0] for sign in GUIDES[name].signs} == signs
        assert {s for s in signs if not s.isascii()} <= set(ASCII)


def by_column(lines: list[Line], width: int) -> str:
    """The text of lines, one column after the other."""
    many = max(1, width // LEAST_COLUMN)
    shown = [paint.strip(made, width, lambda names: Style()).text for made in lines]
    return " ".join(" ".join(row[n * (width // many) :][: width // many] for row in shown) for n in range(many))


@pytest.mark.parametrize("width", [45, 70, 120, 200])
def test_every_key_is_listed_in_as_many_columns_as_fit(width: int) -> None:
    keys_only = help_lines(None, TABLES, width)
    end = next(n for n, made in enumerate(keys_only) if plain(made) == "filter: expressions")
    text = " ".join(by_column(keys_only[:end], width).split())
    assert all(" ".join(key.text.split()) in text for scope in keys.SCOPES.values() for key in scope.keys)


def test_keys_are_grouped_and_those_of_the_pane_come_first() -> None:
    tables = [("wire", keys.WIRE), ("session", keys.SESSION), ("everywhere", keys.GLOBAL)]
    heads = [plain(made) for made in help_lines(None, tables, 70) if plain(made).startswith("keys: ")]
    assert heads == ["keys: move", "keys: look", "keys: act: change and send", "keys: program"]
    text = "\n".join(plain(made) for made in help_lines(None, tables, 70))
    assert text.index("next value on the line") < text.index("next break (error") < text.index("show or hide the HTTP")


def test_every_sign_of_the_app_has_an_ascii_stand_in() -> None:
    """A sign that is missing there would be shown as an escape."""
    missing = {}
    for path in TUI.rglob("*.py"):
        if path.name in ("glyphs.py", "safetext.py"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        told = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
                unknown = {c for c in node.value if not c.isascii() and c.isprintable() and c not in ASCII}
                missing.update({path.name: unknown} if unknown else {})
    assert missing == {}


def test_stand_ins_take_one_column_and_signs_that_meet_differ() -> None:
    assert all(len(c) == 1 and c.isascii() for c in ASCII.values())
    for together in ("✗✓·⊘○●◆◇∴▣▌┆▸≠⚑✎‖⊞⊟›↑", "▸▹", "▌┆│", "●│○", "▓▚▒░█▄│", "█▒░─⋮▌"):
        assert len({ASCII[c] for c in together}) == len(together), together
