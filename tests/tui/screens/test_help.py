from __future__ import annotations

from tests.tui import samples
from workbench.tui import keys
from workbench.tui.lines import plain
from workbench.tui.models import closure, reasoning
from workbench.tui.models.ir import node_line
from workbench.tui.models.words import SEVERITY_GLYPH
from workbench.tui.safetext import cells
from workbench.tui.screens.help import help_lines

TABLES = (("session", keys.SESSION), ("every pane", keys.PANE), ("wire", keys.WIRE))
ROOM = 70
"""Columns of a line at 80 columns."""


def test_every_sign_is_explained() -> None:
    lines = [plain(x) for x in help_lines(TABLES)]
    legend = "\n".join(lines[lines.index("signs") :])
    looks = [*closure.LOOK.values(), *reasoning.LOOK.values()]
    nodes = samples.opened(samples.TOOL_LOOP, 1).outline.nodes
    shown = {plain(node_line(n)).strip()[0] for n in nodes if n.kind == "part"}
    signs = {*SEVERITY_GLYPH.values(), *(glyph for glyph, _ in looks), *"▌┆▸▹●│⊘?▣⏎", *(s for s in shown if s > "\x7f")}
    assert {s for s in signs if s not in legend} == set()
    assert {"◆", "◇", "∴"} <= signs


def test_no_line_is_cut_at_eighty_columns() -> None:
    for made in help_lines(TABLES):
        assert sum(max(s.width, cells(s.text)) for s in made) <= ROOM, plain(made)
