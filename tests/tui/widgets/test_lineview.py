"""Items and lines, the cursor, and painting only what is seen."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from workbench.tui.widgets.lineview import LineView
from workbench.views.lines import Line, line


class Numbers(LineView):
    """So many items; every open one has as many further lines as its number."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self.total = total
        self.painted: list[int] = []
        self.words = ""

    def count(self) -> int:
        return self.total

    def head(self, item: int, width: int) -> Line:
        self.painted.append(item)
        return line(f"item {item} {self.words}".rstrip())

    def further(self, item: int, width: int) -> list[Line]:
        return [line(f"  line {n} of {item}") for n in range(1, item + 1)]

    def nothing(self, width: int) -> list[Line]:
        return [line("nothing here, because the test says so")]


class Host(App[None]):
    CSS = "Numbers { height: 10; }"

    def __init__(self, total: int, *, is_accordion: bool = False) -> None:
        super().__init__()
        self.view = Numbers(total)
        self.view.is_accordion = is_accordion
        self.heard: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.focus()

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        self.heard.append(f"moved {message.view.cursor}")

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        self.heard.append(f"entered {message.view.cursor}")


def shown(view: Numbers) -> list[str]:
    return [view.render_line(y).text[2:].rstrip() for y in range(10)]


async def test_only_what_is_seen_is_painted() -> None:
    app = Host(1_000_000)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        assert len(set(app.view.painted)) <= 10
        await pilot.press("G")
        assert shown(app.view)[-1] == "item 999999"
        assert len(set(app.view.painted)) <= 20
        await pilot.press("g")
        assert shown(app.view)[0] == "item 0"


async def test_keys_move_the_cursor_and_say_so() -> None:
    app = Host(30)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("j", "j", "k", "pagedown", "ctrl+u", "k", "down", "end", "j", "enter")
        assert app.heard == [
            "moved 1", "moved 2", "moved 1", "moved 10", "moved 1", "moved 0", "moved 1", "moved 29", "entered 29",
        ]  # fmt: skip


async def test_open_items_take_more_lines() -> None:
    app = Host(6)
    async with app.run_test(size=(40, 12)) as pilot:
        app.view.opened_items = {1, 3}
        app.view.reload()
        await pilot.pause()
        assert shown(app.view) == [
            "item 0", "item 1", "  line 1 of 1", "item 2", "item 3",
            "  line 1 of 3", "  line 2 of 3", "  line 3 of 3", "item 4", "item 5",
        ]  # fmt: skip
        assert [app.view.lines_of.at(n) for n in range(10)] == [
            (0, 0), (1, 0), (1, 1), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3), (4, 0), (5, 0),
        ]  # fmt: skip
        assert [app.view.lines_of.first(n) for n in range(6)] == [0, 1, 3, 4, 8, 9]


async def test_an_accordion_opens_what_the_cursor_stands_on() -> None:
    app = Host(6, is_accordion=True)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("j", "j")
        assert shown(app.view)[:6] == ["item 0", "item 1", "item 2", "  line 1 of 2", "  line 2 of 2", "item 3"]


async def test_a_list_that_fills_its_room_opens_what_comes_next_too() -> None:
    app = Host(6, is_accordion=True)
    app.view.fills = True
    async with app.run_test(size=(40, 12)) as pilot:
        assert [len(lines) for lines in app.view.lines_of.further.values()] == [0, 1, 2]  # one line of 3 is left
        await pilot.press("G", "k")
        assert shown(app.view)[4:10] == ["item 4", *(f"  line {n} of 4" for n in range(1, 5)), "item 5"]
        app.view.total = 4
        app.view.reload()
        assert shown(app.view) == [
            "item 0", "item 1", "  line 1 of 1", "item 2", "  line 1 of 2", "  line 2 of 2",
            "item 3", "  line 1 of 3", "  line 2 of 3", "  line 3 of 3",
        ]  # fmt: skip


async def test_a_long_line_takes_more_rows_if_the_list_has_them() -> None:
    app = Host(9)
    app.view.spreads, app.view.words = True, "with a name that is longer than the list is wide"
    async with app.run_test(size=(40, 12)):
        assert shown(app.view)[:3] == [
            "item 0 with a name that is longer than",
            "the list is wide",
            "item 1 with a name that is longer tha…",
        ]


async def test_the_last_row_of_a_line_that_is_cut_keeps_the_blank_between_its_words() -> None:
    app = Host(8)
    app.view.spreads, app.view.words = True, " ".join(["letters"] * 40)
    async with app.run_test(size=(40, 12)):
        rows = shown(app.view)
        assert any(row.endswith("…") for row in rows[1:5])
        assert all("lettersl" not in row for row in rows)


async def test_marks_are_signs_and_not_only_colours() -> None:
    app = Host(4)
    async with app.run_test(size=(40, 12)) as pilot:
        app.view.mark(frozenset({1}), frozenset({2}))
        await pilot.pause()
        assert [app.view.render_line(y).text[:2] for y in range(4)] == [" ▸", "▌ ", "┆ ", "  "]


@pytest.mark.parametrize("key", ["j", "k", "g", "G", "enter", "pagedown"])
async def test_an_empty_view_says_why(key: str) -> None:
    app = Host(0)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press(key)
        assert shown(app.view)[0] == "nothing here, because the test says so"
        assert app.heard == []


async def test_a_click_moves_and_a_second_one_enters() -> None:
    app = Host(5)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.click(Numbers, offset=(5, 3))
        await pilot.click(Numbers, offset=(5, 3))
        await pilot.click(Numbers, offset=(5, 8))
        assert app.heard == ["moved 3", "entered 3"]


async def test_lines_are_found_by_their_text() -> None:
    app = Host(30)
    async with app.run_test(size=(40, 12)):
        assert [n for n, _ in app.view.finder.begin("item 2") if n is not None] == [2, *range(20, 30)]
        assert app.view.finder.needle
        app.view.go_to(25)
        assert app.view.position == 25
        app.view.finder.end()
        assert app.view.finder.needle is None
        assert [n for n, _ in app.view.finder.begin("ITEM 2") if n is not None] == []  # a capital means this case


async def test_shrinking_keeps_the_cursor_in_sight() -> None:
    app = Host(100)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("G")
        app.view.styles.height = 4
        await pilot.pause()
        assert "item 99" in [app.view.render_line(y).text[2:].rstrip() for y in range(4)]
