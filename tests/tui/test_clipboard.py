from __future__ import annotations

import stat
from pathlib import Path
from typing import Any, cast

import pytest

from workbench.tui import clipboard
from workbench.tui.clipboard import MOST, CopyItem


class Terminal:
    """What an app does with a copied text."""

    def __init__(self) -> None:
        self.text: str | None = None

    def copy_to_clipboard(self, text: str) -> None:
        text.encode()  # as the driver does
        self.text = text


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("TMUX", raising=False)
    return tmp_path / "state" / "workbench" / "copies"


def put(copied: CopyItem) -> tuple[str | None, str]:
    terminal = Terminal()
    said = clipboard.put(cast(Any, terminal), copied)
    return terminal.text, said


@pytest.mark.parametrize(
    ("data", "text", "said"),
    [
        ("héllo", "héllo", "5 characters, 6 bytes"),
        ("x\ny", "x\ny", "3 characters, 3 bytes"),
        (b"{}", "{}", "2 characters, 2 bytes"),
        ("a\x1b\u200b", "a\x1b\u200b", "3 characters, 5 bytes · contains 2 control or hidden characters"),
        ("half \ud83d", "half \ufffd", "6 characters, 8 bytes · 1 lone surrogate replaced"),
        ("x" * MOST, "x" * MOST, f"{MOST:,} characters, {MOST:,} bytes"),
    ],
)
def test_text_goes_to_the_clipboard(data: str | bytes, text: str, said: str, state: Path) -> None:
    assert put(CopyItem("it", data)) == (text, f"sent it to the terminal's clipboard (OSC 52): {said}")
    assert not state.exists()


@pytest.mark.parametrize(
    ("data", "why"),
    [("x" * (MOST + 1), "too large for the clipboard"), (b"\xff\x00", "not UTF-8"), ("é" * MOST, "too large")],
)
def test_what_no_clipboard_holds_goes_to_a_file_of_ones_own(data: str | bytes, why: str, state: Path) -> None:
    for _ in range(2):
        text, said = put(CopyItem("it", data, "sh", ("and so on",)))
        assert text is None
        assert why in said and said.endswith(" · and so on")
    (path,) = state.iterdir()
    assert str(path) in said
    assert path.read_bytes() == (data if isinstance(data, bytes) else data.encode())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert path.suffix == ".sh"


def test_in_tmux_it_says_what_lets_the_text_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "socket,1,0")
    text, said = put(CopyItem("it", "x", notes=("and so on",)))
    assert text == "x"
    assert said.endswith("1 byte · if nothing was copied, run in tmux: set -s set-clipboard on · and so on")
