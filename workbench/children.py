"""Command lines of the Python processes that the program starts of itself.

People run the program in folders that others have filled: a checked-out repository, an unpacked archive. No process
that it starts imports anything from there: no module that is called as one of ours, of the standard library or of a
dependency, also where an empty or relative entry of PYTHONPATH names the working directory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_HOME = str(Path(__file__).resolve().parents[1])
_BEGIN = (
    "import sys; home = sys.argv.pop(1); path = sys.path[:]; sys.path.insert(0, home); import workbench; "
    "sys.path[:] = path if home in path else [*path, home]; "
)


def running(code: str, *words: str) -> list[str]:
    """A Python process that runs code, which finds this package as ``workbench`` and the words in ``sys.argv[1:]``."""
    return [sys.executable, "-P", "-c", _BEGIN + code, _HOME, *words]


def running_module(name: str, *words: str) -> list[str]:
    """A Python process that runs a module of ours, as ``python -m`` would."""
    run = f"from runpy import run_module; run_module({name!r}, run_name='__main__', alter_sys=True)"
    return running(run, *words)


def environment(given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for such a process, made from this one's where none is given: PYTHONPATH names fixed folders."""
    made = dict(os.environ if given is None else given)
    if "PYTHONPATH" in made:
        folders = [folder for folder in made.pop("PYTHONPATH").split(os.pathsep) if os.path.isabs(folder)]
        made |= {"PYTHONPATH": os.pathsep.join(folders)} if folders else {}
    return made
