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


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run("check", path, stdin=b"…")``: exit status, stdout, stderr."""

    def command(*words: object, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main([str(w) for w in words])
        captured = capsys.readouterr()
        return Done(status, captured.out, captured.err)

    return command
