"""Finds the object that ends the worker of its batch: the batch is split in halves until one object is left.

A judging process names what crashes it. What crashes the worker around it (a fault of its own machine, an engine that
gives up) is named by nobody, and takes its batch with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.survey.catalog import Catalog
from workbench.survey.engines import Engine, Task
from workbench.survey.judging import JudgeOptions, poison_row
from workbench.survey.parts import Batch, batch_of, is_whole, part_of, read_part, write_part
from workbench.survey.rows import Row

WORKER = "worker:"
"""Prefix of the error of an object that ended its worker; then the type of the engine's error."""


_MOST_FAILURES = 12
"""Failures, if there are few successes beside them, after which the engine is at fault, and no object is named."""


def split_batches(
    catalog: Catalog,
    failed: Sequence[Batch],
    task: Task,
    engine: Engine,
    options: JudgeOptions,
    *,
    has_succeeded: bool,
) -> list[Batch]:
    """Run failed batches in smaller pieces, and write their parts. Pieces that are done are kept, if it is interrupted.

    Args:
        has_succeeded: the engine has run another batch of this run.

    Returns:
        Batches that still have no part.
    """
    waiting = [piece for batch in failed for piece in _pieces(batch) or [batch]]
    failures = successes = 0
    while waiting:
        todo = [piece for piece in waiting if not is_whole(catalog.part(piece))]
        successes += len(waiting) - len(todo)
        batches: list[tuple[Batch, str]] = []
        for outcome in engine(todo, task, 1) if todo else ():
            if outcome.error:
                batches.append((outcome.batch, outcome.error))
            else:
                write_part(catalog.parts, outcome.batch, outcome.part)
                successes += 1
        failures += len(batches)
        is_credible = has_succeeded or successes > 0 or all(_pieces(piece) for piece, _ in batches)
        if failures > max(_MOST_FAILURES, 4 * successes) or not is_credible:
            return list(failed)
        waiting = []
        for piece, error in batches:
            smaller = _pieces(piece)
            if smaller:
                waiting += smaller
            else:
                _try_alone(catalog, piece, error, task, engine, options)
    for batch in failed:
        if not is_whole(catalog.part(batch)):
            write_part(catalog.parts, batch, part_of(batch, _rows(catalog, batch)))
    return [batch for batch in failed if not is_whole(catalog.part(batch))]


def _try_alone(catalog: Catalog, piece: Batch, error: str, task: Task, engine: Engine, options: JudgeOptions) -> None:
    """Judge one object while nothing else runs: its worker may have been ended by another piece."""
    for outcome in engine([piece], task, 1):
        part = outcome.part
        if outcome.error:
            part = part_of(piece, [[poison_row(piece.units[0][0], f"{WORKER}{error}", options)]])
        write_part(catalog.parts, piece, part)


def _pieces(batch: Batch) -> list[Batch]:
    """The halves of a batch; the objects of a single unit; none for one object."""
    units = batch.units
    if len(units) == 1:
        objects = units[0]
        return [batch_of([[found]]) for found in objects] if len(objects) > 1 else []
    middle = len(units) // 2
    return [batch_of(units[:middle]), batch_of(units[middle:])]


def _rows(catalog: Catalog, batch: Batch) -> Iterator[list[Row]]:
    """The rows of a batch from those of its pieces."""
    for piece in _pieces(batch):
        rows = read_part(catalog.part(piece))
        if rows is None:
            yield from _rows(catalog, piece)
        else:
            yield rows
