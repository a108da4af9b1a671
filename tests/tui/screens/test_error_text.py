from __future__ import annotations

import pytest
from textual import events

from tests.tui.driving import until
from tests.tui.screens.test_home import Home, at_home
from tests.tui.test_hostile import EVIL, assert_clean
from workbench.contracts import error_texts
from workbench.errors import ProfileError
from workbench.tui.screens.error_text import ErrorTextScreen, MatchesPane
from workbench.tui.screens.help import HelpScreen
from workbench.tui.screens.page import PageScreen

KNOWN = (
    'API Error: 400 {"type":"error","error":{"type":"invalid_request_error",\n"message":"messages.2: `tool_use` ids '
    "were found without `tool_result` blocks immediately after: toolu_01Abc. Each `tool_use` block must have a "
    'corresponding `tool_result` block in the next message."}}'
)


async def paste(home: Home, text: str) -> None:
    home.app.post_message(events.Paste(text))
    await home.pilot.pause()


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (160, 50)])
async def test_a_pasted_text_leads_to_its_rule_and_its_page(size: tuple[int, int]) -> None:
    async with at_home(size) as home:
        await home.press("e")
        await paste(home, KNOWN)
        await home.until("✓ closure.missing-result")
        assert isinstance(home.app.screen, ErrorTextScreen)
        await home.press("tab", "enter")
        await until(home.pilot, lambda: isinstance(home.app.screen, PageScreen) and "What is wrong" in home.text)
        await home.press("escape", "escape")
        assert not isinstance(home.app.screen, ErrorTextScreen)


async def test_what_to_look_for_stands_below() -> None:
    async with at_home((120, 40)) as home:
        await home.press("e")
        await paste(home, KNOWN)
        await home.until("Look for")
        assert "Record it" in home.text
        assert home.app.screen.asked.text == KNOWN  # type: ignore[attr-defined]


async def test_enter_is_a_new_line() -> None:
    async with at_home() as home:
        await home.press("e", *"what", "enter", *"ever")
        await home.until("not recognised")
        assert "No rule matches this error message." in home.text
        assert home.app.screen.asked.text == "what\never"  # type: ignore[attr-defined]


async def test_without_a_text_every_rule_can_be_read() -> None:
    async with at_home() as home:
        await home.press("e")
        await home.until("params.unsupported")
        await home.press("tab", "j", "enter")
        await until(home.pilot, lambda: isinstance(home.app.screen, PageScreen) and "What is wrong" in home.text)


@pytest.mark.parametrize("size", [(60, 15), (120, 40)])
async def test_hostile_text_is_visible(size: tuple[int, int]) -> None:
    async with at_home(size) as home:
        await home.press("e")
        await paste(home, f"{EVIL}\n{KNOWN.replace('toolu_01Abc', EVIL)}\r\n\x9b2J\ud83d")
        pane = home.app.screen.query_one(MatchesPane)
        await until(home.pilot, lambda: pane.is_answered and pane.has_text)
        assert_clean(home)  # type: ignore[arg-type]
        await home.press("tab", "j", "enter")
        assert_clean(home)  # type: ignore[arg-type]


async def test_the_footer_names_what_enter_does_where_one_stands() -> None:
    async with at_home((80, 24)) as home:
        await home.press("e")
        await home.until("params.unsupported")
        assert "the page of the rule" not in home.text and "tab go to the rules" in home.text.split("\n")[-1]
        await home.press("tab")
        assert "enter open the rule page" in home.text.split("\n")[-1]


async def test_what_cannot_be_looked_up_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ProfileError("anthropic.yaml:1: not YAML")

    monkeypatch.setattr(error_texts, "explain", fails)
    async with at_home((80, 24)) as home:
        await home.press("e", "x")
        await home.until("cannot read the rules: anthropic.yaml:1: not YAML")
        assert "searching …" not in home.text


async def test_every_rule_is_read_whole_and_f1_explains_the_dialog() -> None:
    async with at_home((80, 24)) as home:
        await home.press("e")
        await home.until("content in an unintended way.")
        assert "f1 help" in home.text
        await home.press("f1")
        await until(home.pilot, lambda: isinstance(home.app.screen, HelpScreen) and "Error text" in home.text)
        await home.press("escape", "tab")
        assert "? help" in home.text
        await home.press("question_mark")
        await until(home.pilot, lambda: isinstance(home.app.screen, HelpScreen))
