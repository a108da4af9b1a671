"""Running a command in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from workbench.cli import main

SESSIONS = Path(__file__).resolve().parents[2] / "sessions"


class Done(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture(autouse=True)
def own_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, give_contracts: Callable[[Path], None]
) -> Path:
    """An empty home folder: what was opened is remembered there, and clients' sessions are looked for."""
    home = tmp_path_factory.mktemp("home")
    give_contracts(home)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run("check", path, stdin=b"…")``: exit status, stdout, stderr."""

    def command(*words: object, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main([str(w) for w in words])
        captured = capsys.readouterr()
        return Done(status, captured.out, captured.err)

    return command
