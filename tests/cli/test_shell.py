"""Finding the command, and turning every failure into one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS, Run
from workbench import __version__, children
from workbench.cli import _shell
from workbench.cli._shell import worst


@pytest.mark.parametrize(
    ("statuses", "expected"), [([], 0), ([0, 3], 3), ([3, 1], 1), ([1, 2], 2), ([2, 4], 4), ([4, 130, 1], 130)]
)
def test_the_worst_status_counts(statuses: list[int], expected: int) -> None:
    assert worst(statuses) == expected


def test_version(run: Run) -> None:
    assert run("--version").out == f"workbench {__version__}\n"


def test_without_a_command_and_a_terminal_the_overview_is_printed(run: Run) -> None:
    done = run()
    assert done.status == 0
    for path in SESSIONS.glob("*.jsonl"):
        assert path.stem in done.out


def test_open_without_a_terminal_prints_the_findings(run: Run) -> None:
    done = run("open", SESSIONS / "deepseek-reasoning-lost.jsonl")
    assert done.status == 1
    assert "reasoning.missing" in done.out


@pytest.mark.parametrize("words", [["nonsense"], ["--nonsense"], ["check", "--nonsense", "x"]])
def test_usage_is_2(run: Run, words: list[str]) -> None:
    assert run(*words).status == 2


@pytest.mark.parametrize(
    ("word", "hint"), [(__file__, "workbench open FILE"), (SESSIONS, "workbench check FOLDER"), ("chek", "mean check?")]
)
def test_a_word_that_is_no_command_is_told_what_was_meant(run: Run, word: str, hint: str) -> None:
    done = run(word)
    assert done.status == 2 and hint in done.err and done.err.count("\n") == 1


def test_help_names_every_command(run: Run) -> None:
    out = run("--help").out
    for name in ("open", "check", "show", "explain", "import", "fsck"):
        assert f"    {name} " in out


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    many = [str(p) for p in SESSIONS.glob("*.jsonl")] * 40
    command = [sys.executable, "-m", "workbench", "show", "--as", "wire"]
    script = " ".join([*command, many[0]]) + " | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


WORKBENCH = f"{sys.executable} -m workbench"
BROKEN = SESSIONS / "deepseek-reasoning-lost.jsonl"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("script", "status"),
    [
        (f"{WORKBENCH} check {BROKEN} | true; exit ${{PIPESTATUS[0]}}", 1),
        (f"{WORKBENCH} --help | true; exit ${{PIPESTATUS[0]}}", 0),
        (f"{WORKBENCH} check {BROKEN} > /dev/full", 4),
        (f"{WORKBENCH} check {BROKEN} >&-", 1),
        (f"{WORKBENCH} check {BROKEN} 2>&-", 1),
        (f"{WORKBENCH} check - <&-", 2),
        (f"{WORKBENCH} fsck no-such-file", 2),
        (f"{WORKBENCH} fsck - < {BROKEN}", 0),
        (f"{WORKBENCH} fsck <(cat {BROKEN})", 0),
        (f"{WORKBENCH} import {BROKEN} -o /dev/null --force", 2),
        (f"{WORKBENCH} import {BROKEN} -o -", 2),
        (f"{WORKBENCH} open {BROKEN} --exchange 9", 2),
    ],
    ids=lambda v: v.replace(sys.executable, "python").replace(str(SESSIONS), "sessions") if isinstance(v, str) else "",
)
def test_streams_as_a_shell_hands_them_over(script: str, status: int, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, stdin=subprocess.DEVNULL
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.stderr.count("\n") <= 1


def test_an_ascii_terminal_gets_plain_signs_and_json_stays_json(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    words = [sys.executable, "-m", "workbench", "check", str(SESSIONS / "openai-call-never-runs.jsonl")]
    text = subprocess.run(words, capture_output=True, env=environment, cwd=tmp_path).stdout
    assert b"x error   stream.finish-reason" in text
    assert b"\\u" not in text
    show = [*words[:3], "show", "--as", "wire", "--format", "json", words[-1]]
    data = subprocess.run(show, capture_output=True, env=environment, cwd=tmp_path).stdout
    assert "天气" in json.loads(data)["exchanges"][0]["request"]["body"]


@pytest.mark.parametrize("module", _shell.command_modules())
def test_help_names_a_command_as_its_module_does(module: str) -> None:
    command = import_module(f"workbench.cli.{module}")
    assert _shell.summary(module) == (command.NAME, command.HELP)


def test_help_is_that_of_the_whole_parser() -> None:
    assert _shell.outline().format_help() == _shell.build().format_help()


def test_help_imports_no_command() -> None:
    code = "import sys; from workbench.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(children.running(code), capture_output=True, text=True, check=True)
    loaded = {name for name in done.stderr.split() if name.startswith("workbench.")}
    known = {"cli", "cli._shell", "cli._streams", "errors", "moved_modules"}
    assert loaded == {f"workbench.{name}" for name in known}
    assert "list the findings of files or folders" in done.stdout


@pytest.mark.parametrize("columns", ["", "0", "-3", "wide", "40", "133"])
def test_help_is_as_wide_as_the_terminal(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert _shell._columns() == shutil.get_terminal_size().columns


NOT_FOR_ONE_BODY = {"asyncio", "html", "logging", "rich", "sqlite3", "textual", "yaml"}


def test_a_check_of_one_body_imports_what_it_needs(tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}
    request = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}], "tools": [tool]}
    body.write_text(json.dumps(request), encoding="utf-8")
    code = f"import sys; from workbench.cli import main; main(['check', {str(body)!r}])"
    code += "; print(*sys.modules, file=sys.stderr)"
    for _ in ("reads contracts ahead", "finds them"):
        done = subprocess.run(children.running(code), capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    rooms = {name.split(".")[1] for name in loaded if name.startswith("workbench.") and name.count(".") > 1}
    assert rooms <= {
        "chain",
        "cli",
        "config",
        "contracts",
        "formats",
        "library",  # kept verdicts
        "protocols",
        "rules",
        "toolcalls",
        "views",
        "wire",
    }
    assert not loaded & NOT_FOR_ONE_BODY
    unwanted = ("workbench.wire.session.sqlite", "workbench.rules._shared.hop_damage", "workbench.rules.mcp")
    assert not {name for name in loaded if name.startswith(unwanted)}
