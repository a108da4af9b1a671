"""Keys of kept verdicts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench.library.verdict_store import VerdictStore


def test_a_file_has_a_key_by_its_bytes(tmp_path: Path) -> None:
    file, store = tmp_path / "a.json", VerdictStore([])
    file.write_bytes(b"{}")
    first = store.key(str(file), is_found=False)
    file.write_bytes(b"[]")
    second = store.key(str(file), is_found=False)
    assert first and second and first != second


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)  # its writer waits until it is opened, and fails when it is closed

    def refuse(*args: object) -> int:
        raise AssertionError("the pipe was opened")

    store = VerdictStore([])
    monkeypatch.setattr("workbench.library.verdict_store.os.open", refuse)
    assert store.key(pipe, is_found=False) is None
