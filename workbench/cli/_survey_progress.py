"""Progress of a survey: how many objects are done, the rate, and when it will be over."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from workbench.cli import _output
from workbench.lazy_dataclass import dataclass


@dataclass(slots=True)
class SurveyProgress:
    """A bar on a terminal; elsewhere nothing."""

    is_shown: bool
    _bar: Any = None
    _task: Any = None
    _start: float = 0.0

    def __enter__(self) -> SurveyProgress:
        return self

    def begin(self, total: int, done: int) -> None:
        """Show the bar."""
        self._start = time.monotonic()
        if not self.is_shown or not total:
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("judging"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("", total=total, completed=done, rate="")
        if done:
            _output.complain(f"continuing: {done:,} of {total:,} objects are done", 0)

    def advance(self, objects: int) -> None:
        """So many more objects are done."""
        if self._bar:
            task = self._bar.tasks[0]
            rate = (task.completed + objects) / max(time.monotonic() - self._start, 1e-9)
            self._bar.update(self._task, advance=objects, rate=f"{rate:,.0f}/s")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()
