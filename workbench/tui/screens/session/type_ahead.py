"""Keys that are pressed while a session is being opened: kept, and pressed again as soon as they can act."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, cast

from textual import events
from textual.message_pump import MessagePump
from textual.widget import Widget
from textual.widgets import Input

from workbench.tui import keys

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.screens.session.screen import SessionScreen

AT_ONCE = frozenset({"session.back", "session.leave", "session.inspect", "session.follow"})
"""Keys that act however little is there."""

_NAMES = (
    "side, diff, compare, repairs, origin, stream, convert, tools, matrix, arguments, edit, branch, branches, send, "
    "continue, export, what-if, minimize, copy, mark, note"
)
ON_AN_EXCHANGE = frozenset(f"session.{name}" for name in _NAMES.split(", "))
"""Keys that act on the open exchange."""

LINES = frozenset({"session.search", "session.filter", "session.note", "global.palette"})
"""Keys that open a line of input: what comes behind them is text, up to one of ``ENDS``."""

ENDS = frozenset({"enter", "escape"})

LOOK = 0.01
"""Seconds between two looks at whether what a key opened is there."""

MOST = 200
"""Keys that are kept."""


class TypeAhead:
    """The keys of a session screen that came too early."""

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self._kept: deque[tuple[str, str | None]] = deque()
        self._was_ready = self._is_releasing = self._is_handled = False
        self._behind: set[MessagePump] | None = None
        self._passing: events.Key | None = None

    def takes(self, event: events.Key) -> bool:
        """Keep a key that could not act yet, or that comes behind one."""
        is_on_top = self._app.screen is self.screen
        if event is self._passing or (is_on_top and not self._is_text and self._is_of(AT_ONCE, event.key)):
            return False
        if not (self._kept or self._is_releasing or (is_on_top and self._is_early(event.key))):
            return False
        if len(self._kept) < MOST:
            self._kept.append((event.key, event.character))
        else:
            self.screen.notify(f"{MOST} keys wait for the file to open: this one is dropped", markup=False)
        return True

    def note_handled(self, event: events.Key) -> None:
        """A key has come back to the app, from all that could take it."""
        self._is_handled |= event is self._passing

    @property
    def is_over(self) -> bool:
        """Every key can act."""
        return self._is_ready and not self._kept and not self._is_releasing

    @property
    def is_waiting(self) -> bool:
        """Keys are kept."""
        return bool(self._kept)

    def release(self) -> None:
        """Press what was kept, one key after the other, each once what the one before opened is there."""
        if self._kept and self._is_ready and not self._is_releasing:
            self._is_releasing = True
            self._look()

    def _look(self) -> None:
        """Press the next key if all is quiet, and what was asked of the widgets before is done; else look again."""
        if not self.screen.is_attached:
            return
        if not self._is_quiet():
            self._behind = None
        elif self._behind is None:
            self._behind = self._wait_behind()
        elif not any(pump.is_attached for pump in self._behind):
            self._behind = None
            if not self._kept:
                self._is_releasing, self._passing = False, None
                return
            self._press(*self._kept.popleft())
        self._app.set_timer(LOOK, self._look)

    def _press(self, key: str, character: str | None) -> None:
        self._passing, self._is_handled = events.Key(key, character), False
        self._passing.set_sender(self._app)  # as the terminal's: it bubbles up to the sender
        self._app.post_message(self._passing)

    def _is_quiet(self) -> bool:
        """The key before was handled, and what it opened is there: nothing is asked, to be mounted or to be read."""
        if self._passing and not (self._is_handled or self._passing._stop_propagation):
            return False
        top = self._app.screen
        return (
            self.screen.inspecting.is_idle and top.is_mounted and all(w.is_mounted for w in top.walk_children(Widget))
        )

    def _wait_behind(self) -> set[MessagePump]:
        """Those that have messages to work off first; each leaves when it has."""
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
        """An exchange is open, or was; or none ever will be."""
        state = self.screen.state
        is_empty = state.is_listed and not state.summaries
        self._was_ready |= (
            self.screen.opened is not None or self.screen.navigation.goal.is_failed or bool(state.trouble) or is_empty
        )
        return self._was_ready

    def _is_early(self, key: str) -> bool:
        if self._is_ready or isinstance(self.screen.focused, Input):
            return False
        return not self.screen.panes.is_furnished or self._is_of(ON_AN_EXCHANGE, key)

    @property
    def _is_text(self) -> bool:
        """What is pressed now is text of a line that a kept key is to open."""
        marks = [key not in ENDS for key, _ in self._kept if key in ENDS or self._is_of(LINES, key)]
        return bool(marks) and marks[-1]

    @property
    def _app(self) -> WorkbenchApp:
        return cast("WorkbenchApp", self.screen.app)

    def _is_of(self, ids: frozenset[str], key: str) -> bool:
        """Whether it is a key of these rows, as the user has them."""
        rows = self._app.keymap.rows((*keys.SESSION, *keys.GLOBAL))
        return any(keys.readable(key) in row.names for row in rows if row.id in ids)
