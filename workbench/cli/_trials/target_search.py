"""Runs a search against a target, with a progress bar; ctrl-c stops it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.cli import _progress
from workbench.cli._progress import Advance
from workbench.errors import WorkbenchError
from workbench.lazy_dataclass import replace

if TYPE_CHECKING:
    from workbench.send import Outgoing
    from workbench.trials.minimize import Steps, TargetVerdict
    from workbench.wire.session import Session


def run(
    steps: Steps[object], outgoing: Outgoing, session: Session, title: str, progress: Callable[[], str]
) -> WorkbenchError | OSError | None:
    """Run a search to its end; return the error if its target fails.

    Args:
        progress: returns the state of the search in a few words.

    Raises:
        KeyboardInterrupt: ctrl-c; the search keeps its result so far.
    """
    import asyncio

    with _progress.counting(title, None) as advance:
        try:
            asyncio.run(_run(steps, outgoing, session, lambda: _advance(advance, progress)))
        except (WorkbenchError, OSError) as error:
            return error
    return None


def _advance(advance: Advance, progress: Callable[[], str]) -> None:
    advance(note=progress())


async def _run(steps: Steps[object], outgoing: Outgoing, session: Session, stepped: Callable[[], None]) -> None:
    from workbench.edits import text_of, with_body
    from workbench.send import Sender
    from workbench.trials.minimize import drive, target_verdict

    text = text_of(outgoing.request)
    async with Sender(known=session) as sender:

        async def ask(body: bytes) -> TargetVerdict:
            request = with_body(outgoing.request, body, text)
            return target_verdict(await sender.send(replace(outgoing, request=request)), outgoing.protocol)

        await drive(steps, ask, stepped)
