"""Losses and renamed ids as text and as lines."""

from __future__ import annotations

from workbench.convert import Loss
from workbench.limits import SNIPPET
from workbench.views.lines import column_text, id_line, loss_line, loss_words, plain

LOST = Loss("/messages/1/content/0", "the signature", "left out")


def test_a_loss_names_place_loss_and_replacement() -> None:
    assert loss_words(LOST) == "/messages/1/content/0  the signature: left out"
    assert loss_words(Loss("", "the seed", "left out")) == "the whole  the seed: left out"
    assert plain(loss_line(LOST)) == "! the signature  /messages/1/content/0"


def test_a_long_loss_is_cut() -> None:
    assert len(loss_words(Loss("/a", "x" * 5000, "y" * 5000))) < 2 * SNIPPET + 20


def test_a_renamed_id_names_the_old_one() -> None:
    assert column_text(id_line("call_1", "call:1")) == "= call_1  was call:1"
    assert (
        column_text(id_line("call_1", None))
        == "= call_1  had no id; the new id is derived from the position of the call"
    )
