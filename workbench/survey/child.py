"""The expendable process that judges: units come as lines, their rows go out as lines. Its death costs one unit.

The first line has the options. A child ends when its standard input does. What it writes to standard error goes
nowhere: it could hold text of the traffic.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import BinaryIO

from workbench.ir import JsonValue
from workbench.survey.judging import JudgeOptions, judge_unit
from workbench.survey.links import link_rows
from workbench.survey.object_listing import StoredObject, fetch_ahead, is_bucket
from workbench.wire import dumps, loads

MEMORY_STATUS = 77
"""Exit status of a child that has reached its limit of memory."""


_COLLECT_AFTER = 100_000
"""New objects after which garbage in cycles is looked for; the default, 700, does so several times for each unit."""

TASKS = {"judge": judge_unit, "index": link_rows}
"""What a child can be asked to do with a unit."""


def main() -> int:
    """Judge units until the input ends."""
    source, out = sys.stdin.buffer, sys.stdout.buffer
    about = loads(source.readline())
    _limit(about.pop("megabytes"))
    options = JudgeOptions(**{**about, "key": bytes.fromhex(about["key"])})
    gc.set_threshold(_COLLECT_AFTER, 10, 10)
    _warm_up(options)
    out.write(b"[]\n")
    out.flush()
    for do, objects in _tasks(source):
        try:
            rows: list[JsonValue] = list(TASKS[do](objects, options))
            out.write(dumps(rows) + b"\n")
        except MemoryError:
            os._exit(MEMORY_STATUS)
        out.flush()
    return 0


def _tasks(source: BinaryIO) -> Iterator[tuple[str, list[StoredObject]]]:
    """What to do with which objects. Objects of buckets are fetched while others are judged."""
    lines: SimpleQueue[bytes] = SimpleQueue()
    waiting: deque[tuple[str, list[StoredObject]]] = deque()
    has_begun = False
    while True:
        line = lines.get() if has_begun and not waiting else b""
        if not has_begun:
            line = source.readline()
        if line:
            waiting.append(_task(line))
        if not waiting:
            return
        if not has_begun and is_bucket(waiting[0][1][0].uri):
            has_begun = True
            threading.Thread(target=_read_ahead, args=(source, lines), daemon=True).start()
        while has_begun and not lines.empty():
            if line := lines.get():
                waiting.append(_task(line))
            else:
                lines.put(line)
                break
        if has_begun:
            fetch_ahead(found for _, objects in waiting for found in objects)
        yield waiting.popleft()


def _task(line: bytes) -> tuple[str, list[StoredObject]]:
    task = loads(line)
    return task["do"], [StoredObject(*one) for one in task["objects"]]


def _read_ahead(source: BinaryIO, lines: SimpleQueue[bytes]) -> None:
    """Put the lines of the input into a queue; an empty one at its end."""
    while line := source.readline():
        lines.put(line)
    lines.put(b"")


def _limit(megabytes: int) -> None:
    """Limit memory, and write no core files: they would hold traffic."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        most = megabytes * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _warm_up(options: JudgeOptions) -> None:
    """Judge an example, so that modules and contracts are read before the clock of the first unit runs."""
    from workbench.config import resources

    example = next(iter(sorted(resources.folder("sessions").glob("*.jsonl"))), None)
    if example:
        state = example.stat()
        found = StoredObject(str(example), state.st_size, f"{state.st_size}-{state.st_mtime_ns}")
        list(judge_unit([found], options))
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    sys.exit(main())
