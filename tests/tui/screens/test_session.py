from __future__ import annotations

import json
from dataclasses import replace
from threading import Event

import pytest

from tests.tui import samples
from tests.tui.driving import Driver, screen_text, showing, until
from workbench.errors import ProfileError, SessionFormatError, UnreadableInput
from workbench.rules.inspection import Inspector
from workbench.tui.app import WorkbenchApp
from workbench.tui.models.findings import LOOKING
from workbench.tui.models.tabs import PANES
from workbench.tui.screens.help import HelpPane
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.service import InspectedRows
from workbench.tui.widgets.pane import Pane
from workbench.tui.widgets.wire import WirePane
from workbench.views.lines import plain
from workbench.wire.exchange import Exchange
from workbench.wire.session import Session

SIZES = [(80, 24), (160, 50)]


def lit(driver: Driver, name: str) -> str:
    """The text of the lit items of a pane."""
    pane = driver.pane(name)
    return "\n".join("".join(s.text for s in pane.head(n, 200)) for n in sorted(pane.lit))


def lit_bytes(driver: Driver) -> bytes:
    wire = driver.screen.wire
    body = wire.rows.body if wire.rows else b""
    return b"".join(body[a:b] for a, b in wire.marks.lit)


@pytest.mark.parametrize("size", SIZES)
async def test_it_opens_at_the_first_break_with_the_focus_on_it(size: tuple[int, int]) -> None:
    async with showing(samples.example(samples.LOST_RESULT), size) as driver:
        await driver.shows(2)
        assert driver.focused == "findings"
        text = driver.text
        assert "closure.missing-result" in text
        assert '"toolu_01Tests"' in text  # its bytes
        assert "tools are never run" in text
        assert "run_tests" in lit(driver, "ir")
        assert "missing" in lit(driver, "closure")


@pytest.mark.parametrize("size", SIZES)
async def test_without_breaks_it_says_under_which_contract(size: tuple[int, int]) -> None:
    async with showing(samples.example(samples.TOOL_LOOP), size) as driver:
        assert driver.focused == "exchanges"
        assert "no breaks found under contract anthropic (from host api.anthropic.com)" in driver.text
        assert driver.pane("exchanges").region.bottom == driver.pane("ir").region.y or size[0] >= 160
        footer = driver.text.splitlines()[-1]
        assert "next break" not in footer and "S story" in footer and "q back" in footer


async def test_a_break_that_is_found_late_is_gone_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tui.service.BATCH_SECONDS", -1)  # every row comes alone
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await until(driver.pilot, lambda: driver.focused == "findings")


async def test_who_has_gone_somewhere_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.press("1", "g")
        await driver.shows(0)
        driver.screen.post_message(InspectedRows(tuple(driver.screen.state.rows)))
        await driver.press("j")
        await driver.shows(1)


async def test_an_exchange_can_be_asked_for() -> None:
    async with showing(samples.example(samples.LOST_RESULT), exchange=1) as driver:
        await driver.shows(1)
        assert driver.pane("exchanges").cursor == 1
        assert driver.focused == "wire"


async def test_moving_in_the_ir_drives_the_other_panes() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("3", "g")
        while "read_file" not in lit(driver, "ir") or "call" not in lit(driver, "ir"):
            await driver.press("j")
        assert b'"toolu_01Parser"' in lit_bytes(driver)
        assert lit(driver, "closure").startswith("● closed")
        related = driver.pane("ir").related
        assert len(related) == 1  # its result
        assert any(mark.style == "related" for mark in driver.screen.wire.marks.shown)


async def test_moving_on_the_wire_drives_the_other_panes() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("2", "G")
        wire = driver.screen.wire
        while b"toolu_01Parser" not in wire.rows.body[slice(*wire.rows.bounds(wire.cursor - len(wire.content.top)))]:  # type: ignore[union-attr]
            await driver.press("k")
        await driver.press("l", "l", "l")
        assert "result" in lit(driver, "ir")
        assert "read_file" in lit(driver, "closure")
        assert driver.screen.pointer.selection is not None
        assert driver.screen.pointer.selection.pointer.startswith("/messages/2/content/0")


