"""Hostile traffic in every displayed field, in every pane, at several sizes: nothing of it reaches the terminal raw."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest

from tests.thinning import Thin
from tests.tui import samples
from tests.tui.driving import Driver, showing, until
from tests.tui.terminals import in_terminal
from workbench import protocols
from workbench.config import resources
from workbench.library import home_state
from workbench.rules.inspection import Inspector
from workbench.tui.app import WorkbenchApp
from workbench.tui.models.tabs import PANES
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession, store

EVIL = (
    "[/b][@click=app.quit]x[/] \x1b]52;c;aGk=\x07 \x1b]8;;http://x\x1b\\l\x1b[2J \x9b31m \x9d0;t\x9c \x00\x7f\x08\x0b"
    " \u202egnp\u202c \u2066\u200b\u200d\ufe0f\ufeff \u2028 \U000e0041 日本語 e" + "\u0301" * 40 + " \x1bP unterminated"
)
LONE = "half \ud83d"


def hostile_request(filler: str) -> bytes:
    call = {"id": EVIL, "type": "function", "function": {"name": EVIL, "arguments": '{"path": "' + EVIL}}
    messages = [
        {"role": "system", "content": EVIL},
        {"role": EVIL, "content": EVIL + "\n" + LONE},
        {"role": "assistant", "content": EVIL, "reasoning_content": EVIL, "tool_calls": [call], EVIL: EVIL},
        {"role": "tool", "tool_call_id": EVIL + "other", "content": [{"type": "text", "text": EVIL}, {"type": EVIL}]},
        {"role": "user", "content": filler},
    ]
    tools = [{"type": "function", "function": {"name": EVIL, "description": EVIL, "parameters": {EVIL: EVIL}}}]
    return json.dumps({"model": EVIL, "messages": messages, "tools": tools, EVIL: EVIL}, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def hostile_stream() -> bytes:
    delta = {"content": EVIL, "tool_calls": [{"index": 0, "id": EVIL, "function": {"name": EVIL, "arguments": EVIL}}]}
    chunk = {"object": "chat.completion.chunk", "model": EVIL, "choices": [{"index": 0, "delta": delta}]}
    raw = json.dumps(chunk, ensure_ascii=False).replace("\u2028", "\\u2028")
    return b": \x1b[2J \xff\xfe\n\nevent: " + EVIL.encode()[:60] + b"\n\ndata: " + raw.encode() + b"\n\n\xff\xc3data"


def hostile_session(filler: str = EVIL) -> MemorySession:
    headers = Headers((("content-type", "application/json"), ("x-\x1b[2J", "\x9b2J\x1b]0;t\x07")))
    stream = Headers((("content-type", "text/event-stream"),))
    error = json.dumps({"error": {"message": EVIL, "type": EVIL, "code": EVIL}}).encode()
    request = HttpRequest("P\x1bST", samples.CHAT + "?" + EVIL, headers, Body(hostile_request(filler)))
    return MemorySession(
        EVIL,
        (
            Exchange("1", request, HttpResponse(400, headers, Body(error), EVIL)),
            Exchange("2", request, HttpResponse(200, stream, Body(hostile_stream()))),
            Exchange("3", HttpRequest("GET", EVIL, headers, Body(b"\x1f\x8b\x1b[2J", "gzip")), note=EVIL),
        ),
        damage=(EVIL,),
        about={"story": EVIL, "source": EVIL, "made": EVIL, EVIL: EVIL, "": ""},
    )


@cache
def contracts_text() -> str:
    forms = (resources.protocol_file(name, "answer_forms.json") or b"" for name in protocols.protocols())
    contracts = (path.read_bytes() for path in resources.folder("profiles").glob("*.yaml"))
    return b"".join((*contracts, *forms)).decode()


@cache
def acts(character: str) -> bool:
    """A terminal does something else with it than to show it."""
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def assert_clean(driver: Driver) -> None:
    for strip in driver.app.screen._compositor.render_strips():
        for segment in strip:
            assert not any(map(acts, set(segment.text))), segment
            link = segment.style.link if segment.style else None
            assert link is None or link in contracts_text(), "only the sources of our data are links"


@pytest.mark.parametrize("size", [(40, 15), (160, 50)])
async def test_nothing_hostile_reaches_the_terminal(size: tuple[int, int], thin: Thin) -> None:
    async with showing(hostile_session(), size) as driver:
        for exchange in range(3):
            driver.screen.navigation.open(exchange)
            await driver.shows(exchange)
            for name, _ in thin((*PANES[exchange:], *PANES[:exchange]), 4):
                pane = driver.pane(name)
                driver.screen.panes.focus(name)
                for step in (-1, 1):
                    pane.action_end(step)
                    await driver.pilot.pause()
                    assert_clean(driver)
                pane.toggle()
                await driver.pilot.pause()
                assert_clean(driver)
            await driver.press("2", "r", "H")
            assert_clean(driver)
        await driver.press("]", "question_mark")
        assert_clean(driver)
        assert driver.app.is_running


async def test_trouble_and_notifications_are_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    def detail(self: Inspector, index: int) -> object:
        raise RuntimeError(EVIL)

    monkeypatch.setattr(Inspector, "detail", detail)
    app = WorkbenchApp(hostile_session())
    async with app.run_test(size=(120, 40), notifications=True, tooltips=True) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: "cannot be shown" in driver.text)
        assert_clean(driver)


async def test_a_megabyte_on_one_line_is_shown() -> None:
    async with showing(hostile_session("x" * 1_000_000), (80, 24), exchange=0) as driver:
        await driver.press("2", "G")
        await until(driver.pilot, lambda: driver.screen.wire.rows and driver.screen.wire.rows.is_done)
        await driver.press("G")
        assert_clean(driver)
        await driver.press("3", "G", "enter")
        assert_clean(driver)


async def test_deep_json_is_shown() -> None:
    deep = b'{"model": "m", "messages": ' + b"[" * 10_000 + b"]" * 10_000 + b"}"
    async with showing(samples.session(samples.exchange(deep, deep)), (80, 24)) as driver:
        await driver.press("2", "j", "G", "k", "l")
        assert_clean(driver)


ROOMS = {
    "stream": ("1", "g", "j", "t", "n", "j", "tab", "j", "enter", "tab", "j", "enter", "slash", "x", "enter"),
    "diff": ("J", "d", "j", "enter", "d", "tab", "j", "v", "J", "K"),
    "repairs": ("6", "f", "j", "f", "tab", "j", "1", "h", "q"),
    "copy": (
        "3",
        "j",
        "y",
        "v",
        "3",
        "j",
        "y",
        "p",
        "2",
        "j",
        "y",
        "P",
        "y",
        "b",
        "y",
        "c",
        "6",
        "y",
        "f",
        "7",
        "j",
        "y",
        "h",
    ),
    "notes": ("space", "a", "x", "enter", "apostrophe", "a", "escape", "1", "space", "1", "a", "y", "enter"),
    "filter": ("ampersand", *"tool:", "tab", "tab", "enter", "ampersand", *"x ", *"model:", "tab", "enter", "escape"),
    "search": ("3", "slash", "x", "enter", "n", "N", "2", "slash", "b", "enter", "v", "n", "v", "n", "v"),
    "http": ("7", "z", *("j",) * 40, "f1", "j"),
    "palette": ("colon", *"copy", "down", "escape", "z", "F", "I", "w", "W", "n", "p"),
}
"""Keys that lead through what no pane of the session shows by itself."""


@pytest.mark.sampled(6)
@pytest.mark.parametrize("room", ROOMS)
async def test_no_room_shows_it_raw(room: str) -> None:
    """In the least room for every second one, in much for the others."""
    size = ((40, 15), (160, 50))[list(ROOMS).index(room) % 2]
    async with showing(hostile_session(), size, exchange=1) as driver:
        await driver.shows(1)
        for key in ROOMS[room]:
            await driver.press(key)
            assert_clean(driver)
        assert driver.app.is_running


async def test_home_and_its_dialogs_show_nothing_raw(own_home: Path) -> None:
    folder = own_home / ("x\x1b]52;c;aGk=\x07\u202e[b]\x9b2J\n" + "e\u0301" * 9)
    folder.mkdir()
    path = folder / "\x1b[2J {} %s \u200b.jsonl"
    store.save(hostile_session().exchanges, path, about={"story": EVIL, "source": EVIL, "made": EVIL})
    home_state.remember(path)
    settings = own_home / ".config" / "workbench"
    settings.mkdir(parents=True)
    (settings / "keys.yaml").write_text('"\\e[2J[/b]": "\\u202e"\nsession.diff: "\\e]52;c;aGk=\\a"\n')
    app = WorkbenchApp()
    async with app.run_test(size=(120, 40), notifications=True, tooltips=True) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: "\\u200b" in driver.text)
        for key in (
            *("g", "slash", *"200b", "enter", "f1", "j", "escape"),
            *("o", "ctrl+u", *"~/x", "tab", "tab", "enter", "escape", "escape"),
            *("i", *"~/x", "tab", "tab", "enter", "escape", "escape"),
            *("e", "[", "slash", "b", "right_square_bracket", "{", "}", "%", "s", "enter", "tab", "escape", "escape"),
            *("r", "[", "slash", "b", "right_square_bracket", "enter", "escape", "escape", "S", "c", "c"),
        ):
            await driver.press(key)
            assert_clean(driver)
        assert app.is_running


OF_TEXTUAL = re.compile(r"\x1b\[[0-9;?<>=$]*[A-Za-z]|\x1b[()][0B]|\x1b[=>78]|\x1b\]22;[a-z]+\x07")
ACTS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ufeff]")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("words", [(), ("--ascii",)])
def test_a_terminal_is_written_no_sequence_but_our_own(own_home: Path, words: tuple[str, ...]) -> None:
    path = own_home / "a\x1b]0;t\x07\x9b2J\u202e.jsonl"
    store.save(hostile_session().exchanges, path, about={"story": EVIL, "made": EVIL})
    with in_terminal(own_home, "open", *words, str(path), size=(160, 50)) as terminal:
        written = terminal.until("aGk=")
        for keys in ("2Gvjv", "3jj", "7jj", "1gjt", "nq", "dq", "?j?", "ax\r", "&tool:\t\x1b\x1b", "/x\r", "\x1b:the"):
            terminal.press(keys)
        terminal.press("\x11")
        _, rest = terminal.end()
    left = OF_TEXTUAL.sub("", written + rest)
    assert "u202e" in left
    assert not ACTS.findall(left)
    assert "\x1b[2J" not in written + rest  # it clears the screen, and only the traffic holds it
