"""Child processes of ours that receive a task as a line of JSON and answer in such lines.

The first line received is the task. The first line answered is about the start: {"error", "status"} if it failed. A
child ends when its standard input does, so that it does not outlive its parent.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import IO

from workbench import children
from workbench.errors import UsageError, WireError, WorkbenchError
from workbench.ir import JsonValue
from workbench.wire import loads

END_SECONDS = 60.0
"""Seconds a child may take to write what it holds, before it is ended by force."""

NESTED_END_SECONDS = 90.0
"""The same for a child that waits for a child of its own, which it would leave behind if it were killed first."""


class ChildProcess:
    """A running child process.

    Attributes:
        first_line: the first line that it sent; empty if nobody waited for it.
        input: for lines after the task.
        output: the lines after the first.
    """

    def __init__(
        self, module: str, task: Mapping[str, JsonValue], *, patience: float = END_SECONDS, is_awaited: bool = True
    ) -> None:
        """Start it and wait for its first line. Raises UsageError, OSError or WorkbenchError for what it refuses.

        Args:
            is_awaited: wait for it; else ``output`` has the first line, too.
        """
        self._patience = patience
        with tempfile.TemporaryFile() as complaints:
            self.process = _spawn(module, complaints)
            assert self.process.stdin and self.process.stdout
            self.input: IO[bytes] = self.process.stdin
            self.output: IO[bytes] = self.process.stdout
            with contextlib.suppress(OSError):
                self.input.write(json.dumps(task).encode() + b"\n")
                self.input.flush()
            self.first_line: Mapping[str, JsonValue] = {}
            if not is_awaited:
                return
            line = self.output.readline()
            self.first_line = loads(line) if line else {}
            if not line or "error" in self.first_line:
                self.end()
                self.output.close()
                raise _start_error(self.first_line, complaints)

    def end(self) -> None:
        """Close its input and wait until it has ended. May be called again."""
        with contextlib.suppress(OSError):
            self.input.close()
        try:
            self.process.wait(self._patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _spawn(module: str, complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the process, out of reach of the terminal's signals: ctrl-c is for the client that is recorded."""
    return subprocess.Popen(
        children.running_module(module),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        start_new_session=True,
        env=children.environment(),
    )


def _start_error(first: Mapping[str, JsonValue], complaints: IO[bytes]) -> Exception:
    if first:
        return OSError(0, first["error"]) if first["status"] == 4 else UsageError(first["error"])
    complaints.seek(0)
    last = complaints.read().decode(errors="replace").strip().rpartition("\n")[2]
    return WorkbenchError(f"the recorder did not start ({last or 'no error message'})")


def serve(work: Callable[[Mapping[str, JsonValue]], int]) -> int:
    """Run the child's side: read the task, do it, report an error of it; returns the exit status."""
    try:
        return work(_task())
    except WorkbenchError as error:
        return _refuse(str(error), 2)
    except sqlite3.Error as error:
        return _refuse(f"the file cannot be written ({error})", 4)
    except OSError as error:
        reason = error.strerror or str(error)
        return _refuse(f"{error.filename}: {reason}" if error.filename else reason, 4)


def _task() -> Mapping[str, JsonValue]:
    try:
        task: Mapping[str, JsonValue] = loads(sys.stdin.buffer.readline())
        return task
    except WireError as error:
        raise UsageError(f"the task cannot be read ({error})", where="standard input") from None


def _refuse(line: str, status: int) -> int:
    send_line({"error": line, "status": status})
    return status


def send_line(value: Mapping[str, JsonValue]) -> None:
    """Write one line to the parent, which may have ended."""
    with contextlib.suppress(OSError):
        os.write(1, json.dumps(value).encode() + b"\n")
