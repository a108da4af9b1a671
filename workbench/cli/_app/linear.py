"""Reads a session aloud for a screen reader: keys from the terminal or lines of a pipe, text to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from workbench.cli._output import emit

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui import LinearReader

_SEQUENCES = {"\x1b[A": "↑", "\x1b[B": "↓", "\x1b[H": "home", "\x1b[F": "end", "\x1bOA": "↑", "\x1bOB": "↓"}
_NAMED = {"\n": "enter", "\r": "enter", "\x1b": "esc", "\x04": "q", "\x03": "q"}


def read_aloud(inspector: Inspector, exchange: int | None) -> int:
    """Say the session, then what each key does, until the person leaves or the input ends.

    Args:
        exchange: number of the exchange to begin at, counted from one; None for the first break.
    """
    from workbench.tui import LinearReader, keymap

    reader = LinearReader(inspector, keymap.load(keymap.path()))
    _say(reader.begin() if exchange is None else [*reader.begin()[:1], *reader.go_to_exchange(exchange - 1)])
    with _keys(reader) as typed:
        for key in typed:
            _say(reader.search(key) if reader.is_asking else reader.press(key))
            if reader.is_over:
                break
    return 0


def _say(lines: list[str]) -> None:
    for each in lines:
        emit(each)
    sys.stdout.flush()


@contextmanager
def _keys(reader: LinearReader) -> Iterator[Iterator[str]]:
    """Keys as they are pressed, without enter; a line each where the input is no terminal."""
    if not sys.stdin.isatty():
        yield (line.rstrip("\n") or "enter" for line in sys.stdin)
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        yield _read_keys(reader, terminal, before)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _read_keys(reader: LinearReader, terminal: int, before: list[object]) -> Iterator[str]:
    """Keys of a terminal; the text of a search is typed as a line, which the terminal shows."""
    import termios
    import tty

    while data := os.read(terminal, 64).decode("utf-8", "replace"):
        yield _SEQUENCES.get(data) or _NAMED.get(data) or data
        if reader.is_asking:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)  # type: ignore[arg-type]
            yield sys.stdin.readline().rstrip("\n")
            tty.setcbreak(terminal)
