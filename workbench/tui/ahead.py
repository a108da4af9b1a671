"""Keys that are pressed while a session is being opened: kept, and pressed again as soon as they can act."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, cast

from textual import events

from workbench.tui import keys

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.screens.session import SessionScreen

AT_ONCE = frozenset({"session.back", "session.leave", "session.inspect", "session.follow"})
"""Keys that act however little is there."""

_NAMES = (
    "side, diff, compare, repairs, origin, stream, convert, tools, matrix, arguments, edit, branch, branches, send, "
    "continue, export, what-if, minimize, copy, mark, note"
)
ON_AN_EXCHANGE = frozenset(f"session.{name}" for name in _NAMES.split(", "))
"""Keys that act on the open exchange."""

PAUSE = 0.05
"""Seconds that a key gets to open what the next one is for: a line of input has to be there to be typed in."""

MOST = 200
"""Keys that are kept."""


class TypedAhead:
    """The keys of a session screen that came too early."""

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self._kept: deque[tuple[str, str | None]] = deque(maxlen=MOST)
        self._was_ready = False
        self._passing: events.Key | None = None

    def takes(self, event: events.Key) -> bool:
        """Keep a key that could not act yet, or that comes behind one."""
        if event is self._passing or event.key in self._keys_of(AT_ONCE):
            return False
        if not (self._kept or self._is_early(event.key)):
            return False
        self._kept.append((event.key, event.character))
        return True

    @property
    def is_over(self) -> bool:
        """Every key can act."""
        return self._is_ready and not self._kept

    def release(self) -> None:
        """Press what was kept, one key after the other, each once the screen that the one before opened is there."""
        if not (self._kept and self._is_ready and self.screen.is_attached):
            return
        if self.screen.app.screen.is_mounted:
            self._passing = events.Key(*self._kept.popleft())
            self._passing.set_sender(self.screen.app)  # as the terminal's: it bubbles up to the sender
            self.screen.app.post_message(self._passing)
        self.screen.app.set_timer(PAUSE, self.release)

    @property
    def _is_ready(self) -> bool:
        """An exchange is open, or was; or none ever will be."""
        state = self.screen.state
        is_empty = state.is_listed and not state.summaries
        self._was_ready |= self.screen.opened is not None or self.screen.is_hopeless or bool(state.trouble) or is_empty
        return self._was_ready

    def _is_early(self, key: str) -> bool:
        return not self.screen.is_furnished or key in self._keys_of(ON_AN_EXCHANGE)

    def _keys_of(self, ids: frozenset[str]) -> set[str]:
        rows = cast("WorkbenchApp", self.screen.app).keymap.rows(keys.SESSION)
        return {key for row in rows if row.id in ids for key in row.keys.split(",")}
