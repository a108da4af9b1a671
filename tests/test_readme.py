"""Every command line of the README and of the guide is run, and every option they name is there."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Done, Run, run
from workbench.config import resources

__all__ = ["run"]

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "guide").glob("*.md"))}
BLOCKS = [block for text in (README, *PAGES.values()) for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]
LINES = dict.fromkeys(
    line.partition("   #")[0].strip() for block in BLOCKS for line in block.splitlines() if line.strip()
)
INSTALLS = [line for line in LINES if ".venv" in line]
COMMANDS = [line for line in LINES if ".venv" not in line]
TABLE = re.findall(r"^\| `workbench ?(\w[\w-]*|)([^`]*)`(.*)\|$", PAGES["commands.md"], re.MULTILINE)

DIFFERING = (
    "workbench schema ",
    "workbench compare ",
    "workbench matrix sessions/anthropic-tool-loop.jsonl anthropic",
)
"""Lines that find something in healthy examples: what differs, and what a variant is refused for."""

FINDINGS = 1
"""The exit status of the examples that hold a break."""


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment where ``workbench`` is installed, beside clients that leave at once; no home is remembered.

    What can be derived again is kept in the cache of these tests.
    """
    folder = tmp_path_factory.mktemp("machine")
    for name, script in {
        "workbench": f'exec {shlex.quote(sys.executable)} -m workbench "$@"',
        "claude": 'test -n "$ANTHROPIC_BASE_URL"',
        "python": 'test -n "$OPENAI_BASE_URL" && test "$1" = agent.py',
    }.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.endswith("_BASE_URL") and not k.startswith("XDG_")}
    homes = {"HOME": str(folder), "XDG_CACHE_HOME": str(resources.cache_folder().parent)}
    return kept | homes | {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def test_the_two_installing_lines_are_the_ones_that_packaging_checks() -> None:
    assert len(INSTALLS) == 2


SERVED = [c for c in COMMANDS if "--web" in c or c.startswith("workbench simulate")]
"""Lines that go on until ctrl-c."""


@pytest.fixture
def run_line(run: Run, machine: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Done]:
    """Run a command line in this process, or by a shell where it starts a client, joins commands, or is the first."""

    def command(line: str) -> Done:
        if ";" in line or line.startswith("workbench record ") or line == COMMANDS[0]:
            done = subprocess.run(
                line, shell=True, env=machine, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True
            )
            return Done(done.returncode, done.stdout, done.stderr)
        monkeypatch.chdir(ROOT)
        for name in ("HOME", "XDG_CACHE_HOME"):
            monkeypatch.setenv(name, machine[name])
        return run(*shlex.split(line)[1:])

    return command


@pytest.mark.sampled(6)
@pytest.mark.parametrize("line", [c for c in COMMANDS if c not in SERVED])
def test_a_command_line_does_what_it_says(line: str, run_line: Callable[[str], Done], tmp_path: Path) -> None:
    line = re.sub(r"(?<=-o )\S+", lambda out: str(tmp_path / out[0]), line)
    done = run_line(line)
    broken = r"^workbench (?:open|check|send|minimize|bisect) sessions/(?!anthropic-(?:tool-loop|long-session))"
    has_break = (re.search(broken, line) and "--fix" not in line) or line.startswith(DIFFERING)
    assert done.status == (FINDINGS if has_break else 0), done.err
    assert "Traceback" not in done.err
    is_recorded = line.startswith("workbench record ")
    assert done.out or is_recorded or " -o " in line
    if is_recorded:
        assert "_BASE_URL=http://127.0.0.1:" in done.err  # it shows what it set


@pytest.mark.parametrize("line", SERVED)
def test_what_is_served_is_served_until_ctrl_c(line: str, machine: dict[str, str]) -> None:
    with subprocess.Popen(shlex.split(line), env=machine, cwd=ROOT, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        address = r"http://127\.0\.0\.1:\d+" + (r"/\?token=\S+" if "--web" in line else "")
        try:
            assert re.search(address, served.stdout.readline())
            served.send_signal(signal.SIGINT)
            served.communicate(timeout=30)
        finally:
            served.kill()  # one that does not end is a failure, and no reason to wait for it
    assert served.returncode in (0, 130)


@pytest.mark.parametrize(("command", "words", "text"), TABLE, ids=[row[0] or "alone" for row in TABLE])
def test_the_table_names_what_there_is(command: str, words: str, text: str, run: Run) -> None:
    told = run(*([command] if command else []), "--help").out
    for option in re.findall(r"--?[a-z][a-z-]*\b", words + text):
        assert option in told


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200


def test_every_picture_is_there() -> None:
    pictures = {name for text in (README, *PAGES.values()) for name in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)}
    assert {Path(name).name for name in pictures} == {path.name for path in (ROOT / "docs/pictures").glob("*.svg")}
    for name in pictures:
        assert "http" not in re.sub(r"http://www\.w3\.org\S+|https://www\.textualize\.io\S*", "", _markup(name))


def _markup(name: str) -> str:
    """A picture without the text it shows."""
    return re.sub(r">[^<]*<", "><", (ROOT / "docs" / "pictures" / Path(name).name).read_text(encoding="utf-8"))


def test_every_filter_of_the_table_is_read() -> None:
    from workbench.filters import parse

    rows = re.findall(r"^\| `([^`]*[:~][^`]*)` \|", PAGES["app.md"], re.MULTILINE)
    assert len(rows) == 6
    for row in rows:
        parse(row)
