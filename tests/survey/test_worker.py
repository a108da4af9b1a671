"""A file that crashes, stops or outgrows the judging process is named, and every other file is judged."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import pytest

from tests.formats.importers.store_samples import CHAT
from tests.survey.conftest import KEY, Quiet, Truth, rows
from workbench.survey import Catalog, JudgeOptions, SurveyOptions, WorkerLimits, run_survey
from workbench.survey.judging import judge_unit
from workbench.survey.object_listing import StoredObject, list_objects
from workbench.survey.schema import MADE_BY_CHILD, TABLES
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
    for number, kind in enumerate(("crash", "hang", "grow", "raise")):
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
    assert found["01-hang.x"] == ("poison", "timeout")
    assert found["02-grow.x"] == ("poison", "memory")
    assert found["03-raise.x"] == ("nothing", "unclaimed")  # a part of others that fails is left out
    assert found["05-garbage.json"][0] in ("nothing", "unreadable")
    assert found["06-empty.json"][0] == "nothing"
    assert [found[f"{number:02}.json"] for number in range(20)] == [("judged", None)] * 20


def test_a_process_gives_the_rows_of_this_process_and_is_kept_for_the_next_batch(
    options: SurveyOptions, truth: Truth
) -> None:
    worker = Worker(replace(options.judge, key=blake2b(KEY, digest_size=32).digest()), WorkerLimits())
    objects = list(list_objects(options.root))
    try:
        made = [row for unit in worker.work([[found] for found in objects[:9]]) for row in unit]
        first = worker._child
        made += [row for unit in worker.work([[found] for found in objects[9:]]) for row in unit]
        assert worker._child is first is not None
    finally:
        worker.close()
    for table in MADE_BY_CHILD:
        columns = [name for name in TABLES[table] if name != "cpu_us"]
        assert sorted((tuple(r[n] for n in columns) for r in made if r["t"] == table), key=repr) == truth.rows[table]


def test_an_object_that_is_too_large_or_has_changed_is_not_judged_as_another(options: SurveyOptions) -> None:
    found = next(iter(list_objects(options.root)))
    [row] = judge_unit([found], JudgeOptions(KEY, most_bytes=10))
    assert (row["status"], row["error"]) == ("skipped", "too-large")
    [row] = judge_unit([StoredObject(found.uri, found.size, "1-1")], JudgeOptions(KEY))
    assert (row["status"], row["error"]) == ("unreadable", "changed")
