"""Finding parts: built-in ones by the files of a package, third-party ones by entry points.

Listing imports nothing; loading imports exactly one module. A built-in part is one file in its package, a
third-party part an entry point in the group of the same name (``workbench.adapters``, ``workbench.rules`` …).
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module, metadata
from types import ModuleType

from workbench.errors import UsageError


@cache
def names(package: str) -> tuple[str, ...]:
    """Module names of the parts in a package ("workbench.adapters"), built-in and third-party, sorted."""
    path = import_module(package).__path__
    built_in = {m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_")}
    return tuple(sorted(built_in | {e.name for e in metadata.entry_points(group=package)}))


@cache
def load(package: str, name: str) -> ModuleType:
    """The module of one part.

    Raises:
        UsageError: there is no such part.
    """
    for entry in metadata.entry_points(group=package):
        if entry.name == name:
            loaded: ModuleType = entry.load()
            return loaded
    if name not in names(package):
        raise UsageError(f"no {package.rpartition('.')[2]} named {name!r}", hint=f"known: {', '.join(names(package))}")
    return import_module(f"{package}.{name}")
