"""The search of the session screen, by keys alone."""

from __future__ import annotations

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.test_hostile import assert_clean
from workbench.tui.models.wire import BodySearch


async def found(driver: Driver, many: int) -> None:
    searching = driver.screen.pane_search
    await until(driver.pilot, lambda: not searching.is_busy and len(searching.found) == many)


async def test_it_goes_to_matches_while_one_types_and_escape_goes_back() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("3", "g", "slash", *"run_tests")
        await until(driver.pilot, lambda: "match 1 of" in driver.text)
        assert driver.pane("ir").cursor > 0
        await driver.press("escape")
        assert driver.pane("ir").cursor == 0
        assert driver.focused == "ir"
        assert "match" not in driver.text.splitlines()[-1]


async def test_matches_are_counted_and_wrap_and_it_is_said() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("1", "g")
        await driver.shows(0)
        await driver.press("slash", *"200", "enter")
        await found(driver, 2)
        assert "/200  match 1 of 2" in driver.text
        await driver.press("n")
        await driver.shows(1)
        assert "match 2 of 2" in driver.text
        await driver.press("n")
        await driver.shows(0)
        assert "continued at the top" in driver.text
        await driver.press("N")
        await driver.shows(1)
        assert "continued at the end" in driver.text


async def test_a_text_that_another_pane_holds_is_found_there() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("1", "slash", *"tool_use_id")
        await until(driver.pilot, lambda: "no match in Exchanges; " in driver.text and "go there" in driver.text)
        await driver.press("enter")
        await until(driver.pilot, lambda: driver.focused == "wire" and "/tool_use_id  match 1 of" in driver.text)


async def test_n_goes_on_in_the_other_panes_and_their_matches_are_counted() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (120, 40)) as driver:
        await driver.shows(2)
        await driver.press("5", "g", "slash", *"toolu_", "enter")
        await until(driver.pilot, lambda: not driver.screen.pane_search.is_busy)
        assert " in Wire" in driver.screen.pane_search.also()
        for _ in range(len(driver.screen.pane_search.found)):
            await driver.press("n")
        await until(driver.pilot, lambda: driver.focused != "closure")
        await until(driver.pilot, lambda: driver.screen.pane_search.found and not driver.screen.pane_search.is_busy)
        await driver.press("N")
        await until(driver.pilot, lambda: driver.focused == "closure")
        await until(driver.pilot, lambda: driver.screen.pane_search.found and not driver.screen.pane_search.is_busy)
        assert driver.pane("closure").cursor == max(driver.screen.pane_search.found)


async def test_without_a_search_n_says_how_to_search() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (120, 40)) as driver:
        await driver.shows(2)
        await driver.press("n")
        assert "no search yet" in driver.text


async def test_a_capital_means_this_case() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("2", "slash", *"TOOLU", "enter")
        await until(driver.pilot, lambda: "/TOOLU  no match" in driver.text)


async def test_the_wire_is_searched_for_what_the_bytes_mean_laid_out_or_not() -> None:
    filler = [{"role": "user", "content": "x" * 200} for _ in range(2000)]
    last = {"role": "user", "content": 'café "au lait"\n'}
    body = {"model": "m", "messages": [*filler, last]}
    async with showing(samples.session(samples.exchange(body, samples.DONE)), (80, 24)) as driver:
        await driver.press("2", "r", "slash", *'café "au', "enter")
        await found(driver, 1)
        wire = driver.screen.wire
        await until(driver.pilot, lambda: wire.position > 100_000 and "match 1 of 1" in driver.text)
        assert wire.rows and wire.rows.body[wire.position :].startswith(b'caf\\u00e9 \\"au lait')
        await until(driver.pilot, lambda: "au lait" in driver.text)


async def test_in_another_pane_it_begins_there_and_ends_with_escape() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("3", "slash", *"parser", "enter")
        await until(driver.pilot, lambda: driver.screen.pane_search.found)
        await driver.press("2", "n")
        await until(driver.pilot, lambda: driver.screen.pane_search.view is driver.screen.wire)
        assert driver.pane("ir").finder.needle is None
        await driver.press("escape")
        assert driver.screen.pane_search.wanted == ""
        assert driver.screen.wire.marks.match == ()


async def test_what_stands_inside_a_closed_part_is_opened() -> None:
    text = "word " * 300 + "needle"
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    async with showing(samples.session(samples.exchange(body, samples.DONE)), (120, 40)) as driver:
        await driver.press("3", "slash", *"needle", "enter")
        await until(
            driver.pilot,
            lambda: driver.screen.pane_search.found and "needle" in driver.text.partition("─ 6 Findings")[0],
        )
        assert driver.pane("ir").opened_items
        assert_clean(driver)


async def test_a_long_search_says_how_far_it_is_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.filters.text.WINDOW", 16)
    monkeypatch.setattr("workbench.tui.screens.session.pane_search.SLICE_SECONDS", -1)
    body = {"model": "m", "messages": [{"role": "user", "content": "x" * 100_000}]}
    async with showing(samples.session(samples.exchange(body, samples.DONE)), (120, 40)) as driver:
        await driver.pilot.press("2", "r", "slash", *"zz", "enter")  # no pause: each waits for a search
        assert driver.screen.pane_search.is_busy
        assert "no match so far, " in driver.text and "searched" in driver.text
        await driver.pilot.press("escape")
        assert not driver.screen.pane_search.is_busy


def test_matches_in_bytes_are_sorted_and_say_how_far_it_is() -> None:
    search = BodySearch("ab")
    steps = list(search.run(b"ab ab ab", None))
    assert search.spans == [(0, 2), (3, 5), (6, 8)]
    assert steps[-1] == (None, 1.0)
    assert all(0 <= part <= 1 for _, part in steps)


async def test_what_is_made_of_a_request_is_searched_too() -> None:
    """Repairs, branch tree and export."""
    async with showing(samples.example(samples.LOST_REASONING), (120, 40)) as driver:
        await until(driver.pilot, lambda: not driver.screen.repair_lookup.is_looking)
        session = driver.app.screen
        for key, there, wanted in (("f", "Repair 1", "reasoning"), ("B", "Tree", "recorded"), ("x", "Forms", "curl")):
            await driver.press(key)
            await until(driver.pilot, lambda there=there: there in driver.text)  # type: ignore[misc]
            await driver.press("slash", *wanted, "enter")
            await until(driver.pilot, lambda: "match 1 of" in driver.text.split("\n")[-1])
            await driver.press("escape")
            await until(driver.pilot, lambda: "match 1 of" not in driver.text.split("\n")[-1])
            await driver.press("escape")
            await until(driver.pilot, lambda: driver.app.screen is session)
