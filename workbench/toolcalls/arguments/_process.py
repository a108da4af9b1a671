"""One child process, started on first use, reused, and killed when a job takes too long."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench import children, limits
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.toolcalls.arguments._child import READY
from workbench.wire import dumps, loads

if TYPE_CHECKING:
    import subprocess

__all__ = ["TIMEOUT", "ask", "is_own"]

TIMEOUT = "stopped after {:g} s of CPU time"
_FAILED = "the process that reads broken arguments failed"
_BUSY = "the process that reads broken arguments got no CPU time"
_CAN_LIMIT = hasattr(signal, "setitimer")
"""True if the child can limit its own processor time, independent of other load; else a clock does."""

_lock = threading.Lock()
_child: subprocess.Popen[bytes] | None = None
_owner = 0


class _NoAnswer(Exception):
    """Raised if there is no response for a reason of this machine; the next attempt may succeed."""


def ask(**job: JsonValue) -> Mapping[str, JsonValue]:
    """Response of the child to a job (see ``_child.work``); only ``{"problem"}`` if there is none."""
    wait = limits.REPAIR_WAIT_SECONDS if _CAN_LIMIT else limits.REPAIR_SECONDS
    try:
        return _ask(dumps(job | {"seconds": limits.REPAIR_SECONDS, "wait": wait}), wait)
    except _NoAnswer as error:
        return {"problem": str(error)}


def is_own(problem: str) -> bool:
    """True if the problem is in our processing, not in the text."""
    return problem in (TIMEOUT.format(limits.REPAIR_SECONDS), _FAILED, _BUSY)


@lru_cache(maxsize=256)
def _ask(job: bytes, wait: float) -> Mapping[str, JsonValue]:
    with _lock:
        line, is_late = _exchange(job, wait)
        if not line and not is_late:  # it had died since: once more, with a new one
            line, is_late = _exchange(job, wait)
    if is_late:
        return {"problem": TIMEOUT.format(limits.REPAIR_SECONDS)}
    try:
        answer: Mapping[str, JsonValue] = loads(line)
    except WireError as error:
        raise _NoAnswer(_FAILED) from error
    return answer


def _exchange(job: bytes, wait: float) -> tuple[bytes, bool]:
    """(one response line, the job took too long); no line if the child is gone.

    Raises:
        _NoAnswer: the child did not get enough processor time to finish.
    """
    try:
        child = _running()
    except OSError:
        return b"", False
    line, is_late = _line(child, job + b"\n", wait)
    if not line:
        stop()
    is_spent = _CAN_LIMIT and child.returncode == -signal.SIGPROF
    if is_late and _CAN_LIMIT and not is_spent:
        raise _NoAnswer(_BUSY)
    return line, is_late or is_spent


def _line(child: subprocess.Popen[bytes], message: bytes, wait: float) -> tuple[bytes, bool]:
    """(response of the child, the clock ran out first and the child was killed)."""
    late = threading.Event()

    def give_up() -> None:
        late.set()
        child.kill()

    timer = threading.Timer(wait, give_up)
    timer.daemon = True
    timer.start()
    line = b""
    try:
        assert child.stdin and child.stdout
        child.stdin.write(message)
        child.stdin.flush()
        line = child.stdout.readline()
    except OSError:
        pass
    finally:
        timer.cancel()
    return line, late.is_set() and not line


def _running() -> subprocess.Popen[bytes]:
    """The child after it has reported ready: its start is not part of a job. Raises OSError, _NoAnswer."""
    global _child, _owner
    if _child is not None and (_owner != os.getpid() or _child.poll() is not None):
        stop()
    if _child is None:
        import subprocess

        _child, _owner = (
            subprocess.Popen(
                children.running("from workbench.toolcalls.arguments._child import main; main()"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=children.environment(),
            ),
            os.getpid(),
        )
        ready, is_late = _line(_child, b"", limits.REPAIR_WAIT_SECONDS)
        if ready.strip() != READY:
            stop()
            raise _NoAnswer(_BUSY if is_late else _FAILED)
    return _child


def stop() -> None:
    """End the child, if there is one. In a forked process only close the pipes: the child belongs to the parent."""
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
