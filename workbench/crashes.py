"""Crash reports: one line for the person, and a report in a file that only they can read.

An error quotes the data it failed on, which is hostile traffic; a command line has paths, error texts and URLs. So the
report has only places, types, commands and options. Of an error's own words it has those of the interpreter, without
quoted parts.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench import __version__, regex
from workbench.config import resources
from workbench.safetext import visible

STATUS = 70
"""Exit status after a crash: "internal software error" of sysexits.h."""

_QUOTED = regex.compile(r"'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?")
_PACKAGE = Path(__file__).resolve().parent
_MOST = 200
"""Limit of characters of an error's words."""

_OF_THE_INTERPRETER = (TypeError, AttributeError, IndexError, NameError, ImportError, ArithmeticError, RecursionError)
"""Errors with messages about types and operations. Messages of others (ValueError, KeyError) contain data."""

_CHOSEN = ("--as", "--format", "--to", "--protocol", "--side", "--fail-on", "--exchange")
"""Options with values that are our words or numbers."""
_WORD = regex.compile(r"[a-z0-9][a-z0-9-]{0,30}")


def report(error: BaseException, words: Sequence[str] | None = None) -> str:
    """Write the report of an error. Return one safe line: what happened, where, and the path of the report.

    Args:
        words: of the command line; by default those of this process.
    """
    what = f"{type(error).__name__} at {_where(error)}"
    try:
        file = _write(error, sys.argv[1:] if words is None else words)
    except OSError as failure:
        return visible(f"crashed: {what}; no report could be written: {failure.strerror or failure}")
    return visible(f"crashed: {what}; details, without traffic, in {file}")


def _where(error: BaseException) -> str:
    """The innermost position in our own code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).is_relative_to(_PACKAGE)] or list(frames)
    return f"{_short(own[-1].filename)}:{own[-1].lineno}" if own else "an unknown location"


def _short(name: str) -> str:
    path = Path(name)
    return str(path.relative_to(_PACKAGE.parent)) if path.is_relative_to(_PACKAGE.parent) else path.name


def _write(error: BaseException, words: Sequence[str]) -> Path:
    folder = resources.state_folder("crashes")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    file = next(path for path in _unused_paths(folder, name) if not path.exists())
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "w", encoding="utf-8") as out:
        out.write("\n".join(_lines(error, words)) + "\n")
    return file


def _unused_paths(folder: Path, name: str) -> Iterator[Path]:
    yield folder / f"{name}.txt"
    yield from (folder / f"{name}-{n}.txt" for n in range(2, 1000))


def _lines(error: BaseException, words: Sequence[str]) -> list[str]:
    lines = [f"workbench {__version__}, Python {sys.version.split()[0]}, {sys.platform}"]
    lines += [f"command: {' '.join(('workbench', *_safe_words(words)))}"]
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        lines += ["", f"{type(at).__name__}: {_words(at)}"]
        lines += [f"  {_short(f.filename)}:{f.lineno} {f.name}" for f in traceback.extract_tb(at.__traceback__)]
        at = at.__cause__ or at.__context__
    return lines


def _safe_words(words: Sequence[str]) -> Iterator[str]:
    """A command line without user input: files, texts, URLs, headers, programs to start."""
    before = ""
    for n, word in enumerate(words):
        if word == "--":
            yield "-- …"
            return
        name, equals, value = word.partition("=")
        if re.fullmatch("--?[a-z][a-z-]*", name):
            yield f"{name}={_value(name, value)}" if equals else name
        else:
            yield word if n == 0 and _WORD.fullmatch(word) else _value(before, word)
        before = name


def _value(option: str, value: str) -> str:
    return value if option in _CHOSEN and _WORD.fullmatch(value) else "…"


def _words(error: BaseException) -> str:
    """Message of the interpreter; messages raised in Python code may contain anything."""
    last = (traceback.extract_tb(error.__traceback__) or [None])[-1]
    line = linecache.getline(last.filename, last.lineno or 0).strip() if last else ""
    if not isinstance(error, _OF_THE_INTERPRETER) or line.startswith("raise"):
        return "…"
    return visible(_QUOTED.sub("'…'", str(error))[:_MOST])
