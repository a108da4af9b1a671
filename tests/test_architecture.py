"""The directions of the design, each as a test: what may import what, and what may not be there at all."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest
from grimp import build_graph
from importlinter.cli import lint_imports

from docs import rooms as drawing
from tests.texts import nodes, tree
from workbench import plugins

pytestmark = pytest.mark.together("source")  # parsed once

PACKAGE = Path(__file__).resolve().parent.parent / "workbench"

CONFIGURED = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
LAYERS = CONFIGURED["contracts"][0]["layers"]
FLOORS = tuple(tuple(floor.split(" | ")) for floor in reversed(LAYERS[:-1]))
"""A room uses only those on the floors before its own, and the core: import-linter's first contract."""

ROOMS = tuple(room for floor in FLOORS for room in floor)

CORE = (*LAYERS[-1].split(" : "), "__init__")

ENTRANCES = (*CONFIGURED["contracts"][0]["exhaustive_ignores"],)
"""Modules that are started, or that exported tests import: they use any room, and no room uses them."""

HEAVY = ("textual", "rich", "httpx", "jsonschema", "yaml", "json_repair", "msgspec", "zstandard", "brotli", "asyncio")


@cache
def modules() -> tuple[Path, ...]:
    return tuple(sorted(p for p in PACKAGE.rglob("*.py") if "_data" not in p.parts))


@cache
def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(found: Iterable[ast.AST]) -> Iterator[str]:
    for node in found:
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{a.name}" for a in node.names)


def crossing() -> Iterator[tuple[Path, str, str]]:
    """(module, what it imports, the room of that) of every import from another room."""
    for path in modules():
        for name in imports(nodes(path)):
            parts = name.split(".")
            if parts[0] == "workbench" and len(parts) > 1:
                target = (
                    parts[1] if (PACKAGE / parts[1]).is_dir() or (PACKAGE / f"{parts[1]}.py").is_file() else "__init__"
                )
                if target != room(path):
                    yield path, name, target


def test_the_contracts_on_imports_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    kept = lint_imports(config_filename=str(PACKAGE.parent / "pyproject.toml"), no_cache=True) == 0
    assert kept, capsys.readouterr().out


def test_no_module_needs_itself() -> None:
    """Imports inside functions count: what is loaded late still cannot be understood, or moved, without the rest."""
    graph = build_graph("workbench", exclude_type_checking_imports=True, cache_dir=None)
    TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules}).prepare()


def test_every_module_has_a_place() -> None:
    assert {room(path) for path in modules()} <= {*CORE, *ROOMS, *ENTRANCES}


def test_no_room_is_on_a_higher_floor_than_its_imports_need() -> None:
    assert [list(floor) for floor in FLOORS] == drawing.floors(drawing.imports(nodes))


