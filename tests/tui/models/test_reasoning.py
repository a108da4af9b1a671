from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import samples
from workbench.chain.ledger import Entry, ReplayOutcome
from workbench.views.chain import REPLAY_LOOK, entry_body, entry_line, reasoning_summary, received_words
from workbench.views.lines import plain


def entry(sent: ReplayOutcome, *, owed: bool = True) -> Entry:
    return Entry(0, 1, 0, (3, 4), "reasoning_content", "I think so.", None, None, owed, sent, "owed for good")


@pytest.mark.parametrize("sent", list(ReplayOutcome))
def test_every_outcome_has_a_sign_and_its_word(sent: ReplayOutcome) -> None:
    assert plain(entry_line(entry(sent))).startswith(f"{REPLAY_LOOK[sent][0]} {str(sent).replace('owed', 'required')}")


def test_what_nobody_asks_for_is_no_error() -> None:
    assert plain(entry_line(entry(ReplayOutcome.ALTERED, owed=False))).startswith("! altered")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (entry(ReplayOutcome.NOT_OWED, owed=False), "· not required turn 1"),
        (entry(ReplayOutcome.SENT), "✓ sent     turn 1  required"),
        (replace(entry(ReplayOutcome.ALTERED, owed=False), turn=794), "! altered  turn 795  not required"),
    ],
)
def test_it_is_said_once_whether_a_turn_is_owed(made: Entry, said: str) -> None:
    assert "".join(s.text.ljust(s.width) for s in entry_line(made)).strip() == said


def test_an_open_entry_tells_where_it_came_from() -> None:
    told = " ".join(plain(x) for x in entry_body(entry(ReplayOutcome.MISSING), 100))
    for words in (
        "owed for good",
        "message 2",
        "reasoning_content",
        "from exchange 1, events 3–4, 11 characters",
        "I think so.",
    ):
        assert words in told


def test_a_lost_debt_is_counted() -> None:
    ledger = samples.opened(samples.LOST_REASONING, 1).detail.ledger
    assert reasoning_summary(ledger) == "sent 0 of 1"


def test_what_came_in_is_said_even_when_nothing_is_owed() -> None:
    opened = samples.opened(samples.LOST_REASONING, 0)
    assert received_words(opened.detail.ledger) == "the response contains 1 part of reasoning"
    view = opened.contents["reasoning"]
    assert view.count() == 0
    assert "requires no reasoning" in " ".join(plain(x) for x in view.nothing(200))
