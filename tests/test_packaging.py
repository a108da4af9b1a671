"""The built wheel, in an empty environment, runs the same as the checkout."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from tests.thinning import Thin
from workbench import __version__

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command ``workbench`` of an environment that holds the wheel and what it depends on, and nothing else.

    The dependencies are those of the running interpreter, so that no download is needed.
    """
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=False)
    target = next((folder / "env" / "lib").glob("python*/site-packages"))
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(target)], check=True)
    _add_bytecode(target)
    _add_dependencies(target)
    return folder / "env" / "bin" / "python"


def _add_bytecode(target: Path) -> None:
    """The bytecode of the checkout, for each module that is the same: to compile all of them takes seconds."""
    for path in (target / "workbench").rglob("*.py"):
        own = ROOT / path.relative_to(target)
        cached = Path(cache_from_source(own))
        if own.read_bytes() == path.read_bytes() and cached.is_file():
            shutil.copystat(own, path)  # bytecode is of a file of that time
            Path(cache_from_source(path)).parent.mkdir(exist_ok=True)
            shutil.copy(cached, cache_from_source(path))


def _add_dependencies(target: Path) -> None:
    """Everything installed here but the checkout itself."""
    import hypothesis

    here = Path(hypothesis.__file__).parent.parent
    for entry in here.iterdir():
        if "workbench" not in entry.name and entry.suffix != ".pth" and not (target / entry.name).exists():
            (target / entry.name).symlink_to(entry)


LINES = (["--version"], [], ["explain", "closure.missing-result"], ["explain", "reasoning.missing"])
ANSWERS = """
import contextlib, io, json, sys
from workbench.cli import main

for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(words)
    print(json.dumps([status, out.getvalue(), err.getvalue()]))
"""


def answers(python: str | Path, lines: Sequence[Sequence[str]], cwd: Path) -> list[object]:
    """(status, stdout, stderr) of each command line, all in one process."""
    words = [str(python), "-c", ANSWERS, json.dumps(lines)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=cwd, stdin=subprocess.DEVNULL, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_wheel_and_checkout_answer_the_same(installed: Path, tmp_path: Path, thin: Thin) -> None:
    """What the program says of itself, and what it finds in the example sessions."""
    examples = [str(path) for path in thin(sorted((ROOT / "sessions").glob("*.jsonl")), 9)]
    assert examples
    lines = [*LINES, ["check", "--format", "json", *examples]]
    of_wheel = answers(installed, lines, tmp_path)
    assert len(of_wheel) == len(lines)
    assert of_wheel == answers(sys.executable, lines, tmp_path)


def test_the_wheel_is_started_as_a_module(installed: Path, tmp_path: Path) -> None:
    words = [str(installed), "-m", "workbench", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout == f"workbench {__version__}\n"


def test_the_wheel_does_not_fall_back_to_the_checkout(installed: Path, tmp_path: Path) -> None:
    code = "import workbench.config.resources as r; print(r.__file__, *map(r.folder, ('sessions', 'profiles')))"
    done = subprocess.run([str(installed), "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert str(ROOT) not in done.stdout
    for folder in done.stdout.split()[1:]:
        assert any(Path(folder).iterdir())


def test_the_wheel_has_the_glossary_of_the_documentation(installed: Path, tmp_path: Path) -> None:
    code = "import sys, workbench.config.resources as r; sys.stdout.buffer.write(r.glossary().encode())"
    done = subprocess.run([str(installed), "-c", code], capture_output=True, cwd=tmp_path, check=True)
    assert done.stdout == (ROOT / "docs" / "glossary.md").read_bytes()


def test_readme_and_ci_run_the_same_command() -> None:
    command = (ROOT / ".ci" / "run").read_text(encoding="utf-8").strip().splitlines()[-1]
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
