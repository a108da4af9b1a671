from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui import samples
from workbench.errors import UsageError
from workbench.tui import start, themes
from workbench.tui.app import WorkbenchApp


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_the_last_theme_is_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    begun: list[str] = []

    def run(app: WorkbenchApp) -> None:
        begun.append(app.theme)
        app.theme = {"dark": "light", "light": "nord"}.get(app.theme, app.theme)

    monkeypatch.setattr(WorkbenchApp, "run", run)
    for _ in range(4):
        assert start.run(samples.session()) == 0
    start.run(samples.session(), theme="high-contrast")
    start.run(samples.session())
    (tmp_path / "workbench" / "theme").write_bytes(b"\xff gone")
    start.run(samples.session())
    assert begun == ["dark", "light", "nord", "nord", "high-contrast", "nord", "dark"]


def test_a_theme_that_does_not_exist_is_said() -> None:
    with pytest.raises(UsageError, match="unknown theme 'x'") as refused:
        WorkbenchApp(samples.session(), theme="x")
    assert "high-contrast" in str(refused.value)


def test_where_it_cannot_be_remembered_nothing_happens(tmp_path: Path) -> None:
    (tmp_path / "workbench").write_text("in the way")
    themes.remember("light")
    assert themes.load_theme() == ""
