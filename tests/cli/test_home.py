from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS, Run
from tests.library.samples import entries, put
from workbench.cli import main
from workbench.library import home_sections, home_state
from workbench.tui import start


def test_the_overview_has_every_section(run: Run, own_home: Path) -> None:
    put(own_home / ".claude/projects/p/a.jsonl", entries("/home/ann/de\x1b[2Jmo"))
    home_state.remember(own_home / "gone\n.jsonl")
    done = run()
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert [line for line in lines if line in (home_sections.RECENT, home_sections.EXAMPLES, home_sections.FOUND)] == [
        home_sections.RECENT,
        home_sections.EXAMPLES,
        home_sections.FOUND,
    ]
    assert "de\\x1b[2Jmo" in done.out
    assert "gone\\n.jsonl" in done.out
    assert "Claude Code · anthropic · claude-sonnet-4-5 · 1 exchange" in done.out
    assert "error closure.missing-result: exchange" in done.out


def test_what_is_switched_off_is_not_looked_for(run: Run, own_home: Path) -> None:
    put(own_home / ".claude/projects/p/a.jsonl", entries())
    home_state.show_clients(False)
    assert "Claude Code" not in run().out.partition(home_sections.FOUND)[2]


def test_what_is_opened_in_the_app_is_recent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = put(tmp_path / "mine.jsonl", next(SESSIONS.glob("*.jsonl")).read_bytes())
    monkeypatch.setattr("workbench.cli._app.screen_options.is_shown", lambda *streams: True)
    monkeypatch.setattr(start, "run", lambda source, **named: source().close() or 0)
    main(["open", str(path)])
    assert home_state.recent() == (path,)
