"""Finds parts: built-in ones by the files of a package, third-party ones by entry points.

Listing built-in parts imports nothing; loading one imports exactly one module. A built-in part is one file in its
package, a third-party part an entry point in a group (``workbench.adapters``, ``workbench.rules`` …; ``PARTS``). A
third-party part that cannot be imported, or lacks a required name, is left out and listed in ``failures``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TypeVar

from workbench.errors import UnknownName, UsageError, WorkbenchError
from workbench.named_tuple import NamedTuple

_Answer = TypeVar("_Answer")


class Parts(NamedTuple):
    """Parts of one kind.

    Attributes:
        group: entry-point group of third-party parts; it does not change when the package moves.
        needs: names that each module must have.
        beside: modules of the package that are not parts.
    """

    group: str
    needs: tuple[str, ...]
    beside: frozenset[str] = frozenset()


PARTS: Mapping[str, Parts] = {
    "workbench.protocols": Parts(
        "workbench.adapters",
        ("adapter",),
        frozenset(
            {
                "capabilities",
                "clients",
                "common",
                "declaration",
                "decode",
                "detection",
                "shapes",
                "history",
                "known_messages",
                "message_shapes",
                "likeness",
                "mcp",
                "places_of_ids",
                "refusals",
                "request_reading",
                "grammar_places",
                "grammars",
                "wire_place",
            }
        ),
    ),
    "workbench.formats.exporters": Parts("workbench.exporters", ("TITLE", "SUFFIX", "write")),
    "workbench.formats.importers": Parts("workbench.importers", ("NAME", "TITLE", "sniff", "read")),
    "workbench.probes": Parts("workbench.probes", ("probe",), frozenset({"profiles", "selftest"})),
    "workbench.edits.repairs": Parts("workbench.repairs", ("REPAIRS",)),
    "workbench.rules": Parts(
        "workbench.rules",
        ("RULES",),
        frozenset({"inspection", "metrics", "schema_check", "tool_hop"}),
    ),
    "workbench.toolcalls.formats": Parts("workbench.textcalls", ("text_format",)),
    "workbench.trials.whatif": Parts("workbench.whatif", ("VARIANTS",)),
}
"""Package of the built-in parts → their properties."""

_failures: dict[tuple[str, str], str] = {}


@cache
def names(package: str) -> tuple[str, ...]:
    """Module names of the parts in a package ("workbench.adapters"), built-in and third-party, sorted."""
    return tuple(sorted({*built_in(package), *third_party(package)}))


@cache
def built_in(package: str) -> tuple[str, ...]:
    """Module names of the parts that ship in a package, sorted."""
    path = import_module(package).__path__
    beside = PARTS[package].beside if package in PARTS else ()
    found = (name for folder in path for name in _modules_in(folder))
    return tuple(sorted(name for name in found if not name.startswith("_") and name not in beside))


def _modules_in(folder: str) -> Iterator[str]:
    """Names of the modules and packages of a folder."""
    try:
        entries = list(os.scandir(folder))
    except OSError:  # an archive
        from pkgutil import iter_modules

        yield from (module.name for module in iter_modules([folder]))
        return
    for entry in entries:
        if entry.name.endswith((".py", ".pyc")):
            yield entry.name.partition(".")[0]
        elif os.path.isfile(os.path.join(entry.path, "__init__.py")):
            yield entry.name


@cache
def load(package: str, name: str) -> ModuleType:
    """The module of one part.

    Raises:
        UsageError: there is no such part, or it was left out.
    """
    foreign = third_party(package)
    if name in foreign:
        return foreign[name]
    group = PARTS[package].group
    if (group, name) in _failures and name not in built_in(package):
        raise UsageError(_failures[group, name])
    if name not in names(package):
        raise UnknownName(group.rpartition(".")[2], name, names(package))
    return import_module(f"{package}.{name}")


def failures() -> tuple[str, ...]:
    """Third-party parts left out so far with the reason, one line each."""
    return tuple(_failures.values())


@cache
def third_party(package: str) -> dict[str, ModuleType]:
    """Entry-point name → module, of usable parts from other packages."""
    found: dict[str, ModuleType] = {}
    group, needs, _ = PARTS[package]
    for name, module in _entries(group):
        try:
            part = import_module(module)
        except (Exception, SystemExit) as error:
            _leave_out(group, name, f"{type(error).__name__} during import")
            continue
        missing = [needed for needed in needs if not hasattr(part, needed)]
        if missing:
            _leave_out(group, name, f"the module has no {', no '.join(missing)}")
        else:
            found[name] = part
    return found


def call_part(package: str, name: str, ask: Callable[[], _Answer], otherwise: _Answer) -> _Answer:
    """Return the result of a part. If a third-party part fails, record it in ``failures`` and return ``otherwise``."""
    try:
        return ask()
    except (Exception, SystemExit) as error:
        if isinstance(error, WorkbenchError | MemoryError) or name not in third_party(package):
            raise
        _leave_out(PARTS[package].group, name, f"{type(error).__name__} during use")
        return otherwise


def _entries(group: str) -> Iterator[tuple[str, str]]:
    """(name, module) of the entry points of a group."""
    if not _is_mentioned(group):
        return
    from importlib import metadata  # 25 ms: only where a package has such parts

    try:
        entries = tuple(metadata.entry_points(group=group))
    except Exception as error:  # files of other packages, which may hold anything
        _leave_out(group, "", f"{type(error).__name__} while listing the installed packages")
        return
    for entry in entries:
        yield entry.name, re.split(r"[:\[]", entry.value)[0].strip()


def _is_mentioned(group: str) -> bool:
    """False if no package can have parts of a group: no file of entry points on the path has its name."""
    files = _entry_point_files(tuple(sys.path))
    return files is None or any(group.encode() in text for text in files)


@cache
def _entry_point_files(path: tuple[str, ...]) -> tuple[bytes, ...] | None:
    """Contents of the files of entry points in the folders of a path; None if packages may be elsewhere, too."""
    if any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not PathFinder):
        return None
    found = []
    for folder in dict.fromkeys(path):
        try:
            names = os.listdir(folder or ".")
        except FileNotFoundError:
            continue
        except OSError:  # an archive
            return None
        for name in names:
            if name.lower().endswith((".dist-info", ".egg-info", ".egg")):
                inside = "EGG-INFO/entry_points.txt" if name.lower().endswith(".egg") else "entry_points.txt"
                place = os.path.join(folder, name, inside)
                if os.access(place, os.R_OK):  # most packages have none, and an error takes ten times as long
                    with open(place, "rb") as file:
                        found.append(file.read())
    return tuple(found)


def _leave_out(group: str, name: str, why: str) -> None:
    what = f"the plug-in {name!r} of {group}" if name else f"every plug-in of {group}"
    _failures[group, name] = f"{what} is left out: {why}"
