"""The tap cannot harm what it hears."""

from __future__ import annotations

from tests.recorder.relaying import Notes
from workbench.recorder.listener import Teller


def test_what_a_tap_raises_is_remembered_and_nothing_more_is_told() -> None:
    teller, notes = Teller(Notes()), Notes()
    assert (teller.new_key(), teller.new_key()) == (1, 2)
    teller.tell(notes.request_done, 7, 0.0)  # an exchange that never began
    assert isinstance(teller.failure, KeyError)
    notes.calls[7] = []
    teller.tell(notes.request_done, 7, 0.0)
    assert notes.calls[7] == []
