"""A file that crashes, stops or outgrows the judging process is named, and every other file is judged."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.formats.importers.store_samples import CHAT
from tests.survey.conftest import Quiet, everything, in_process, rows
from workbench.survey import Catalog, JudgeOptions, SurveyOptions, WorkerLimits, run_survey
from workbench.survey.places import StoredObject, list_objects
from workbench.survey.worker import Worker

IMPORTER = """
import os, time

NAME, TITLE = "poison", "poison"

def sniff(head):
    return 1.0 if head.startswith(b"POISON ") else 0.0

def read(data, name):
    kind = data.split()[1]
    if kind == b"crash":
        os._exit(139)
    if kind == b"abort":
        os.abort()
    if kind == b"hang":
        time.sleep(3600)
    if kind == b"grow":
        bytearray(8 << 30)
    raise RuntimeError("a fault of this importer: " + kind.decode())
"""


@pytest.fixture
def poison(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An importer of a third party, in a package of its own, that does what a file says."""
    site = tmp_path / "site"
    about = site / "poison_importer-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "poison_importer.py").write_text(textwrap.dedent(IMPORTER), encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: poison-importer\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[workbench.importers]\npoison = poison_importer\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(site))
    yield


@pytest.mark.usefixtures("poison")
def test_poison_is_named_and_all_others_are_judged(tmp_path: Path, options: SurveyOptions) -> None:
    folder = tmp_path / "poisoned"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number:02}.json").write_text(json.dumps(CHAT | {"top_p": number / 20}), encoding="utf-8")
    for number, kind in enumerate(("crash", "abort", "hang", "grow", "raise")):
        (folder / f"{number:02}-{kind}.x").write_text(f"POISON {kind}", encoding="utf-8")
    (folder / "05-garbage.json").write_bytes(b'{"model": "m", "messages": [{"role"\x00\xff')
    (folder / "06-empty.json").write_bytes(b"")
    limits = WorkerLimits(seconds=3.0, megabytes=1500)
    catalog = Catalog(tmp_path / "out")
    given = replace(options, root=str(folder), engine="local:1", limits=limits)
    result = run_survey(catalog, given, Quiet())
    assert result.commit is not None and result.commit.is_complete
    found = {Path(row[1]).name: (row[7], row[8]) for row in rows(catalog, "objects")}
    assert found["00-crash.x"] == ("poison", "crash:139")
    assert found["01-abort.x"] == ("poison", "crash:134")
    assert found["02-hang.x"] == ("poison", "timeout")
    assert found["03-grow.x"] == ("poison", "memory")
    assert found["04-raise.x"] == ("nothing", "unclaimed")  # a part of others that fails is left out
    assert found["05-garbage.json"][0] in ("nothing", "unreadable")
    assert found["06-empty.json"][0] == "nothing"
    assert [found[f"{number:02}.json"] for number in range(20)] == [("judged", None)] * 20


def test_processes_give_the_rows_of_this_process(tmp_path: Path, options: SurveyOptions) -> None:
    here, there = Catalog(tmp_path / "here"), Catalog(tmp_path / "there")
    run_survey(here, options, Quiet(), in_process)
    run_survey(there, options, Quiet())
    assert everything(here) == everything(there)


def test_a_process_is_kept_for_the_next_batch(store: Path) -> None:
    worker = Worker(JudgeOptions(b"k" * 32), WorkerLimits())
    try:
        objects = list(list_objects(str(store)))[:3]
        list(worker.work([[found] for found in objects]))
        first = worker._child
        list(worker.work([[found] for found in objects]))
        assert worker._child is first is not None
    finally:
        worker.close()


def test_an_object_above_the_limit_is_skipped_and_named(store: Path) -> None:
    worker = Worker(JudgeOptions(b"k" * 32, most_bytes=10), WorkerLimits())
    try:
        [[row]] = list(worker.work([[next(iter(list_objects(str(store))))]]))
        assert (row["status"], row["error"]) == ("skipped", "too-large")
    finally:
        worker.close()


def test_an_object_that_changed_since_it_was_listed_is_not_judged_as_the_old_one(store: Path) -> None:
    worker = Worker(JudgeOptions(b"k" * 32), WorkerLimits())
    try:
        found = next(iter(list_objects(str(store))))
        [[row]] = list(worker.work([[StoredObject(found.uri, found.size, "1-1")]]))
        assert (row["status"], row["error"]) == ("unreadable", "changed")
    finally:
        worker.close()
