"""A cluster of Dask: ``tcp://HOST:PORT`` of its scheduler. It runs a batch again if its worker is lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from workbench.errors import UsageError
from workbench.survey.engines import BatchOutcome, Engine, Task
from workbench.survey.parts import Batch

_AHEAD = 256
"""Batches that the scheduler has at a time, if it has few workers."""


def engine(address: str) -> Engine:
    """The engine at a scheduler. Raises UsageError if Dask is not installed."""
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise UsageError("Dask is not installed", hint="pip install 'agent-workbench[scale]'") from error

    def run(batches: Iterable[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        waiting = iter(batches)
        with Client(address, set_as_default=False) as client:
            most = max(_AHEAD, 4 * sum(client.nthreads().values()))
            futures: dict[Any, Batch] = {}

            def submit(batch: Batch) -> Any:
                future = client.submit(task, batch, key=f"survey-{batch.name}", retries=tries)
                futures[future] = batch
                return future

            ready = as_completed(list(map(submit, islice(waiting, most))), loop=client.loop, raise_errors=False)
            for future in ready:
                batch = futures.pop(future)
                for new in islice(waiting, 1):
                    ready.add(submit(new))
                try:  # a part that is ready is lost with its worker, and then the task can fail
                    outcome = BatchOutcome(batch, future.result())
                except Exception as failure:  # whatever it is, the batch is named and the others are run
                    outcome = BatchOutcome(batch, error=type(failure).__name__)
                yield outcome
                future.release()

    return run
