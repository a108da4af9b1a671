"""The export screen: driven by keys alone, from the break to a test that holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS
from tests.tui.driving import Driver, screen_text, showing, until
from workbench.formats.exporters import ExportProof, ExportRun, as_pytest
from workbench.formats.importers import open_input
from workbench.tui.screens.edit.screen import EditScreen
from workbench.tui.screens.export_progress import ExportCancellation, step_of
from workbench.tui.screens.exporting import ExportPathScreen, ExportScreen
from workbench.tui.screens.repairs import RepairsScreen
from workbench.tui.screens.session.screen import SessionScreen

BROKEN = "deepseek-reasoning-lost"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is done is kept in an empty state folder; what is written lands in an empty folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders whose tests were run: not in truth."""
    folders = list[Path]()

    def prove(asked: list[Path]) -> list[ExportProof]:
        folders.extend(asked)
        return [ExportProof((ExportRun("broken", 2, 2, ("test_a: refused",)), ExportRun("fixed", 4)))]

    monkeypatch.setattr(as_pytest, "prove", prove)
    return folders


async def exporting(d: Driver) -> ExportScreen:
    """The export screen, once it knows what it would write."""
    await d.press("x")
    await until(d.pilot, lambda: isinstance(d.app.screen, ExportScreen) and d.app.screen._lines)
    assert isinstance(d.app.screen, ExportScreen)
    return d.app.screen


async def mend(d: Driver, *, goes_back: bool = True) -> None:
    """Apply the first repair of the first break; the edit screen is left for the session, or not."""
    await d.press("f")
    await until(d.pilot, lambda: isinstance(d.app.screen, RepairsScreen))
    await d.press("a")
    await until(d.pilot, lambda: isinstance(d.app.screen, EditScreen))
    if goes_back:
        await d.press("q")
        await until(d.pilot, lambda: isinstance(d.app.screen, SessionScreen))


async def write(d: Driver, screen: ExportScreen, name: str = "") -> None:
    await d.press("enter")
    await until(d.pilot, lambda: isinstance(d.app.screen, ExportPathScreen))
    if name:
        d.app.screen.put("path", name)  # type: ignore[attr-defined]
    await d.press("enter")
    await until(d.pilot, lambda: d.app.screen is screen and screen._paths and not screen._is_trying)


async def test_a_broken_request_says_what_to_do_first() -> None:
    async with showing(open_input(str(SESSIONS / f"{BROKEN}.jsonl")), size=(120, 40)) as d:
        screen = await exporting(d)
        assert "pytest test  ✗ refused" in d.text
        await d.press("g")
        await until(d.pilot, lambda: "exchange 2 is refused by deepseek: reasoning.missing" in d.text)
        assert "apply a repair (f)" in " ".join(d.text.split())
        await d.press("enter")
        assert d.app.screen is screen
        await d.press("f")
        await until(d.pilot, lambda: isinstance(d.app.screen, RepairsScreen))
        await d.press("q")
        assert isinstance(d.app.screen, SessionScreen)


async def test_every_form_shows_what_it_would_write_in_every_scope(here: Path) -> None:
    async with showing(open_input(str(SESSIONS / f"{BROKEN}.jsonl")), size=(160, 50)) as d:
        screen = await exporting(d)
        names = [row.name for row in screen.rows]
        assert names[0] == "pytest" and {"curl", "text", "session"} < set(names)
        await until(d.pilot, lambda: "curl --globoff" in d.text)
        assert screen.row.name == "curl" and "pytest test  ✗ refused" in d.text, "the test needs a correct request"
        assert "this exchange" in d.text and "private text is kept" in d.text
        await d.press("a")
        await until(d.pilot, lambda: screen.exported and screen.exported.data.count(b"curl --globoff") == 2)
        assert "the session (2 exchanges)" in d.text
        assert "hidden ones" in screen.exported.data.decode()
        await d.press("R")
        await until(d.pilot, lambda: screen.exported and b"hidden ones" not in screen.exported.data)
        assert "private text replaced by stand-ins" in d.text
        await write(d, screen, "all.sh")
        assert (here / "all.sh").read_bytes() == screen.exported.data
        assert "written: all.sh" in d.text
        await d.press("enter")
        await until(d.pilot, lambda: isinstance(d.app.screen, ExportPathScreen))
        d.app.screen.put("path", "all.sh")
        await d.press("enter")
        await until(d.pilot, lambda: "enter again: replace it" in screen_text(d.app))
        await d.press("escape")


async def test_an_edited_request_is_held_against_what_it_was(here: Path, tried: list[Path]) -> None:
    async with showing(open_input(str(SESSIONS / f"{BROKEN}.jsonl")), size=(120, 40)) as d:
        await mend(d, goes_back=False)
        screen = await exporting(d)
        assert "this exchange, edited" in d.text
        assert "as recorded before the edit" in d.text
        await write(d, screen)
        assert [folder.name for folder in tried] == ["deepseek-reasoning-lost-2-test"]
        for said in (
            "red   on the broken request: 2 of 4 tests fail",
            "test_a: refused",
            "green on the fixed request: 4",
        ):
            assert said in d.text
        assert "passes on the fixed one" in d.text
        await d.press("a")
        assert "the branch of this exchange (2 exchanges)" in d.text


async def test_the_session_exports_what_was_edited_last(here: Path, tried: list[Path]) -> None:
    async with showing(open_input(str(SESSIONS / f"{BROKEN}.jsonl")), size=(100, 30)) as d:
        await mend(d)
        await write(d, await exporting(d))
    assert (here / tried[0] / "broken.jsonl").is_file()


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
async def test_it_fits(size: tuple[int, int]) -> None:
    async with showing(open_input(str(SESSIONS / f"{BROKEN}.jsonl")), size=size) as d:
        await exporting(d)
        assert all(len(row) <= size[0] for row in d.text.splitlines())


async def test_an_export_that_reads_much_shows_its_progress_and_is_cancelled() -> None:
    async with showing(open_input(str(SESSIONS / f"{BROKEN}.jsonl")), size=(120, 40)) as d:
        screen = await exporting(d)
        number = screen.asked
        step = step_of(screen, number)
        step(30, 120)
        await until(d.pilot, lambda: "██░░░░░░░░ 25 % · esc: cancel" in d.text and "esc cancel" in d.text)
        await d.press("escape")
        assert d.app.screen is screen and "cancelled: nothing was written" in d.text
        with pytest.raises(ExportCancellation):
            step(31, 120)
        await d.press("R")
        await until(d.pilot, lambda: "replaced by stand-ins" in d.text and "cancelled" not in d.text)