async def test_moving_in_the_closure_drives_the_other_panes() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("5", "g")
        assert b"toolu_01Parser" in lit_bytes(driver)
        await driver.press("j")
        assert b"toolu_01Tests" in lit_bytes(driver)
        assert "run_tests" in lit(driver, "ir")
        assert "closure.missing-result" in lit(driver, "findings")


async def test_the_ledger_drives_the_other_panes_and_is_driven_by_them() -> None:
    async with showing(samples.example(samples.LOST_REASONING)) as driver:
        await driver.shows(1)
        assert "missing" in lit(driver, "reasoning")
        await driver.press("3", "G", "4")
        assert not driver.pane("reasoning").lit
        await driver.press("enter")  # to where the reasoning came in
        await driver.shows(0)
        assert driver.focused == "wire"
        assert "reasoning" in lit(driver, "ir")
        assert b"I call list_dir" in lit_bytes(driver).replace(b'""', b"")


async def test_a_streamed_call_lights_its_events() -> None:
    async with showing(samples.example(samples.TOOL_LOOP)) as driver:
        await driver.shows(0)
        await driver.press("3")
        while "read_file" not in lit(driver, "ir"):
            await driver.press("j")
        assert driver.screen.wire.side == "response"
        assert b'"read_file"' in lit_bytes(driver)
        (blocks,) = (mark.spans for mark in driver.screen.wire.marks.shown if mark.style == "block")
        assert len(blocks) == len(driver.screen.pointer.selection.events)  # type: ignore[union-attr]
        assert "events" in str(driver.screen.wire.border_title)
        await driver.press("2", "j", "j")
        assert "read_file" in lit(driver, "ir")  # still an event of the call


async def test_breaks_are_walked_across_exchanges() -> None:
    async with showing(three_breaks()) as driver:
        await until(driver.pilot, lambda: driver.screen.opened)
        places = []
        for key in ("]", "]", "]", "["):
            places.append((driver.screen.opened.index, driver.pane("findings").cursor))  # type: ignore[union-attr]
            await driver.press(key)
            wanted = driver.screen.navigation.goal.exchange
            await driver.shows(wanted or 0)
        assert places == [(0, 0), (1, 1), (2, 2), (2, 2)]  # what only explains comes after all errors
        assert driver.screen.opened.index == 1  # type: ignore[union-attr]


async def test_the_exchange_where_a_finding_began_is_a_key_away() -> None:
    call = {"id": "call_0123456789abcdef", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    broken = [
        {"role": "user", "content": "list it"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "go on"},
    ]
    said: dict[str, object] = {"role": "assistant", "content": "on I go"}
    choice = {"index": 0, "message": said, "finish_reason": "stop"}
    answer = {"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-4.1", "choices": [choice]}
    sent = [broken, [*broken, said, {"role": "user", "content": "and on"}]]
    asked = ({"model": "gpt-4.1", "messages": messages} for messages in sent)
    session = samples.session(*(samples.exchange(body, answer, number=n) for n, body in enumerate(asked)))
    async with showing(session) as driver:
        await driver.shows(0)
        assert "request 1–2" in driver.text  # one break, and how long it lasts
        assert "1 error, 1 info · in 1 of 2 exchanges" in driver.text
        await driver.press("]")
        assert "no further break" in driver.text
        await driver.press("J")
        await driver.shows(1)
        assert "↑ carried" in driver.text
        assert driver.screen.pointer.selection and driver.screen.pointer.selection.pointer == "/messages/1/tool_calls/0"
        await driver.press("o")
        await driver.shows(0)
        await driver.press("o")
        assert "not in the recording" in driver.text


def three_breaks() -> Session:
    def lost(number: int) -> dict[str, object]:
        call = {"id": f"c{number}", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        messages: list[dict[str, object]] = [
            {"role": "user", "content": f"question {number}"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "user", "content": "go on"},
        ]
        tools = [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}]
        return {"model": "gpt-4.1", "messages": messages, "tools": tools}

    answer = {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}}]}
    return samples.session(*(samples.exchange(lost(n), answer, number=n) for n in range(3)))


