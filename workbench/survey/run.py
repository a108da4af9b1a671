"""One run of a survey: plan or resume, judge on an engine, commit."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import zstandard

from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.survey.catalog import Catalog, Commit
from workbench.survey.committing import Examples, commit_run
from workbench.survey.engines import Engine, Share, engine_of, share_of
from workbench.survey.judging import JudgeOptions
from workbench.survey.keys import key_of, remember
from workbench.survey.links import LINKS
from workbench.survey.object_listing import Listing, time_of
from workbench.survey.parts import Batch, is_whole, part_of, write_part
from workbench.survey.planning import IndexPass, ObjectSelection, Planner
from workbench.survey.plans import PlannedBatch, SurveyPlan
from workbench.survey.rows import Row
from workbench.survey.splitting import split_batches
from workbench.survey.tables import settled_objects
from workbench.survey.version import rules_version
from workbench.survey.worker import INDEX, JUDGE, WorkerLimits, warm_worker
from workbench.wire import loads


@dataclass(frozen=True, slots=True)
class SurveyOptions:
    """What a survey is asked to do.

    Attributes:
        root: folder, file or bucket.
        engine: where batches run, or the share of the plan that this process runs.
        tries: of a batch.
        key_file: file with the key of the hashes; None for one of the survey's own.
        examples: findings that the table keeps of each rule or shape; None for all.
    """

    root: str
    engine: str = "local"
    judge: JudgeOptions = JudgeOptions(b"")
    limits: WorkerLimits = WorkerLimits()
    selection: ObjectSelection = ObjectSelection()
    tries: int = 3
    key_file: str | None = None
    examples: Examples | None = None


class Progress(Protocol):
    """Hears how a run advances."""

    def begin(self, total: int, done: int) -> None:
        """Objects of the plan, and those that an earlier process has done."""

    def advance(self, objects: int) -> None:
        """So many more objects are done."""


@dataclass(frozen=True, slots=True)
class SurveyTask:
    """Judges one batch; can be sent to another process or machine."""

    options: JudgeOptions
    limits: WorkerLimits
    do: str = JUDGE

    def __call__(self, batch: Batch) -> bytes:
        """The part of the batch."""
        return part_of(batch, warm_worker(self.options, self.limits).work(batch.units, self.do))


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    Attributes:
        commit: what was committed; None if batches are left.
        open_batches: batches without a part.
        errors: types of the errors of batches that failed in all tries.
        seconds: that it took.
        checked_objects: objects that this process has judged.
    """

    commit: Commit | None
    open_batches: int = 0
    errors: tuple[str, ...] = ()
    seconds: float = 0.0
    checked_objects: int = 0


def run_survey(catalog: Catalog, options: SurveyOptions, progress: Progress, engine: Engine | None = None) -> RunResult:
    """Run a survey, or the rest of one. Raises UsageError, OSError, KeyboardInterrupt.

    Args:
        engine: instead of the one that the options name.
    """
    start = time.monotonic()
    Listing(options.root).require()  # before a folder is made for the results
    name = catalog.create()
    key = key_of(name, options.key_file)
    remember(catalog.folder, name)
    options = replace(options, judge=replace(options.judge, key=key))
    share = share_of(options.engine)
    engine = engine or engine_of("local" if share else options.engine)
    plan = _plan(catalog, options, engine)
    errors, judged = _work(catalog, plan, options, engine, share, progress)
    open_batches = sum(not is_whole(catalog.part(batch)) for batch in plan.index)
    seconds = time.monotonic() - start
    if not plan.index and (last := catalog.last()) is not None and not share:
        catalog.clear()  # nothing is new: the newest run stands
        return RunResult(last, seconds=seconds)
    if open_batches or share:
        return RunResult(None, open_batches, tuple(errors), seconds, judged)
    return RunResult(commit_run(catalog, plan, options.engine), 0, (), seconds, judged)


def commit_survey(catalog: Catalog) -> Commit:
    """Commit the open run, as far as it is done. Raises UsageError if there is none."""
    plan = catalog.plan()
    if plan is None:
        raise UsageError(f"{catalog.folder}: no run to commit")
    return commit_run(catalog, plan, "part")


