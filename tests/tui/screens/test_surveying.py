"""The survey screen by keys: groups, places, and the object at its failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.formats.importers.store_samples import CHAT, LITELLM
from tests.survey.conftest import Quiet, in_process
from tests.tui.driving import Driver, until
from tests.tui.layouts import hold
from workbench.survey import Catalog, JudgeOptions, ObjectSelection, SurveyOptions, WorkerLimits, run_survey
from workbench.tui.app import WorkbenchApp
from workbench.tui.models.surveys import describe_survey, sparkline
from workbench.tui.screens.home import HomeScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.screens.surveying import SurveyScreen


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = tmp_path / "store"
    store.mkdir()
    for number in range(3):
        (store / f"chat-{number}.json").write_text(json.dumps(CHAT | {"top_p": number / 10}), encoding="utf-8")
    for week in range(2):
        value = LITELLM | {"startTime": 1790000000.0 + week * 7 * 86400}
        (store / f"log-{week}.json").write_text(json.dumps(value), encoding="utf-8")
    out = tmp_path / "survey-of-agents"
    options = SurveyOptions(str(store), "local:1", JudgeOptions(b""), WorkerLimits(), ObjectSelection())
    run_survey(Catalog(out), options, Quiet(), in_process)
    return out


async def shown(driver: Driver) -> SurveyScreen:
    await until(driver.pilot, lambda: isinstance(driver.app.screen, SurveyScreen))
    screen = driver.app.screen
    assert isinstance(screen, SurveyScreen)
    await until(driver.pilot, lambda: screen.found is not None)
    return screen


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_from_groups_to_places_to_the_object_at_its_failure(folder: Path, size: tuple[int, int]) -> None:
    async with WorkbenchApp(survey=folder).run_test(size=size) as pilot:
        driver = Driver(pilot)
        screen = await shown(driver)
        assert "5 exchanges checked · files: 5 checked" in driver.text
        assert "closure.missing-result" in driver.text and "openai" in driver.text
        await driver.press("enter")
        await until(pilot, lambda: screen.places)
        assert "chat-0.json" in driver.text
        await driver.press("enter")
        await until(pilot, lambda: isinstance(driver.app.screen, SessionScreen))
        await driver.shows(0)
        assert "closure.missing-result" in driver.text
        await driver.press("q")
        await until(pilot, lambda: driver.app.screen is screen)
        await driver.press("q")
        assert "sessions" in driver.text
        await driver.press("q")
        await until(pilot, lambda: isinstance(driver.app.screen, HomeScreen))


async def test_groups_and_filters(folder: Path) -> None:
    async with WorkbenchApp(survey=folder).run_test(size=(120, 30)) as pilot:
        driver = Driver(pilot)
        screen = await shown(driver)
        await driver.press("j")
        assert "2026-W39: 1; 2026-W40: 1" in driver.text
        await hold(driver, "survey")
        await driver.press("b", "b")
        await until(pilot, lambda: screen.found and screen.found.by == "model")
        assert "gpt-4.1" in driver.text
        screen._set_filter("severity=error")
        await until(pilot, lambda: screen.found and all(g.severity == "error" for g in screen.found.groups))
        screen._set_filter("colour=red")
        await pilot.pause()
        assert "unknown column colour" in driver.text


async def test_an_object_that_has_changed_is_not_shown_as_the_old_one(folder: Path) -> None:
    async with WorkbenchApp(survey=folder).run_test(size=(120, 30)) as pilot:
        driver = Driver(pilot)
        screen = await shown(driver)
        await driver.press("enter")
        await until(pilot, lambda: screen.places)
        path = Path(screen.places[0].object.uri)
        path.write_text(json.dumps(CHAT | {"seed": 1}), encoding="utf-8")
        await driver.press("enter")
        await until(pilot, lambda: driver.app.screen is screen and "has changed since the survey" in driver.text)


async def test_home_lists_surveys(folder: Path) -> None:
    async with WorkbenchApp().run_test(size=(220, 40)) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: "survey-of-agents" in driver.text and "5 of 5 objects checked" in driver.text)
        home = driver.app.screen
        assert isinstance(home, HomeScreen)
        home.open_path(folder)
        await shown(driver)


def test_a_sparkline_has_eight_heights() -> None:
    assert sparkline([0, 1, 4, 8], 10) == " ▁▄█"
    assert sparkline([], 5) == sparkline([0, 0], 5) == ""
    assert len(sparkline(list(range(100)), 18)) == 18


def test_a_survey_without_a_run_says_so(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "out")
    catalog.create()
    assert describe_survey(catalog.folder).verdict == "not finished"
