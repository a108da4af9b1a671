"""The app: services and screens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.app import App, SystemCommand
from textual.screen import Screen

if TYPE_CHECKING:
    from workbench.wire.session import Session


class WorkbenchApp(App[None]):
    """The workbench on a session, or on its home screen.

    Args:
        session: what to open; None for the home screen.
        provider: contract to use, None to choose one for each exchange.
        protocol: protocol to use, None to find it for each exchange.
        exchange: index of the exchange to open at, from zero; None for the first break.
    """

    TITLE = "Workbench"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-wide"), (160, "-huge")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (15, "-short"), (32, "-tall")]  # noqa: RUF012

    def __init__(
        self,
        session: Session | None = None,
        *,
        provider: str | None = None,
        protocol: str | None = None,
        exchange: int | None = None,
    ) -> None:
        super().__init__()
        self.session = session
        self.provider = provider
        self.protocol = protocol
        self.exchange = exchange

    def on_mount(self) -> None:
        if self.session is None:
            from workbench.tui.screens.home import HomeScreen

            self.push_screen(HomeScreen())
        else:
            self.open_session(self.session, exchange=self.exchange)

    def open_session(self, session: Session, *, exchange: int | None = None) -> None:
        """Show a session above what is shown now."""
        from workbench.tui.screens.session import SessionScreen

        self.push_screen(SessionScreen(session, self.provider, self.protocol, exchange))

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
    session: Session | None,
    *,
    provider: str | None = None,
    protocol: str | None = None,
    exchange: int | None = None,
) -> int:
    """Show the app until the user leaves. The exit code."""
    app = WorkbenchApp(session, provider=provider, protocol=protocol, exchange=exchange)
    app.run()
    return app.return_code or 0
