"""The Compare screen: what happened between two places, two exchanges or two files, the first divergence first."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.tui.driving import Driver, showing, until
from tests.tui.layouts import hold
from workbench.config import resources
from workbench.formats.importers import open_input
from workbench.tui.screens.comparing.other import OtherScreen
from workbench.tui.screens.comparing.screen import ComparingScreen
from workbench.tui.screens.session.screen import SessionScreen
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession, Session, store

EVENTS = [
    b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % word for word in (b"a", b"b", b"c")
]
ENDED = b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
CUT = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"ab"}}]}\n\n' + EVENTS[2] + ENDED


def seen(name: str, hop: str, at: float, body: bytes, answer: bytes = b"".join(EVENTS) + ENDED) -> Exchange:
    request = HttpRequest("POST", f"https://{hop}.example/v1/chat/completions", body=Body(body))
    response = HttpResponse(200, Headers((("content-type", "text/event-stream"),)), Body(answer))
    return Exchange(name, request, response, started_at=at, duration=1 - at % 1 * 2, hop=hop)


def asks(words: str, more: str = "") -> bytes:
    return f'{{"model":"m","stream":true,"messages":[{{"role":"user","content":"{words}"}}]{more}}}'.encode()


def behind_a_gateway() -> Session:
    """Three turns: untouched; a field dropped and events re-cut; one that never went on."""
    return MemorySession(
        "hops",
        (
            seen("1", "before", 10.0, asks("one")),
            seen("2", "behind", 10.1, asks("one")),
            seen("3", "before", 20.0, asks("one two", ',"top_k":7'), CUT),
            seen("4", "behind", 20.1, asks("one two")),
            seen("5", "before", 30.0, asks("and now for something completely different")),
        ),
    )


async def comparing(driver: Driver, *more: str) -> ComparingScreen:
    await driver.press("D", *more)
    await until(driver.pilot, lambda: isinstance(driver.app.screen, ComparingScreen))
    screen = driver.app.screen
    assert isinstance(screen, ComparingScreen)
    await until(driver.pilot, lambda: screen.comparison.is_over and (any(screen.sides) or not screen.comparison.turns))
    return screen


def _tells(driver: Driver, told: str) -> bool:
    return told in driver.text


async def test_two_places_open_at_the_first_divergence_and_n_goes_through_all() -> None:
    async with showing(behind_a_gateway(), size=(160, 45)) as driver:
        screen = await comparing(driver)
        assert [(turn.before, turn.after) for turn in screen.comparison.turns] == [(0, 1), (2, 3), (4, None)]
        text = driver.text
        assert "before → behind" in text and "≠ first divergence: dropped" in text
        assert "= 1 – 2  identical" in text and "exchange 5 is only in before" in text
        assert screen.damage and (screen.damage.kind, screen.damage.at) == ("field dropped", "/top_k")
        lit = screen.beside.places[screen.beside.cursor]
        assert lit.side == "request" and lit.bodies and lit.before
        assert b',"top_k":7' in lit.bodies[0][slice(*lit.before)]
        kinds = []
        while screen.turn is screen.comparison.turns[1]:
            assert screen.damage
            kinds.append((screen.damage.side, str(screen.damage.kind)))
            await driver.press("]")
        assert ("response", "events re-cut") in kinds
        assert screen.turn is screen.comparison.turns[2] and "this exchange is only on one side" in driver.text
        await driver.press("]")
        assert screen.turn is screen.comparison.turns[2]
        await driver.press("[")
        assert screen.turn is screen.comparison.turns[1] and screen.damage
        assert (screen.damage.side, str(screen.damage.kind)) == kinds[-1]
        await driver.press("K")
        assert "no difference: both sides are identical" in driver.text
        await driver.press("J", "enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, SessionScreen))
        await driver.shows(2)
        assert driver.screen.wire.side == "request"


async def test_an_exchange_is_compared_with_another_one_that_is_picked() -> None:
    path = resources.folder("sessions") / "anthropic-tool-loop.jsonl"
    async with showing(open_input(str(path)), size=(80, 24)) as driver:
        await driver.press("D")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, OtherScreen))
        await driver.press("9", "enter")
        assert "type a number from 1 to 2 other than 1" in driver.text
        await driver.press("backspace")
        assert "2 ● 200  1.3 s  end_turn" in driver.text
        assert "enter: compare with exchange 2" in driver.text
        await driver.press("enter")
        await until(driver.pilot, lambda: isinstance(driver.app.screen, ComparingScreen))
        screen = driver.app.screen
        assert isinstance(screen, ComparingScreen)
        await until(driver.pilot, lambda: screen.beside.places)
        assert "exchange 1 against exchange 2" in driver.text and "- exchange 1" in driver.text
        await hold(driver, "compare")
        assert {place.side for place in screen.beside.places} == {"request", "response"}


async def test_a_session_is_compared_with_another_file(tmp_path: Path) -> None:
    session = open_input(str(resources.folder("sessions") / "anthropic-tool-loop.jsonl"))
    store.save([session.exchange(n) for n in range(len(session))], tmp_path / "other.jsonl")
    async with showing(session, size=(120, 40)) as driver:
        for key, number, told in (("D", "", "= identical, byte for byte"), ("o", "#9", "the file has no exchange 9")):
            await driver.press(key)
            await until(driver.pilot, lambda: isinstance(driver.app.screen, OtherScreen))
            other = driver.app.screen
            assert isinstance(other, OtherScreen)
            other.put("other", f"{tmp_path / 'other.jsonl'}{number}")
            await driver.press("enter")
            await until(driver.pilot, partial(_tells, driver, told))