def _plan(catalog: Catalog, options: SurveyOptions, engine: Engine) -> SurveyPlan:
    about = _about(catalog, options)
    plan = catalog.plan()
    if plan is not None:
        differs = [name for name in ("root", "rules", "options") if plan.about[name] != about[name]]
        if differs:
            words = f"an open run of this survey was started with different {' and '.join(differs)}"
            raise UsageError(words, hint="finish it with the command that started it, or end it with --commit")
        return plan
    catalog.sweep()
    known = settled_objects(catalog, str(about["rules"]))
    planner = Planner(options.judge.key, options.selection, known, _index_pass(options, engine))
    since = options.selection.since
    listing = Listing(options.root, None if since is None else time_of(since))

    def describe() -> Mapping[str, JsonValue]:
        counts = {**planner.counts, "older": listing.older, "unlisted_folders": listing.unlisted}
        return {**about, "planned": time.time(), "counts": counts, "joined": planner.joined}

    return catalog.begin(planner.batches(listing), describe)


def _about(catalog: Catalog, options: SurveyOptions) -> dict[str, JsonValue]:
    last = catalog.last()
    judge = options.judge
    about: dict[str, JsonValue] = {
        "provider": judge.provider,
        "most_bytes": judge.most_bytes,
        "hides_uris": judge.hides_uris,
        "metrics": judge.counts_metrics,
        "terms": judge.terms,
        "pointers": judge.keeps_pointers,
        "filter": judge.filter,
        "store": judge.store,
        "sample": options.selection.sample,
        "join": options.selection.joins,
        "since": options.selection.since,
        "per": list(options.examples) if options.examples else None,
    }
    run = last.number + 1 if last else 1
    return {"run": run, "root": options.root, "rules": rules_version(), "options": about, "started": time.time()}


def _index_pass(options: SurveyOptions, engine: Engine) -> IndexPass:
    """A function that runs the index pass on the engine."""

    def run(batches: Iterable[Batch]) -> Iterable[tuple[Batch, Sequence[Row]]]:
        task = SurveyTask(options.judge, options.limits, INDEX)
        for outcome in engine(batches, task, options.tries):
            part = b"" if outcome.error else zstandard.ZstdDecompressor().decompress(outcome.part)
            yield outcome.batch, [row for row in map(loads, part.splitlines()) if row["t"] == LINKS]

    return run


def _work(
    catalog: Catalog, plan: SurveyPlan, options: SurveyOptions, engine: Engine, share: Share | None, progress: Progress
) -> tuple[list[str], int]:
    """(types of errors, objects that were judged)."""
    mine = [batch for n, batch in enumerate(plan.index) if share is None or n % share.of == share.number]
    todo = [batch for batch in mine if not is_whole(catalog.part(batch))]
    progress.begin(sum(b.objects for b in mine), sum(b.objects for b in mine) - sum(b.objects for b in todo))
    task = SurveyTask(options.judge, options.limits)
    errors, judged = list[str](), 0
    failed: list[Batch] = []
    for outcome in engine(plan.batches(todo), task, options.tries) if todo else ():
        if outcome.error:
            errors.append(outcome.error)
            failed.append(outcome.batch)
            continue
        write_part(catalog.parts, outcome.batch, outcome.part)
        judged += _size(outcome.batch)
        progress.advance(_size(outcome.batch))
    succeeded = len(todo) - len(failed)
    if failed and len(failed) <= max(_FEW, succeeded // _FEW):  # else the engine fails, and no object
        again = split_batches(catalog, failed, task, engine, options.judge, has_succeeded=succeeded > 0)
        open_names = {batch.name for batch in again}
        for batch in failed:
            if batch.name not in open_names:
                judged += _size(batch)
                progress.advance(_size(batch))
        errors = errors if open_names else []
    return errors, judged


_FEW = 20
"""Failed batches, and successful ones for each, up to which objects are suspected, and not the engine."""


def _size(batch: Batch) -> int:
    return sum(map(len, batch.units))


def pending(catalog: Catalog) -> Iterator[PlannedBatch]:
    """Batches of the open run that have no part."""
    plan = catalog.plan()
    yield from (batch for batch in (plan.index if plan else ()) if not is_whole(catalog.part(batch)))