async def test_the_timeline_opens_exchanges() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("1", "g")
        await driver.shows(0)
        await driver.press("J")
        await driver.shows(1)
        assert driver.pane("exchanges").cursor == 1


async def test_panes_are_reached_by_tab_and_by_digit() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        seen = []
        for _ in range(7):
            await driver.press("tab")
            seen.append(driver.focused)
            assert driver.pane(driver.focused).display
        assert seen == ["http", "exchanges", "wire", "ir", "reasoning", "closure", "findings"]
        await driver.press("4")
        assert driver.focused == "reasoning"
        assert "[4 Reasoning]" in driver.text
        await driver.press("shift+tab")
        assert driver.focused == "ir"


async def test_a_pane_fills_the_screen_and_comes_back() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.press("2", "z")
        assert driver.pane("wire").size.width > 150
        assert not driver.pane("findings").display
        await driver.press("6")
        assert driver.pane("findings").size.height > 30
        await driver.press("escape")
        assert driver.pane("wire").display
        assert driver.pane("wire").size.width < 80


@pytest.mark.parametrize("size", SIZES)
async def test_every_pane_can_be_zoomed(size: tuple[int, int]) -> None:
    async with showing(samples.example(samples.LOST_RESULT), size) as driver:
        for digit, (name, _) in enumerate(PANES, 1):
            await driver.press(str(digit), "z")
            shown = [pane.id for pane in driver.screen.query(Pane) if pane.display and pane.size.height]
            assert shown == [name]
            assert driver.pane(name).size.width >= size[0] - 2
            assert driver.pane(name).size.height > size[1] - 8
            assert " zoom" in driver.text and f"[{digit} " in driver.text
            await driver.press("escape")
            assert " zoom" not in driver.text.splitlines()[2]
            assert driver.pane("findings").display


async def test_both_sides_of_the_wire_are_shown() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        assert driver.screen.wire.side == "request"
        await driver.press("r")
        assert "HTTP/1.1 400" in driver.text
        await driver.press("2", "H")
        assert "content-type: application/json" in driver.text


async def test_the_selection_survives_every_size() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        await driver.shows(2)
        selection = driver.screen.pointer.selection
        for size in ((160, 50), (50, 10), (120, 40), (80, 24)):
            await driver.pilot.resize_terminal(*size)
            await driver.pilot.pause()
            assert driver.screen.pointer.selection == selection
            text = driver.text
            assert ("40 columns" in text) == (size == (50, 10))
            assert ('"toolu_01Tests"' in text) == (size != (50, 10))


@pytest.mark.parametrize("size", [(39, 40), (100, 14), (3, 2)])
async def test_a_tiny_terminal_gets_a_message(size: tuple[int, int]) -> None:
    async with showing(samples.example(samples.LOST_RESULT), size) as driver:
        await driver.press("j", "]", "tab", "z")
        assert "W" in driver.text


async def test_search_walks_through_matches_and_is_left() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("2", "g", "slash", *"toolu", "enter")
        await until(driver.pilot, lambda: driver.screen.pane_search.found and not driver.screen.pane_search.is_busy)
        wire = driver.screen.wire
        at = wire.position
        assert wire.rows is not None
        assert wire.rows.body[at : at + 5] == b"toolu"
        await driver.press("n")
        assert wire.position > at
        await driver.press("N")
        assert wire.position == at
        await driver.press("escape", "]")
        assert "no further break" in driver.text


