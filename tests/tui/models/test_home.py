from __future__ import annotations

from pathlib import Path

import pytest

from workbench.library.home_sections import EXAMPLES, FOUND, LIVE, RECENT, SWITCHED_OFF, Section, SessionItem
from workbench.library.session_summary import SessionSummary
from workbench.tui.models import home
from workbench.views.lines import column_text, plain

ITEM = SessionItem(Path("/x/demo.jsonl"), FOUND, "demo", "Claude Code", 1000.0)
BROKEN = SessionSummary(
    "error", "closure.missing-result", "exchange 3: no result", 1234, "anthropic · sonnet", "claude 2", "a story"
)


@pytest.mark.parametrize("width", [56, 76, 96, 116, 156, 196])
def test_a_row_says_what_broke_at_any_width(width: int) -> None:
    row = plain(home.item_line(ITEM, BROKEN, width, 1000.0 + 7200))
    assert "demo" in row
    assert "2 h" in row
    assert "✗ closure.missing-result" in row
    assert ("1,234 ex" in row) == ("Claude Code" in row) == ("anthropic" in row) == (width >= home.ROOMY)
    assert "exchange 3: no result" not in row


@pytest.mark.parametrize("width", [56, 76, 96, 116, 156, 196])
@pytest.mark.parametrize("story", [None, BROKEN, SessionSummary("", "no breaks", "fine", is_clean=True)])
def test_columns_stand_one_below_the_other(width: int, story: SessionSummary | None) -> None:
    spans = home.item_line(ITEM, story, width, 1000.0)
    columns = sum(abs(s.width) or len(s.text) for s in spans[: 6 if width >= home.ROOMY else 3])
    assert columns <= width
    if width < home.WIDE:
        assert columns == width


@pytest.mark.parametrize(("width", "shown"), [(62, []), (64, ["1,234"]), (78, ["anthropic  ", "1,234"])])
def test_a_row_with_room_beside_its_name_has_more_facts(width: int, shown: list[str]) -> None:
    row = column_text(home.item_line(ITEM, BROKEN, width, 1000.0, longest=20))
    assert [fact for fact in ("anthropic  ", "sonnet", "1,234") if fact in row] == shown


def test_below_it_stands_the_rest() -> None:
    body = [plain(line).strip() for line in home.item_body(ITEM, BROKEN, 76, "~/demo.jsonl")]
    assert body == ["exchange 3: no result", "a story", "anthropic · sonnet", "~/demo.jsonl"]
    assert [plain(line).strip() for line in home.item_body(ITEM, None, 76, "~/demo.jsonl")] == ["~/demo.jsonl"]


def test_a_wide_list_shows_the_story_of_every_session_and_says_nothing_twice() -> None:
    assert home.item_body(ITEM, BROKEN, 120, "", is_here=False) == []
    below = home.item_body(ITEM, BROKEN, 150, "", is_here=False)
    assert [plain(line).strip() for line in below] == [BROKEN.text]
    wide = [plain(line).strip() for line in home.item_body(ITEM, BROKEN, 230, "", is_here=False)]
    assert BROKEN.text not in wide
    assert wide == [line.replace("\n", " · ") for line in [BROKEN.about] if line]


@pytest.mark.parametrize(
    ("story", "section", "sign"),
    [
        (None, EXAMPLES, "…"),
        (SessionSummary("", "no breaks", "", is_clean=True), EXAMPLES, "✓ no breaks"),
        (SessionSummary("", "partly checked", ""), EXAMPLES, "? partly checked"),
        (SessionSummary("", "no exchanges yet", "", 0), LIVE, "○ no exchanges yet"),
        (SessionSummary("", "no exchanges yet", "", 0), RECENT, "? no exchanges yet"),
        (SessionSummary("warning", "stream.index", ""), RECENT, "! stream.index"),
    ],
)
def test_the_state_is_a_sign_and_a_word(story: SessionSummary | None, section: str, sign: str) -> None:
    assert sign in plain(home.item_line(ITEM._replace(section=section), story, 80, 0.0))


def test_sections_are_headed_and_noted() -> None:
    sections = [Section(EXAMPLES, (ITEM,)), Section(FOUND, (), ("nothing found",))]
    rows = home.rows(sections, "c")
    assert [bool(row.item) for row in rows] == [False, True, False, False]
    assert plain(home.heading_line(rows[2])).endswith("(read-only) · c: hide")
    assert plain(home.note_lines(rows[3].note, 76)[0]) == "nothing found"
    off = home.rows([Section(FOUND, (), (SWITCHED_OFF,))], "c")
    assert off[0].heading.endswith("c: show")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-5, "now"), (59, "now"), (60, "1 min"), (7200, "2 h"), (86400 * 3, "3 d"), (86400 * 800, "2 y")],
)
def test_ages(seconds: float, said: str) -> None:
    assert home.age(seconds) == said


@pytest.mark.parametrize("width", [56, 116, 196])
def test_names_that_begin_alike_are_told_apart_by_their_ends(width: int) -> None:
    names = [f"{'tests_recordings_of_' * 5}{end}" for end in ("streamed_call", "refused_call")]
    rows = [plain(home.item_line(ITEM._replace(name=name), BROKEN, width, 1000.0)) for name in names]
    assert "treamed_call" in rows[0] and "efused_call" in rows[1] and "tests" in rows[0]
