"""A cluster of Dask: ``tcp://HOST:PORT`` of its scheduler. It runs a batch again if its worker is lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.errors import UsageError
from workbench.survey.engines import BatchOutcome, Engine, Task
from workbench.survey.parts import Batch


def engine(address: str) -> Engine:
    """The engine at a scheduler. Raises UsageError if Dask is not installed."""
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise UsageError("Dask is not installed", hint="pip install 'agent-workbench[scale]'") from error

    def run(batches: Sequence[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        with Client(address, set_as_default=False) as client:
            futures = {
                client.submit(task, batch, key=f"survey-{batch.name}", retries=tries): batch for batch in batches
            }
            ready = as_completed(list(futures), loop=client.loop, raise_errors=False)
            for future in ready:
                batch = futures.pop(future)
                if future.status == "finished":
                    yield BatchOutcome(batch, future.result())
                else:
                    yield BatchOutcome(batch, error=type(future.exception()).__name__)
                future.release()

    return run
