"""What was written for the rooms of 0.1.0 still works: imports by old names, plug-ins, exported tests."""

from __future__ import annotations

import pkgutil
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from workbench import children, moved_modules

ROOT = Path(__file__).resolve().parent.parent
MOVED = (ROOT / "docs" / "moved.md").read_text()
TABLE = re.findall(r"^\| `([\w.]+)` \| `([\w.]+)` \|$", MOVED, re.MULTILINE)
FILES = re.findall(r"^\| `([\w./]+)` \| `([\w./]+(?:\.py|/))` \|$", MOVED, re.MULTILINE)
KEPT = Path(__file__).parent / "data" / "exported-0.1"
SESSION = ROOT / "sessions" / "anthropic-parallel-result-lost.jsonl"

QUIETLY = ("-q", "-p", "workbench.pytest_plugin", "-p", "no:cacheprovider", "--rootdir", ".")

PLUG_IN = """
from workbench.adapters.openai_chat import adapter
from workbench.inspection import Inspector
from workbench.rules import Case, Rule, Severity
from workbench.rules._case import Case as SameCase

SEEN = Rule("old.seen", Severity.WARNING, "An old plug-in saw it.")
RULES = (SEEN,)


def check(case):
    assert isinstance(case, Case) and Case is SameCase
    yield case.finding(SEEN, "request", "", f"seen beside {adapter.name} and {Inspector.__name__}")
"""


def test_the_tables_for_readers_and_for_imports_agree() -> None:
    assert len(TABLE) > 50
    told = {old: new for old, new in TABLE if "._" not in old or old in moved_modules.MOVED}
    assert told == dict(moved_modules.MOVED)
    for _, new in TABLE:
        assert (ROOT / new.replace(".", "/")).is_dir() or (ROOT / f"{new.replace('.', '/')}.py").is_file(), new


def test_each_file_that_was_merged_or_renamed_is_somewhere() -> None:
    assert len(FILES) > 200
    for old, new in FILES:
        assert not (ROOT / "workbench" / old).is_file() or new.startswith(old.removesuffix(".py")), old
        assert (ROOT / "workbench" / new).exists(), new


@pytest.mark.parametrize("old", [*moved_modules.MOVED, "workbench.adapters.openai_chat", "workbench.repairs.closure"])
def test_an_old_name_is_the_module_itself(old: str) -> None:
    new = import_module(moved_modules.now(old))
    spec = new.__spec__
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert import_module(old) is new
    assert str(told[-1].message) == f"{old} is now {moved_modules.now(old)}"
    assert new.__spec__ is spec


@pytest.mark.parametrize("old", list(moved_modules.MOVED))
def test_an_old_name_of_a_module_hides_no_name_of_a_front(old: str) -> None:
    """Importing ``a.b`` by its old name sets ``b`` on the package that ``a`` is now."""
    package, _, child = old.rpartition(".")
    front = import_module(moved_modules.now(package) or package)
    if child in {module.name for module in pkgutil.iter_modules(getattr(front, "__path__", []))}:
        import_module(f"{front.__name__}.{child}")  # a module inside the package, whether a test imported it or not
    assert getattr(front, child, None) in (None, import_module(moved_modules.now(old)))


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if moved_modules.now(name)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(moved_modules, "_asked", {})


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [(module, old, new) for module, names in moved_modules.RENAMED.items() for old, new in names.items()],
)
def test_an_old_name_of_a_class_is_the_class_itself(module: str, old: str, new: str) -> None:
    before = next((then for then, now in moved_modules.MOVED.items() if now == module), module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert getattr(import_module(before), old) is getattr(import_module(module), new)


def test_a_plug_in_that_was_written_before_is_used_and_told(tmp_path: Path) -> None:
    info = tmp_path / "old-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: old\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[workbench.rules]\nold = old_rules\n", encoding="utf-8")
    (tmp_path / "old_rules.py").write_text(PLUG_IN, encoding="utf-8")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from workbench.cli import main\nraise SystemExit(main(['check', sys.argv[1]]))"
    )
    done = subprocess.run(children.running(code, str(SESSION)), capture_output=True, text=True)
    assert "seen beside openai-chat and Inspector" in done.stdout, done.stderr
    assert "workbench: workbench.adapters is now workbench.protocols" in done.stderr


@pytest.mark.parametrize(("transcript", "failing"), [("transcript.jsonl", 0), ("broken.jsonl", 2)])
def test_a_test_that_was_exported_before_still_tells_right_from_wrong(
    transcript: str, failing: int, tmp_path: Path, give_contracts: Callable[[Path], None]
) -> None:
    for path in KEPT.iterdir():
        name = path.name.replace("kept.py.txt", "test_kept.py")
        shutil.copy(path, tmp_path / name)
    give_contracts(tmp_path / "home")
    environment = {"HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    environment |= {"WORKBENCH_TRANSCRIPT": transcript, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", *QUIETLY]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    said = done.stdout.splitlines()[-1]
    assert said.startswith(f"{failing} failed, 2 passed" if failing else "4 passed"), done.stdout
