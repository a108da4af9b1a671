"""Search in the bytes of all exchanges, and in the panes of screens over one of them."""

from __future__ import annotations

import json

import pytest

from tests.thinning import Thin
from tests.tui import samples
from tests.tui.driving import Driver, screen_text, showing, until
from workbench.protocols import DecodedExchange
from workbench.tui.models.byte_search import headline, matches_line, search_exchange
from workbench.tui.screens.byte_search import ByteSearchScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.widgets.body import BodyPane
from workbench.tui.widgets.lineview import LineView
from workbench.views.lines import plain
from workbench.wire.session import MemorySession


def three() -> MemorySession:
    """Three exchanges; the word ``needle`` is in the first request, twice in the last response, once in capitals."""

    def request(text: str) -> object:
        return {"model": "gpt-4o", "messages": [{"role": "user", "content": text}]}

    answer = json.dumps(samples.DONE | {"note": "needle NEEDLE"}).encode()
    return samples.session(
        samples.exchange(request("the needle"), samples.DONE, number=1),
        samples.exchange(request("hay"), samples.DONE, number=2),
        samples.exchange(request("hay and hay"), answer, number=3),
    )


def found(driver: Driver) -> ByteSearchScreen:
    screen = driver.app.screen
    assert isinstance(screen, ByteSearchScreen)
    return screen


def test_matches_are_counted_on_both_sides_in_any_case() -> None:
    session = three()
    hits = [search_exchange(DecodedExchange(n, session.exchange(n)), "needle") for n in range(3)]
    first, none, last = hits
    assert none is None and first is not None and last is not None
    assert (first.request, first.response, first.side) == (1, 0, "request")
    assert (last.request, last.response, last.side) == (0, 2, "response")
    body = session.exchange(0).request
    assert body and body.body.raw[first.offset :].startswith(b"needle")
    assert "1 in request" in plain(matches_line(first, 2)) and "the needle" in plain(matches_line(first, 2))
    assert "3 matches in 2 of 3 exchanges" in plain(headline("needle", [first, last], 3, 3))
    assert "no match in 1 exchange so far" in plain(headline("x", [], 1, 3))


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_a_second_key_searches_all_exchanges_and_enter_goes_on_there(size: tuple[int, int]) -> None:
    async with showing(three(), size) as driver:
        await driver.press("slash", *"needle", "tab")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, ByteSearchScreen) and found(driver).is_over)
        assert "3 matches in 2 of 3 exchanges" in driver.text and "2 in response" in driver.text
        await driver.press("j", "enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen))
        await driver.shows(2)
        await until(driver.pilot, lambda: "match 1 of 2" in driver.text)
        assert driver.focused == "wire" and "response 3" in driver.text
        await driver.press("n")
        await until(driver.pilot, lambda: "match 2 of 2" in driver.text)


async def test_another_text_and_no_match_and_back() -> None:
    async with showing(three(), (120, 40)) as driver:
        await driver.press("slash", *"zzz", "tab")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, ByteSearchScreen) and found(driver).is_over)
        assert "no match in 3 exchanges" in driver.text
        await driver.press("slash", *(["backspace"] * 3), *"hay", "enter")
        await until(driver.pilot, lambda: "3 matches in 2 of 3 exchanges" in screen_text(driver.app))
        await driver.press("escape")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen))


async def test_a_search_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tui.screens.byte_search.SLICE_SECONDS", 0.0)
    async with showing(three(), (120, 40)) as driver:
        search = ByteSearchScreen(driver.screen, "needle")
        search.is_stopped = True  # before its first slice
        driver.app.push_screen(search)
        await until(driver.pilot, lambda: "0 of 3 exchanges" in driver.text and "stopped" in driver.text)
        search.is_stopped = False
        search._ask()
        await until(driver.pilot, lambda: search.done == 3)
        assert len(search.found) == 2


SEARCHED = [("m", "deepseek", 1), ("T", "list_dir", 1), ("A", "list_dir", 1), ("d", "reasoning", 1), ("c", "tool", 2)]
"""Key of a screen, a word in it, and which of its panes has it."""


async def test_panes_of_other_screens_are_searched(thin: Thin) -> None:
    async with showing(samples.example(samples.LOST_REASONING), (160, 50)) as driver:
        for key, word, times in thin(SEARCHED, 2):
            await driver.press(key)
            await until(driver.pilot, lambda: not isinstance(driver.app.screen, SessionScreen))
            await search_a_pane(driver, word, times)
            await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen))


async def search_a_pane(driver: Driver, word: str, times: int) -> None:
    for _ in range(times - 1):
        await driver.press("tab")
    screen = driver.app.screen
    await until(driver.pilot, lambda: isinstance(screen.focused, LineView) and screen.focused.count())
    await driver.press("slash", *word, "enter")
    await until(driver.pilot, lambda: "match 1 of" in driver.text or "no match" in driver.text)
    await driver.press("tab", "n")
    await until(driver.pilot, lambda: "match" in driver.text.splitlines()[-1])
    await driver.press("escape")
    assert driver.app.screen is screen and "match 1 of" not in driver.text, "escape ends the search first"
    await driver.press("escape")


async def test_bytes_are_searched_where_they_are_wrapped() -> None:
    async with showing(samples.example(samples.LOST_REASONING), (160, 50)) as driver:
        await driver.press("c", "tab")
        pane = driver.app.focused
        await until(driver.pilot, lambda: isinstance(driver.app.focused, BodyPane) and driver.app.focused.count())
        pane = driver.app.focused
        assert isinstance(pane, BodyPane) and pane.rows
        body = pane.rows.body
        await driver.press("slash", *'": "f', "enter")
        await until(driver.pilot, lambda: "match 1 of" in driver.text)
        places = [n for n in range(len(body)) if body.startswith(b'": "f', n)]
        assert f"match 1 of {len(places)}" in driver.text
        for number, place in enumerate(places):
            assert pane.position == place, number
            await driver.press("n")