async def test_what_is_not_found_is_said() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.press("3", "slash", *"zzz", "enter")
        await until(driver.pilot, lambda: "/zzz  no match" in driver.text)


async def test_help_lists_the_keys_and_closes() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        await driver.press("question_mark")
        assert "next break (error or warning)" in "\n".join(map(plain, driver.app.screen.query_one(HelpPane).lines))
        await driver.press("q")
        assert isinstance(driver.app.screen, SessionScreen)


async def test_the_palette_runs_commands() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.press("colon", *"zoom")
        await until(driver.pilot, lambda: "only the focused pane" in driver.text)
        await driver.press("enter")
        await until(driver.pilot, lambda: driver.app.screen.has_class("-zoom"))


async def test_enter_opens_a_part_in_full() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("3", "enter")
        assert "tests/test_parser.py" in "".join(
            driver.pane("ir").render_line(y).text for y in range(driver.pane("ir").size.height)
        )


async def test_an_exchange_that_cannot_be_shown_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Inspector.detail

    def detail(self: Inspector, index: int) -> object:
        if index == 1:
            raise OSError("torn")
        return honest(self, index)

    monkeypatch.setattr(Inspector, "detail", detail)
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        driver.screen.navigation.open(1)
        await until(driver.pilot, lambda: "exchange 2 cannot be shown: torn" in driver.text)
        assert driver.screen.opened is None
        await driver.press("2", "j", "3", "enter", "r", "[", "]")
        await driver.shows(2)


async def test_a_click_selects_what_is_under_it() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        wire = driver.screen.wire
        row = next(y for y in range(wire.size.height) if '"toolu_01Tests"' in wire.render_line(y).text)
        column = wire.render_line(row).text.index("01Tests")
        await driver.pilot.click(WirePane, offset=(column + 1, row + 1))
        assert driver.screen.pointer.selection is not None
        assert driver.screen.pointer.selection.pointer == "/messages/1/content/2/id"


async def test_an_empty_session_and_a_foreign_one_say_why_there_is_nothing() -> None:
    async with showing(samples.session()) as driver:
        assert "the session has no exchanges" in driver.text
        assert "inspecting" not in driver.text
        assert "opening" not in driver.text
        await driver.press("]", "j", "r", "enter", "z", "q")
    page = samples.exchange(b"", b"<html>", url="https://example.org/index.html")
    async with showing(samples.session(page), (120, 40)) as driver:
        assert "nothing to check" in driver.text
        assert "nothing to decode" in driver.text
        await driver.press("3", "j", "4", "j", "5", "j", "6", "]")


async def test_a_session_that_cannot_be_opened_leaves_with_its_error() -> None:
    error = UnreadableInput("no importer can read it", where="x.bin")

    def opener() -> Session:
        raise error

    app = WorkbenchApp(opener)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.failure)
    assert app.failure is error


async def test_a_big_body_is_laid_out_without_waiting_for_it() -> None:
    lines = [{"role": "user", "content": f"line {n} " + "x" * 300} for n in range(2500)]
    request = {"model": "gpt-4.1", "messages": lines}
    answer = {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}}]}
    async with showing(samples.session(samples.exchange(request, answer)), (120, 40)) as driver:
        wire = driver.screen.wire
        await driver.press("3")
        while "2 user" not in lit(driver, "ir"):
            await driver.press("j" if driver.pane("ir").cursor < 3 else "k")
        await until(driver.pilot, lambda: wire.rows and wire.rows.is_done)
        await driver.press("2", "G")
        assert wire.position > len(json.dumps(request)) - 100
        assert isinstance(wire, WirePane)


async def test_the_gutter_of_the_wire_tells_a_break_from_what_only_explains() -> None:
    async with showing(samples.example("openai-call-never-runs")) as driver:
        await driver.shows(0)
        for _ in range(2):  # the marks are those of the side that is shown, not of what was selected
            await driver.press("r")
        wire = driver.screen.wire
        marked = [(wire.signs(n, 0)[1].text, plain(wire.head(n, 200))) for n in range(wire.count())]
        assert [text.split()[0] for glyph, text in marked if glyph == "✗" and "data:" in text] == ["5"]
        assert [text.split()[0] for glyph, text in marked if glyph == "·" and "data:" in text] == ["1", "2", "3", "4"]


