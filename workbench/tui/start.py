"""Start the app. Nothing that is made up to the first paint is garbage, so until then none is looked for."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.tui.service import Opener
    from workbench.wire.session import Session


def run(
    source: Session | Opener | None,
    *,
    provider: str | None = None,
    protocol: str | None = None,
    exchange: int | None = None,
) -> int:
    """Show the app until the user leaves; the arguments are those of ``WorkbenchApp``. The exit code.

    Raises:
        WorkbenchError, OSError: the source could not be opened.
    """
    gc.disable()
    try:
        from workbench.tui.app import run as show

        return show(source, provider=provider, protocol=protocol, exchange=exchange)
    finally:
        gc.enable()
