"""The directions of the design, each as a test: what may import what, and what may not be there at all."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "workbench"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "limits", "ir", "leaves", "plugins", "resources", "children", "__init__"),
    ("wire", "safeyaml", "known"),
    ("adapters", "differences", "arguments", "schemas", "refusals"),
    ("textcalls",),
    ("decode", "conversion"),
    ("chain", "accumulation", "testing", "damage"),
    ("rules",),
    ("inspection",),
    ("editing", "repairs", "targets", "loop", "filters", "matrix", "comparison", "recorder", "breakpoints"),
    (
        "whatif",
        "minimize",
        "metrics",
        "probes",
        "capability",
        "unwrapping",
        "importers",
        "exporters",
        "notes",
        "workspace",
        "selftest",
        "replay",
    ),
    ("shelf", "bridge", "audit"),
    ("tui", "cli", "crashes", "pytest_plugin", "__main__"),
)
"""From the bottom up: a room may import its own layer and the ones below it."""

HEAVY = ("textual", "rich", "httpx", "jsonschema", "yaml", "json_repair", "msgspec", "zstandard", "brotli", "asyncio")


@cache
def modules() -> tuple[Path, ...]:
    return tuple(sorted(p for p in PACKAGE.rglob("*.py") if "_data" not in p.parts))


@cache
def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything in a module."""
    return tuple(ast.walk(ast.parse(source(path))))


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def level(name: str) -> int:
    found = [n for n, names in enumerate(LAYERS) if name in names]
    assert found, f"workbench/{name} has no place in the layers: put it into LAYERS"
    return found[0]


def imports(found: Iterable[ast.AST]) -> Iterator[str]:
    for node in found:
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{a.name}" for a in node.names)


def test_imports_run_one_way() -> None:
    for path in modules():
        own = level(room(path))
        for name in imports(nodes(path)):
            parts = name.split(".")
            if parts[0] != "workbench" or len(parts) == 1:
                continue
            target = parts[1] if (PACKAGE / parts[1]).is_dir() or (PACKAGE / f"{parts[1]}.py").is_file() else "__init__"
            if name == "workbench.tui.safetext.visible" and room(path) in ("cli", "crashes"):
                continue
            assert level(target) <= own, f"{path.relative_to(PACKAGE)} imports {name}, which is above it"


@pytest.mark.parametrize("path", sorted((PACKAGE / "adapters").glob("[a-z]*.py")), ids=lambda p: p.stem)
def test_adapters_do_not_know_each_other(path: Path) -> None:
    others = {p.stem for p in (PACKAGE / "adapters").glob("[a-z]*.py")} - {path.stem}
    for name in imports(nodes(path)):
        assert name.removeprefix("workbench.adapters.").split(".")[0] not in others, name


def test_only_the_app_knows_the_screen() -> None:
    for path in modules():
        used = {n.split(".")[0] for n in imports(nodes(path))}
        if room(path) != "tui":
            assert "textual" not in used, path
        if room(path) not in ("tui", "cli"):
            assert "rich" not in used, path


CORE = (
    "ir",
    "leaves",
    "errors",
    "limits",
    "adapters",
    "arguments",
    "schemas",
    "textcalls",
    "conversion",
    "accumulation",
    "chain",
    "refusals",
    "rules",
    "decode",
    "inspection",
    "editing",
    "repairs",
    "loop",
    "filters",
)
FORBIDDEN = ("socket", "subprocess", "asyncio", "threading", "time", "datetime", "random", "urllib", "http", "httpx")
ALLOWED = {
    "arguments/_process.py": {"subprocess", "threading"},  # the child process with a deadline that hostile schemas need
    "schemas/_instances.py": {"random"},  # seeded: the same instances on every run
}


def test_the_core_does_no_io_and_knows_no_clock() -> None:
    for path in (p for p in modules() if room(p) in CORE):
        # urllib.parse only quotes, and opens nothing
        used = {n.split(".")[0] for n in imports(nodes(path)) if not n.startswith("urllib.parse")}
        allowed = ALLOWED.get(str(path.relative_to(PACKAGE)), set())
        assert not (used & set(FORBIDDEN)) - allowed, path
        calls = {n.func.id for n in nodes(path) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        assert not calls & {"open", "print", "input", "exec", "eval"}, path
        reached = {n.attr for n in nodes(path) if isinstance(n, ast.Attribute)}
        assert not reached & {"read_bytes", "read_text", "write_bytes", "write_text", "iterdir"}, path


def test_recorded_urls_are_taken_apart_in_one_place() -> None:
    """A URL of a recording may be any text; urllib raises for some."""
    for path in modules():
        if room(path) in (*CORE, "damage", "comparison", "importers", "refusals", "differences", "metrics", "shelf"):
            assert "urlsplit" not in source(path), f"{path.relative_to(PACKAGE)}: use workbench.wire.urls.split"


def test_wire_json_is_parsed_in_one_place() -> None:
    """A second parser would disagree about duplicate keys, depth, surrogates and big numbers."""
    for path in modules():
        if room(path) == "wire":
            continue
        loads = [
            n
            for n in nodes(path)
            if isinstance(n, ast.Attribute) and n.attr in ("loads", "load") and getattr(n.value, "id", "") == "json"
        ]
        assert not loads, f"{path.relative_to(PACKAGE)}:{loads[0].lineno}: use workbench.wire.jsontext.loads"


@pytest.mark.parametrize("module", ["workbench", "workbench.cli", "workbench.cli._shell", "workbench.ir"])
def test_start_is_cheap(module: str) -> None:
    """Nothing heavy may be imported before a command asks for it."""
    loaded = _loaded_by(f"import {module}")
    assert not loaded & set(HEAVY), loaded & set(HEAVY)


def test_commands_without_a_screen_never_import_textual() -> None:
    quiet = "import contextlib, io, workbench.cli\nwith contextlib.redirect_stdout(io.StringIO()):"
    code = f"{quiet} workbench.cli.main(['--help'])"
    assert "textual" not in _loaded_by(code)


def _loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*{{m.split('.')[0] for m in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_modules_stay_small() -> None:
    """A newcomer reads a module in one go; a longer one has more than one reason to change."""
    for path in modules():
        assert len(source(path).splitlines()) <= 500, path
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 80, f"{node.name} in {path}"
