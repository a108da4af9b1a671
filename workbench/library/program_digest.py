"""Digest of everything except the session that determines its findings: program, contracts, plug-ins, settings."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from workbench import __version__, plugins
from workbench.config import cache_files, resources


def program_digest() -> str:
    """The digest, by the sizes and times of the files: what is kept of findings counts as long as it is the same."""
    return hashlib.sha256(f"{_program_files()} {_identities(_own_files())}".encode()).hexdigest()


@cache
def _program_files() -> str:
    sources = _digest(_sources(str(Path(__file__).parents[1])))
    return f"{__version__} {sys.version} {sources} {_identities(_other_shipped_files())}"


def _identities(files: Iterable[str]) -> str:
    """Digest of paths, with what changes with the content of each file."""
    lines = []
    for path in files:
        try:
            lines.append(f"{path} {cache_files.identity(path)}")
        except OSError:
            continue
    return _digest(lines)


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode(errors="surrogateescape")).hexdigest()


_UNUSED_FOLDERS = frozenset(("__pycache__", "_data", "tui", "cli", "recorder", "probes", "survey", "trials"))
"""Rooms on this floor and above, which decide nothing here, and what is no source."""


def _sources(folder: str) -> Iterator[str]:
    """Modules and tables of the program, with what changes with their content: a thousand, at every check."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".yaml", ".json")):
                with suppress(OSError):  # a lock of an editor is a link to nowhere
                    status = entry.stat()
                    yield f"{entry.path} {status.st_size} {status.st_mtime_ns} {status.st_ino}"
            elif entry.name not in _UNUSED_FOLDERS and entry.is_dir():
                yield from _sources(entry.path)


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
