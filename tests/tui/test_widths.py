"""Wide, joined, combining and ambiguous characters keep every column where it is."""

from __future__ import annotations

import json

import pytest
from rich.cells import cell_len

from tests.tui import samples
from tests.tui.driving import Driver, until
from workbench.tui.app import WorkbenchApp
from workbench.tui.widgets.lineview import LineView
from workbench.wire.session import Session

WIDE = "日本語のテキスト 한국어 中文，全角 👩‍👩‍👧‍👦 👍🏽 🇩🇪 e\u0301\u0327 a\u0301\u0301\u0301\u0301 ①②±§ ﷽ ក្រ ﾊﾝｶｸ"


def session() -> Session:
    call = {"id": f"call_{WIDE}", "type": "function", "function": {"name": WIDE, "arguments": json.dumps({WIDE: WIDE})}}
    messages = [
        {"role": "user", "content": WIDE * 3},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": WIDE},
    ]
    answer = {"choices": [{"message": {"role": "assistant", "content": WIDE}, "finish_reason": WIDE}]}
    bodies = (json.dumps(v, ensure_ascii=False).encode() for v in ({"model": WIDE, "messages": messages}, answer))
    return samples.session(samples.exchange(*bodies), name=WIDE)


@pytest.mark.parametrize("size", [(40, 15), (60, 15), (80, 24), (160, 50)])
async def test_every_line_is_as_wide_as_its_pane(size: tuple[int, int]) -> None:
    app = WorkbenchApp(session())
    async with app.run_test(size=size) as pilot:
        driver = Driver(pilot)
        await until(pilot, lambda: driver.screen.state.is_done and driver.screen.opened)
        for key in "1234567":
            await driver.press(key, "G", "enter", "g")
            assert {cell_len(line) for line in driver.text.split("\n")} == {size[0]}
            for view in driver.screen.query(LineView):
                if view.display and view.size.height:
                    widths = {view.render_line(y).cell_length for y in range(view.content_region.height)}
                    assert widths == {view.scrollable_content_region.width}, view.id
