"""Processes of ours: a task in, lines out, an end."""

from __future__ import annotations

import io
import sqlite3
import sys
from types import SimpleNamespace

import pytest

from workbench.errors import SessionFormatError, UsageError, WorkbenchError
from workbench.recorder import child


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (UsageError("no", hint="yes"), {"error": "no; yes", "status": 2}),
        (SessionFormatError("torn", where="x.wb"), {"error": "x.wb: torn", "status": 2}),
        (FileNotFoundError(2, "No such file", "x.wb"), {"error": "x.wb: No such file", "status": 4}),
        (OSError(0, "cannot be written"), {"error": "cannot be written", "status": 4}),
        (
            sqlite3.OperationalError("disk I/O error"),
            {"error": "the file cannot be written (disk I/O error)", "status": 4},
        ),
    ],
)
def test_a_failure_to_start_is_answered(error: Exception, answer: object, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[object] = []
    monkeypatch.setattr(child, "send_line", said.append)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b'{"a": 1}\n')))

    def work(task: object) -> int:
        assert task == {"a": 1}
        raise error

    assert child.serve(work) == (2 if answer["status"] == 2 else 4)  # type: ignore[index]
    assert said == [answer]


def test_a_task_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[dict[str, object]] = []
    monkeypatch.setattr(child, "send_line", said.append)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"hello\n")))
    assert child.serve(lambda task: 0) == 2
    assert said[0]["status"] == 2


def test_a_child_that_says_nothing_did_not_start() -> None:
    with pytest.raises(WorkbenchError, match=r"did not start.*no_such_module"):
        child.ChildProcess("workbench.no_such_module", {})


def test_a_file_of_the_working_directory_does_not_stand_in_for_ours(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "workbench.py").write_text("raise SystemExit('not ours')", encoding="utf-8")
    (tmp_path / "runpy.py").write_text("raise SystemExit('not ours')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorkbenchError, match=r"did not start.*no_such_module"):
        child.ChildProcess("workbench.no_such_module", {})
