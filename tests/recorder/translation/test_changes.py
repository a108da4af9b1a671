"""What was changed, as the note of an exchange."""

from __future__ import annotations

from workbench.recorder.translation.changes import HANDLE, LOSS, Change, filed


def test_a_note_says_each_change_once_and_losses_last():
    changes = [Change(LOSS, "/a: left out"), Change(HANDLE, "h"), Change(LOSS, "/a: left out")]
    assert filed(changes) == "handle: h; loss: /a: left out"
    assert filed([]) == ""


def test_a_note_is_cut():
    told = filed([Change(LOSS, f"/{n}") for n in range(100)])
    assert told.endswith("; and 40 more") and "loss: /59;" in told
