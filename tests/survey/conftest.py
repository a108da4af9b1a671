"""What the tests of surveys share: stores of small files, an engine without processes, and rows to compare."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.formats.importers.store_samples import CHAT, SAMPLES
from workbench.survey import Catalog, JudgeOptions, ObjectSelection, SurveyOptions, WorkerLimits, run_survey
from workbench.survey.engines import BatchOutcome, Task
from workbench.survey.judging import judge_unit
from workbench.survey.links import link_rows
from workbench.survey.object_listing import StoredObject
from workbench.survey.parts import Batch, part_of
from workbench.survey.rows import Row
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


@cache
def _work(do: str, unit: tuple[StoredObject, ...], options: JudgeOptions) -> list[Row]:
    work: Callable[..., Any] = judge_unit if do == "judge" else link_rows
    return list(work(unit, options))


def in_process(batches: Iterable[Batch], task: Task, tries: int) -> Iterator[BatchOutcome]:
    """An engine that judges in this process, each unit once for all tests: nothing here is dangerous."""
    assert isinstance(task, SurveyTask)
    for batch in batches:
        yield BatchOutcome(batch, part_of(batch, [_work(task.do, tuple(unit), task.options) for unit in batch.units]))


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("key") / "key"
    path.write_bytes(KEY)
    return path


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with samples of every store, and bare requests. Tests do not change it."""
    folder = tmp_path_factory.mktemp("whole") / "store"
    _requests(folder / "deep", 12)
    for name, sample in SAMPLES.items():
        (folder / name).write_bytes(sample.data)
    return folder


@pytest.fixture
def own_store(tmp_path: Path) -> Path:
    """A small folder that a test may change."""
    folder = tmp_path / "store"
    _requests(folder / "deep", 6)
    (folder / "logs.jsonl").write_bytes(SAMPLES["litellm-lines.jsonl"].data)
    return folder


def _requests(folder: Path, count: int) -> None:
    folder.mkdir(parents=True)
    for number in range(count):
        body = CHAT | {"temperature": number / 10}
        (folder / f"{number:02}.json").write_text(json.dumps(body), encoding="utf-8")


def _options(folder: Path, key_file: Path) -> SurveyOptions:
    return SurveyOptions(str(folder), "local:1", JudgeOptions(b""), WorkerLimits(), ObjectSelection(), 2, str(key_file))


@pytest.fixture(scope="session")
def options(store: Path, key_file: Path) -> SurveyOptions:
    return _options(store, key_file)


@pytest.fixture
def own_options(own_store: Path, key_file: Path) -> SurveyOptions:
    return _options(own_store, key_file)


@pytest.fixture(scope="session")
def truth(options: SurveyOptions, tmp_path_factory: pytest.TempPathFactory) -> Truth:
    """An undisturbed survey of the whole store. Tests do not change it."""
    catalog = Catalog(tmp_path_factory.mktemp("truth") / "out")
    result = run_survey(catalog, options, Quiet(), in_process)
    return Truth(catalog, result, everything(catalog))


@pytest.fixture
def survey(options: SurveyOptions) -> Callable[..., RunResult]:
    """Run a survey in this process: ``survey(catalog)``, with other options or another engine."""

    def run(catalog: Catalog, given: SurveyOptions = options, engine: Any = in_process) -> RunResult:
        return run_survey(catalog, given, Quiet(), engine)

    return run


class Truth(NamedTuple):
    """What a survey of the whole store must give."""

    catalog: Catalog
    result: RunResult
    rows: dict[str, list[tuple[Any, ...]]]


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
