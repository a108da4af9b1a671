"""A value in the person's own editor."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from workbench.errors import UsageError
from workbench.tui.editor import edited_outside


class App:
    """Steps aside, or cannot."""

    def __init__(self, can_suspend: bool = True) -> None:
        self.can_suspend = can_suspend

    @contextmanager
    def suspend(self):
        from textual.app import SuspendNotSupported

        if not self.can_suspend:
            raise SuspendNotSupported
        yield


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Names an editor that runs a line of Python on the file ``p``; what it was given is in ``seen``."""

    def name(script: str) -> None:
        path = tmp_path / "an editor.py"
        path.write_text(f"import pathlib, sys\np = pathlib.Path(sys.argv[-1])\n{script}\n")
        monkeypatch.setenv("EDITOR", f"{sys.executable} '{path}'")

    return name


@pytest.mark.parametrize(
    ("data", "script", "made"),
    [
        (b"a", "p.write_bytes(b'b')", b"b"),
        (b"a", "p.write_bytes(b'b\\n')", b"b"),
        (b"a", "p.write_bytes(b'b\\r\\n')", b"b"),
        (b"a", "p.write_bytes(b'a\\n')", None),
        (b"a\n", "p.write_bytes(b'b\\n')", b"b\n"),
        (b"\xff\x00", "p.write_bytes(p.read_bytes() * 2)", b"\xff\x00\xff\x00"),
        (b"", "pass", None),
    ],
)
def test_what_an_editor_makes_of_a_value(editor, data: bytes, script: str, made: bytes | None) -> None:
    editor(script)
    assert edited_outside(App(), data, ".txt") == made


def test_nobody_else_can_read_the_file_and_it_is_gone_afterwards(editor, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    told = "p, oct(p.stat().st_mode)[-3:], oct(p.parent.stat().st_mode)[-3:]"
    editor(f"print({told}, sep='|', file=open({str(seen)!r}, 'w')); (p.parent / 'left').touch()")
    edited_outside(App(), b"{}", ".json")
    path, mode, folder = seen.read_text().strip().split("|")
    assert (mode, folder, Path(path).suffix) == ("600", "700", ".json")
    assert not Path(path).parent.exists()


@pytest.mark.parametrize(
    ("script", "why"),
    [("sys.exit(2)", "status 2"), ("import os; os.kill(os.getpid(), 9)", "signal 9"), ("p.unlink()", "wrote no file")],
)
def test_an_editor_that_fails_changes_nothing(editor, script: str, why: str) -> None:
    editor(script)
    with pytest.raises(UsageError, match=why):
        edited_outside(App(), b"a", "")


@pytest.mark.parametrize(
    ("named", "why"),
    [("", "set EDITOR"), ("'open", "cannot be read"), ("/nowhere/editor", "cannot be run: /nowhere/editor")],
)
def test_an_editor_that_cannot_be_run_says_so(monkeypatch: pytest.MonkeyPatch, named: str, why: str) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", named)
    with pytest.raises(UsageError, match=why):
        edited_outside(App(), b"a", "")


def test_what_cannot_step_aside_says_so(editor) -> None:
    editor("pass")
    with pytest.raises(UsageError, match="cannot be opened here"):
        edited_outside(App(can_suspend=False), b"a", "")
