"""Processes that the program starts never import what lies in the working directory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run
from tests.cli.test_web import frames, serving
from tests.test_architecture import PACKAGE, modules, source
from workbench import children
from workbench.errors import WorkbenchError
from workbench.recorder import child
from workbench.toolcalls.arguments import _process

__all__ = ["run"]

SESSIONS = PACKAGE.parent / "sessions"
TRAP = "import os; open(os.path.join({folder!r}, 'imported-' + __name__), 'w').close()\n"


@cache
def wanted() -> set[str]:
    """The modules that a process could want; to ask which are installed takes half a second."""
    return {*sys.stdlib_module_names, *packages_distributions(), "workbench", "sitecustomize", "usercustomize"} - {"os"}


@pytest.fixture
def trapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory, where every module that a process could want lies as a trap that must stay shut."""
    folder = tmp_path / "repository"
    folder.mkdir()
    for name in wanted():
        (folder / f"{name}.py").write_text(TRAP.format(folder=str(tmp_path)), encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", "../repository"]))
    yield folder
    assert [file.name for file in tmp_path.glob("imported-*")] == []


def test_only_one_module_starts_an_interpreter() -> None:
    """A law for every process to come: each is started with the words that ``children`` gives."""
    for path in modules():
        if path != PACKAGE / "children.py":
            found = re.search(
                r"\bsys\.(_base_)?executable\b|import executable|multiprocessing|ProcessPool", source(path)
            )
            assert not found, f"{path}: {found and found.group()}: take the words of workbench.children"


def test_every_process_of_ours_gets_a_clean_environment() -> None:
    for path in modules():
        text = source(path)
        if "children.running" in text:
            is_clean = "children.environment(" in text or "env=self._environment(" in text
            assert is_clean, f"{path} starts a process with whatever PYTHONPATH holds"


def test_the_process_that_repairs_arguments(trapped: Path) -> None:
    _process.stop()
    try:
        assert _process.ask(text='{"a": 1,}', schema=None)["value"] == {"a": 1}
    finally:
        _process.stop()


@pytest.mark.parametrize(
    "module", ["workbench.recorder", "workbench.recorder.capture.keeper_process", "workbench.recorder.translation"]
)
def test_processes_of_a_recording(trapped: Path, module: str) -> None:
    with pytest.raises((WorkbenchError, KeyError, OSError)):
        child.ChildProcess(module, {"no": "task"})


def test_the_proof_of_an_exported_test(trapped: Path, run: Run) -> None:
    assert run("export", SESSIONS / "anthropic-tool-loop.jsonl", "--as", "pytest", "-o", "made").status == 0


async def test_the_app_of_a_page(trapped: Path) -> None:
    with serving(trapped, "open", str(SESSIONS / "anthropic-parallel-result-lost.jsonl"), "--web") as page:
        assert "run_tests" in await frames(page, {"closure.missing-result": ("q", "q", "q")})


def test_the_program_itself_started_as_a_module(tmp_path: Path) -> None:
    """Python finds the package before we run; what is imported later does not come from the working directory."""
    for name in ("json", "sqlite3", "yaml", "msgspec"):
        (tmp_path / f"{name}.py").write_text(TRAP.format(folder=str(tmp_path)), encoding="utf-8")
    words = [sys.executable, "-m", "workbench", "check", str(SESSIONS / "anthropic-tool-loop.jsonl")]
    subprocess.run(words, cwd=tmp_path, env=children.environment(), check=True)
    assert [file.name for file in tmp_path.glob("imported-*")] == []
