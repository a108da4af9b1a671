from __future__ import annotations

from pathlib import Path

import pytest

from workbench.tui.models import pauses
from workbench.tui.models.pauses import PausedSide, held_of
from workbench.views.lines import plain

REASON = {"kind": "closure", "rule": "closure.missing-result", "words": "no \x1b[2J result", "pointer": "/messages/1"}


def held(number: int = 1, **more: object) -> PausedSide:
    told = {
        "id": number,
        "exchange": "e1",
        "side": "request",
        "reasons": [REASON],
        "since": 100.0,
        "url": "https://h/v1",
    }
    return held_of(Path("/r"), {**told, **more})


@pytest.mark.parametrize(
    ("ends", "said", "short"),
    [
        (None, "client timeout unknown", "?"),
        (712.0, "client timeout in 10:00", "10:00"),
        (120.0, "! client timeout in 8 s", "! 8 s"),
        (109.0, "✗ client timeout expired 3 s ago", "✗ over"),
        (4000.0, "client timeout in 1:04:48", "1:04:48"),
    ],
)
def test_how_long_the_client_still_waits(ends: float | None, said: str, short: str) -> None:
    waiting = held(timeout=600.0, times_out_at=ends)
    assert pauses.patience(waiting, 112.0).text == said
    assert pauses.time_left(waiting, 112.0).text == short


def test_the_header_names_the_one_to_decide_first() -> None:
    late, soon = held(1), held(2, times_out_at=130.0)
    line = plain(pauses.banner([late, soon], 4, "P", 112.0))
    assert line == " ‖ request 4 paused 12 s (1 of 2) · closure.missing-result · ! client timeout in 18 s · P: decide"
    assert pauses.first_to_decide([late, soon]) is soon


def test_everything_about_a_pause_is_told_in_lines_that_fit() -> None:
    facts = pauses.facts(held(timeout=600.0, timeout_from="its default", bytes=9, sent=2), 4, 112.0, 40)
    text = "\n".join(plain(line) for line in facts)
    for said in (
        "request 4 is paused",
        "to https://",
        "breakpoint closure",
        "its timeout is 10:00 (its default)",
        "9 bytes, 2 of them",
    ):
        assert said in " ".join(text.split()), text
    assert max(len(plain(line)) for line in facts) <= 40
    assert (
        pauses.refusal_text(held(deeds=["drop"]), "edit")
        == "this request cannot be forwarded with the edits; possible: drop"
    )
