from __future__ import annotations

import argparse
import io
import sys
from typing import Any

import pytest

from workbench.cli import main
from workbench.cli._app import screen_options
from workbench.tui import start


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def terminal(encoding: str) -> Terminal:
    return Terminal(io.BytesIO(), encoding=encoding, errors="backslashreplace")


@pytest.fixture(autouse=True)
def _unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORKBENCH_ASCII", raising=False)
    monkeypatch.delenv("TEXTUAL_DRIVER", raising=False)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """How the app was asked to show itself, in terminals of UTF-8."""
    calls: list[dict[str, Any]] = []

    def run(source: object, **options: Any) -> int:
        calls.append(options)
        return 0

    monkeypatch.setattr(start, "run", run)
    monkeypatch.setattr(screen_options, "is_shown", lambda *streams: True)
    monkeypatch.setattr(sys, "__stderr__", terminal("utf-8"))
    return calls


@pytest.mark.parametrize(
    ("words", "theme", "is_ascii"),
    [
        (["open", "any.jsonl"], "", False),
        (["open", "any.jsonl", "--theme", "light"], "light", False),
        (["open", "any.jsonl", "--ascii"], "", True),
        ([], "", False),
        (["--ascii"], "", True),
        (["--theme", "high-contrast"], "high-contrast", False),
        (["--theme=light", "--ascii"], "light", True),
    ],
)
def test_options_reach_the_app(shown: list[dict[str, Any]], words: list[str], theme: str, is_ascii: bool) -> None:
    assert main(words) == 0
    assert {"theme": theme, "is_ascii": is_ascii}.items() <= shown[0].items()


@pytest.mark.parametrize(("value", "is_ascii"), [("1", True), ("0", False), ("", False)])
def test_the_environment_may_ask_for_ascii(
    shown: list[dict[str, Any]], value: str, is_ascii: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_ASCII", value)
    main([])
    assert shown[0]["is_ascii"] is is_ascii


@pytest.mark.parametrize(
    ("encoding", "is_ascii"), [("utf-8", False), ("ascii", True), ("latin-1", True), ("koi8-r", True)]
)
def test_a_terminal_that_cannot_hold_the_signs_gets_ascii(
    encoding: str, is_ascii: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "__stderr__", terminal(encoding))
    assert screen_options.appearance(argparse.Namespace(theme="", ascii=False)).is_ascii is is_ascii


@pytest.mark.parametrize("words", [["--nonsense"], ["--port", "x"], ["--theme"]])
def test_wrong_options_are_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err
