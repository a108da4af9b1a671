"""Writing a value in place: what cannot be shown cannot get in."""

from __future__ import annotations

import pytest
from textual import events
from textual.app import App, ComposeResult

from workbench.edits import PlaceOffer, PlaceOffers
from workbench.tui.widgets.writing import Writing


class Page(App[None]):
    """A value that is written."""

    def __init__(self, text: str, *, is_line: bool) -> None:
        super().__init__()
        self.writing = Writing(text, "a value", is_line=is_line, id="writing")
        self.said: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.writing

    def on_writing_save(self, message: Writing.Save) -> None:
        self.said.append(f"taken {message.text!r}")

    def on_writing_cancel(self) -> None:
        self.said.append("left")


@pytest.mark.parametrize(
    ("is_line", "keys", "text", "said"),
    [
        (True, ["end", "!", "enter"], "a\tb!", ["taken 'a\\tb!'"]),
        (False, ["enter", "ctrl+s"], "\na\tb", ["taken '\\na\\tb'"]),
        (False, ["x", "escape"], "xa\tb", ["left"]),
        (False, ["tab"], "    a\tb", []),
    ],
)
async def test_keys_take_it_or_leave_it(is_line: bool, keys: list[str], text: str, said: list[str]) -> None:
    page = Page("a\tb", is_line=is_line)
    async with page.run_test() as pilot:
        page.writing.focus()
        await pilot.press(*keys)
        await pilot.pause()
        assert page.said == said
        assert page.writing.text == text


OFFERS = (PlaceOffer('"role": ', "role", "a string, required"), PlaceOffer('"content": ', "content", "a list"))


async def test_a_key_completes_what_is_typed_and_pressed_again_writes_the_next() -> None:
    def complete(text: str, offset: int) -> PlaceOffers:
        return PlaceOffers(1, offset, OFFERS) if text[:offset] in ("{", '{"') else PlaceOffers(offset, offset)

    page = Page("{", is_line=False)
    page.writing = Writing("{", "a value", is_line=False, id="writing", complete=complete)
    async with page.run_test() as pilot:
        page.writing.focus()
        await pilot.press("end", '"')
        assert "ctrl+n: role (a string, required) · content" in str(page.writing.border_subtitle)
        written = []
        for _ in range(3):
            await pilot.press("ctrl+n")
            await pilot.pause()
            written.append(page.writing.text)
        assert written == ['{"role": ', '{"content": ', '{"role": ']
        await pilot.press("x")
        await pilot.pause()
        assert "ctrl+n" not in str(page.writing.border_subtitle)


async def test_the_end_of_a_pasted_line_is_no_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    page, said = Page("", is_line=True), list[str]()
    monkeypatch.setattr(page, "notify", lambda words, **_: said.append(words))
    async with page.run_test() as pilot:
        page.writing.focus()
        for pasted in ("one line\r\n", " \x07"):
            page.post_message(events.Paste(pasted))
            await pilot.pause()
    assert page.writing.text == "one line "
    assert [words.partition(" ·")[0] for words in said] == ["characters that cannot be shown were removed"]


async def test_what_cannot_be_shown_is_left_out_of_what_is_pasted() -> None:
    page = Page("", is_line=False)
    async with page.run_test() as pilot:
        page.writing.focus()
        page.post_message(events.Paste("a\r\nb\x1b[2J\u202e\u2028c"))
        await pilot.pause()
        assert page.writing.text == "a\nb[2Jc"
