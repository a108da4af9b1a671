"""Keys pressed between the key that opens a value and the field for it: they are text for the field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

if TYPE_CHECKING:
    from workbench.tui.screens.edit.screen import EditScreen


class FieldTypeAhead:
    """Buffers keys while a field is being opened, and types them into it; without it each would be a command.

    A field opens once the request is judged, which takes long for a big one.
    """

    def __init__(self, screen: EditScreen) -> None:
        self.screen = screen
        self._is_opening = False
        self._waiting_keys: list[events.Key] = []
        self._passing: list[events.Key] = []

    @property
    def is_over(self) -> bool:
        """No field is being opened, and no key is buffered."""
        return not (self._is_opening or self._passing)

    @property
    def is_waiting(self) -> bool:
        """Keys are buffered."""
        return bool(self._waiting_keys or self._passing)

    def begin(self) -> None:
        """Buffer keys from now on."""
        self._is_opening = True

    def takes(self, event: events.Key) -> bool:
        """Buffer a key, behind those that are replayed. Returns False if it may act now; escape ends the wait."""
        if any(event is each for each in self._passing):
            self._passing = [each for each in self._passing if each is not event]
            return False
        if self._is_opening and event.key == "escape":
            self.screen.study.waiting.clear()
            self.drop()
        elif self._is_opening:
            self._waiting_keys.append(event)
        else:
            self._pass_on(event)
        return True

    def note_handled(self, event: events.Key) -> None:
        """Do nothing: the field takes keys in their order."""

    def release(self) -> None:
        """Type the buffered keys into the field, which has the focus."""
        keys, self._waiting_keys, self._is_opening = self._waiting_keys, [], False
        for event in keys:
            self._pass_on(event)

    def drop(self) -> None:
        """Forget the buffered keys: no field opens."""
        self._waiting_keys, self._is_opening = [], False

    def _pass_on(self, event: events.Key) -> None:
        again = events.Key(event.key, event.character)
        again.set_sender(self.screen.app)  # as for keys of the terminal, which bubble up to the sender
        self._passing.append(again)
        self.screen.app.post_message(again)
