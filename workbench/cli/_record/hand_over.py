"""Runs another program that has the terminal to itself until it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from workbench.cli import _output

NOT_EXECUTABLE, NOT_FOUND = 126, 127
"""Exit statuses of a shell for a command that it cannot run, or does not find."""


def check(command: str) -> int:
    """Complain about a command that cannot be run: ``NOT_FOUND`` or ``NOT_EXECUTABLE``; 0 if it can."""
    if shutil.which(command):
        return 0
    if os.sep in command and Path(command).exists():
        return _output.complain(f"{command}: not executable", NOT_EXECUTABLE)
    return _output.complain(f"{command}: command not found", NOT_FOUND)


def run(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end; its exit status as a shell gives it: 128 + N when signal N ended it."""
    try:
        with _signals_are_its_own() as started:
            program = subprocess.Popen(words, env=environment, close_fds=False)  # it marks its home as used
            started.append(program)
            status = program.wait()
    except FileNotFoundError:
        return _output.complain(f"{words[0]}: command not found", NOT_FOUND)
    except OSError as error:
        return _output.complain(f"{words[0]}: cannot be executed ({error.strerror})", NOT_EXECUTABLE)
    return 128 - status if status < 0 else status


@contextmanager
def _signals_are_its_own() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Leave keys that interrupt to the program; pass on signals that were sent to this process alone."""
    started: list[subprocess.Popen[bytes]] = []

    def leave(number: int, frame: FrameType | None) -> None:
        """Do nothing. With SIG_IGN instead, the program would inherit that and ignore the key, too."""

    def forward(number: int, frame: FrameType | None) -> None:
        for program in started:
            program.send_signal(number)

    handlers = dict.fromkeys((signal.SIGINT, signal.SIGQUIT), leave) | dict.fromkeys(
        (signal.SIGTERM, signal.SIGHUP), forward
    )
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield started
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