@cache
def fronts() -> tuple[str, ...]:
    """The rooms, and the packages inside them that other rooms import from: ``"wire"``, ``"wire/session"``."""
    entered: set[str] = set(ROOMS)
    for _, name, _ in crossing():
        parts = name.split(".")[1:]
        packages = ("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        entered |= {package for package in packages if (PACKAGE / package).is_dir()}
    return tuple(sorted(entered))


def by_isort(name: str) -> tuple[int, str]:
    """The order of ruff's RUF022: constants, then classes, then the rest."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


def test_a_front_says_what_goes_in_what_comes_out_and_what_it_may_import() -> None:
    assert [fault for front in fronts() for fault in untold(front)] == []


def untold(front: str) -> Iterator[str]:
    said = " ".join((ast.get_docstring(tree(PACKAGE / front / "__init__.py")) or "").split())
    if "In: " not in said or "Out: " not in said:
        yield f"{front}: what goes in, what comes out?"
    if f"It may import {reach(front)}." not in said:
        yield f"{front}: it may import {reach(front)}"


def reach(front: str) -> str:
    own, _, inner = front.partition("/")
    if inner:
        return f"what ``{own}`` may"
    number = next(number for number, floor in enumerate(FLOORS) if own in floor)
    return f"the core and the rooms up to ``{FLOORS[number - 1][-1]}``" if number else "the core alone"


def test_a_front_lists_what_it_exports() -> None:
    """Without ``__all__`` nobody can tell what a room offers from what it needs itself."""
    assert [fault for front in fronts() for fault in unlisted(front)] == []


def unlisted(front: str) -> Iterator[str]:
    body = tree(PACKAGE / front / "__init__.py").body[1:]
    loaded = import_module(f"workbench.{front.replace('/', '.')}")
    exported = getattr(loaded, "__all__", None)
    if exported is None:
        if body:
            yield f"{front} has names and no __all__"
        return
    if list(exported) != sorted(set(exported), key=by_isort):
        yield f"{front}: __all__ is not sorted"
    if any(not hasattr(loaded, name) for name in exported):
        yield f"{front}: __all__ names what is not there"


ADAPTERS = tuple(PACKAGE / "protocols" / name for name in plugins.built_in("workbench.protocols"))


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda p: p.stem)
def test_adapters_do_not_know_each_other(path: Path) -> None:
    others = {p.stem for p in ADAPTERS} - {path.stem}
    for module in path.rglob("*.py"):
        for name in imports(nodes(module)):
            assert name.removeprefix("workbench.protocols.").split(".")[0] not in others, f"{module}: {name}"


NAMED = (
    "formats/importers/codex.py",  # transcripts of one client, which speaks one protocol
    "formats/importers/qwen_code.py",
    "recorder/audit/cases",  # bodies that are compared byte for byte, a module for each protocol
)
"""Modules outside ``protocols`` that name a protocol, and why."""


def test_what_differs_between_protocols_is_asked_of_their_adapters() -> None:
    """Names without a hyphen are those of providers too, and not looked for."""
    names = {name.replace("_", "-") for name in plugins.built_in("workbench.protocols") if "_" in name}
    for path in modules():
        inner = path.relative_to(PACKAGE).as_posix()
        if room(path) != "protocols" and not inner.startswith(NAMED):
            found = {node.value for node in nodes(path) if isinstance(node, ast.Constant)} & names
            assert not found, f"{inner}: ask the adapter instead of naming {found}"


def test_only_the_app_knows_the_screen() -> None:
    for path in modules():
        used = {n.split(".")[0] for n in imports(nodes(path))}
        if room(path) != "tui":
            assert "textual" not in used, path
        if room(path) not in ("tui", "cli", "glyphs", "safetext"):  # how wide a character is, rich knows
            assert "rich" not in used, path


PURE = (
    "ir",
    "provenance",
    "fingerprint",
    "terms",
    "undo_log",
    "errors",
    "limits",
    "safetext",
    "glyphs",
    "characters",
    "toolcalls",
    "protocols",
    "chain",
    "convert",
    "diff",
    "rules",
    "contracts",
    "filters",
    "edits",
    "send/loop",
    "views",
)
"""Rooms, or parts of them, that do no I/O and know no clock."""

STORED = ("edits/branches", "edits/notes.py", "rules/metrics/prices.py")
"""What of them is kept on disk, or read from it."""


def is_pure(path: Path) -> bool:
    place = str(path.relative_to(PACKAGE))
    return any(f"{place}/".startswith((f"{name}/", f"{name}.py")) for name in PURE) and not place.startswith(STORED)


FORBIDDEN = ("socket", "subprocess", "asyncio", "threading", "time", "datetime", "random", "urllib", "http", "httpx")
ALLOWED = {
    "rules/metrics/tool_use_counts.py": {"datetime"},  # days that a recording names: no clock is asked
    "toolcalls/arguments/_process.py": {"subprocess", "threading"},  # the child with a deadline, for hostile schemas
    "toolcalls/schemas/proof.py": {"random"},  # seeded: the same instances on every run
}


def test_the_core_does_no_io_and_knows_no_clock() -> None:
    assert not [name for name in PURE if not (PACKAGE / name).is_dir() and not (PACKAGE / f"{name}.py").is_file()]
    for path in (p for p in modules() if is_pure(p)):
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
        if is_pure(path) or "importers" in path.parts or room(path) == "library":
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


def run_by_an_import(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Every node that runs when its module is imported: all but the bodies of functions."""
    for node in body:
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from run_by_an_import(node.decorator_list)
        elif not isinstance(node, ast.Lambda):
            yield from run_by_an_import(ast.iter_child_nodes(node))


COMPILED_AT_ONCE = ("cli/_shell.py",)
"""``--help`` always needs its one pattern, and imports no typing, as ``workbench.regex`` does."""


def test_an_import_compiles_no_pattern() -> None:
    """A pattern of a module is one of ``workbench.regex``; one that a function makes is used at once."""
    for path in (p for p in modules() if p.relative_to(PACKAGE).as_posix() not in COMPILED_AT_ONCE):
        calls = (node for node in run_by_an_import(tree(path).body) if isinstance(node, ast.Call))
        found = [node.lineno for node in calls if ast.unparse(node.func) == "re.compile"]
        assert not found, f"{path.relative_to(PACKAGE)}:{found[0]}: use workbench.regex.compile"


def test_an_import_makes_no_methods_of_a_dataclass() -> None:
    """``workbench.lazy_dataclass`` makes them later, and imports ``dataclasses`` no sooner."""
    names = {f"dataclasses.{name}" for name in ("dataclass", "field", "replace")}
    for path in modules():
        found = {*imports(nodes(path))} & names if path.name != "lazy_dataclass.py" else set()
        assert not found, f"{path.relative_to(PACKAGE)}: use workbench.lazy_dataclass"


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
