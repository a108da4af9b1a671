"""One child process that is started when it is first needed, used again, and killed when a job takes too long."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from workbench import limits
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.wire.jsontext import dumps, loads

__all__ = ["TIMEOUT", "ask"]

TIMEOUT = "it takes too long, nothing was read within {:g} s"
_FAILED = "the process that reads broken arguments failed"

_lock = threading.Lock()
_child: subprocess.Popen[bytes] | None = None
_owner = 0


def ask(**job: JsonValue) -> Mapping[str, JsonValue]:
    """The child's answer to a job (see ``_child.work``); ``{"problem"}`` alone where there is none."""
    return _ask(dumps(job | {"seconds": limits.REPAIR_SECONDS}))


@lru_cache(maxsize=256)
def _ask(job: bytes) -> Mapping[str, JsonValue]:
    with _lock:
        line, is_late = _exchange(job)
        if not line and not is_late:  # it had died since: once more, with a new one
            line, is_late = _exchange(job)
    if is_late:
        return {"problem": TIMEOUT.format(limits.REPAIR_SECONDS)}
    try:
        answer: Mapping[str, JsonValue] = loads(line)
    except WireError:
        return {"problem": _FAILED}
    return answer


def _exchange(job: bytes) -> tuple[bytes, bool]:
    """(one line of answer, the deadline passed); no line where the child is gone."""
    try:
        child = _running()
    except OSError:
        return b"", False
    late = threading.Event()

    def give_up() -> None:
        late.set()
        child.kill()

    timer = threading.Timer(limits.REPAIR_SECONDS, give_up)
    timer.daemon = True
    timer.start()
    line = b""
    try:
        assert child.stdin and child.stdout
        child.stdin.write(job + b"\n")
        child.stdin.flush()
        line = child.stdout.readline()
    except OSError:
        pass
    finally:
        timer.cancel()
        if not line:
            stop()
    return line, late.is_set() and not line


def _running() -> subprocess.Popen[bytes]:
    global _child, _owner
    if _child is not None and (_owner != os.getpid() or _child.poll() is not None):
        stop()
    if _child is None:
        root = str(Path(__file__).resolve().parents[2])
        code = "import sys; sys.path.append(sys.argv[1]); from workbench.arguments._child import main; main()"
        _child, _owner = (
            subprocess.Popen(
                [sys.executable, "-P", "-c", code, root],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ),
            os.getpid(),
        )
    return _child


def stop() -> None:
    """End the child, if there is one. Of a forked process only the pipes are closed: the child is its parent's."""
    global _child
    child, _child = _child, None
    if child is None:
        return
    if _owner == os.getpid():
        child.kill()
        child.wait()
    for pipe in (child.stdin, child.stdout):
        with suppress(OSError):
            if pipe:
                pipe.close()


atexit.register(stop)
