"""Whatever ends the program, the terminal is given back whole. In real terminals."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.tui import samples
from tests.tui.terminals import RESTORED, InTerminal, in_terminal
from workbench import crashes
from workbench.config import resources
from workbench.tui.terminal import PUSH_TITLE, Terminal

SESSION = str(resources.folder("sessions") / f"{samples.LOST_RESULT}.jsonl")
SHOWN = "next break"


def assert_restored(terminal: InTerminal, before: list[object], written: str) -> None:
    assert [mode for mode in RESTORED if mode not in written] == []
    on, off = written.rfind("\x1b[?1049h"), written.rfind("\x1b[?1049l")
    assert off > on
    assert terminal.modes() == before


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_signal_ends_it_in_order(own_home: Path, number: int, status: int) -> None:
    with in_terminal(own_home, "open", SESSION) as terminal:
        before = terminal.modes()
        terminal.until(SHOWN)
        assert terminal.modes() != before
        terminal.process.send_signal(number)
        ended, written = terminal.end()
        assert ended == status
        assert_restored(terminal, before, written)
        assert "Traceback" not in written


def test_leaving_gives_it_back(own_home: Path) -> None:
    with in_terminal(own_home, "open", SESSION) as terminal:
        before = terminal.modes()
        terminal.until(SHOWN)
        terminal.leave()
        status, written = terminal.end()
        assert status == 0
        assert_restored(terminal, before, written)


@pytest.mark.parametrize("ignores_hangup", [False, True])
def test_a_lost_terminal_ends_the_process(own_home: Path, ignores_hangup: bool) -> None:
    """Also where nobody says so with a signal: reading and writing it fails, which must not become a busy loop."""
    code = "import asyncio, signal\n"
    if ignores_hangup:
        code += (
            "from workbench.tui import terminal\nterminal.ENDINGS = ()\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        )
    with in_terminal(own_home, "open", SESSION, code=code) as terminal:
        terminal.until(SHOWN)
        assert terminal.hang_up() == 129


def test_a_crash_while_it_ends_hides_no_lost_terminal(own_home: Path) -> None:
    """A report to a terminal that is gone would fail, and end it as an I/O error does."""
    code = (
        "from workbench.tui.app import WorkbenchApp\n"
        "def fail(app): app.exit(); app.leave(OSError('late')); raise ValueError('closing')\n"
        "WorkbenchApp.on_unmount = fail\n"
    )
    with in_terminal(own_home, "open", SESSION, code=code) as terminal:
        terminal.until(SHOWN)
        assert terminal.hang_up() == 129


def test_suspend_and_resume(own_home: Path) -> None:
    with in_terminal(own_home, "open", SESSION) as terminal:
        before = terminal.modes()
        terminal.until(SHOWN)
        for _ in range(2):
            raw = terminal.modes()
            terminal.press("\x1a")
            written = terminal.until("\x1b[?1004l")
            terminal.until_stopped()
            assert "\x1b[?1049l" in written
            assert terminal.modes() == before
            terminal.process.send_signal(signal.SIGCONT)
            terminal.until("\x1b[?1049h")
            terminal.until(SHOWN)
            assert terminal.modes() == raw
        terminal.leave()
        status, written = terminal.end()
        assert status == 0
        assert_restored(terminal, before, written)


def test_being_stopped_from_outside_does_not_confuse_it(own_home: Path) -> None:
    with in_terminal(own_home, "open", SESSION) as terminal:
        before = terminal.modes()
        terminal.until(SHOWN)
        os.kill(terminal.process.pid, signal.SIGSTOP)
        terminal.until_stopped()
        terminal.process.send_signal(signal.SIGCONT)
        terminal.until(SHOWN)
        terminal.leave()
        status, written = terminal.end()
        assert status == 0
        assert_restored(terminal, before, written)


SECRET = "sk-hostile\x1b]52;c;cHduZWQ=\x1b\\traffic"
CRASH = f"""
from workbench.tui.screens.session import screen as session
def action_zoom(self):
    held = {SECRET!r}
    raise KeyError(held)
session.SessionScreen.action_zoom = action_zoom
"""


def test_a_crash_is_one_line_and_a_report_without_traffic(own_home: Path) -> None:
    with in_terminal(own_home, "open", SESSION, size=(200, 24), code=CRASH) as terminal:
        before = terminal.modes()
        terminal.until(SHOWN)
        terminal.press("z")
        status, written = terminal.end()
        assert status == crashes.STATUS == 70
        assert_restored(terminal, before, written)
        assert "hostile" not in written
        said = written[written.index("workbench: crashed") :]
        assert said.count("\n") == 1
        assert said.startswith("workbench: crashed: KeyError at ")
        (report,) = (own_home / ".local/state/workbench/crashes").iterdir()
        assert str(report) in said
        text = report.read_text()
        assert "hostile" not in text
        assert "action_zoom" in text


def test_it_starts_again_after_being_killed(own_home: Path) -> None:
    with in_terminal(own_home, "open", SESSION) as terminal:
        terminal.until(SHOWN)
        terminal.process.kill()
        terminal.process.wait()
    with in_terminal(own_home, "open", SESSION) as terminal:
        terminal.until(SHOWN)
        terminal.leave()
        assert terminal.end()[0] == 0


def test_a_title_is_set_safely_and_the_one_before_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(Terminal, "write", lambda terminal, text: written.append(text))
    terminal = Terminal.__new__(Terminal)
    terminal._has_title = False
    terminal.set_title("✗ break · a\x1b]52;c;aGk=\x07\n" + "x" * 500)
    terminal.set_title("second")
    assert written[0] == PUSH_TITLE
    assert written[2] == "\x1b]0;second\x1b\\"
    inside = written[1].removeprefix("\x1b]0;").removesuffix("\x1b\\")
    assert inside.startswith("✗ break · a")
    assert inside.isprintable()
    assert len(inside) <= 80