async def test_warnings_have_their_own_key() -> None:
    async with showing(refused_and_lost()) as driver:
        await driver.shows(1)  # the error, not the warning before it
        await driver.press("w")
        assert driver.screen.navigation.goal.exchange == 1 or "no further warning" in driver.text
        await driver.press("W")
        await driver.shows(0)
        assert "! warning" in lit(driver, "findings")
        await driver.press("]")
        await driver.shows(1)
        await driver.press("]")
        assert "no further break" in driver.text


def refused_and_lost() -> Session:
    good = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}
    error = {"error": {"message": "Rate limit reached", "type": "tokens", "code": "rate_limit_exceeded"}}
    lost = three_breaks().exchange(0)
    return samples.session(samples.exchange(good, error, status=429), replace(lost, id="2"))


async def test_the_key_bar_follows_the_search() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        assert "q back  ? help" in driver.text
        await driver.press("2", "slash", *"toolu", "enter")
        await until(driver.pilot, lambda: "/toolu  match " in driver.text)
        assert "n next match" in driver.text
        assert "esc end search" in driver.text
        await driver.press("escape")
        assert "] next break" in driver.text


async def test_who_asks_for_what_is_not_inspected_yet_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    honest, gates = Inspector._inspect, (Event(), Event())

    def held(self: Inspector, index: int, exchange: Exchange | SessionFormatError) -> object:
        if index:
            gates[index - 1].wait(20)
        return honest(self, index, exchange)

    monkeypatch.setattr(Inspector, "_inspect", held)
    monkeypatch.setattr("workbench.tui.service.BATCH_SECONDS", -1)
    app = WorkbenchApp(samples.example(samples.LOST_RESULT))
    async with app.run_test(size=(120, 40)) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: driver.screen.navigation.goal.exchange == 0)
        gates[0].set()
        await driver.shows(0)  # before any break is known
        await until(pilot, lambda: "inspected 2 of 3" in driver.text)
        await driver.press("1", "G")
        await until(pilot, lambda: "exchange 3 is not inspected yet: inspected 2 of 3" in driver.text)
        gates[1].set()
        await driver.shows(2)
        assert "inspected" not in driver.text


async def test_a_line_that_is_not_the_selection_does_not_look_like_it() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        await driver.shows(2)
        await driver.press("3", "g", "5")  # the selection is the whole request: no call
        closure = driver.pane("closure")
        assert not closure.lit
        assert closure.signs(closure.cursor, 0)[1].text == "▹"
        await driver.press("G", "G")
        last = closure.count() - 1
        assert closure.lit == {last}
        assert closure.signs(last, 0)[1].text == "▸"
        await driver.press("3", "g", "5", "j")  # where the cursor cannot move it selects all the same
        assert closure.lit == {last}


async def test_an_open_zoom_does_not_stand_over_the_notice_for_tiny_terminals() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (50, 12)) as driver:
        await driver.press("z")
        assert "40 columns" in driver.text
        assert "Findings" not in driver.text


async def test_toasts_leave_the_findings_alone() -> None:
    async with showing(samples.example(samples.LOST_RESULT), (80, 24)) as driver:
        await driver.shows(2)
        await driver.press("]")
        lines = driver.text.splitlines()
        shown = next(n for n, text in enumerate(lines) if "no further break" in text)
        assert shown == len(lines) - 1  # in the footer: neither a byte, nor a title, nor a finding is under it
        assert "✗ closure" in lines[1] and "[6 Findings]" in lines[2] and lines[3].startswith("─ 2 Wire")


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_a_constructed_session_says_so(size: tuple[int, int]) -> None:
    async with showing(samples.example(samples.LOST_RESULT), size) as driver:
        assert "constructed" in "".join(driver.text.splitlines()[:3])
        await driver.press("7", "z", "g")
        for words in ("nothing to do with it", "github.com/anthropics/claude-code/issues/", "constructed: "):
            for _ in range(6):  # the facts of the exchange come first
                await driver.press(*([] if words in " ".join(driver.text.split()) else "j"))
            assert words in " ".join(driver.text.split())


