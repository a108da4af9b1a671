"""The app: services and screens."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual import constants, events, work
from textual._context import active_message_pump
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.filter import NoColor
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.widget import Widget

from workbench import safetext
from workbench.config import resources
from workbench.errors import UsageError, WorkbenchError
from workbench.tui import keymap, keys, paint, rows_layout, themes
from workbench.tui.models.tabs import TALL
from workbench.tui.running import RecorderTrouble, Recordings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import RenderableType
    from textual.dom import DOMNode
    from textual.driver import Driver
    from textual.message_pump import MessagePump

    from workbench.tui.idle_keys import Hints
    from workbench.tui.screens.home import HomeScreen
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.screens.session.type_ahead import TypeAhead
    from workbench.tui.service import Opener
    from workbench.tui.tour import Tour
    from workbench.wire.session import Session


SWITCH_SECONDS = 0.0005
"""Switch interval of threads: with Python's default of 5 ms, waits of the screen's thread add up to seconds."""

COLLECT_AFTER = 50_000
"""New objects after which garbage in cycles is collected. With the default, 700, an inspection takes a fifth longer."""

THEME = keys.Key("global.theme", "", "change_theme", "theme", "choose the colours")
"""Action of the palette that has no key."""

NO_LINKS = ("", "dumb", "linux", "ansi", "vt100", "vt220", "cons25")
"""Terminals, by TERM, that may show the escape sequence of a hyperlink (OSC 8) as text; the others ignore it."""

LATE = 0.2
"""Seconds that a toast has to have left to be shown."""


rows_layout.register()


class WorkbenchApp(App[None], inherit_bindings=False):
    """The app, on a session or on its home screen.

    Args:
        source: a session, or a function that opens one after the first paint; None for the home screen.
        provider: contract to use, None to choose one for each exchange.
        protocol: protocol to use, None to find it for each exchange.
        exchange: index of the exchange to open at, from zero; None for the first break.
        theme: name of a theme, ours or Textual's; "" for the default.
        is_ascii: the terminal has only ASCII.
        is_tour: the guided tour is shown over the session.
        survey: folder of a survey that is shown over the home screen.

    Raises:
        UsageError: there is no such theme.
    """

    TITLE = "Workbench"
    BINDINGS = keys.bindings(keys.GLOBAL)
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (40, "-narrow"), (100, "-wide"), (160, "-huge")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (15, "-short"), (TALL, "-tall")]  # noqa: RUF012

    def __init__(
        self,
        source: Session | Opener | None = None,
        *,
        provider: str | None = None,
        protocol: str | None = None,
        exchange: int | None = None,
        theme: str = "",
        is_ascii: bool = False,
        is_tour: bool = False,
        survey: Path | None = None,
    ) -> None:
        start = "screens/home.tcss" if source is None else "screens/session/session.tcss"
        super().__init__(css_path=["app.tcss", start])  # the first screen's own is not read otherwise
        self._set_appearance(theme or themes.DEFAULT, is_ascii)
        self.keymap = keymap.load(keymap.path())
        self.set_keymap(self.keymap.overrides())
        self.source = source
        self.provider = provider
        self.protocol = protocol
        self.exchange = exchange
        self.failure: WorkbenchError | OSError | None = None
        self.recordings = Recordings()
        self.crash: BaseException | None = None
        self.is_ending = False
        self._recent_actions: list[str] = []
        self.tour: Tour | None = None
        self._hints: Hints | None = None
        self._is_tour = is_tour
        self._survey = survey

    def _set_appearance(self, theme: str, is_ascii: bool) -> None:
        """Colours and signs that the terminal can show."""
        safetext.use_ascii(is_ascii)
        if self.no_color:
            self._filters[-1] = NoColor()  # in place of greys
        few = os.isatty(2) and self.console.color_system in ("standard", None)
        self.is_plain = self.no_color or few
        self.has_links = os.environ.get("TERM", "") not in NO_LINKS
        if is_ascii:
            self._filters.append(paint.AsciiFilter())
        for appearance in themes.make(is_plain=self.is_plain):
            self.register_theme(appearance)
        if theme not in self.available_themes:
            raise UsageError(f"unknown theme {theme!r}", hint=f"choose one of {', '.join(themes.PALETTES)}")
        self.theme = theme

    def get_driver_class(self) -> type[Driver]:
        """The driver, which restores the terminal when the app ends; in a browser, Textual's web driver."""
        if constants.DRIVER or os.name == "nt":
            return super().get_driver_class()
        from workbench.tui.terminal import Terminal

        return Terminal

    def on_ready(self) -> None:
        gc.freeze()  # what is there now stays
        gc.set_threshold(COLLECT_AFTER, 10, 10)
        gc.enable()
        sys.setswitchinterval(SWITCH_SECONDS)
        if self._is_tour:
            self.begin_tour()
        if self._survey:
            from workbench.tui.screens.surveying import SurveyScreen

            self.push_screen(SurveyScreen(self._survey))
        if problems := self.keymap.problems:
            more = f" (and {len(problems) - 1} more: workbench keys)" if len(problems) > 1 else ""
            self._warn(f"{problems[0]}{more}", "keys.yaml")
        if resources.own_profiles():
            self._report_bad_contracts()

    @work(thread=True, group="contracts", exit_on_error=False)
    def _report_bad_contracts(self) -> None:
        """Notify of the user's own contracts that cannot be used."""
        from workbench import contracts

        for line in contracts.warnings():
            self.call_from_thread(self._warn, line, "profiles")

    def begin_tour(self) -> None:
        """Show the guided tour over the session that is open, or is opened next."""
        from workbench.tui.tour import Tour

        if self.tour is None:
            self.tour = Tour(self)
            self.tour.begin()

    def action_tour(self) -> None:
        """Begin the guided tour over its example."""
        from workbench.tui.tour import open_example

        self.push_screen(self.session_screen(open_example))
        self.begin_tour()

    def alert(self, title: str) -> None:
        """Ring the bell and set the title of the window, for people who look at another one."""
        self.bell()
        if set_title := getattr(self._driver, "set_title", None):
            set_title(title)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Show a toast, unless the same one is on the screen."""
        if all(notification.message != message for notification in self._notifications):
            super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def _warn(self, text: str, about: str) -> None:
        self.notify(safetext.visible(text), title=about, severity="warning", markup=False)

    def get_default_screen(self) -> HomeScreen | SessionScreen:
        if self.source is None:
            from workbench.tui.screens.home import HomeScreen

            return HomeScreen()
        return self.session_screen(self.source, self.exchange)

    def session_screen(self, source: Session | Opener, exchange: int | None = None) -> SessionScreen:
        """A screen for a session, under the contract and protocol asked for."""
        from workbench.tui.screens.session.screen import SessionScreen

        return SessionScreen(source, self.provider, self.protocol, exchange)

    def open_session(
        self,
        source: Session | Opener,
        exchange: int,
        provider: str | None,
        protocol: str | None = None,
        leave: Callable[[Exception | None], None] | None = None,
    ) -> None:
        """Show what a screen made as a session, at one exchange.

        Args:
            provider: label of the contract; None to choose one for each exchange.
            protocol: None to detect it for each exchange.
            leave: called with the error if the session cannot be opened.
        """
        from workbench.tui.screens.session.screen import SessionScreen

        self.push_screen(SessionScreen(source, provider, protocol, exchange), leave)

    async def on_event(self, event: events.Event) -> None:
        """Keep keys for a screen that is not ready yet, and drop keys that arrive after the last screen has closed."""
        if isinstance(event, events.Key) and (not self.screen_stack or self._is_kept(event)):
            return
        if isinstance(event, events.Key):
            self._clear_answers()
            self._let_go_first()
            self.hints.note_key()
        await super().on_event(event)
        if isinstance(event, events.Key) and event.is_forwarded and (ahead := self._ahead()):
            ahead.note_handled(event)

    def on_key(self, event: events.Key) -> None:
        """Say of a key that nothing took that it does nothing here."""
        is_known = {event.key, *event.aliases} & self.screen.active_bindings.keys()
        if event.is_printable and event.character and not is_known:
            help_key = self.keymap.row(keys.table()["global.help"]).show if self.has_help else ""
            words = f"{safetext.visible(event.character)} does nothing here"
            self.notify(f"{words} · {help_key}: help" if help_key else words, timeout=3, markup=False)

    @property
    def has_help(self) -> bool:
        """The key of the help acts on the screen on top."""
        return any(active.binding.action == "help" for active in self.screen.active_bindings.values())

    @property
    def hints(self) -> Hints:
        """The keys that are shown to a person who pauses."""
        from workbench.tui.idle_keys import Hints

        self._hints = self._hints or Hints(self)
        return self._hints

    def _clear_answers(self) -> None:
        """Take away what was said of the key before: the keys of the footer are below it."""
        answers = [notification for notification in self._notifications if notification.severity == "information"]
        for notification in answers:
            self._unnotify(notification, refresh=False)
        if answers:
            self._refresh_notifications()

    def _let_go_first(self) -> None:
        """Handle a key before more exchanges are inspected."""
        for screen in self.screen_stack:
            if inspecting := getattr(screen, "inspecting", None):
                inspecting.note_key()

    def _is_kept(self, event: events.Key) -> bool:
        ahead = self._ahead()
        if ahead is None or event.is_forwarded:
            return False
        everywhere = {name for row in self.keymap.rows(keys.GLOBAL) for name in row.names}
        is_open_to_all = keys.readable(event.key) in everywhere and not (ahead.is_waiting and event.is_printable)
        return not is_open_to_all and ahead.takes(event)

    def _ahead(self) -> TypeAhead | None:
        """Keys that arrived before the session was ready; it may be below a screen that one of them opened."""
        found = (getattr(screen, "type_ahead", None) for screen in self.screen_stack)
        return next((ahead for ahead in found if ahead and not ahead.is_over), None)

    def pop_screen(self) -> AwaitComplete:
        """Close the screen on top; do nothing if it is closed already (a key was pressed twice)."""
        asking = active_message_pump.get(None)
        if isinstance(asking, Screen) and asking not in self.screen_stack:
            return AwaitComplete()
        return super().pop_screen()

    async def action_quit(self) -> None:
        """End the app; ask first if that ends a recording."""
        if not self.recordings.ask_before_leaving(self):
            self.exit()

    def on_recorder_trouble(self, message: RecorderTrouble) -> None:
        self.notify(safetext.visible(message.text), title="recorder", severity="error", markup=False)

    def on_unmount(self) -> None:
        self.recordings.stop_all()

    def go_home(self) -> None:
        """Go to the home screen from a session that the app was started with."""
        from workbench.tui.screens.home import HomeScreen

        self.screen._push_result_callback(self.screen, None)  # switching takes one away, the first screen has none
        self.switch_screen(HomeScreen())

    def leave(self, failure: WorkbenchError | OSError | None = None) -> None:
        """End the app from its last screen."""
        if not self.is_ending:
            self.failure = failure
        self.exit()

    def end(self, status: int) -> None:
        """End the app from outside: a signal, a crash."""
        self.is_ending = True
        super().exit(return_code=status)

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End the app; once it is ended from outside, this changes nothing."""
        if not self.is_ending:
            super().exit(result, return_code, message)

    def _handle_exception(self, error: Exception) -> None:
        """End the app, and report the error afterwards: a traceback would print hostile traffic to the terminal.

        Errors of a screen that is being closed are ignored. Once the app is ended from outside, they change no status:
        it may end because of a lost terminal, to which nothing can be reported.
        """
        is_closing = self._exit or not self.is_running
        if isinstance(error, NoMatches) and (is_closing or self._is_left(active_message_pump.get(None))):
            return
        if not self.is_ending:
            self._return_code = 1
        if self.crash is None:
            self.crash = getattr(error, "error", error)  # of a worker: what failed in it
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()

    def _is_left(self, handling: MessagePump | None) -> bool:
        """True if the handler of a message is a screen that was closed, or a widget of such a screen."""
        try:
            screen = handling.screen if isinstance(handling, Widget) else None
        except NoScreen:
            return True
        return screen is not None and screen not in self.screen_stack

    def _refresh_notifications(self) -> None:
        """Drop a toast that has expired already: its timer would never end (Textual 8.2, ``Timer``)."""
        for late in [notification for notification in self._notifications if notification.time_left < LATE]:
            self._unnotify(late, refresh=False)
        super()._refresh_notifications()

    def palette_actions(self, screen: Screen[object]) -> list[tuple[DOMNode, keys.Key]]:
        """Every action in force on a screen with the node that has it, and those without a key."""
        found = [(node, key) for node, rows in self.useful_keys(screen) for key in rows]
        return [(node, key) for node, key in found if key.id != "global.palette"] + [(self, THEME)]

    def action_command_palette(self) -> None:
        """Ask for one of the actions in force, and run it."""
        from workbench.tui.screens.palette import PaletteScreen

        found = self.palette_actions(self.screen)

        def run(number: int | None) -> None:
            if number is not None:
                node, key = found[number]
                self._recent_actions = [key.id, *(id for id in self._recent_actions if id != key.id)]
                self._run(node, key.action)

        self.push_screen(PaletteScreen([key for _, key in found], self._recent_actions), run)

    def _run(self, node: DOMNode, action: str) -> None:
        self.call_later(self.run_action, action, node)

    def keys_in_force(self, screen: Screen[object]) -> Iterator[tuple[DOMNode, list[keys.Key]]]:
        """Nodes with key bindings, from the focused pane outwards to the app, each with its rows of the key table."""
        table = keys.table()
        for node in screen.focused.ancestors_with_self if screen.focused else (screen, self):
            ids = dict.fromkeys(binding.id for _, binding in node._bindings)
            if rows := [self.keymap.row(table[id]) for id in ids if id in table]:
                yield node, rows

    def useful_keys(self, screen: Screen[object]) -> Iterator[tuple[DOMNode, list[keys.Key]]]:
        """The keys in force without those that would do nothing now, as the state of a screen says."""
        for node, rows in self.keys_in_force(screen):
            idle = getattr(getattr(node, "state", None), "idle_actions", ())
            yield node, [row for row in rows if row.action not in idle]

    def action_suspend_process(self) -> None:
        """Suspend the app and return to the shell; only in a terminal."""
        if self._driver and self._driver.can_suspend:
            super().action_suspend_process()
        else:
            self.notify("Workbench cannot be suspended here: no terminal", severity="warning", markup=False)

    def action_help(self) -> None:
        """Explain this screen and the focused pane."""
        from workbench.tui.models.guide import GUIDES
        from workbench.tui.screens.help import HelpScreen

        pane = self.screen.focused
        guide = GUIDES.get((pane and pane.id) or type(pane).__name__)
        tables: dict[str, list[keys.Key]] = {}
        for _, rows in self.keys_in_force(self.screen):
            for row in sorted(rows, key=lambda row: row.scope == "pane"):  # what only this pane has comes first
                tables.setdefault(keys.SCOPES[row.scope].title, []).append(row)
        self.push_screen(HelpScreen(guide, list(tables.items()), self.keymap.problems))
