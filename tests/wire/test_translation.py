"""How an exchange says that it is another one in other words."""

from __future__ import annotations

import pytest

from workbench.wire.translation import Translation, translation_of

SAID = Translation("anthropic-messages", "openai-chat")


@pytest.mark.parametrize("made", [SAID, SAID._replace(contract="deepseek:v4")])
def test_a_branch_is_read_as_it_was_written(made):
    assert translation_of(made.branch) == made


@pytest.mark.parametrize("branch", ["", "as it came", "edited here", "from a to b", "a to b at", "a to b at "])
def test_other_branches_are_none(branch):
    assert translation_of(branch) is None
