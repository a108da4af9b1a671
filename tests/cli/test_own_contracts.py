"""A broken contract of the user's own stops no command that does not ask for it by name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS, Run
from workbench import contracts

BROKEN = SESSIONS / "deepseek-reasoning-lost.jsonl"


@pytest.fixture
def mine(own_home: Path) -> Iterator[Path]:
    """A contract named ``mine`` that is not YAML."""
    file = own_home / ".config" / "workbench" / "profiles" / "mine.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(": [")
    contracts.forget()
    yield file
    contracts.forget()


OTHERS = [["check", BROKEN], ["matrix", BROKEN], ["explain", "deepseek"], ["explain"], ["show", BROKEN]]


@pytest.mark.parametrize("words", OTHERS, ids=str)
def test_other_commands_go_on_and_say_it_once(
    run: Run, mine: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.delitem(sys.modules, "workbench.tui.app", raising=False)
    done = run(*words)
    assert (done.status, bool(done.out)) == (1 if words[0] in ("check", "matrix") else 0, True)
    assert done.err.splitlines() == [
        f"workbench: {mine}:1: not YAML: did not find expected key; this contract is ignored"
    ]


@pytest.mark.parametrize(
    "words",
    [["check", BROKEN, "--provider", "mine"], ["explain", "mine"], ["simulate", "mine"], ["matrix", BROKEN, "mine"]],
    ids=str,
)
def test_asked_for_by_name_it_ends_with_one_line(run: Run, mine: Path, words: list[str]) -> None:
    done = run(*words)
    assert (done.status, done.out) == (2, "")
    assert done.err.splitlines() == [f"workbench: {mine}:1: not YAML: did not find expected key"]
