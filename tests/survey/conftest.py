"""What the tests of surveys share: stores of small files, an engine without processes, and rows to compare."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.formats.importers.store_samples import CHAT, SAMPLES
from workbench.survey import Catalog, JudgeOptions, ObjectSelection, SurveyOptions, WorkerLimits, run_survey
from workbench.survey.engines import BatchOutcome, Task
from workbench.survey.judging import judge_unit
from workbench.survey.links import link_rows
from workbench.survey.parts import Batch, part_of
from workbench.survey.run import RunResult, SurveyTask
from workbench.survey.schema import TABLES
from workbench.survey.tables import commits_of, rows_of

KEY = b"a key of these tests, and no other"


class Quiet:
    """Progress that nobody sees."""

    def __init__(self) -> None:
        self.total = self.done = 0

    def begin(self, total: int, done: int) -> None:
        self.total, self.done = total, done

    def advance(self, objects: int) -> None:
        self.done += objects


def in_process(batches: Sequence[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
    """An engine that judges in this process: nothing here is dangerous."""
    assert isinstance(task, SurveyTask)
    work: Callable[..., Any] = judge_unit if task.do == "judge" else link_rows
    for batch in batches:
        yield BatchOutcome(batch, part_of(batch, [list(work(unit, task.options)) for unit in batch.units]))


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_bytes(KEY)
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder with samples of every store, and bare requests."""
    folder = tmp_path / "store"
    (folder / "deep").mkdir(parents=True)
    for name, sample in SAMPLES.items():
        (folder / name).write_bytes(sample.data)
    for number in range(12):
        body = CHAT | {"temperature": number / 10}
        (folder / "deep" / f"{number:02}.json").write_text(json.dumps(body), encoding="utf-8")
    return folder


@pytest.fixture
def options(store: Path, key_file: Path) -> SurveyOptions:
    return SurveyOptions(str(store), "local:2", JudgeOptions(b""), WorkerLimits(), ObjectSelection(), 2, str(key_file))


@pytest.fixture
def survey(tmp_path: Path, options: SurveyOptions) -> Callable[..., RunResult]:
    """Run a survey in this process: ``survey(catalog)``, with other options or another engine."""

    def run(catalog: Catalog, given: SurveyOptions = options, engine: Any = in_process) -> RunResult:
        return run_survey(catalog, given, Quiet(), engine)

    return run


def rows(catalog: Catalog, table: str) -> list[tuple[Any, ...]]:
    """All rows of a table but for times of this machine, in a fixed order."""
    columns = [name for name in TABLES[table] if name != "cpu_us"]
    held = rows_of(catalog, commits_of(catalog), table)
    return sorted((tuple(row[name] for name in columns) for row in held), key=repr)


def everything(catalog: Catalog) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables."""
    return {table: rows(catalog, table) for table in TABLES}


def bytes_below(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place) / name
            yield path, path.read_bytes()
