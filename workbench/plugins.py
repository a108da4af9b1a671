"""Finding parts: built-in ones by the files of a package, third-party ones by entry points.

Listing imports nothing; loading imports exactly one module. A built-in part is one file in its package, a
third-party part an entry point in the group of the same name (``workbench.adapters``, ``workbench.rules`` …).
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType

from workbench.errors import UsageError


@cache
def names(package: str) -> tuple[str, ...]:
    """Module names of the parts in a package ("workbench.adapters"), built-in and third-party, sorted."""
    return tuple(sorted({*built_in(package), *_third_party(package)}))


@cache
def built_in(package: str) -> tuple[str, ...]:
    """Module names of the parts that ship in a package, sorted."""
    path = import_module(package).__path__
    return tuple(sorted(m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_")))


@cache
def load(package: str, name: str) -> ModuleType:
    """The module of one part.

    Raises:
        UsageError: there is no such part.
    """
    third_party = _third_party(package)
    if name in third_party:
        return import_module(third_party[name])
    if name not in names(package):
        raise UsageError(f"no {package.rpartition('.')[2]} named {name!r}", hint=f"known: {', '.join(names(package))}")
    return import_module(f"{package}.{name}")


@cache
def _third_party(package: str) -> dict[str, str]:
    """Entry-point name → module, of packages other than this one."""
    from importlib import metadata  # 25 ms: only for who looks for parts

    return {e.name: e.module for e in metadata.entry_points(group=package)}
