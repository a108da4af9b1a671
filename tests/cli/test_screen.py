from __future__ import annotations

import io
import sys

import pytest

from workbench.cli import _screen, main
from workbench.errors import UsageError


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def terminal(encoding: str) -> Terminal:
    return Terminal(io.BytesIO(), encoding=encoding, errors="backslashreplace")


@pytest.mark.parametrize("words", [["open", "any.jsonl"], []])
def test_a_terminal_that_cannot_hold_the_screen_is_refused_in_one_line(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    streams = {name: terminal("ascii") for name in ("stdin", "stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    monkeypatch.setattr(sys, "__stderr__", streams["stderr"])
    assert main(words) == 2
    streams["stderr"].seek(0)
    (line,) = streams["stderr"].read().splitlines()
    assert line.startswith("workbench: the screen needs a UTF-8 terminal; set LC_ALL=C.UTF-8")


@pytest.mark.parametrize(("encoding", "is_fit"), [("utf-8", True), ("ascii", False), ("latin-1", False)])
def test_what_can_hold_the_screen(encoding: str, is_fit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "__stderr__", terminal(encoding))
    if is_fit:
        _screen.require()
    else:
        with pytest.raises(UsageError, match="UTF-8"):
            _screen.require()
