"""This machine: threads that drive one judging process each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from workbench.errors import UsageError
from workbench.survey.engines import BatchOutcome, Engine, Task
from workbench.survey.parts import Batch
from workbench.survey.worker import close_all


def engine(address: str) -> Engine:
    """The engine with ``N`` processes of ``local:N``, or one for each processor. Raises UsageError."""
    number = address.partition(":")[2]
    if number and not (number.isdigit() and int(number)):
        raise UsageError(f"{address}: not a number of processes", hint="write local:4")
    workers = int(number) if number else os.cpu_count() or 1

    def run(batches: Sequence[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        pool = ThreadPoolExecutor(max(1, min(workers, len(batches))), thread_name_prefix="survey")
        try:
            running: set[Future[BatchOutcome]] = {pool.submit(_attempt, batch, task, tries) for batch in batches}
            while running:
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
