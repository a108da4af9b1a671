"""The ways to look at the bytes, by keys alone."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.test_hostile import assert_clean, hostile_session
from workbench.wire.exchange import Body, Exchange

SIZES = [(60, 15), (160, 50)]


def title(driver: Driver) -> str:
    return str(driver.screen.wire.border_title)


async def test_v_goes_through_the_ways_and_the_title_says_which() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (240, 60)) as driver:
        await driver.press("2")
        for name in ("escaped", "hex", "laid out"):
            await driver.press("v")
            assert f" · {name}" in title(driver)


async def test_the_selection_is_the_same_bytes_in_every_way() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        for keys in ((), ("v",), ("v",)):
            await driver.press("2", *keys, "3", "G", "k")
            wire = driver.screen.wire
            assert wire.rows and wire.marks.lit, title(driver)
            start, end = wire.marks.lit[0]
            row = wire.cursor - len(wire.content.top)
            assert wire.rows.row_at(start) <= row <= wire.rows.row_at(end), title(driver)
            styles = {s.style for s in wire.head(wire.cursor, 200) if "lit" in s.style}
            assert styles, title(driver)


async def test_search_works_in_every_way() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        wire = driver.screen.wire
        for keys in ((), ("v",), ("v",)):
            await driver.press("2", *keys, "g", "slash", *"toolu_01Parser", "enter")
            await until(driver.pilot, lambda: wire.marks.match)
            assert wire.rows and wire.rows.body[wire.position :].startswith(b"toolu_01Parser"), title(driver)
            assert any("match" in s.style for s in wire.head(wire.cursor, 200)), title(driver)
            await driver.press("escape")
            await until(driver.pilot, lambda: not wire.marks.match)


async def test_in_hex_the_cursor_goes_byte_by_byte() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        await driver.press("2", "v", "v", "g", "j", "j", "l", "l", "l", "j", "h")
        wire = driver.screen.wire
        row, column = divmod(wire.position, 16)
        assert row == 1
        assert f"byte {wire.position}" in title(driver)
        await driver.press(*["h"] * (column + 1))
        assert wire.position == 15  # on the row before


async def test_an_unusual_character_is_named() -> None:
    session = samples.session(
        samples.exchange({"model": "m", "messages": [{"role": "user", "content": "a\u200bb"}]}, samples.DONE)
    )
    raw = '{"model": "m", "messages": [{"role": "user", "content": "a\u200b\xa0b"}]}'.encode()
    other = samples.session(samples.exchange(raw, samples.DONE))
    for of, words in ((session, "written as an escape at byte"), (other, "U+200B ZERO WIDTH SPACE at byte 58")):
        async with showing(of) as driver:
            await driver.press("2", "r", "z", "g")
            for _ in range(40):
                if "U+200B" in title(driver):
                    break
                before = driver.screen.wire.position
                await driver.press("l")
                if driver.screen.wire.position == before:
                    await driver.press("j")
            assert words in title(driver)


def packed() -> Exchange:
    made = samples.exchange({"model": "m", "messages": []}, {"id": "x"})
    assert made.request
    body = Body(gzip.compress(made.request.body.raw), "gzip")
    return replace(made, request=replace(made.request, body=body))


async def test_what_was_received_can_be_looked_at() -> None:
    async with showing(samples.session(packed()), (120, 40)) as driver:
        await driver.press("2", "g", "v", "v", "v")
        assert "hex as received, gzip" in title(driver)
        assert "1f 8b" in driver.text
        assert driver.screen.wire.selection() is None
        await driver.press("l", "l", "v")
        assert "laid out" in title(driver)
        assert '"model"' in driver.text


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_bytes_are_clean_in_every_way(size: tuple[int, int]) -> None:
    async with showing(hostile_session(), size) as driver:
        for exchange in range(3):
            driver.screen.navigation.open(exchange)
            await driver.shows(exchange)
            for _ in range(4):
                await driver.press("2", "v")
                assert_clean(driver)
                await driver.press("G", "h", "r")
                assert_clean(driver)


async def test_a_megabyte_can_be_looked_at_in_every_way() -> None:
    content = "a few words " * 90_000
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}, ensure_ascii=False).encode()
    async with showing(samples.session(samples.exchange(body, samples.DONE)), (80, 24)) as driver:
        await driver.press("2", "r", "v", "v", "G")
        wire = driver.screen.wire
        assert wire.rows and wire.position > len(body) - 16
        await driver.press("v")
        await until(driver.pilot, lambda: wire.rows and wire.rows.is_done)
        assert wire.position > len(body) - 16
