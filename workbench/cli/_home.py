"""``workbench`` alone: the app, or, without a terminal, the same overview as text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import resources
from workbench.cli import _screen
from workbench.cli._output import emit, number
from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.inspection import Inspection


def run() -> int:
    """Open the app at Home, or print the overview."""
    if sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty():
        _screen.require()
        from workbench.tui.start import run as run_app

        return run_app(None)
    for line in overview(resources.folder("sessions")):
        emit(line)
    return 0


def overview(folder: Path) -> Iterator[str]:
    """The example sessions, each with its first break in words."""
    from workbench.importers import open_input
    from workbench.inspection import Inspector

    yield "Workbench: see where the chain of tool calls breaks"
    yield ""
    yield "example sessions"
    for path in sorted(folder.glob("*.jsonl")):
        try:
            session = open_input(str(path))
            inspection = Inspector(session).run()
            session.close()
        except (WorkbenchError, OSError) as error:
            yield f"  {path.name}: {error}"
            continue
        yield f"  {path.stem:<32} {_verdict(inspection)}"
    yield ""
    yield "  workbench open FILE      the app on a file: session, cassette, HAR, body, event stream"
    yield "  workbench check FILE     what is wrong with it"
    yield "  workbench explain TEXT   which rule an error text belongs to"


def _verdict(inspection: Inspection) -> str:
    first = inspection.findings[0] if inspection.findings else None
    size = number(len(inspection.rows), "exchange")
    return f"{size}, {first.severity} {first.rule}: {first.message}" if first else f"{size}, no findings"
