"""Editing of a value in the user's editor, ``$EDITOR``; the app is suspended meanwhile."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from workbench.errors import UsageError

if TYPE_CHECKING:
    from textual.app import App

NAMES = ("EDITOR", "VISUAL")
"""Variables that name the editor, the first that is set."""


def edited_outside(app: App[None], data: bytes, suffix: str) -> bytes | None:
    """Edit data in the user's editor and return the result; None if unchanged.

    The data are in a file that only the user can read, in a folder that is removed afterwards, with any backup files of
    the editor. A line break that the editor adds at the end of the file is removed.

    Args:
        data: any bytes.
        suffix: suffix of the file, such as ``".json"``: editors choose their highlighting by it.

    Raises:
        UsageError: no editor is configured, it cannot be run, or it failed; nothing was changed.
    """
    command = _command()
    with TemporaryDirectory(prefix="workbench-") as folder:
        path = Path(folder, f"value{suffix}")
        path.touch(mode=0o600)
        path.write_bytes(data)
        _run(app, [*command, str(path)])
        try:
            content = path.read_bytes()
        except OSError as error:
            raise UsageError("the editor wrote no file: nothing was changed") from error
    if content.endswith(b"\n") and not data.endswith(b"\n"):
        content = content[:-2] if content.endswith(b"\r\n") else content[:-1]
    return None if content == data else content


def _command() -> list[str]:
    named = next((os.environ[name] for name in NAMES if os.environ.get(name)), "")
    if not named:
        raise UsageError("no editor is configured", hint="set EDITOR, as in EDITOR=vim workbench")
    try:
        return shlex.split(named)
    except ValueError as error:
        raise UsageError(f"EDITOR cannot be read: {error}") from error


def _run(app: App[None], command: list[str]) -> None:
    from textual.app import SuspendNotSupported

    try:
        with app.suspend(), _alone():
            status = subprocess.call(command)
    except SuspendNotSupported as error:
        raise UsageError("an editor cannot be opened here: no terminal") from error
    except OSError as error:
        raise UsageError(f"the editor cannot be run: {command[0]}: {error.strerror}") from error
    if status:
        how = f"status {status}" if status > 0 else f"signal {-status}"
        raise UsageError(f"the editor exited with {how}: nothing was changed")


@contextmanager
def _alone() -> Iterator[None]:
    """Ignore interrupts: the terminal sends the key that interrupts the editor to the app too."""
    waker = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(waker)
