"""A cluster of Ray: ``ray://HOST:PORT`` of its client server, or ``ray:auto`` on a node of it.

Few batches more than the cluster has processors are given to it at a time: their parts would fill its object store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from workbench.errors import UsageError
from workbench.survey.engines import BatchOutcome, Engine, Task
from workbench.survey.parts import Batch

_AHEAD = 3


def engine(address: str) -> Engine:
    """The engine of a cluster. Raises UsageError if Ray is not installed."""
    try:
        import ray
    except ImportError as error:
        raise UsageError("Ray is not installed", hint="pip install 'agent-workbench[ray]'") from error

    def run(batches: Iterable[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
        is_ours = not ray.is_initialized()
        if is_ours:
            ray.init("auto" if address in ("ray:auto", "ray") else address, log_to_driver=False)
        try:
            yield from _outcomes(ray, batches, task, tries)
        finally:
            if is_ours:
                ray.shutdown()

    return run


def _outcomes(ray: Any, batches: Iterable[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
    remote = ray.remote(max_retries=tries, num_cpus=1)(_call)
    waiting = iter(batches)
    running: dict[Any, Batch] = {}
    most = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
    while True:
        for batch in islice(waiting, most - len(running)):
            running[remote.remote(task, batch)] = batch
        if not running:
            return
        done, _ = ray.wait(list(running), num_returns=1)
        for reference in done:
            batch = running.pop(reference)
            try:
                yield BatchOutcome(batch, ray.get(reference))
            except Exception as failure:  # whatever it is, the batch is named and the others are run
                yield BatchOutcome(batch, error=type(failure).__name__)


def _call(task: Task, batch: Batch) -> bytes:
    return task(batch)
