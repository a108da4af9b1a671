"""Buffer of keys pressed while a session, or a screen above it, is being opened; replayed as soon as they can act."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from textual import events
from textual.message_pump import MessagePump
from textual.widget import Widget
from textual.widgets import Input

from workbench.tui import keys
from workbench.tui.keymap import keymap_of

if TYPE_CHECKING:
    from textual.app import App

    from workbench.tui.screens.session.screen import SessionScreen

AT_ONCE = frozenset({"session.back", "session.leave", "session.inspect", "session.follow"})
"""Keys that act even before anything is open."""

_NAMES = (
    "side, diff, compare, repairs, origin, stream, convert, tools, passages, matrix, arguments, edit, branch, "
    "branches, send, continue, export, what-if, minimize, copy, mark, note"
)
ON_AN_EXCHANGE = frozenset(f"session.{name}" for name in _NAMES.split(", "))
"""Keys that act on the open exchange."""

LINES = frozenset({"session.search", "session.jump", "session.filter", "session.note", "global.palette"})
"""Keys that open an input line: the keys after them are text, up to one of ``ENDS``."""

ENDS = frozenset({"enter", "escape"})

LOOK = 0.01
"""Seconds between two checks that the effect of a replayed key is complete."""

MOST = 200
"""Buffered keys at most."""


class TypeAhead:
    """Buffers keys of a session screen that were pressed too early."""

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self._waiting_keys: deque[tuple[str, str | None]] = deque()
        self._was_ready = self._is_releasing = self._is_handled = False
        self._awaited = 0
        self._behind: set[MessagePump] | None = None
        self._passing: events.Key | None = None

    def takes(self, event: events.Key) -> bool:
        """Buffer a key that cannot act yet, or that follows one. Returns False if the key may act now."""
        is_on_top = self._app.screen is self.screen
        is_free = is_on_top and not (self._is_text or self._is_held)
        if event is self._passing or (is_free and self._is_of(AT_ONCE, event.key)):
            return False
        if not (self._waiting_keys or self._is_releasing or (is_on_top and self._is_early(event.key))):
            return False
        if len(self._waiting_keys) < MOST:
            self._waiting_keys.append((event.key, event.character))
        else:
            self.screen.notify(f"{MOST} keys are waiting for the file; this key is ignored", markup=False)
        return True

    def hold(self) -> None:
        """Buffer keys until ``let_go``: the next ones are meant for a screen that is still coming."""
        self._awaited += 1

    def let_go(self) -> None:
        """End a ``hold``: the screen is there, or does not come."""
        self._awaited -= 1
        self.release()

    def note_handled(self, event: events.Key) -> None:
        """Note that a key has bubbled up to the app, past all handlers."""
        self._is_handled |= event is self._passing

    @property
    def is_over(self) -> bool:
        """Every key can act, and none is buffered."""
        return self._is_ready and not (self._waiting_keys or self._is_releasing or self._is_held)

    @property
    def is_waiting(self) -> bool:
        """Keys are buffered."""
        return bool(self._waiting_keys)

    @property
    def _is_held(self) -> bool:
        """Keys wait for a screen that is still coming; those on one above are meant for that."""
        return self._awaited > 0 and self._app.screen is self.screen

    def release(self) -> None:
        """Replay the buffered keys, each after the effect of the one before is complete."""
        if self._waiting_keys and self._is_ready and not (self._is_releasing or self._awaited):
            self._is_releasing = True
            self._look()

    def _look(self) -> None:
        """Press the next key if everything is idle and earlier messages are processed; else check again soon."""
        if not self.screen.is_attached:
            return
        if not self._is_quiet():
            self._behind = None
        elif self._behind is None:
            self._behind = self._wait_behind()
        elif not any(pump.is_attached for pump in self._behind):
            self._behind = None
            if not self._waiting_keys:
                self._is_releasing, self._passing = False, None
                return
            self._press(*self._waiting_keys.popleft())
        self._app.set_timer(LOOK, self._look)

    def _press(self, key: str, character: str | None) -> None:
        self._passing, self._is_handled = events.Key(key, character), False
        self._passing.set_sender(self._app)  # as for keys of the terminal, which bubble up to the sender
        self._app.post_message(self._passing)

    def _is_quiet(self) -> bool:
        """The previous key was handled, the inspector is idle, and every widget is mounted."""
        if self._passing and not (self._is_handled or self._passing._stop_propagation):
            return False
        top = self._app.screen
        return not self._is_held and (
            self.screen.inspecting.is_idle and top.is_mounted and all(w.is_mounted for w in top.walk_children(Widget))
        )

    def _wait_behind(self) -> set[MessagePump]:
        """Message pumps that have earlier messages to process; each leaves the set when it has."""
        top = self._app.screen
        behind: set[MessagePump] = {self._app, self.screen, top, *((top.focused,) if top.focused else ())}

        def leave(pump: MessagePump) -> None:
            behind.discard(pump)

        for pump in tuple(behind):
            if not pump.call_later(leave, pump):
                leave(pump)
        return behind

    @property
    def _is_ready(self) -> bool:
        """An exchange is or was open, or none can be opened."""
        state = self.screen.state
        is_empty = state.is_listed and not state.summaries
        self._was_ready |= (
            self.screen.opened is not None or self.screen.navigation.goal.is_failed or bool(state.trouble) or is_empty
        )
        return self._was_ready

    def _is_early(self, key: str) -> bool:
        if self._is_held:
            return True
        if self._is_ready or isinstance(self.screen.focused, Input):
            return False
        return not self.screen.panes.is_furnished or self._is_of(ON_AN_EXCHANGE, key)

    @property
    def _is_text(self) -> bool:
        """Keys pressed now are text for an input line that a buffered key opens."""
        marks = [key not in ENDS for key, _ in self._waiting_keys if key in ENDS or self._is_of(LINES, key)]
        return bool(marks) and marks[-1]

    @property
    def _app(self) -> App[object]:
        return self.screen.app

    def _is_of(self, ids: frozenset[str], key: str) -> bool:
        """The key belongs to one of these rows, as configured by the user."""
        rows = keymap_of(self._app).rows((*keys.SESSION, *keys.GLOBAL))
        return any(keys.readable(key) in row.names for row in rows if row.id in ids)
