"""The expendable process that judges: units come as lines, their rows go out as lines. Its death costs one unit.

The first line has the options. A child ends when its standard input does. What it writes to standard error goes
nowhere: it could hold text of the traffic.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

from workbench.ir import JsonValue
from workbench.survey.judging import JudgeOptions, judge_unit
from workbench.survey.links import link_rows
from workbench.survey.places import StoredObject
from workbench.wire import dumps, loads

MEMORY_STATUS = 77
"""Exit status of a child that has reached its limit of memory."""


TASKS = {"judge": judge_unit, "index": link_rows}
"""What a child can be asked to do with a unit."""


def main() -> int:
    """Judge units until the input ends."""
    source, out = sys.stdin.buffer, sys.stdout.buffer
    about = loads(source.readline())
    _limit(about.pop("megabytes"))
    options = JudgeOptions(**{**about, "key": bytes.fromhex(about["key"])})
    _warm_up(options)
    out.write(b"[]\n")
    out.flush()
    while line := source.readline():
        try:
            task = loads(line)
            rows: list[JsonValue] = list(TASKS[task["do"]]([StoredObject(*one) for one in task["objects"]], options))
            out.write(dumps(rows) + b"\n")
        except MemoryError:
            os._exit(MEMORY_STATUS)
        out.flush()
    return 0


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
