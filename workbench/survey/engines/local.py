"""This machine: threads that drive one judging process each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice

from workbench.errors import UsageError
from workbench.survey.engines import BatchOutcome, Engine, Task
from workbench.survey.parts import Batch
from workbench.survey.worker import close_all

_AHEAD = 2
"""Batches that wait, so that no process does."""


def engine(address: str) -> Engine:
    """The engine with ``N`` processes of ``local:N``, or one for each processor. Raises UsageError."""
    number = address.partition(":")[2]
    if number and not (number.isdigit() and int(number)):
        raise UsageError(f"{address} does not contain a number of processes", hint="write, for example, local:4")
    workers = int(number) if number else os.cpu_count() or 1

    def run(batches: Iterable[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        pool = ThreadPoolExecutor(workers, thread_name_prefix="survey")
        waiting = iter(batches)
        running: set[Future[BatchOutcome]] = set()
        try:
            while True:
                more = islice(waiting, workers + _AHEAD - len(running))
                running |= {pool.submit(_attempt, batch, task, tries) for batch in more}
                if not running:
                    break
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            close_all()

    return run


def _attempt(batch: Batch, task: Task, tries: int) -> BatchOutcome:
    error = ""
    for _ in range(tries):
        try:
            return BatchOutcome(batch, task(batch))
        except Exception as failure:  # whatever it is, the batch is named and the others are run
            error = type(failure).__name__
    return BatchOutcome(batch, error=error)
