"""Progress bar of long work, on standard error if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[..., None]
"""``advance()``: one more item is done. ``note="…"``: text after the bar; ``total=N``: new total."""


@contextmanager
def counting(title: str, total: int | None) -> Iterator[Advance]:
    """Show a progress bar until the block ends. ``total``: number of items; None if unknown."""
    if not sys.stderr.isatty():
        yield lambda by=1, *, note="", total=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, note="")

        def advance(by: int = 1, *, note: str = "", total: int | None = None) -> None:
            fields = {"note": note} if note else {}
            more = {} if total is None else {"total": total}
            bar.update(task, advance=by, **more, **fields)  # type: ignore[arg-type]

        yield advance
