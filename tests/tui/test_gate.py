"""Untrusted text has one way onto the screen: through ``safetext``, in ``paint``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.texts import nodes

pytestmark = pytest.mark.together("source")  # parsed once

TUI = Path(__file__).resolve().parents[2] / "workbench" / "tui"
MODULES = sorted(p for p in TUI.rglob("*.py") if "_data" not in p.parts)

PAINTERS = {"paint.py"}
MAKES = {"Segment", "Strip", "Content", "Text", "Static", "Label", "Markdown", "RichLog", "Log", "DataTable", "Tree"}
"""What puts text on the screen."""

TITLES = {"border_title", "border_subtitle", "tooltip", "title", "sub_title"}


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in nodes(path):
        if isinstance(node, ast.Call):
            function = node.func
            yield function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", ""), node


def test_only_the_painter_makes_what_is_painted() -> None:
    for path in (path for path in MODULES if path.name not in PAINTERS):
        allowed = {"Text"} if path.parent.name == "models" else set()  # a class pattern of the IR, no call of Rich's
        made = {name for name, _ in calls(path)} & (MAKES - allowed)
        assert not made, f"{path} makes {made} itself: use workbench.tui.paint"


def test_wire_bytes_are_decoded_by_the_gate_alone() -> None:
    for path in (path for path in MODULES if path.name != "safetext.py"):
        decoded = [node for name, node in calls(path) if name == "decode"]
        assert all(isinstance(n.func, ast.Attribute) and _is_dumped(n.func.value) for n in decoded), path


def _is_dumped(value: ast.expr) -> bool:
    """The JSON text that we have just written ourselves."""
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") == "dumps"


def test_notifications_pass_it_too() -> None:
    for path in MODULES:
        for name, node in calls(path):
            if name == "notify" and ast.unparse(node.func) in ("self.notify", "self.app.notify"):
                assert any(k.arg == "markup" and getattr(k.value, "value", None) is False for k in node.keywords), path


def test_titles_and_tooltips_pass_it_too() -> None:
    for path in MODULES:
        for node in (node for node in nodes(path) if isinstance(node, ast.Assign)):
            if isinstance(node.targets[0], ast.Attribute) and node.targets[0].attr in TITLES:
                assert isinstance(node.value, ast.Call), path
                assert ast.unparse(node.value.func) in ("content", "paint.content"), path


def test_the_painter_passes_every_text_through_the_gate() -> None:
    source = (TUI / "paint.py").read_text(encoding="utf-8")
    assert source.count("Segment(") == 1
    assert source.count("Content(") == 1
    assert "safetext.pieces(" in source
    assert "safetext.visible(" in source
