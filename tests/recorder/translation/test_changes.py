"""What was changed, as the note of an exchange."""

from __future__ import annotations

from workbench.recorder.translation.changes import HANDLE, LOSS, TranslationChange, changes_note


def test_a_note_says_each_change_once_and_losses_last():
    changes = [
        TranslationChange(LOSS, "/a: removed"),
        TranslationChange(HANDLE, "h"),
        TranslationChange(LOSS, "/a: removed"),
    ]
    assert changes_note(changes) == "handle: h; loss: /a: removed"
    assert changes_note([]) == ""


def test_a_note_is_cut():
    told = changes_note([TranslationChange(LOSS, f"/{n}") for n in range(100)])
    assert told.endswith("; and 40 more") and "loss: /59;" in told
