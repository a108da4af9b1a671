"""A survey: objects for each second of a core, two processes against one, the overview of ten million findings.

Peer: a loop in one process that inspects the same files and writes nothing. CPU seconds are compared, which do not
depend on what else runs: with ``c`` of a judging process and ``d`` of its driver for each object, two processes on two
cores are ``2c / (c + d)`` times as fast as one.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.real.survey import bodies, options
from tests.survey.conftest import Quiet
from workbench.formats.importers import open_found
from workbench.rules import Inspector
from workbench.survey import Catalog, overview, run_survey
from workbench.survey.judging import object_key
from workbench.survey.object_listing import StoredObject
from workbench.survey.planning import KnownObjects, ObjectSelection, Planner
from workbench.survey.schema import FINDINGS as FINDINGS_TABLE
from workbench.survey.schema import GROUPED, TABLES, VERSION

OBJECTS = int(os.environ.get("WORKBENCH_SURVEY_OBJECTS", "2000"))
FINDINGS = 10_000_000
LISTED = 1_000_000


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as name:
        folder = Path(name)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        (folder / "key").write_bytes(b"k" * 32)
        store = bodies(folder / "store", OBJECTS)
        loop = _loop(store)
        children, driver, wall = _survey(folder, store)
        count = OBJECTS
        print(
            f"survey: loop {count / loop:,.0f} objects for each CPU second; survey {count / (children + driver):,.0f}"
        )
        print(
            f"survey: a judging process takes {children / loop:.2f} of the loop's CPU; its driver {driver / loop:.3f}"
        )
        print(
            f"survey: two processes against one, from CPU: {2 * children / (children + driver):.2f}; wall {wall:.1f} s"
        )
        _plan(folder)
        _overview(folder)


def _loop(store: Path) -> float:
    files = sorted(store.iterdir())
    for path in files[:50]:
        Inspector(open_found(str(path))).run()  # type: ignore[arg-type]
    begun = time.process_time()
    for path in files:
        session = open_found(str(path))
        assert session is not None
        Inspector(session).run()
        session.close()
    return time.process_time() - begun


def _survey(folder: Path, store: Path) -> tuple[float, float, float]:
    """(CPU seconds of judging processes, of the driver, wall seconds); starting a process is not counted."""
    few = bodies(folder / "few", 1)
    idle = _cpu(folder / "warm", few, folder)
    spent = _cpu(folder / "out", store, folder)
    return spent[0] - idle[0], spent[1] - idle[1], spent[2] - idle[2]


def _cpu(out: Path, store: Path, folder: Path) -> tuple[float, float, float]:
    before, own, begun = _children(), time.process_time(), time.monotonic()
    run_survey(Catalog(out), options(str(store), folder / "key", "local:1"), Quiet())
    return _children() - before, time.process_time() - own, time.monotonic() - begun


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _plan(folder: Path) -> None:
    """The plan of a first run, and of a second one in which all objects are known, in a process of its own."""
    words = [sys.executable, "-c", "from benchmarks.surveys import plan_here; plan_here()", str(folder)]
    subprocess.run(words, check=True)


def plan_here() -> None:
    """Plan, and say what it takes."""
    key = b"k" * 32
    known = KnownObjects()
    for name in ("first", "second"):
        catalog = Catalog(Path(sys.argv[1]) / f"planned-{name}")
        catalog.create()
        begun = time.process_time()
        planner = Planner(key, ObjectSelection(), known, lambda batches: ())
        listing = (StoredObject(f"s3://bucket/logs/{n:08}.json.gz", 12_000, f"{n:032x}") for n in range(LISTED))
        catalog.begin(planner.batches(listing), dict)
        planned = time.process_time() - begun
        print(f"survey: plan of {LISTED:,} objects, {name} run: {planned:.1f} CPU s, {_peak():,.0f} MB at most")
        for n in range(LISTED) if name == "first" else ():
            known.add(object_key(StoredObject(f"s3://bucket/logs/{n:08}.json.gz", 12_000, f"{n:032x}"), key))


def _peak() -> float:
    """The most memory of this process in MB; ``getrusage`` would count that of its parent before the start, too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _overview(folder: Path) -> None:
    """The overview of made-up findings, in the form that the committer writes: of one run, and of four."""
    catalog = Catalog(folder / "large")
    catalog.create()
    for run, findings in enumerate((FINDINGS, FINDINGS // 10, FINDINGS // 10, FINDINGS // 10), 1):
        _commit(catalog, run, findings)
        if run not in (1, 4):
            continue
        tries = []
        for _ in range(3):
            begun, cpu = time.monotonic(), time.process_time()
            assert overview(catalog) is not None
            tries.append((time.monotonic() - begun, time.process_time() - cpu))
        wall, cpu = min(tries)
        held = sum(path.stat().st_size for path in (catalog.folder / "findings").iterdir())
        count = sum(commit.about["findings"] for commit in catalog.commits())
        print(
            f"survey: overview of {count:,} findings, runs {run}: {wall:.2f} s, {cpu:.2f} CPU s, "
            f"{held / count:.1f} B a finding"
        )


def _commit(catalog: Catalog, run: int, findings: int) -> None:
    """Write the tables of a made-up run, and commit it."""
    import duckdb

    name = f"{run:06}.parquet"
    with duckdb.connect() as base:
        base.execute("SET enable_progress_bar = false")
        files = {table: [f"{table}/{name}"] for table in TABLES}
        for table, columns in TABLES.items():
            (catalog.folder / table).mkdir(exist_ok=True)
            rows = {FINDINGS_TABLE: findings, "exchanges": findings // 4, "objects": findings // 8}.get(table, 10)
            values = ", ".join(f'{_value(column, kind)} AS "{column}"' for column, kind in columns.items())
            source = f"SELECT {run}::BIGINT AS run, {values} FROM range({rows}) t(i)"
            if table == FINDINGS_TABLE:
                source += " ORDER BY rule, provider, object"
            if table == GROUPED:
                source = (
                    f"SELECT {run}::BIGINT AS run, {', '.join(list(columns)[:9])}, count(*) AS findings, "
                    "count(DISTINCT conversation) AS sessions, min(object) AS object, min(exchange) AS exchange "
                    f"FROM read_parquet('{catalog.folder / FINDINGS_TABLE / name}') GROUP BY ALL"
                )
            base.execute(f"COPY ({source}) TO '{catalog.folder / table / name}' (FORMAT parquet, COMPRESSION zstd)")
    counts = dict.fromkeys(("listed", "judged", "nothing", "unreadable", "poison", "skipped", "lost"), 0)
    about: dict[str, Any] = {"run": run, "schema": VERSION, "root": "s3://bucket", "rules": "r", "counts": counts}
    about |= {"complete": True, "committed": time.time(), "tables": files, "rows": {FINDINGS_TABLE: findings}}
    about |= {"statuses": {"judged": findings // 8}, "verdicts": {"ok": findings // 8, "broken": findings // 8}}
    catalog.commit(about | {"findings": findings, "replaced": {}})


def _value(name: str, kind: str) -> str:
    """An expression with as many different values as real tables have."""
    many = {"object": "md5((i // 8)::VARCHAR)", "conversation": "md5((i // 20)::VARCHAR)", "uri": "'s3://b/' || i"}
    few = {
        "rule": "'rule.' || (hash(i) % 40)",
        "severity": "['error', 'warning', 'info'][(1 + hash(i) % 40 % 3)::INT]",
        "provider": "'provider' || (i // 20 % 23 % 6)",
        "client": "'client' || (i // 20 % 23 % 7)",
        "model": "'model-' || (i // 20 % 23)",
        "week": "'2026-W' || (10 + i // 20 % 30)",
        "basis": "'contract'",
        "side": "'request'",
        "protocol": "'protocol' || (i // 20 % 23 % 6)",
        "status": "'judged'",
        "verdict": "['ok', 'broken'][1 + i % 2]",
    }
    if name in many or name in few:
        return many.get(name) or few[name]
    return {"BIGINT": "i % 1000", "DOUBLE": "i / 7.0", "BOOLEAN": "i % 2 = 0"}.get(kind, f"'{name}' || (i % 20)")
