"""The taps that write a session, seen from another process: their pauses, and their end."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.errors import UsageError, WorkbenchError
from workbench.ir import JsonValue
from workbench.recorder import runtime_files
from workbench.recorder.breakpoints.remote import Remote

LOOK_AGAIN = 0.05
"""Seconds between two looks for taps that have begun or ended."""

END_SECONDS = 10.0
"""Seconds in which taps are awaited that still write what passed."""


def new_folder() -> Path:
    """Path of a folder, not yet made, in which each tap has a file until everything that it passed is written."""
    return runtime_files.private_path(f"taps-{os.getpid()}-{secrets.token_hex(4)}")


@contextmanager
def temporary_folder(folder: Path) -> Iterator[None]:
    """Make a folder that only this user can use, and remove it at the end."""
    folder.mkdir(mode=0o700)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def wait_for_end(folder: Path, seconds: float = END_SECONDS) -> bool:
    """Wait until all taps with a file in a folder have written everything; False if one has not after this time."""
    until = time.monotonic() + seconds
    while any(folder.iterdir()):
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_AGAIN)
    return True


@contextmanager
def reporting_pauses(out: Path, on_event: Callable[[Mapping[str, JsonValue]], None]) -> Iterator[None]:
    """Report events at the breakpoints of all taps that write a session, in threads, while the block runs."""
    known: dict[Path, Remote] = {}
    is_over = threading.Event()
    others = set(runtime_files.sockets_of(out))  # recorders that write it already

    def look() -> None:
        while not is_over.wait(LOOK_AGAIN):
            for path in set(runtime_files.sockets_of(out)) - known.keys() - others:
                with suppress(UsageError):
                    known[path] = Remote(path)
                    threading.Thread(target=_report, args=(known[path], on_event), daemon=True).start()

    threading.Thread(target=look, name="taps", daemon=True).start()
    try:
        yield
    finally:
        is_over.set()
        for remote in list(known.values()):
            remote.close()


def _report(remote: Remote, on_event: Callable[[Mapping[str, JsonValue]], None]) -> None:
    with suppress(WorkbenchError):
        for event in remote.watch():
            on_event(event)
