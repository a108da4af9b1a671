"""How large an object is: a class with all its bases in the package."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import workbench
from tests.texts import nodes

pytestmark = pytest.mark.together("source")  # parsed once

ROOT = Path(workbench.__file__).parent

MOST = 400
"""Lines of a class and its bases. Textual's own are not counted."""

MOST_OF_A_SCREEN = 250
"""The same for a screen or a part of one; panes are not counted, as each has the 250 lines of ``LineView``."""

Classes = dict[str, tuple[ast.ClassDef, str, dict[str, str]]]


@cache
def classes() -> Classes:
    """Every class by its full name, with its module and what that imports."""
    found: Classes = {}
    for path in sorted(ROOT.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
        imported = {
            each.asname or each.name: f"{node.module}.{each.name}"
            for node in nodes(path)
            if isinstance(node, ast.ImportFrom) and node.module
            for each in node.names
        }
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                found[f"{module}.{node.name}"] = (node, module, imported)
    return found


def with_bases(name: str, known: Classes) -> list[str]:
    """A class and its bases in the package, each once."""
    node, module, imported = known[name]
    found = [name]
    for base in node.bases:
        bare = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(bare, ast.Name):
            full = imported.get(bare.id, f"{module}.{bare.id}")
            found += [each for each in (with_bases(full, known) if full in known else ()) if each not in found]
    return found


def size(name: str, known: Classes) -> int:
    """Lines of a class and its bases."""
    nodes = [known[each][0] for each in with_bases(name, known)]
    return sum((node.end_lineno or 0) - node.lineno + 1 for node in nodes)


def test_no_object_is_larger_than_can_be_read() -> None:
    known = classes()
    sizes = {name: size(name, known) for name in known}
    assert sizes["workbench.tui.widgets.pane.Pane"] > sizes["workbench.tui.widgets.lineview.LineView"] > 100
    assert {name for name, lines in sizes.items() if lines > MOST} == set()


def test_each_class_has_a_name_of_its_own() -> None:
    """In an error, a search or a review only the bare name is seen: private ones count, too."""
    by_name: dict[str, list[str]] = {}
    for name in classes():
        by_name.setdefault(name.rpartition(".")[2], []).append(name)
    assert {bare: names for bare, names in by_name.items() if len(names) > 1} == {}


def test_no_screen_is_larger_than_can_be_read() -> None:
    known = classes()
    screens = [name for name in known if name.startswith("workbench.tui.screens.")]
    bases = {name: with_bases(name, known) for name in screens}
    panes = {name for name in screens if "workbench.tui.widgets.lineview.LineView" in bases[name]}
    large = {name: size(name, known) for name in screens if name not in panes}
    assert {name: lines for name, lines in large.items() if lines > MOST_OF_A_SCREEN} == {}


def test_no_part_of_the_app_is_a_slice_of_another() -> None:
    """A base that casts itself to its subclass, or leaves a method to it unsaid, is half of one class."""
    for path in sorted((ROOT / "tui").rglob("*.py")):
        text = path.read_text("utf-8")
        assert "raise NotImplementedError" not in text, path
        for node in nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cast":
                assert not re.search("Screen|App", ast.unparse(node.args[0])), path
