"""A listener cannot harm what it listens to."""

from __future__ import annotations

from tests.recorder.relaying import Notes
from workbench.recorder.events import RequestEnded, SafeListener


def test_a_listener_that_raises_is_disabled_and_its_failure_is_kept() -> None:
    notes = Notes()
    listener = SafeListener(notes)
    assert (listener.new_key(), listener.new_key()) == (1, 2)
    listener.on_event(RequestEnded(7, 0.0))  # an exchange that never began
    assert isinstance(listener.failure, KeyError)
    notes.calls[7] = []
    listener.on_event(RequestEnded(7, 0.0))
    listener.call(notes.calls.clear)
    assert notes.calls == {7: []}
