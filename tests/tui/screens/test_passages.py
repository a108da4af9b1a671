"""The tool results screen: what a tool server returned beside what the model received."""

from __future__ import annotations

from tests.tool_hops import HopSession, lost_structured, said
from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.layouts import hold
from workbench.tui.models.rowtable import StyledSpans
from workbench.tui.screens.passages import NONE, PassagesScreen
from workbench.wire.session import MemorySession

LAST = 7
"""Index of the request that tells the model of both results."""


async def passages_of(driver: Driver) -> PassagesScreen:
    await driver.press("R")
    screen = driver.app.screen
    assert isinstance(screen, PassagesScreen)
    work = screen.worklist
    await until(driver.pilot, lambda: work.subjects is not None and len(work.judgements) == len(work.subjects))
    return screen


async def test_both_bodies_are_side_by_side_and_the_lost_part_is_marked() -> None:
    async with showing(lost_structured().session(), exchange=LAST) as driver:
        screen = await passages_of(driver)
        assert "sky · weather" in driver.text and "57 bytes did not reach the model" in driver.text
        assert "The server returned · what was lost is marked" in driver.text
        (marks,) = [mark for mark in screen.returned._marks if mark.style == "doubtful"]
        assert isinstance(marks, StyledSpans)
        ((first, last),) = marks.spans
        assert screen.returned.body[first:last].startswith(b'{"temperature": 21')
        assert b'"content": "mild"' in screen.told.body
        await hold(driver, "tool results of a server")


async def test_enter_goes_to_the_bytes_of_either_side() -> None:
    async with showing(lost_structured().session(), exchange=LAST) as driver:
        await passages_of(driver)
        await driver.press("enter")
        await until(driver.pilot, lambda: driver.screen.opened is not None and driver.screen.opened.index == 5)
    async with showing(lost_structured().session(), exchange=LAST) as driver:
        await passages_of(driver)
        await driver.press("tab", "tab", "tab", "enter")
        await until(driver.pilot, lambda: driver.app.screen is driver.screen and driver.focused == "wire")
        selection = driver.screen.pointer.selection
        assert selection and selection.pointer.startswith("/messages/2/content/0")


async def test_a_request_to_a_server_shows_its_own_result() -> None:
    async with showing(lost_structured().session(), exchange=6) as driver:
        screen = await passages_of(driver)
        assert [link.tool for link in screen.worklist.subjects or ()] == ["map"]
        assert "everything reached the model" in driver.text


async def test_a_call_in_the_closure_pane_says_what_became_of_it() -> None:
    async with showing(lost_structured().session(), exchange=LAST) as driver:
        await driver.press("5", "G", "g")
        assert "57 B did not reach the model" in driver.text


async def test_without_a_recorded_server_it_says_so() -> None:
    async with showing(MemorySession("plain", (samples.exchange({}, {}, url=samples.MESSAGES),))) as driver:
        await passages_of(driver)
        assert NONE[:40] in driver.text


def test_results_of_long_sessions_are_those_near_the_exchange() -> None:
    from workbench.rules.inspection import Inspector
    from workbench.views import links_of

    made = HopSession("sky")
    for n in range(9):
        made.model((), (f"t{n}", "mcp__sky__weather", {"n": n}), told=[(f"t{n - 1}", "ok")] if n else [])
        made.call("sky", "weather", {"n": n}, {"content": [said("ok")]})
    inspector = Inspector(made.session())
    rows = inspector.run().rows
    links = links_of(rows, 9, most=3)
    assert [link.call_id for link in links] == ["t2", "t3", "t4"] and not any(link.lost for link in links)
