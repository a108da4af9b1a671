"""Fronts of rooms: names that other rooms import, each loaded from its module when it is first asked for.

A front (``__init__.py``) lists its names under ``if TYPE_CHECKING:`` for type checkers and readers, and in ``__all__``.
Importing all of them at once would load whole rooms for a command that needs one name, and would turn the order of
modules inside a room into circles; so at run time ``lazy`` finds them (PEP 562).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from workbench import moved_modules, regex

_IMPORT = regex.compile(r"^    from ([\w.]+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


def lazy(package: str) -> Callable[[str], Any]:
    """Return ``__getattr__`` for the front of a package.

    Nothing is kept in the package: a name that a test replaces in its module is replaced here, too.

    Args:
        package: its ``__name__``. The names are those of the imports under ``if TYPE_CHECKING:`` in its source.
    """
    homes: dict[str, str] = {}

    def load(name: str) -> Any:
        if not homes:
            homes.update(_exported_names(package))
        if new := moved_modules.present_name(package, name):
            return getattr(sys.modules[package], new)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        return import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)

    return load


def _exported_names(package: str) -> Iterator[tuple[str, str]]:
    """(name, module) of everything that the source of a package imports under ``if TYPE_CHECKING:``.

    The imports are found by their shape, which the formatter keeps: parsing them takes ten times as long.
    """
    loader = sys.modules[package].__loader__
    source = loader.get_source(package)  # type: ignore[union-attr]  # loaders of files and archives both have it
    _, _, block = source.partition("\nif TYPE_CHECKING:\n")
    for module, wrapped, plain in _IMPORT.findall(block.partition("\nelse:\n")[0]):
        for name in (wrapped or plain).split(","):
            if name.strip():
                yield name.split()[-1], module
