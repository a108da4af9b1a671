"""Engines: what runs the batches of a plan. Each hands back parts as they are ready, in any order.

An engine is one module with ``NAME`` and ``run(batches, task) -> Iterator[(batch, bytes | error)]``; ``local:N`` needs
nothing, ``tcp://…`` is Dask's scheduler, ``ray://…`` or ``ray`` a Ray cluster. ``part:i/n`` is no engine: it is a share
of the plan, for schedulers that start programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import NamedTuple

from workbench.errors import UsageError
from workbench.survey.parts import Batch

Task = Callable[[Batch], bytes]
"""Judges a batch and returns its part. It can be sent to another process."""


class BatchOutcome(NamedTuple):
    """What became of a batch: its part, or the type of the error after all tries."""

    batch: Batch
    part: bytes = b""
    error: str = ""


Engine = Callable[[Iterable[Batch], Task, int], Iterator[BatchOutcome]]
"""``engine(batches, task, tries)``: the outcomes of all batches, in any order. It takes batches a few ahead of need."""

_SCHEMES = {"local": "local", "tcp": "dask_engine", "tls": "dask_engine", "dask": "dask_engine", "ray": "ray_engine"}


class Share(NamedTuple):
    """Which batches of a plan this process runs: those whose number modulo ``of`` is ``number``."""

    number: int
    of: int


def share_of(text: str) -> Share | None:
    """The share that ``part:i/n`` names; None for an engine. Raises UsageError."""
    if not text.startswith("part:"):
        return None
    index, _, of = text.removeprefix("part:").partition("/")
    if not (index.isdigit() and of.isdigit() and 0 <= int(index) < int(of)):
        raise UsageError(
            f"{text}: not a valid share of the work",
            hint=("for four workers, write part:0/4, part:1/4, part:2/4 and part:3/4"),
        )
    return Share(int(index), int(of))


def engine_of(text: str) -> Engine:
    """The engine that an address names. Raises UsageError."""
    scheme = text.partition(":")[0]
    if scheme not in _SCHEMES:
        raise UsageError(f"unknown engine {text}", hint="local:N, tcp://HOST:PORT, ray://HOST:PORT or part:i/n")
    engine: Engine = import_module(f"{__name__}.{_SCHEMES[scheme]}").engine(text)
    return engine
