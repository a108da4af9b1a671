"""Digest of everything except the session that determines its findings: program, contracts, plug-ins, settings."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeAlias

from workbench import __version__, plugins
from workbench.config import cache_files, resources
from workbench.hashing import blake2b


def program_digest() -> str:
    """The digest, by the sizes and times of the files: what is kept of findings counts as long as it is the same."""
    return f"{_program_files()} {_identities(_own_files())}"


@cache
def _program_files() -> str:
    sources = _digest(_sources(os.path.dirname(os.path.dirname(__file__))))
    return f"{__version__} {sys.version} {sources} {_identities(_other_shipped_files())}"


def _identities(files: Iterable[str]) -> str:
    """Digest of paths, with what changes with the content of each file."""
    found: list[_File] = []
    for path in files:
        try:
            found.append((path, *cache_files.identity(path)))
        except OSError:
            continue
    return _digest(found)


def _digest(files: list[_File]) -> str:
    return blake2b(repr(sorted(files)).encode(), digest_size=16).hexdigest()


_File: TypeAlias = "tuple[str | int, ...]"
"""Path, and what changes with its content: size, time, inode."""

_UNUSED_FOLDERS = frozenset(("__pycache__", "_data", "tui", "cli", "recorder", "probes", "survey", "trials"))
"""Rooms on this floor and above, which decide nothing here, and what is no source."""


def _sources(folder: str) -> list[_File]:
    """Modules and tables of the program: a thousand, at every check, in the fewest steps."""
    found: list[_File] = []
    folders = [folder]
    for each in folders:
        with os.scandir(each) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".yaml", ".json")):
                    try:
                        status = entry.stat()
                    except OSError:  # a lock of an editor is a link to nowhere
                        continue
                    found.append((entry.path, status.st_size, status.st_mtime_ns, status.st_ino))
                elif entry.name not in _UNUSED_FOLDERS and entry.is_dir():
                    folders.append(entry.path)
    return found


def _other_shipped_files() -> Iterator[str]:
    """Contracts, and the folders of installed packages."""
    yield from map(str, (*resources.shipped_profiles().values(), *resources.shared_profiles().values()))
    yield from (folder for folder in sys.path if folder.endswith("-packages"))


def _own_files() -> Iterator[str]:
    """The user's own contracts and prices, and modules of plug-ins."""
    yield from map(str, (*resources.own_profiles().values(), resources.own_prices()))
    for package in plugins.PARTS:
        for module in plugins.third_party(package).values():
            yield from map(str, Path(module.__file__ or "").parent.glob("*.py"))
