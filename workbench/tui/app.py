"""The app: services and screens."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.app import App, SystemCommand
from textual.screen import Screen

if TYPE_CHECKING:
    from workbench.errors import WorkbenchError
    from workbench.tui.screens.home import HomeScreen
    from workbench.tui.screens.session import SessionScreen
    from workbench.tui.service import Opener
    from workbench.wire.session import Session


class WorkbenchApp(App[None]):
    """The workbench on a session, or on its home screen.

    Args:
        source: a session, or how to open one (then the first paint does not wait for it); None for the home screen.
        provider: contract to use, None to choose one for each exchange.
        protocol: protocol to use, None to find it for each exchange.
        exchange: index of the exchange to open at, from zero; None for the first break.
    """

    TITLE = "Workbench"
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-wide"), (160, "-huge")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (15, "-short"), (32, "-tall")]  # noqa: RUF012

    def __init__(
        self,
        source: Session | Opener | None = None,
        *,
        provider: str | None = None,
        protocol: str | None = None,
        exchange: int | None = None,
    ) -> None:
        start = "home" if source is None else "session"
        super().__init__(css_path=["app.tcss", f"screens/{start}.tcss"])  # the first screen's own is not read otherwise
        self.source = source
        self.provider = provider
        self.protocol = protocol
        self.exchange = exchange
        self.failure: WorkbenchError | OSError | None = None

    def on_ready(self) -> None:
        gc.freeze()  # what is there now stays
        gc.enable()

    def get_default_screen(self) -> HomeScreen | SessionScreen:
        if self.source is None:
            from workbench.tui.screens.home import HomeScreen

            return HomeScreen()
        return self.session_screen(self.source, self.exchange)

    def session_screen(self, source: Session | Opener, exchange: int | None = None) -> SessionScreen:
        """A screen for a session, under the contract and protocol asked for."""
        from workbench.tui.screens.session import SessionScreen

        return SessionScreen(source, self.provider, self.protocol, exchange)

    def leave(self, failure: WorkbenchError | OSError | None = None) -> None:
        """End the app from its last screen."""
        self.failure = failure
        self.exit()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The commands of the screen, from the table of keys, and the themes."""
        for key in getattr(screen, "KEYS", ()):
            if key.action != "app.command_palette":
                yield SystemCommand(f"{key.word} ({key.show})", key.text, lambda a=key.action: self._run(screen, a))
        yield SystemCommand("theme", "choose the colours", self.action_change_theme)
        yield SystemCommand("quit (ctrl+q)", "leave the program", self.action_quit)

    def _run(self, screen: Screen[object], action: str) -> None:
        self.call_later(screen.run_action, action)


def run(
    source: Session | Opener | None,
    *,
    provider: str | None = None,
    protocol: str | None = None,
    exchange: int | None = None,
) -> int:
    """Show the app until the user leaves. The exit code.

    Raises:
        WorkbenchError, OSError: the source could not be opened.
    """
    app = WorkbenchApp(source, provider=provider, protocol=protocol, exchange=exchange)
    app.run()
    if app.failure:
        raise app.failure
    return app.return_code or 0
