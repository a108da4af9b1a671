"""What screens and their parts may ask of the app, without an import of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from workbench.errors import WorkbenchError
    from workbench.tui.running import Recordings
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.service import Opener
    from workbench.wire.session import Session


@runtime_checkable
class AppHost(Protocol):
    """The app, as a screen uses it; ``WorkbenchApp`` says what each does."""

    recordings: Recordings

    def session_screen(self, source: Session | Opener, exchange: int | None = None) -> SessionScreen:
        """A screen for a session."""
        ...

    def open_session(
        self,
        source: Session | Opener,
        exchange: int,
        provider: str | None,
        protocol: str | None = None,
        leave: Callable[[Exception | None], None] | None = None,
    ) -> None:
        """Show what a screen made as a session."""
        ...

    def go_home(self) -> None:
        """Go to the home screen."""
        ...

    def leave(self, failure: WorkbenchError | OSError | None = None) -> None:
        """End the app."""
        ...

    def alert(self, title: str) -> None:
        """Ring the bell and set the title of the window."""
        ...


def host_of(app: object) -> AppHost:
    """The app of a screen. Raises TypeError for another app than Workbench."""
    if not isinstance(app, AppHost):
        raise TypeError(f"{type(app).__name__} shows no sessions")
    return app
