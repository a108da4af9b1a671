"""Finding parts: built-in ones by the files of a package, third-party ones by entry points.

Listing built-in parts imports nothing; loading one imports exactly one module. A built-in part is one file in its
package, a third-party part an entry point in the group of that name (``workbench.adapters``, ``workbench.rules`` …).
A third-party part that cannot be imported, or lacks what its group needs, is left out: ``failures`` names it.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from types import ModuleType

from workbench.errors import UsageError

NEEDED: Mapping[str, tuple[str, ...]] = {
    "workbench.adapters": ("adapter",),
    "workbench.exporters": ("TITLE", "SUFFIX", "write"),
    "workbench.importers": ("NAME", "TITLE", "sniff", "read"),
    "workbench.probes": ("probe",),
    "workbench.repairs": ("REPAIRS",),
    "workbench.rules": ("RULES",),
    "workbench.textcalls": ("text_format",),
    "workbench.whatif": ("VARIANTS",),
}
"""Group → what each of its modules has to hold."""

_failures: dict[tuple[str, str], str] = {}


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
        UsageError: there is no such part, or it was left out.
    """
    third_party = _third_party(package)
    if name in third_party:
        return third_party[name]
    if (package, name) in _failures and name not in built_in(package):
        raise UsageError(_failures[package, name])
    if name not in names(package):
        raise UsageError(f"no {package.rpartition('.')[2]} named {name!r}", hint=f"known: {', '.join(names(package))}")
    return import_module(f"{package}.{name}")


def failures() -> tuple[str, ...]:
    """The third-party parts that were left out so far, and why, one line each."""
    return tuple(_failures.values())


@cache
def _third_party(package: str) -> dict[str, ModuleType]:
    """Entry-point name → module, of packages other than this one that can be used."""
    found = {}
    for name, module in _entries(package):
        try:
            part = import_module(module)
        except (Exception, SystemExit) as error:
            _leave_out(package, name, f"{type(error).__name__} while it was imported")
            continue
        missing = [needed for needed in NEEDED.get(package, ()) if not hasattr(part, needed)]
        if missing:
            _leave_out(package, name, f"it has no {', no '.join(missing)}")
        else:
            found[name] = part
    return found


def _entries(package: str) -> Iterator[tuple[str, str]]:
    """(name, module) of the entry points of a group."""
    from importlib import metadata  # 25 ms: only for who looks for parts

    try:
        entries = tuple(metadata.entry_points(group=package))
    except Exception as error:  # files of other packages, which may hold anything
        _leave_out(package, "", f"{type(error).__name__} while the installed packages were listed")
        return
    for entry in entries:
        yield entry.name, re.split(r"[:\[]", entry.value)[0].strip()


def _leave_out(package: str, name: str, why: str) -> None:
    what = f"the plug-in {name!r} of {package}" if name else f"every plug-in of {package}"
    _failures[package, name] = f"{what} is left out: {why}"
