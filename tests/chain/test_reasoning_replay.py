"""What became of reasoning that came back."""

from __future__ import annotations

import pytest

from workbench.chain._reasoning_replay import ReplayOutcome, compare
from workbench.ir import Carrier, Reasoning


def thought(text=None, signature=None):
    return Reasoning(Carrier.THOUGHT_SIGNATURE, text, signature)


SIGNED = thought(signature="ab+/cd==")
CASES = [
    ("as it came", [SIGNED], [SIGNED], ReplayOutcome.SENT),
    ("in the alphabet of URLs", [thought(signature="ab-_cd")], [SIGNED], ReplayOutcome.SENT),
    ("without the summary", [SIGNED], [thought("Let me see."), SIGNED], ReplayOutcome.SENT),
    ("the summary alone, as it came", [thought("Let me see.")], [thought("Let me see.")], ReplayOutcome.SENT),
    (
        "the signature moved to its summary",
        [thought("Let me see.", "ab+/cd==")],
        [thought("Let"), SIGNED],
        ReplayOutcome.SENT,
    ),
    ("another signature", [thought(signature="xyz")], [SIGNED], ReplayOutcome.ALTERED),
    ("one of two lost", [SIGNED], [SIGNED, thought(signature="second")], ReplayOutcome.ALTERED),
]


@pytest.mark.parametrize(("sent", "came", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_signatures_on_parts(sent, came, expected):
    assert compare(sent, came).sent is expected