async def test_a_result_that_is_its_whole_message_is_selected_as_such() -> None:
    async with showing(samples.example("deepseek-reasoning-lost")) as driver:
        await driver.press("3")
        view = driver.pane("ir")
        call, result = (
            next(n for n in range(view.count()) if plain(view.head(n, 80)).split()[1:2] == [word])
            for word in ("call", "result")
        )
        await driver.press("g", *"j" * result)
        assert view.cursor == result
        assert view.lit == {result}
        assert view.related == {call}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (("F",), "the recording has ended; there are no new"),
    ],
    ids=["F"],
)
async def test_a_key_that_can_do_nothing_here_says_so_in_the_footer(keys: tuple[str, ...], said: str) -> None:
    async with showing(samples.example(samples.LOST_RESULT), size=(120, 40)) as driver:
        tabs = next(n for n, row in enumerate(driver.text.split("\n")) if "2 Wire" in row)
        await driver.press(*keys)
        await until(driver.pilot, lambda: said in driver.text)
        assert driver.text.split("\n")[tabs].rstrip().endswith("7 HTTP")
        assert said in driver.text.split("\n")[-1]


@pytest.mark.parametrize(
    ("name", "has_repairs"), [(samples.LOST_REASONING, True), ("openai-parallel-index-reused", False)]
)
async def test_the_footer_offers_repairs_only_where_the_finding_has_some(name: str, has_repairs: bool) -> None:
    async with showing(samples.example(name), size=(80, 24)) as driver:
        await driver.shows(int(has_repairs))
        finding = driver.screen.findings.current
        lookup = driver.screen.repair_lookup
        await until(driver.pilot, lambda: finding and lookup.repairs_of(finding) != LOOKING)
        await until(driver.pilot, lambda: ("f repairs" in driver.text.split("\n")[-1]) == has_repairs)
        assert lookup.may_repair == has_repairs


async def test_the_view_and_the_headers_of_the_wire_are_switched_from_every_pane() -> None:
    async with showing(samples.example(samples.LOST_RESULT)) as driver:
        for pane in ("2", "6", "1"):
            await driver.press(pane, "v")
            assert "escaped" in driver.text
            await driver.press("v", "v", "H")
            assert "(H: show)" not in driver.text and "laid out" in driver.text
            await driver.press("H")
            assert "(H: show)" in driver.text
            assert driver.focused == {"1": "exchanges", "2": "wire", "6": "findings"}[pane]


@pytest.mark.parametrize("exchange", [None, 1])
@pytest.mark.parametrize("method", ["__init__", "steps", "detail"])
async def test_an_inspection_that_fails_says_so_in_every_pane(
    method: str, exchange: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ProfileError("torn")

    monkeypatch.setattr(Inspector, method, fails)
    if method == "steps":  # else the one exchange that is asked for can be shown all the same
        monkeypatch.setattr(Inspector, "detail", fails)
    app = WorkbenchApp(samples.example(samples.LOST_RESULT), exchange=exchange)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(pilot, lambda: screen_text(app).count("torn") > 2)
        await until(pilot, lambda: app.screen.panes.is_furnished)  # type: ignore[attr-defined]
        app.screen.navigation.announce()  # type: ignore[attr-defined]
        await pilot.pause()
        assert "opening …" not in screen_text(app)
        assert "decoding" not in screen_text(app)
        assert "not inspected yet" not in screen_text(app)
