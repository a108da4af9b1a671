"""Any key in any state: sessions that lack what a key works on, walked by keys that a seed picks, through sizes."""

from __future__ import annotations

import random

import pytest

from tests.tui import samples
from tests.tui.driving import showing
from tests.tui.test_hostile import assert_clean, hostile_session
from workbench.tui import keys
from workbench.wire.exchange import Body, Exchange, ExchangeKind, Frame, Headers, HttpRequest, HttpResponse, State
from workbench.wire.session import MemorySession, Session

JSON = Headers((("content-type", "application/json"),))
STREAM = Headers((("content-type", "text/event-stream"),))
REQUEST = HttpRequest(
    "POST", samples.CHAT, JSON, Body(b'{"model": "m", "messages": [{"role": "user", "content": "x"}]}')
)
TORN = Body(b'{"model": "m", "messages": [{"role":')
GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:generateContent"
FRAMES = (Frame("sent", "text", b'{"type": "response.create"}'), Frame("received", "binary", b"\x00\xff"))

STATES: dict[str, tuple[Exchange, ...]] = {
    "no exchange": (),
    "nothing was recorded": (Exchange("1", state=State.INCOMPLETE),),
    "no request": (Exchange("1", None, HttpResponse(200, JSON, Body(b"{}"))),),
    "no response": (Exchange("1", REQUEST, state=State.ABORTED),),
    "empty bodies": (Exchange("1", HttpRequest("GET", ""), HttpResponse(0)),),
    "an empty stream": (Exchange("1", REQUEST, HttpResponse(200, STREAM, Body(b"\n\n"))),),
    "torn": (Exchange("1", HttpRequest("POST", samples.CHAT, JSON, TORN), HttpResponse(200, JSON, TORN)),),
    "not decoded": (Exchange("1", HttpRequest("POST", GEMINI, JSON, Body(b"{}")), HttpResponse(200, JSON)),),
    "a WebSocket": (Exchange("1", REQUEST, HttpResponse(101, JSON), kind=ExchangeKind.WEBSOCKET, frames=FRAMES),),
}
LEAVES = {"ctrl+q", "ctrl+z", "q"}
KEYS = sorted({k for scope in keys.SCOPES.values() for key in scope.keys for k in key.keys.split(",") if k} - LEAVES)
SIZES = [(80, 24), (60, 15), (40, 10), (120, 40), (200, 60)]
STEPS = 16


async def walk(session: Session, seed: int) -> None:
    rng = random.Random(seed)
    async with showing(session, SIZES[seed % len(SIZES)]) as driver:
        for step in range(STEPS):
            if step % 8 == 7:
                await driver.pilot.resize_terminal(*rng.choice(SIZES))
            await driver.press(rng.choice(KEYS))
            assert_clean(driver)
        assert driver.app.is_running


@pytest.mark.sampled(6)
@pytest.mark.parametrize("state", STATES)
async def test_no_key_fails_where_there_is_nothing_for_it(state: str) -> None:
    await walk(MemorySession(state, STATES[state]), len(state))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", [1, 2])
async def test_no_key_fails_on_what_is_broken_or_hostile(seed: int) -> None:
    await walk(samples.example(samples.LOST_RESULT), seed)
    await walk(hostile_session(), seed)
