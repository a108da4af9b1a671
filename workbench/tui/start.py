"""Start of the app; restores the terminal at the end.

Garbage collection is off up to the first paint: nothing created until then is garbage.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.tui.app import WorkbenchApp
    from workbench.tui.service import Opener
    from workbench.wire.session import Session


def run(
    source: Session | Opener | None,
    *,
    provider: str | None = None,
    protocol: str | None = None,
    exchange: int | None = None,
    theme: str = "",
    is_ascii: bool = False,
    is_tour: bool = False,
    survey: Path | None = None,
) -> int:
    """Show the app until the user leaves; the arguments are those of ``WorkbenchApp``. A tour has its own session.

    Returns:
        The exit status: 0, 128 and the number of the signal that ended it, or that of a crash.

    Raises:
        WorkbenchError, OSError: the source could not be opened.
    """
    gc.disable()
    try:
        from workbench.tui import themes
        from workbench.tui.app import WorkbenchApp

        app = WorkbenchApp(
            _tour_session() if is_tour else source,
            provider=provider,
            protocol=protocol,
            exchange=exchange,
            theme=theme or _load_theme(),
            is_ascii=is_ascii,
            is_tour=is_tour,
            survey=survey,
        )
        first_theme = app.theme
        _show(app)
        if app.theme != first_theme:  # chosen in the app; an argument is for one run
            themes.remember(app.theme)
    finally:
        gc.enable()
    if app.failure:
        raise app.failure
    return app.return_code or 0


def _tour_session() -> Opener:
    from workbench.tui.tour import open_example

    return open_example


def _load_theme() -> str:
    """The saved theme; "" if there is none of that name."""
    from workbench.tui import themes

    return name if (name := themes.load_theme()) in themes.names() else ""


def _show(app: WorkbenchApp) -> None:
    """Run the app; report a crash in one line on the terminal."""
    from workbench.tui import terminal

    before = terminal.attributes()
    crash: BaseException | None = None
    try:
        app.run()
        crash = app.crash
    except Exception as error:
        crash = error
    except BaseException:
        terminal.put_back(before)
        raise
    if app.return_code == 129 or terminal.is_gone(2):
        terminal.let_go()
    if crash:
        from workbench import crashes

        terminal.put_back(before)
        if not app.is_ending:
            app.end(crashes.STATUS)
        sys.stderr.write(f"workbench: {crashes.report(crash)}\n")
