"""Command lines of the Python child processes that the program starts.

People run the program in untrusted folders: a checked-out repository, an unpacked archive. No child process imports
anything from there: no module with the name of one of ours, of the standard library or of a dependency, even if an
empty or relative entry of PYTHONPATH names the working directory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

_HOME = str(Path(__file__).resolve().parents[1])
_BEGIN = (
    "import sys; home = sys.argv.pop(1); path = sys.path[:]; sys.path.insert(0, home); import workbench; "
    "sys.path[:] = path if home in path else [*path, home]; "
)


def running(code: str, *words: str) -> list[str]:
    """Command of a Python process that runs code with this package importable and the words in ``sys.argv[1:]``."""
    return [sys.executable, "-P", "-c", _BEGIN + code, _HOME, *words]


def running_module(name: str, *words: str) -> list[str]:
    """Command of a Python process that runs one of our modules, as ``python -m`` would."""
    run = f"from runpy import run_module; run_module({name!r}, run_name='__main__', alter_sys=True)"
    return running(run, *words)


def own_command(*words: str) -> list[str]:
    """Command of this program that an agent or a shell starts, in an environment that is theirs to set."""
    return running_module("workbench", *words)


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment for such a process, by default from this one: PYTHONPATH is reduced to absolute folders."""
    child_variables = dict(os.environ if variables is None else variables)
    if "PYTHONPATH" in child_variables:
        folders = [folder for folder in child_variables.pop("PYTHONPATH").split(os.pathsep) if os.path.isabs(folder)]
        child_variables |= {"PYTHONPATH": os.pathsep.join(folders)} if folders else {}
    return child_variables


def pool(workers: int) -> ProcessPoolExecutor | None:
    """Processes for pure work, copies of this one: they start no interpreter. None where the system cannot copy one.

    To be called before the program starts threads.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    if "fork" not in multiprocessing.get_all_start_methods():
        return None
    return ProcessPoolExecutor(workers, multiprocessing.get_context("fork"))
