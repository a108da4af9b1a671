"""What is left of a crash: one line for the person, and a report in a file.

A traceback quotes the data it stumbled over, and that is hostile traffic. So the report names places and types, and of
the error's own words nothing that stands in quotation marks.
"""

from __future__ import annotations

import os
import re
import sys
import time
import traceback
from pathlib import Path

from workbench import __version__, resources
from workbench.tui.safetext import visible

STATUS = 70
"""Exit status after a crash: "internal software error" of sysexits.h."""

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?")
_PACKAGE = Path(__file__).resolve().parents[1]
_MOST = 200
"""Characters of an error's words."""


def report(error: BaseException) -> str:
    """Write the report of an error. One safe line: what happened, where, and where the report is."""
    what = f"{type(error).__name__} at {_where(error)}"
    try:
        file = _write(error)
    except OSError as failure:
        return visible(f"crashed: {what}; no report could be written: {failure.strerror or failure}")
    return visible(f"crashed: {what}; details, without traffic, in {file}")


def _where(error: BaseException) -> str:
    """The innermost place of our own that the error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).is_relative_to(_PACKAGE)] or list(frames)
    return f"{_short(own[-1].filename)}:{own[-1].lineno}" if own else "an unknown place"


def _short(name: str) -> str:
    path = Path(name)
    return str(path.relative_to(_PACKAGE.parent)) if path.is_relative_to(_PACKAGE.parent) else path.name


def _write(error: BaseException) -> Path:
    folder = resources.state_folder("crashes")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    file.write_text("\n".join(_lines(error)) + "\n", encoding="utf-8")
    return file


def _lines(error: BaseException) -> list[str]:
    made = [f"workbench {__version__}, Python {sys.version.split()[0]}, {sys.platform}"]
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        made += ["", f"{type(at).__name__}: {_words(at)}"]
        made += [f"  {_short(f.filename)}:{f.lineno} {f.name}" for f in traceback.extract_tb(at.__traceback__)]
        at = at.__cause__ or at.__context__
    return made


def _words(error: BaseException) -> str:
    return visible(_QUOTED.sub("'…'", str(error))[:_MOST])
