from __future__ import annotations

import pytest

from tests.tui.models.test_timeline import row, summary
from workbench.library.clean_verdict import gaps, verdict
from workbench.rules.inspection import InspectedExchange
from workbench.wire.exchange import State

GOOD = row()
FOREIGN = row(protocol=None, conversation=None)
UNREAD = row(protocol="gemini", conversation=None, problems=("gemini is recognised but not decoded by this version",))
TORN = row(problems=("response is torn",), summary=summary(state=State.INCOMPLETE))
UNDER = "under contract openai (from host)"


@pytest.mark.parametrize(
    ("rows", "damage", "said"),
    [
        ([GOOD], (), f"no breaks found {UNDER}"),
        ([GOOD, GOOD, GOOD, UNREAD, TORN], (), f"no breaks found in 3 of 5 exchanges {UNDER}; 2 not checked"),
        ([GOOD, FOREIGN], (), f"no breaks found in 1 of 2 exchanges {UNDER}; 1 without a request to a model"),
        ([GOOD], ("page 3",), f"no breaks found {UNDER}; 1 damaged place"),
        ([UNREAD, UNREAD], (), "nothing to check: gemini is recognised but not decoded by this version"),
        ([UNREAD, TORN], (), "nothing to check: gemini is recognised but not decoded by this version (and more)"),
        ([FOREIGN], (), "nothing to check: no exchanges with a model"),
    ],
)
def test_no_more_is_claimed_than_was_looked_at(
    rows: list[InspectedExchange], damage: tuple[str, ...], said: str
) -> None:
    assert verdict(rows, damage) == said


def test_gaps_are_named_beside_findings_too() -> None:
    assert gaps([GOOD, UNREAD, FOREIGN, FOREIGN], ("x",)) == [
        "1 not checked",
        "2 without a request to a model",
        "1 damaged place",
    ]
    assert gaps([GOOD]) == []
