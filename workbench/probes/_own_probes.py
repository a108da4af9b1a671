"""A user's own probes: one YAML or Python file each, in ``$XDG_CONFIG_HOME/workbench/probes`` or at a given path.

A Python file defines an object named ``probe``, like the built-in ones. It is a program: it runs only when it is named.
A YAML file is data (``_written``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from workbench.config import resources
from workbench.errors import ProfileError, UsageError
from workbench.probes._script import Probe
from workbench.probes._yaml_probe import read

PYTHON = ".py"
ENDINGS = (".yaml", ".yml", PYTHON)


def own_probes() -> Mapping[str, Path]:
    """Name → file, of those in the user's folder. Nothing is read."""
    folder = resources.own_folder("probes")
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return {}
    return {path.stem: path for path in found if path.suffix in ENDINGS and not path.name.startswith((".", "_"))}


def is_path(name: str) -> bool:
    """The typed text is a file name, not the name of a probe."""
    return name.endswith(ENDINGS) or os.sep in name


def load_own(path: Path) -> Probe:
    """Load the probe of a file.

    Raises:
        UsageError: it cannot be read.
        ProfileError: it is not a probe; with file and pointer, or the line of the program.
        UnreadableInput: it is not YAML.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", hint="a probe is one YAML or Python file") from error
    return _run(path, text) if path.suffix == PYTHON else read(text, path.name, path.stem)


def _run(path: Path, text: bytes) -> Probe:
    """The object ``probe`` of a Python file."""
    module = ModuleType(f"workbench_own_probe_{path.stem}")
    module.__file__ = str(path)
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)  # noqa: S102 - the user named this program
    except (Exception, SystemExit) as error:
        line = _line(error, str(path))
        raise ProfileError(f"{type(error).__name__}: {error}"[:300], where=f"{path.name}{line}") from error
    made = getattr(module, "probe", None)
    if not isinstance(made, Probe):
        raise ProfileError("it defines no object 'probe' of type workbench.probes.Probe", where=path.name)
    return made


def _line(error: BaseException, path: str) -> str:
    """Line of the error in the file: ``:12``; empty if unknown."""
    if isinstance(error, SyntaxError):
        return f":{error.lineno}" if error.lineno else ""
    at, found = error.__traceback__, 0
    while at:
        found = at.tb_lineno if at.tb_frame.f_code.co_filename == path else found
        at = at.tb_next
    return f":{found}" if found else ""
